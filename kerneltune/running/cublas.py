"""cuBLAS, called through ctypes: the matrix products of strategies that leave them to the library.

The library is the one that is loaded already, such as torch's, or that the system or NVIDIA's package has.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kerneltune.errors import RunError
from kerneltune.running import driver

NAMES = ("cublas64_13.dll", "cublas64_12.dll") if os.name == "nt" else ("libcublas.so.13", "libcublas.so.12")

# Numbers of cublas_api.h and library_types.h.
_TRANSPOSED, _PLAIN = 1, 0  # of cublasOperation_t
_TYPES = {"fp32": 0, "tf32": 0, "fp16": 2, "bf16": 14}  # of cudaDataType
_FLOAT32, _TF32 = 68, 77  # of cublasComputeType_t
_DEFAULT_ALGORITHM = -1


_HANDLES: dict[int | None, tuple[ctypes.c_void_p, threading.Lock]] = {}
_MAKING = threading.Lock()


@dataclass(frozen=True)
class Product:
    """One product a head, C = A B in cuBLAS's column order.

    Attributes:
        transposed: Whether A is, and whether B is.
        sizes: Rows of C, columns of C, and the length of the sums.
        leading: The distance of columns of A, B and C.
        strides: The distance of heads in A, B and C.
        heads: Their number.
        dtype: The type of A and B.
        result: The type of C.
        adds: Whether the product is added to what C has.
    """

    transposed: tuple[bool, bool]
    sizes: tuple[int, int, int]
    leading: tuple[int, int, int]
    strides: tuple[int, int, int]
    heads: int
    dtype: str
    result: str
    adds: bool = False


class Products:
    """A product as cuBLAS is asked for it in the current context."""

    def __init__(self, product: Product, library_bytes: int) -> None:
        self._library, (self._handle, self._lock) = _library(), _handle()
        self._bytes = ctypes.c_size_t(library_bytes)
        self._factors = ctypes.c_float(1.0), ctypes.c_float(product.adds)
        alpha, beta = (ctypes.c_void_p(ctypes.addressof(number)) for number in self._factors)
        dtype, result = _TYPES[product.dtype], _TYPES[product.result]
        a, b, c = product.leading
        stride_a, stride_b, stride_c = (ctypes.c_longlong(stride) for stride in product.strides)
        operations = [_TRANSPOSED if one else _PLAIN for one in product.transposed]
        computed = _TF32 if product.dtype == "tf32" else _FLOAT32
        self._call = self._library.cublasGemmStridedBatchedEx
        self._head = (self._handle, *operations, *product.sizes, alpha)
        self._of_a = dtype, a, stride_a
        self._of_b = dtype, b, stride_b, beta
        self._of_c = result, c, stride_c, product.heads, computed, _DEFAULT_ALGORITHM

    @contextmanager
    def on(self, stream: int, workspace: int) -> Iterator[None]:
        """Within it, products are queued on a stream, and the library may use the memory there."""
        with self._lock:
            status = self._library.cublasSetStream_v2(self._handle, ctypes.c_void_p(stream))
            _check("choosing a stream", status)
            place = ctypes.c_void_p(workspace)
            status = self._library.cublasSetWorkspace_v2(self._handle, place, self._bytes)
            _check("giving memory", status)
            yield

    def queue(self, a: int, b: int, c: int) -> None:
        """Queue the product of matrices at these addresses."""
        place = ctypes.c_void_p
        status = self._call(*self._head, place(a), *self._of_a, place(b), *self._of_b, place(c), *self._of_c)
        if status:
            _check("multiplying", status)


@cache
def _library() -> ctypes.CDLL:
    """The library; raises `RunError` where there is none."""
    packaged = [
        str(found) for name in NAMES for one in sys.path for found in Path(one).glob(f"nvidia/*/*/{name}")
    ]
    for name in (*NAMES, *packaged):
        with suppress(OSError):
            return ctypes.CDLL(name)
    raise RunError(
        f"cuBLAS is not found ({' or '.join(NAMES)}), which the strategy 'product' leaves its products to: "
        "install nvidia-cublas, or take another strategy"
    )


def _handle() -> tuple[ctypes.c_void_p, threading.Lock]:
    """The handle of the current context, which all threads share, and the lock of its stream."""
    context = ctypes.c_void_p()
    driver.call("asking for the context", "cuCtxGetCurrent", ctypes.byref(context))
    with _MAKING:
        if context.value not in _HANDLES:
            found = ctypes.c_void_p()
            _check("starting cuBLAS", _library().cublasCreate_v2(ctypes.byref(found)))
            _HANDLES[context.value] = found, threading.Lock()
        return _HANDLES[context.value]


def _check(doing: str, status: int) -> None:
    if status:
        described = _library().cublasGetStatusString
        described.restype = ctypes.c_char_p
        raise RunError(f"{doing}: {(described(status) or b'unknown').decode(errors='replace')} (cuBLAS)")
