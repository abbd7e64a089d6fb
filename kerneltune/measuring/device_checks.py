"""Verification where the outputs lie: distances, guards and repeated bits are computed on the GPU."""

from __future__ import annotations

import ctypes
import math
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np
from cuda.bindings import driver

from kerneltune.compiling.cubin_cache import CubinCache
from kerneltune.compiling.nvrtc import Job, compile_job
from kerneltune.measuring.case import LARGEST
from kerneltune.measuring.driver_call import call
from kerneltune.measuring.loaded import guarded
from kerneltune.running.verify import Verdict

if TYPE_CHECKING:
    from kerneltune.measuring.driver_backend import DriverBackend

KINDS = {"float16": "float16", "float32": "float32", "float64": "float64"}
COMPLEX = {"complex64": "float32", "complex128": "float64"}
NAMES = (*[f"distance_{one}" for one in KINDS], "different", "disturbed")
THREADS, BLOCKS = 256, 1024
SUMS = 5  # doubles: see judge.cu


class DeviceChecks:
    """The checks of one case's outputs.

    Args:
        backend: The arguments on the GPU.
        capability: The GPU's compute capability.
    """

    def __init__(self, backend: DriverBackend, capability: str) -> None:
        self._backend = backend
        text = (files("kerneltune.measuring") / "judge.cu").read_text(encoding="utf-8")
        job = Job(text, f"sm_{capability.replace('.', '')}", NAMES)
        self._module = call("loading", driver.cuModuleLoadData(compile_job(job, CubinCache()).cubin))
        self._functions = {
            name: call("finding", driver.cuModuleGetFunction(self._module, name.encode())) for name in NAMES
        }
        self._sums = backend.allocate(8 * SUMS + 8)
        self._largest = self._sums + 8 * SUMS
        expected = backend.case.expected
        self._expected = {name: self._upload(array) for name, array in expected.items()}
        self._kept = {one.name: backend.allocate(_size(one.value)) for one in backend.case.outputs}

    def _upload(self, array: Any) -> int:
        data = np.ascontiguousarray(array)
        place = self._backend.allocate(data.nbytes)
        if data.nbytes:
            call("copying to the GPU", driver.cuMemcpyHtoD(place, data.ctypes.data, data.nbytes))
        return place

    def verdict(self) -> Verdict:
        """The verdict on the last run; raises `RunError` for a write outside an output."""
        from kerneltune.measuring.driver_backend import GUARD, GUARD_BYTE

        case = self._backend.case
        worst = Verdict(0.0, max((case.tolerance_of(o) for o in case.outputs), default=0.0), 0)
        for output in case.outputs:
            place, size = self._backend.places[output.name], _size(output.value)
            self._clear()
            for guard in (place - GUARD, place + size):
                self._start("disturbed", 1, [guard, ctypes.c_ubyte(GUARD_BYTE), GUARD, self._sums])
            dtype = str(output.value.dtype)
            wanted = self._expected.get(output.name)
            tolerance = case.tolerance_of(output)
            if wanted is not None and size:
                if tolerance:
                    count = size // np.dtype(COMPLEX.get(dtype, dtype)).itemsize
                    name = f"distance_{COMPLEX.get(dtype, dtype)}"
                    self._start(name, BLOCKS, [place, wanted, count, self._sums, self._largest])
                else:
                    self._start("different", BLOCKS, [place, wanted, size, self._sums])
            sums, largest = self._read()
            if sums[4]:
                raise guarded(output.name)
            one = _judged(sums, largest, tolerance, size)
            if not one.right:
                return one
            if one.relative_error > worst.relative_error:
                worst = one
        return worst

    def keep(self) -> None:
        """Copy the outputs."""
        for output in self._backend.case.outputs:
            place, size = self._backend.places[output.name], _size(output.value)
            if size:
                call(
                    "keeping",
                    driver.cuMemcpyDtoDAsync(self._kept[output.name], place, size, self._backend.stream),
                )

    def same(self) -> bool:
        """Whether the outputs equal the kept ones; raises `RunError` for a write outside an output."""
        from kerneltune.measuring.driver_backend import GUARD, GUARD_BYTE

        self._clear()
        for output in self._backend.case.outputs:
            place, size = self._backend.places[output.name], _size(output.value)
            self._start("different", BLOCKS, [place, self._kept[output.name], size, self._sums])
            for guard in (place - GUARD, place + size):
                self._start("disturbed", 1, [guard, ctypes.c_ubyte(GUARD_BYTE), GUARD, self._sums])
        sums, _ = self._read()
        if sums[4]:
            raise guarded(" or ".join(o.name for o in self._backend.case.outputs))
        return not sums[3]

    def _clear(self) -> None:
        call("clearing", driver.cuMemsetD8Async(self._sums, 0, 8 * SUMS + 8, self._backend.stream))

    def _start(self, name: str, blocks: int, values: list[Any]) -> None:
        held = [v if isinstance(v, ctypes.c_ubyte) else ctypes.c_ulonglong(v) for v in values]
        pointers = (ctypes.c_void_p * len(held))(*[ctypes.addressof(one) for one in held])
        shape = (blocks, 1, 1, THREADS, 1, 1, 0)
        call(
            "checking",
            driver.cuLaunchKernel(
                self._functions[name], *shape, self._backend.stream, ctypes.addressof(pointers), 0
            ),
        )

    def _read(self) -> tuple[list[float], tuple[float, float]]:
        raw = np.empty(SUMS + 1, np.float64)
        self._backend.wait()
        call("reading", driver.cuMemcpyDtoH(raw.ctypes.data, self._sums, raw.nbytes))
        far, most = raw[SUMS:].view(np.float32).tolist()
        return raw[:SUMS].tolist(), (far, most)


def _judged(sums: list[float], largest: tuple[float, float], tolerance: float, size: int) -> Verdict:
    if not tolerance:
        return Verdict(sums[3] / max(size, 1), 0.0, 0)
    off, norm, missing = sums[:3]
    error = math.sqrt(off) / max(math.sqrt(norm), 1e-30) if math.isfinite(off) else math.inf
    far, most = largest
    if not missing and error <= tolerance and far > LARGEST * tolerance * most:
        error = max(error, far / max(most, 1e-30))
    return Verdict(error, tolerance, int(missing))


def _size(array: Any) -> int:
    return int(np.prod(array.shape, dtype=object)) * int(array.dtype.itemsize)
