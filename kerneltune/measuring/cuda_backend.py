"""CUDA C++, PTX and compiled Triton functions of users on this machine's GPU."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from kerneltune.errors import RunError
from kerneltune.measuring.case import Case
from kerneltune.measuring.device_checks import DeviceChecks
from kerneltune.measuring.gpu import Gpu
from kerneltune.measuring.launcher import functions_of, launches_of, number_held, ptx_of
from kerneltune.measuring.own_launches import as_type, with_own_launch
from kerneltune.messages import Built, Facts, Order, OwnLaunch
from kerneltune.running.launch import DriverModule, Held
from kerneltune.running.verify import Verdict
from kerneltune.sources.arguments import BOTH, NUMBER


class CudaBackend:
    """The arguments of a case on the GPU, shared by all candidates."""

    def __init__(self, case: Case) -> None:
        self.gpu = Gpu()
        self.bus, self.case = self.gpu.bus, case
        self.places: dict[str, int] = {}
        for one in case.arguments:
            if one.is_output:
                self.places[one.name] = self.gpu.allocate_guarded(one.nbytes)
            elif one.kind != NUMBER:
                self.places[one.name] = self.gpu.upload(one.value)
        both = [one for one in case.arguments if one.kind == BOTH]
        self.originals = {one.name: self.gpu.upload(one.value) for one in both}
        self.checks = DeviceChecks(self.gpu, case, self.places) if case.outputs else None

    @property
    def facts(self) -> Facts:
        """The GPU."""
        return self.gpu.facts

    def load(self, order: Order, built: Built | None) -> CudaLoaded:
        """Load the machine code, or let the driver compile PTX."""
        return CudaLoaded(self, order, ptx_of(order) if order.kind == "ptx" else built)

    def held(self, launch: OwnLaunch | None) -> list[Held]:
        """The arguments as a launch takes them, in order: addresses and numbers."""
        types = [""] * len(self.case.arguments) if launch is None else launch.types
        return [
            number_held(as_type(one.value, kind))
            if one.kind == NUMBER
            else ctypes.c_void_p(self.places[one.name])
            for one, kind in zip(self.case.arguments, types, strict=True)
        ]

    def prepare_outputs(self, poison: int) -> None:
        """Guard and poison the outputs; restore the arrays that are read and written."""
        for one in self.case.outputs:
            self.gpu.poison_guarded(self.places[one.name], poison, one.nbytes)
        self.restore()

    def restore(self) -> None:
        """Restore the arrays that are read and written."""
        for one in self.case.outputs:
            if one.name in self.originals:
                self.gpu.copy(self.places[one.name], self.originals[one.name], one.nbytes)


class CudaLoaded:
    """One kernel on the GPU.

    Args:
        backend: The arguments.
        order: Its launch.
        built: Its machine code.
    """

    def __init__(self, backend: CudaBackend, order: Order, built: Built | None) -> None:
        if built is None:
            raise RunError("the kernel was not compiled")
        order = with_own_launch(order, built.launch)
        self._backend = backend
        self._module = DriverModule(built.cubin, order.registers if order.kind == "ptx" else None)
        functions = functions_of(self._module, order, built)
        self._write_constants(built, len(functions))
        self._held = backend.held(built.launch)
        first = range(len(self._held)) if order.takes is None else order.takes
        self._taken = sorted({*first, *(place for one in order.then for place in one.takes)})
        if built.launch is not None:  # the driver copies no more parameters than the kernel has
            order = replace(order, takes=(*first, *[len(self._held)] * built.launch.scratch))
            self._held.append(ctypes.c_void_p(0))
        self._launches = launches_of(self._module, functions, order, self._held)

    def _write_constants(self, built: Built, kernels: int) -> None:
        constants = self._backend.case.constants or {}
        for name, symbol in zip(constants, built.lowered[kernels:] or constants, strict=False):
            data = np.ascontiguousarray(constants[name])
            place, size = self._module.symbol(symbol)
            if size < data.nbytes:
                raise RunError(f"constant memory '{name}' has {size} bytes, but {data.nbytes} are given")
            self._backend.gpu.write(place, data)

    def _queue(self) -> None:
        for launch in self._launches:
            launch.queue(self._backend.gpu.stream.handle)

    def run(self, poison: int) -> None:
        """Fill the outputs, run once and wait."""
        self._backend.prepare_outputs(poison)
        self._queue()
        self._backend.gpu.wait()

    def check(self) -> Verdict:
        """Compare the outputs of the last run with the expected ones, on the GPU."""
        checks = self._backend.checks
        return Verdict(0.0, 0.0, 0) if checks is None else checks.verdict()

    def keep(self) -> None:
        """Keep the outputs of the last run on the GPU."""
        if self._backend.checks is not None:
            self._backend.checks.keep()

    def same(self) -> bool:
        """Whether the outputs of the last run have the bits that were kept."""
        return self._backend.checks is None or self._backend.checks.same()

    def read(self) -> dict[str, NDArray[Any]]:
        """The outputs of the last run that any launch takes."""
        backend, found = self._backend, dict[str, NDArray[Any]]()
        for place in self._taken:
            one = backend.case.arguments[place]
            if one.is_output:
                raw = backend.gpu.read(backend.places[one.name], one.nbytes)
                found[one.name] = raw.view(one.value.dtype).reshape(one.value.shape)
        return found

    def time(self, count: int, *, flush: bool, warm_up: int) -> list[float]:
        """Milliseconds of runs."""
        self._backend.restore()
        return self._backend.gpu.timed(self._queue, count, flush=flush, warm_up=warm_up)

    def close(self) -> None:
        """Unload the module."""
        self._module.unload()
