"""CUDA C++ and PTX on this machine's GPU, through the driver."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from cuda.bindings import driver

from kerneltune.errors import RunError
from kerneltune.measuring.case import Case
from kerneltune.measuring.device_checks import DeviceChecks
from kerneltune.measuring.driver_call import attribute, bus_id, call, ptx_of, start
from kerneltune.messages import Built, Facts, Order
from kerneltune.running.verify import Verdict
from kerneltune.sources.arguments import NUMBER, Argument

GUARD = 4096  # bytes before and behind each output
GUARD_BYTE = 0xA5
QUEUED = 64  # timed runs that are queued at a time


class DriverBackend:
    """The arguments of a case on a GPU, shared by all candidates.

    Args:
        case: The case.
        ordinal: The GPU's number among those that this process sees.
    """

    def __init__(self, case: Case, ordinal: int = 0) -> None:
        self._device, name, capability = start(ordinal)
        self.bus = bus_id(self._device)
        self._facts = Facts(device=name, compute_capability=capability)
        self.case = case
        self.stream = call("making a stream", driver.cuStreamCreate(1))
        self.places: dict[str, int] = {}
        self._buffers: list[int] = []
        for one in case.arguments:
            if one.kind != NUMBER:
                self.places[one.name] = self._placed(one)
        self.originals = {one.name: self._copied(one.value) for one in case.arguments if one.kind == "inout"}
        l2 = attribute(self._device, "L2_CACHE_SIZE")
        self.flushed_bytes = 2 * max(l2, 1 << 20)
        self.flushed = self.allocate(self.flushed_bytes)
        self.checks = DeviceChecks(self, capability) if case.outputs else None
        self.events = [call("making an event", driver.cuEventCreate(0)) for _ in range(2 * QUEUED)]
        call("copying to the GPU", driver.cuCtxSynchronize())  # the stream does not wait for those copies

    @property
    def facts(self) -> Facts:
        """The GPU."""
        return self._facts

    def load(self, order: Order, built: Built | None) -> DriverLoaded:
        """Load the machine code, or let the driver compile PTX."""
        return DriverLoaded(self, order, built)

    def allocate(self, size: int) -> int:
        """The address of device memory that lives as long as this."""
        place = int(call("allocating memory", driver.cuMemAlloc(max(size, 16))))
        self._buffers.append(place)
        return place

    def _copied(self, array: Any) -> int:
        data = np.ascontiguousarray(array)
        place = self.allocate(data.nbytes)
        if data.nbytes:
            call("copying to the GPU", driver.cuMemcpyHtoD(place, data.ctypes.data, data.nbytes))
        return place

    def _placed(self, one: Argument) -> int:
        if not one.is_output:
            return self._copied(one.value)
        return self.allocate(_bytes(one) + 2 * GUARD) + GUARD

    def wait(self) -> None:
        """Wait for all work."""
        call("running the kernel", driver.cuStreamSynchronize(self.stream))

    def prepare_outputs(self, poison: int) -> None:
        """Guards and poison for the outputs; what is read and written too is restored."""
        for one in self.case.outputs:
            place, size = self.places[one.name], _bytes(one)
            call("filling", driver.cuMemsetD8Async(place - GUARD, GUARD_BYTE, GUARD, self.stream))
            call("filling", driver.cuMemsetD8Async(place + size, GUARD_BYTE, GUARD, self.stream))
            if size and one.kind == "out":
                call("filling", driver.cuMemsetD8Async(place, poison, size, self.stream))
        self.restore()

    def restore(self) -> None:
        """Restore the arrays that are read and written."""
        for name, original in self.originals.items():
            size = next(_bytes(one) for one in self.case.outputs if one.name == name)
            call("restoring", driver.cuMemcpyDtoDAsync(self.places[name], original, size, self.stream))


class DriverLoaded:
    """One kernel on the GPU.

    Args:
        backend: The arguments.
        order: Its launch.
        built: Its machine code.
    """

    def __init__(self, backend: DriverBackend, order: Order, built: Built | None) -> None:
        self._backend = backend
        self._grid, self._block = order.grid, order.block
        self._shared, self._cooperative = order.shared_memory, order.cooperative
        limit = None
        if order.kind == "ptx":
            built, limit = ptx_of(order), order.registers
        if built is None:
            raise RunError("the kernel was not compiled")
        self._module = _module(built.cubin, limit)
        try:
            self._function = call(
                "finding the kernel", driver.cuModuleGetFunction(self._module, built.lowered[0].encode())
            )
            self._set_up(built)
        except BaseException:
            self.close()
            raise
        self._arguments = self._packed()

    def _set_up(self, built: Built) -> None:
        kinds = driver.CUfunction_attribute
        if self._shared > 48 * 1024:
            kind = kinds.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            call("asking for shared memory", driver.cuFuncSetAttribute(self._function, kind, self._shared))
        constants = self._backend.case.constants or {}
        for name, symbol in zip(constants, built.lowered[1:] or constants, strict=False):
            data = np.ascontiguousarray(constants[name])
            place, size = _two(driver.cuModuleGetGlobal(self._module, symbol.encode()), name)
            if size < data.nbytes:
                raise RunError(f"constant memory '{name}' has {size} bytes, but {data.nbytes} are given")
            call("writing constant memory", driver.cuMemcpyHtoD(place, data.ctypes.data, data.nbytes))
        if constants:
            call("writing constant memory", driver.cuCtxSynchronize())

    def _packed(self) -> tuple[Any, list[Any]]:
        held: list[Any] = []
        for one in self._backend.case.arguments:
            if one.kind == NUMBER:
                raw = np.ascontiguousarray(one.value).tobytes()
                held.append(ctypes.create_string_buffer(raw, len(raw)))
            else:
                held.append(ctypes.c_void_p(self._backend.places[one.name]))
        pointers = (ctypes.c_void_p * max(len(held), 1))(*[ctypes.addressof(one) for one in held])
        return pointers, held

    def _launch(self) -> None:
        pointers, _ = self._arguments
        stream = self._backend.stream
        if self._cooperative:
            answer = driver.cuLaunchCooperativeKernel(
                self._function, *self._grid, *self._block, self._shared, stream, ctypes.addressof(pointers)
            )
        else:
            answer = driver.cuLaunchKernel(
                self._function, *self._grid, *self._block, self._shared, stream, ctypes.addressof(pointers), 0
            )
        call("launching", answer)

    def run(self, poison: int) -> None:
        """Fill the outputs, run once and wait."""
        self._backend.prepare_outputs(poison)
        self._launch()
        self._backend.wait()

    def check(self) -> Verdict:
        """Compare the last run with what is expected, on the GPU."""
        checks = self._backend.checks
        return Verdict(0.0, 0.0, 0) if checks is None else checks.verdict()

    def keep(self) -> None:
        """Keep the outputs of the last run on the GPU."""
        if self._backend.checks is not None:
            self._backend.checks.keep()

    def same(self) -> bool:
        """Whether the outputs of the last run have the bits that were kept."""
        return self._backend.checks is None or self._backend.checks.same()

    def time(self, count: int, *, flush: bool, warm_up: int) -> list[float]:
        """Milliseconds of runs that are queued without waiting, each between its own events."""
        found: list[float] = []
        backend = self._backend
        backend.restore()
        for _ in range(warm_up):
            self._launch()
        while len(found) < count:
            now = min(count - len(found), QUEUED)
            for i in range(now):
                if flush:
                    size, stream = backend.flushed_bytes, backend.stream
                    call("flushing", driver.cuMemsetD8Async(backend.flushed, i & 1, size, stream))
                call("timing", driver.cuEventRecord(backend.events[2 * i], backend.stream))
                self._launch()
                call("timing", driver.cuEventRecord(backend.events[2 * i + 1], backend.stream))
            backend.wait()
            for i in range(now):
                pair = backend.events[2 * i], backend.events[2 * i + 1]
                found.append(float(call("timing", driver.cuEventElapsedTime(*pair))))
        return found

    def close(self) -> None:
        """Unload the module."""
        if self._module is not None:
            call("unloading", driver.cuModuleUnload(self._module))
            self._module = None


def _module(code: bytes, registers: int | None) -> Any:
    if registers is None:
        return call("loading the kernel", driver.cuModuleLoadData(code))
    option = driver.CUjit_option.CU_JIT_MAX_REGISTERS
    return call("loading the kernel", driver.cuModuleLoadDataEx(code, 1, [option], [registers]))


def _two(answer: tuple[Any, ...], name: str) -> tuple[Any, int]:
    status, place, size = answer
    call(f"finding constant memory '{name}'", (status,))
    return place, int(size)


def _bytes(one: Argument) -> int:
    return int(np.prod(one.value.shape, dtype=object)) * int(one.value.dtype.itemsize)
