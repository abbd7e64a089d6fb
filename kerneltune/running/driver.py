"""The CUDA driver's library, called through ctypes.

A machine without a compiler has the driver and nothing else of CUDA, so that is all that launching needs.
The bindings' package takes 0.1 s to import, and a call through it takes as long (0.3 µs).
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any

from kerneltune.errors import RunError

LIBRARY = "nvcuda.dll" if os.name == "nt" else "libcuda.so.1"

# Numbers of cuda.h.
OUT_OF_MEMORY, INVALID_CONTEXT = 2, 201
MAX_REGISTERS = 0  # of CUjit_option
DYNAMIC_SHARED_MEMORY, NON_PORTABLE_CLUSTERS = 8, 14  # of CUfunction_attribute
COOPERATIVE, CLUSTER_DIMENSION = 2, 4  # of CUlaunchAttributeID
DEVICE_ATTRIBUTES = {
    "MULTIPROCESSOR_COUNT": 16,
    "COMPUTE_CAPABILITY_MAJOR": 75,
    "COMPUTE_CAPABILITY_MINOR": 76,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 81,
    "MAX_REGISTERS_PER_MULTIPROCESSOR": 82,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 97,
}


class LaunchAttribute(ctypes.Structure):
    """``CUlaunchAttribute``: an id, and a union of 64 bytes."""

    _fields_ = (("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint * 16))


class LaunchConfig(ctypes.Structure):
    """``CUlaunchConfig``."""

    _fields_ = (
        *((f"{what}_{axis}", ctypes.c_uint) for what in ("grid", "block") for axis in "xyz"),
        ("shared_memory", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(LaunchAttribute)),
        ("attribute_count", ctypes.c_uint),
    )


@cache
def library() -> ctypes.CDLL:
    """The driver's library; raises `RunError` where there is none."""
    try:
        found = ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise RunError(f"there is no NVIDIA driver here: {error}") from None
    found.cuMemsetD8Async.argtypes = (ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t, ctypes.c_void_p)
    found.cuMemcpyDtoDAsync_v2.argtypes = (
        ctypes.c_uint64,
        ctypes.c_uint64,
        ctypes.c_size_t,
        ctypes.c_void_p,
    )
    return found


def call(what: str, function: str, *arguments: object) -> None:
    """Call a function of the driver; raises `RunError` with ``what`` unless it succeeds."""
    check(what, getattr(library(), function)(*arguments))


def check(what: str, status: int) -> None:
    """Raise `RunError` unless a status means success."""
    if status:
        name, text = ctypes.c_char_p(), ctypes.c_char_p()
        library().cuGetErrorName(status, ctypes.byref(name))
        library().cuGetErrorString(status, ctypes.byref(text))
        words = [(part.value or b"unknown").decode(errors="replace") for part in (name, text)]
        raise RunError(f"{what}: {': '.join(words)}")


def use_primary_context(index: int = 0) -> None:
    """Make a GPU's primary context current, unless this thread has a context.

    Raises:
        RunError: There is no driver or no GPU.
    """
    context, device = ctypes.c_void_p(), ctypes.c_int()
    call("starting the driver", "cuInit", 0)
    call("asking for the context", "cuCtxGetCurrent", ctypes.byref(context))
    if not context.value:
        call("finding a GPU", "cuDeviceGet", ctypes.byref(device), index)
        call("using the GPU", "cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        call("using the GPU", "cuCtxSetCurrent", context)


def device_facts() -> dict[str, Any]:
    """The driver's facts about the first GPU, by the names that profiles use."""
    call("starting the driver", "cuInit", 0)
    device, memory = ctypes.c_int(), ctypes.c_size_t()
    name = ctypes.create_string_buffer(128)
    call("finding a GPU", "cuDeviceGet", ctypes.byref(device), 0)
    call("asking its name", "cuDeviceGetName", name, 128, device)
    call("asking its memory", "cuDeviceTotalMem_v2", ctypes.byref(memory), device)

    def attribute(kind: str) -> int:
        value = ctypes.c_int()
        number = DEVICE_ATTRIBUTES[kind]
        call(f"asking {kind}", "cuDeviceGetAttribute", ctypes.byref(value), number, device)
        return value.value

    major, minor = (attribute(f"COMPUTE_CAPABILITY_{part}") for part in ("MAJOR", "MINOR"))
    return {
        "name": name.value.decode(errors="replace").strip(),
        "compute_capability": f"{major}.{minor}",
        "sm_count": attribute("MULTIPROCESSOR_COUNT"),
        "registers_per_sm": attribute("MAX_REGISTERS_PER_MULTIPROCESSOR"),
        "smem_per_sm": attribute("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
        "smem_per_block_optin": attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        "memory_bytes": memory.value,
    }
