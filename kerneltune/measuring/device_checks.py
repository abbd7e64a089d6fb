"""Verification where the outputs lie: distances, guards and repeated bits are computed on the GPU."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from importlib.resources import files

import numpy as np

from kerneltune.compiling.cubin_cache import CubinCache
from kerneltune.compiling.nvrtc import Job, compile_job
from kerneltune.measuring.case import LARGEST_ERROR, Case
from kerneltune.measuring.gpu import GUARD, GUARD_BYTE, Gpu, target_here
from kerneltune.measuring.loaded import guarded
from kerneltune.messages import Built
from kerneltune.running.launch import DriverLaunch, DriverModule, addresses_of, shaped
from kerneltune.running.verify import Verdict

KINDS = {"float16": "float16", "float32": "float32", "float64": "float64"}
COMPLEX = {"complex64": "float32", "complex128": "float64"}
NAMES = (*[f"distance_{one}" for one in KINDS], "different", "disturbed")
THREADS, BLOCKS = 256, 1024
SUMS = 5  # doubles: see judge.cu


def compiled_checks(target: str) -> Built:
    """The kernels of the checks, which are kept for the next process."""
    text = (files("kerneltune.measuring") / "judge.cu").read_text(encoding="utf-8")
    return compile_job(Job(text, target, NAMES), CubinCache())


class DeviceChecks:
    """The checks of one case's outputs.

    Args:
        gpu: The GPU.
        case: The case.
        places: The addresses of its arrays.
    """

    def __init__(self, gpu: Gpu, case: Case, places: Mapping[str, int]) -> None:
        self._gpu, self._case, self._places = gpu, case, places
        self._module = DriverModule(compiled_checks(target_here()).cubin)
        self._functions = {name: self._module.function(name) for name in NAMES}
        self._sums = gpu.allocate(8 * SUMS + 8)
        self._largest = self._sums + 8 * SUMS
        self._expected = {name: gpu.upload(array) for name, array in case.expected.items()}
        # An output that the reference leaves out is scratch, of which a part may stay unwritten.
        compared = [one for one in case.outputs if not case.expected or one.name in case.expected]
        self._kept = {one.name: gpu.allocate(one.nbytes) for one in compared}

    def verdict(self) -> Verdict:
        """The verdict on the last run; raises `RunError` for a write outside an output."""
        case = self._case
        worst = Verdict(0.0, max((case.tolerance_of(o) for o in case.outputs), default=0.0), 0)
        for output in case.outputs:
            place, size = self._places[output.name], output.nbytes
            self._clear()
            self._start_guards(place, size)
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
        for output in self._case.outputs:
            if output.name in self._kept:
                self._gpu.copy(self._kept[output.name], self._places[output.name], output.nbytes)

    def same(self) -> bool:
        """Whether the outputs equal the kept ones; raises `RunError` for a write outside an output."""
        self._clear()
        for output in self._case.outputs:
            place, size = self._places[output.name], output.nbytes
            if output.name in self._kept:
                self._start("different", BLOCKS, [place, self._kept[output.name], size, self._sums])
            self._start_guards(place, size)
        sums, _ = self._read()
        if sums[4]:
            raise guarded(" or ".join(o.name for o in self._case.outputs))
        return not sums[3]

    def _clear(self) -> None:
        self._gpu.fill(self._sums, 0, 8 * SUMS + 8)

    def _start_guards(self, place: int, size: int) -> None:
        for guard in (place - GUARD, place + size):
            self._start("disturbed", 1, [guard, ctypes.c_ubyte(GUARD_BYTE), GUARD, self._sums])

    def _start(self, name: str, blocks: int, values: Sequence[int | ctypes.c_ubyte]) -> None:
        held = [v if isinstance(v, ctypes.c_ubyte) else ctypes.c_ulonglong(v) for v in values]
        shape = shaped((blocks, 1, 1), (THREADS, 1, 1), 0)
        launch = DriverLaunch(self._module, self._functions[name], *shape, addresses_of(held))
        launch.queue(self._gpu.stream.handle)

    def _read(self) -> tuple[list[float], tuple[float, float]]:
        self._gpu.wait()
        raw = self._gpu.read(self._sums, 8 * SUMS + 8).view(np.float64)
        far, most = raw[SUMS:].view(np.float32).tolist()
        return raw[:SUMS].tolist(), (far, most)


def _judged(sums: list[float], largest: tuple[float, float], tolerance: float, size: int) -> Verdict:
    if not tolerance:
        return Verdict(sums[3] / max(size, 1), 0.0, 0)
    off, norm, missing = sums[:3]
    error = math.sqrt(off) / max(math.sqrt(norm), 1e-30) if math.isfinite(off) else math.inf
    far, most = largest
    if not missing and error <= tolerance and far > LARGEST_ERROR * tolerance * most:
        error = max(error, far / max(most, 1e-30))
    return Verdict(error, tolerance, int(missing))
