"""This machine's GPU: memory, a stream and a clock. The only module that imports pycuda."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import pycuda.autoprimaryctx as primary  # makes the device's primary context current, as cuda-core would
import pycuda.driver as cuda
from numpy.typing import NDArray

from kerneltune.compiling.source import KERNEL_NAME
from kerneltune.errors import RunError
from kerneltune.measuring.loaded import guarded
from kerneltune.messages import Facts
from kerneltune.running.stepwise import kernel_of
from kerneltune.tiling.candidate import Candidate

GUARD = 4096  # bytes before and behind each output, checked for stray writes
GUARD_BYTE = 0xA5
QUEUED = 64  # timed runs that are queued at a time


def target_here() -> str:
    """The compiler's target for the device, whose context importing this module makes."""
    return "sm_{}{}".format(*primary.device.compute_capability())


class PycudaStream(Protocol):
    """A stream of pycuda."""

    @property
    def handle(self) -> int:
        """The driver's."""

    def synchronize(self) -> None:
        """Wait for all queued work."""


class GpuKernel(Protocol):
    """A kernel in the device's primary context."""

    def launch(self, arguments: bytes, stream: PycudaStream) -> None:
        """Queue one launch with one by-value parameter of these bytes."""

    def unload(self) -> None:
        """Free the module."""


class Gpu:
    """The device's primary context, with one stream."""

    def __init__(self) -> None:
        self._device = primary.device
        self.bus = str(self._device.pci_bus_id())
        self.facts = Facts(
            device=str(self._device.name()),
            compute_capability="{}.{}".format(*self._device.compute_capability()),
        )
        self.stream: PycudaStream = cuda.Stream()
        self._buffers: dict[int, cuda.DeviceAllocation] = {}
        self._events = [cuda.Event() for _ in range(2 * QUEUED)]
        self._flushed: tuple[int, int] | None = None

    def allocate(self, size: int) -> int:
        """The address of device memory."""
        buffer = cuda.mem_alloc(max(size, 16))
        self._buffers[int(buffer)] = buffer
        return int(buffer)

    def free(self, place: int) -> None:
        """Free memory of `allocate`."""
        self._buffers.pop(place).free()

    def upload(self, array: NDArray[np.generic]) -> int:
        """The address of a copy of an array."""
        place = self.allocate(array.nbytes)
        self.write(place, array)
        return place

    def write(self, place: int, array: NDArray[np.generic]) -> None:
        """Copy an array to an address."""
        if array.nbytes:
            cuda.memcpy_htod(place, np.ascontiguousarray(array))

    def read(self, place: int, size: int) -> NDArray[np.uint8]:
        """A copy of this many bytes at an address."""
        found = np.empty(size, np.uint8)
        cuda.memcpy_dtoh(found, place)
        return found

    def fill(self, place: int, byte: int, size: int) -> None:
        """Queue a fill of this many bytes."""
        if size:
            cuda.memset_d8_async(place, byte, size, self.stream)

    def copy(self, place: int, source: int, size: int) -> None:
        """Queue a copy of this many bytes within the GPU's memory."""
        if size:
            cuda.memcpy_dtod_async(place, source, size, self.stream)

    def wait(self) -> None:
        """Wait for all queued work."""
        self.stream.synchronize()

    def allocate_guarded(self, size: int) -> int:
        """The address of device memory with guards around it, freed by `free_guarded`."""
        return self.allocate(size + 2 * GUARD) + GUARD

    def free_guarded(self, place: int) -> None:
        """Free memory of `allocate_guarded`."""
        self.free(place - GUARD)

    def poison_guarded(self, place: int, byte: int, size: int) -> None:
        """Queue fills of an output with a byte, and of its guards."""
        self.fill(place - GUARD, GUARD_BYTE, size + 2 * GUARD)
        self.fill(place, byte, size)

    def read_guarded(self, name: str, place: int, size: int) -> NDArray[np.uint8]:
        """A copy of an output; raises `RunError` if one of its guards was written to."""
        raw = self.read(place - GUARD, size + 2 * GUARD)
        if (raw[:GUARD] != GUARD_BYTE).any() or (raw[-GUARD:] != GUARD_BYTE).any():
            raise guarded(name)
        return raw[GUARD:-GUARD]

    def load(self, cubin: bytes, candidate: Candidate, *, cooperative: bool) -> GpuKernel:
        """Load a tiling's kernel: by pycuda, or by the driver for what pycuda cannot launch."""
        if not (cooperative or candidate.cluster > 1 or candidate.stepwise):
            return _PlainKernel(cubin, candidate)
        kernel = kernel_of(cubin, candidate, cooperative=cooperative)
        if candidate.cluster > 1 and not kernel.resident_clusters():
            raise RunError(f"this GPU cannot hold one cluster of {candidate.cluster} such blocks")
        return kernel

    def timed(self, launch: Callable[[], None], count: int, *, flush: bool, warm_up: int) -> list[float]:
        """Milliseconds of runs, each between its own events.

        They are queued without waiting, so the GPU runs them back to back and the host's queueing time is not
        measured.
        """
        for _ in range(warm_up):
            launch()
        found: list[float] = []
        while len(found) < count:
            now = min(count - len(found), QUEUED)
            pairs = list(zip(self._events[0::2], self._events[1::2], strict=True))[:now]
            for number, (before, after) in enumerate(pairs):
                if flush:
                    self._flush(number & 1)
                before.record(self.stream)
                launch()
                after.record(self.stream)
            self.wait()
            found += [float(before.time_till(after)) for before, after in pairs]
        return found

    def _flush(self, byte: int) -> None:
        """Queue a fill of twice the L2 cache."""
        if self._flushed is None:
            size = 2 * max(self._device.get_attribute(cuda.device_attribute.L2_CACHE_SIZE), 1 << 20)
            self._flushed = self.allocate(size), size
        place, size = self._flushed
        self.fill(place, byte, size)


class _PlainKernel:
    """A kernel without clusters or a cooperative grid."""

    def __init__(self, cubin: bytes, candidate: Candidate) -> None:
        self._module = cuda.module_from_buffer(cubin)
        self._function = self._module.get_function(KERNEL_NAME)
        self._function.set_attribute(
            cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, candidate.shared_memory
        )
        self._candidate = candidate

    def launch(self, arguments: bytes, stream: PycudaStream) -> None:
        """Queue one launch with one by-value parameter whose bytes are ``arguments``."""
        self._function(
            np.void(arguments),
            block=(self._candidate.threads, 1, 1),
            grid=(self._candidate.blocks, 1),
            shared=self._candidate.shared_memory,
            stream=stream,
        )

    def unload(self) -> None:
        """Free the module: pycuda does so with its last reference."""
        self._function = self._module = None
