"""The Runner on this machine's GPU. The only module that imports pycuda."""

from __future__ import annotations

from typing import Any

import numpy as np
import pycuda.autoprimaryctx as primary  # makes the device's primary context current, as cuda-core would
import pycuda.driver as cuda

from kerneltune.candidate import Candidate
from kerneltune.errors import RunError
from kerneltune.halffloat import POISON, Bits
from kerneltune.source import KERNEL_NAME
from kerneltune.verify import Inputs

GUARD = 4096  # bytes before and behind the states that no kernel may touch
GUARD_BYTE = 0xA5
WARM_UP = 3

# ForwardArguments of kernels/_common/arguments.cuh.
ARGUMENTS = np.dtype(
    [(name, np.uint64) for name in ("input", "recurrent", "bias", "states", "workspace")]
    + [(name, np.int32) for name in ("steps", "batch", "heads")],
    align=True,
)


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

    def prepare(self, candidate: Candidate, cubin: bytes, inputs: Inputs, *, cooperative: bool) -> None:
        """Load the kernel and upload its input; frees what was there before."""
        self._free()
        self._inputs = inputs
        uploads = [self._upload(bits) for bits in (inputs.wx, inputs.r, inputs.bias)]
        self._state_bytes = int(np.prod(inputs.states_shape)) * 2
        self._guarded = self._allocate(self._state_bytes + 2 * GUARD)
        self._states = int(self._guarded) + GUARD
        self._workspace_bytes, self._workspace_fill = candidate.workspace, candidate.workspace_fill
        self._workspace = self._allocate(max(candidate.workspace, 16))
        arguments = np.zeros(1, ARGUMENTS)
        arguments[0] = (
            *(int(upload) for upload in uploads),
            self._states,
            int(self._workspace),
            inputs.problem.steps,
            inputs.problem.batch,
            inputs.problem.heads,
        )
        self._arguments = arguments.tobytes()
        if cooperative or candidate.cluster > 1:
            from kerneltune.launch import ExtendedKernel

            kernel = ExtendedKernel(cubin, candidate, cooperative=cooperative)
            if candidate.cluster > 1 and not kernel.resident_clusters():
                raise RunError(f"this GPU cannot hold one cluster of {candidate.cluster} such blocks")
            self._kernel = kernel
        else:
            self._kernel = _PlainKernel(cubin, candidate)

    def run_once(self) -> None:
        """Poison the outputs, restore the initial states, fill the workspace, launch, wait."""
        cuda.memset_d8_async(int(self._guarded), GUARD_BYTE, self._state_bytes + 2 * GUARD, self._stream)
        cuda.memset_d8_async(self._states, POISON, self._state_bytes, self._stream)
        self._stream.synchronize()
        self._restore_initial_states()
        self._launch()
        self._stream.synchronize()

    def read_states(self) -> Bits:
        """The states of the last run; `RunError` if anything was written beside them."""
        raw = np.empty(self._state_bytes + 2 * GUARD, np.uint8)
        cuda.memcpy_dtoh(raw, int(self._guarded))
        for guard in (raw[:GUARD], raw[-GUARD:]):
            if (guard != GUARD_BYTE).any():
                raise RunError("the kernel wrote outside the states array")
        return raw[GUARD:-GUARD].view(np.uint16).reshape(self._inputs.states_shape)

    def time(self, count: int) -> list[float]:
        """Milliseconds of ``count`` launches after a warm-up, each between its own two events.

        The launches are queued without waiting, so that the GPU goes from one to the next and the time the
        host takes to queue them is not counted.
        """
        self._restore_initial_states()
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
        if self._workspace_bytes:
            cuda.memset_d8_async(
                int(self._workspace), self._workspace_fill, self._workspace_bytes, self._stream
            )

    def _restore_initial_states(self) -> None:
        count, steps, *rest = self._inputs.states_shape
        plane = steps * int(np.prod(rest)) * 2
        for state in range(count):
            cuda.memcpy_htod(self._states + state * plane, np.ascontiguousarray(self._inputs.initial[state]))

    def _upload(self, bits: Bits) -> Any:
        buffer = self._allocate(bits.nbytes)
        cuda.memcpy_htod(int(buffer), np.ascontiguousarray(bits))
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
