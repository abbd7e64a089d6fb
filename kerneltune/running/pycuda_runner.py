"""The `Runner` for this machine's GPU. The only module that imports pycuda."""

from __future__ import annotations

from typing import Any

import numpy as np
import pycuda.autoprimaryctx as primary  # makes the device's primary context current, as cuda-core would
import pycuda.driver as cuda
from numpy.typing import NDArray

from kerneltune.compiling.arguments import packed
from kerneltune.compiling.halffloat import POISON
from kerneltune.compiling.source import KERNEL_NAME
from kerneltune.errors import RunError
from kerneltune.running.any_case import AnyCase
from kerneltune.running.scan_case import ScanCase
from kerneltune.tiling.candidate import Candidate

GUARD = 4096  # bytes before and behind each output, checked for stray writes
GUARD_BYTE = 0xA5
WARM_UP = 3


class PycudaRunner:
    """One kernel and its buffers in the device's primary context."""

    def __init__(self) -> None:
        self._device = primary.device
        self._stream = cuda.Stream()
        self._buffers: list[Any] = []
        self._kernel: _PlainKernel | Any = None

    @property
    def device(self) -> str:
        """The GPU's name."""
        return str(self._device.name())

    @property
    def compute_capability(self) -> str:
        """The GPU's compute capability."""
        return "{}.{}".format(*self._device.compute_capability())

    def prepare(self, candidate: Candidate, cubin: bytes, case: AnyCase, *, cooperative: bool) -> None:
        """Load the kernel and upload its input; frees the previous kernel and buffers."""
        self._free()
        self._case = case
        addresses = {name: int(self._upload(array)) for name, array in case.inputs.items()}
        self._places = {}
        for name, output in case.outputs.items():
            self._places[name] = int(self._allocate(output.nbytes + 2 * GUARD)) + GUARD
        self._workspace_bytes, self._workspace_fill = candidate.workspace, candidate.workspace_fill
        self._workspace_kept = candidate.workspace_kept
        self._workspace = self._allocate(max(candidate.workspace, 16))
        if self._workspace_kept:
            cuda.memset_d8_async(
                int(self._workspace), self._workspace_fill, max(candidate.workspace, 16), self._stream
            )
        self._arguments = packed(
            case.problem,
            {**addresses, **self._places, "workspace": int(self._workspace)},
            case.strides if isinstance(case, ScanCase) else None,
        )
        if cooperative or candidate.cluster > 1 or candidate.stepwise:
            from kerneltune.running.stepwise import kernel_of

            kernel = kernel_of(cubin, candidate, cooperative=cooperative)
            if candidate.cluster > 1 and not kernel.resident_clusters():
                raise RunError(f"this GPU cannot hold one cluster of {candidate.cluster} such blocks")
            self._kernel = kernel
        else:
            self._kernel = _PlainKernel(cubin, candidate)

    def run_once(self) -> None:
        """Poison the outputs, restore their initial contents, fill the workspace, launch, wait."""
        for name, output in self._case.outputs.items():
            place = self._places[name]
            cuda.memset_d8_async(place - GUARD, GUARD_BYTE, output.nbytes + 2 * GUARD, self._stream)
            cuda.memset_d8_async(place, POISON, output.nbytes, self._stream)
        self._stream.synchronize()
        self._restore_initial()
        self._launch()
        self._stream.synchronize()

    def read(self) -> dict[str, NDArray[Any]]:
        """The outputs of the last run; raises `RunError` if the kernel wrote outside them."""
        found = {}
        for name, output in self._case.outputs.items():
            raw = np.empty(output.nbytes + 2 * GUARD, np.uint8)
            cuda.memcpy_dtoh(raw, self._places[name] - GUARD)
            for guard in (raw[:GUARD], raw[-GUARD:]):
                if (guard != GUARD_BYTE).any():
                    raise RunError(f"the kernel wrote outside the array '{name}'")
            found[name] = raw[GUARD:-GUARD].view(output.dtype).reshape(output.shape)
        return found

    def time(self, count: int) -> list[float]:
        """Milliseconds of ``count`` launches after a warm-up, each between its own two events.

        The launches are queued without waiting, so the GPU runs them back to back and the host's queueing
        time is not measured.
        """
        self._restore_initial()
        marks = [(cuda.Event(), cuda.Event()) for _ in range(count + WARM_UP)]
        for before, after in marks:
            before.record(self._stream)
            self._fill_workspace()
            self._kernel.launch(self._arguments, self._stream)
            after.record(self._stream)
        self._stream.synchronize()
        return [before.time_till(after) for before, after in marks[WARM_UP:]]

    def _launch(self) -> None:
        self._fill_workspace()
        self._kernel.launch(self._arguments, self._stream)

    def _fill_workspace(self) -> None:
        if self._workspace_bytes and not self._workspace_kept:
            cuda.memset_d8_async(
                int(self._workspace), self._workspace_fill, self._workspace_bytes, self._stream
            )

    def _restore_initial(self) -> None:
        for name, output in self._case.outputs.items():
            if output.initial is None:
                continue
            plane = output.nbytes // output.shape[0]
            for index, initial in enumerate(output.initial):
                cuda.memcpy_htod(self._places[name] + index * plane, np.ascontiguousarray(initial))

    def _upload(self, array: NDArray[Any]) -> Any:
        buffer = self._allocate(max(array.nbytes, 16))
        cuda.memcpy_htod(int(buffer), np.ascontiguousarray(array))
        return buffer

    def _allocate(self, size: int) -> Any:
        buffer = cuda.mem_alloc(size)
        self._buffers.append(buffer)
        return buffer

    def _free(self) -> None:
        if self._kernel is not None:
            self._kernel.unload()
            self._kernel = None
        for buffer in self._buffers:
            buffer.free()
        self._buffers.clear()


class _PlainKernel:
    """A kernel without clusters or a cooperative grid."""

    def __init__(self, cubin: bytes, candidate: Candidate) -> None:
        self._module = cuda.module_from_buffer(cubin)
        self._function = self._module.get_function(KERNEL_NAME)
        self._function.set_attribute(
            cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, candidate.shared_memory
        )
        self._candidate = candidate

    def launch(self, arguments: bytes, stream: Any) -> None:
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
