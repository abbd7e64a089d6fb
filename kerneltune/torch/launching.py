"""Launchers of recurrent kernels on torch's tensors: solved, compiled, loaded once, then launched.

A launch after the first takes a few microseconds of the host: a kernel is found by its request, the argument
block is packed once and only its pointers are written again, and the driver is called with a configuration
that was made when the kernel was loaded.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from threading import Lock
from typing import Any, Protocol

import torch

from kerneltune.compiling.arguments import FIELDS, SIZES, struct_of
from kerneltune.compiling.ready import Supply, supply_of
from kerneltune.errors import InfeasibleError, InputError
from kerneltune.inputs.descriptions import CellSpec, Kernels, discover
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.inputs.problem import PASSES, Problem
from kerneltune.running import driver
from kerneltune.running.detect import profile_here
from kerneltune.running.launch import ExtendedKernel
from kerneltune.tiling.candidate import Candidate
from kerneltune.torch.loading import loaded

Tensors = Mapping[str, torch.Tensor]
request = lru_cache(maxsize=4096)(Problem)  # making and checking one takes longer than a launch
_FORWARD: dict[str, Any] = {"gate_gradient_clip": 0.0, "cut_recurrent_gradient": False}
TYPES = {
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "fp32": torch.float32,
    "tf32": torch.float32,
}
LEAST_WORKSPACE = 2**16  # bytes; larger ones double, so that few are left behind
MOST_LOADED = 4096  # requests whose kernels are found at once; they differ in their numbers of steps, too


class Launcher(Protocol):
    """The launcher of a problem's pass, on tensors by the names of its arguments."""

    def launch(self, problem: Problem, tensors: Tensors) -> None:
        """Queue one launch on torch's current stream; outputs are among the tensors."""


class TorchDevice:
    """torch's services for a launch."""

    def index(self, tensor: torch.Tensor) -> int:
        """The number of the tensor's GPU; raises `InputError` for one that is on none."""
        found: int = tensor.get_device()
        if found < 0:
            raise InputError(
                f"the tensors are on {tensor.device}, but kernels run on a GPU: move them to cuda"
            )
        return found

    def current(self) -> int:
        """The number of the GPU that this thread works on."""
        return int(torch._C._cuda_getDevice())

    def on(self, index: int) -> AbstractContextManager[object]:
        """Lets this thread work on that GPU."""
        context: AbstractContextManager[object] = torch.cuda.device(index)
        return context

    def stream(self, index: int) -> int:
        """The handle of the GPU's current stream."""
        return int(torch._C._cuda_getCurrentRawStream(index))

    def is_capturing(self) -> bool:
        """Whether the current stream is recorded into a graph."""
        return bool(torch.cuda.is_current_stream_capturing())

    def empty(self, size: int, index: int) -> torch.Tensor:
        """Memory of so many bytes, given away again only behind what is queued on the current stream."""
        return torch.empty(size, dtype=torch.uint8, device=torch.device("cuda", index))

    def lasting(self, size: int, index: int) -> int:
        """The address of memory of this thread's GPU that is never given away.

        It is the driver's: torch's allocator may have been told to give out a graph's memory for a while.
        """
        torch.cuda.set_device(index)  # from here on the thread has a context
        place, allocate = ctypes.c_uint64(), driver.library().cuMemAlloc_v2
        if allocate(ctypes.byref(place), ctypes.c_size_t(size)) == driver.OUT_OF_MEMORY:
            torch.cuda.empty_cache()
        if not place.value:
            driver.check("allocating", allocate(ctypes.byref(place), ctypes.c_size_t(size)))
        return place.value


class _Loaded:
    """A kernel in a device's primary context, with its argument block."""

    def __init__(
        self, problem: Problem, spec: CellSpec, kernel: ExtendedKernel, candidate: Candidate
    ) -> None:
        self._arrays = arrays_of(problem, spec)
        names = FIELDS[struct_of(problem.direction, bool(spec.weights))]
        pointers = [name for name in names if name not in SIZES]
        self.names = tuple(pointers)
        self.sizes_at = names.index(SIZES[0])  # among the pointers, they lie together
        self.workspace_at = pointers.index("workspace")
        self.pack = struct.Struct("".join("i" if name in SIZES else "P" for name in names)).pack_into
        self.kernel = kernel
        self.workspace, self.fill = candidate.workspace, candidate.workspace_fill
        self.fills = candidate.workspace and not candidate.stepwise
        self.rest = problem.batch, problem.heads, 0

    def check(self, problem: Problem, tensors: Tensors) -> None:
        """Raise `InputError` for a tensor that the kernel would not find as it reads it."""
        index = tensors["states"].get_device()
        for name, one in tensors.items():
            dtype, count, of_step = self._arrays[name]
            wanted = count + problem.steps * of_step
            fits = one.dtype == dtype and one.get_device() == index and one.numel() == wanted
            if not fits or not one.is_contiguous():
                raise InputError(
                    f"{name} is {list(one.shape)}, {one.dtype} on {one.device}, but the kernel reads "
                    f"{wanted} numbers one after another, {dtype} on {tensors['states'].device}"
                )


def arrays_of(problem: Problem, spec: CellSpec) -> dict[str, tuple[torch.dtype, int, int]]:
    """Of each array of a launch: its type, and its numbers besides and for each step."""
    dtype, gates, states = TYPES[problem.dtype], len(spec.gates), len(spec.states)
    heads, dim = problem.heads, problem.head_dim
    row = problem.batch * heads * dim
    floats = row * spec.saved_states
    return {
        **dict.fromkeys(("input", "input_gradient", "recurrent_gradient"), (dtype, 0, row * gates)),
        **dict.fromkeys(("last_gradient", "initial_gradient"), (dtype, row * states, 0)),
        "recurrent": (dtype, heads * gates * dim * dim, 0),
        "bias": (dtype, heads * gates * dim, 0),
        "weights": (dtype, heads * len(spec.weights) * dim, 0),
        "states": (dtype, row * states, row * states),
        "output_gradient": (dtype, 0, row),
        "saved_values": (dtype, 0, row * spec.saved_values),
        "saved_states": (torch.float32, floats, floats),
    }


@dataclass
class DeviceLauncher:
    """Solves, compiles, loads and launches, on whichever CUDA device the tensors are.

    Launches on one stream share one workspace, which each fills anew. A launch that is recorded into a graph
    has its own, out of the graph's memory.

    Attributes:
        profile: The profile of the GPUs.
        kernels: The kernels.
        device: What is asked of torch.
    """

    profile: HardwareProfile
    kernels: Kernels = field(default_factory=discover)
    device: TorchDevice = field(default_factory=TorchDevice)
    _supplied: Supply | None = None
    _found: dict[tuple[Problem, int], _Loaded] = field(default_factory=dict)
    _loaded: dict[tuple[Problem, int], _Loaded] = field(default_factory=dict)
    _workspaces: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    _costs: dict[Problem, float] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)  # autograd launches from threads of its own

    @property
    def supply(self) -> Supply:
        """Where kernels come from."""
        if self._supplied is None:
            self._supplied = supply_of(self.profile, self.kernels)
        return self._supplied

    def launch(self, problem: Problem, tensors: Tensors) -> None:
        """Queue one launch on the current stream of the tensors' device."""
        device = self.device
        index = device.index(tensors["states"])
        if device.current() != index:
            with device.on(index):
                return self.launch(problem, tensors)
        found = self._found.get((problem, index))
        if found is None:
            found = self._find(problem, index)
        found.check(problem, tensors)
        addresses = [tensors[name].data_ptr() if name in tensors else 0 for name in found.names]
        stream = device.stream(index)
        at = found.sizes_at
        with self._lock:
            if found.workspace:
                kept = addresses[found.workspace_at] = self._workspace(found, index, stream)
                if found.fills:
                    fill = driver.library().cuMemsetD8Async
                    driver.check("filling", fill(kept, found.fill, found.workspace, stream))
            sizes = problem.steps, *found.rest
            found.pack(found.kernel.arguments, 0, *addresses[:at], *sizes, *addresses[at:])
            found.kernel.queue(stream)
        return None

    def prepare(self, problems: Iterable[Problem]) -> None:
        """Solve and compile requests at the same time, and load them on the current device.

        Call it ahead of a graph's capture and of serving. Raises `InfeasibleError` where nothing fits.
        """
        wanted = list(problems)
        for problem in wanted:
            if self.supply.quickly(problem) is None:
                self.supply.begin(problem)
        index = self.device.current()
        self.device.empty(1, index)  # from here on the GPU has a context
        for problem in wanted:
            self._find(problem, index)

    def step_seconds(self, problem: Problem) -> float:
        """The time of a step of a request by the cost model; infinite where nothing fits."""
        key = replace(problem, steps=1)
        if key not in self._costs:
            ready = self.supply.quickly(key)
            from kerneltune.tiling.space import TilingSpace  # with the solver

            try:
                found = ready.candidate if ready else TilingSpace(key, self.profile, self.kernels).best()
                self._costs[key] = 1e-6 * found.cycles / self.profile.boost_mhz
            except InfeasibleError:
                self._costs[key] = math.inf
        return self._costs[key]

    def _find(self, problem: Problem, index: int) -> _Loaded:
        """The kernel of a request, loaded at the first call."""
        key = replace(problem, steps=1), index
        if key not in self._loaded:
            if problem.direction == "training" and self.supply.quickly(problem) is None:
                self.supply.begin(problem)  # the pass that follows is compiled at the same time
                self.supply.begin(replace(problem, direction="backward"))
            ready, spec = self.supply.get(problem), self.kernels.cell(problem.cell).spec
            with self._lock:
                if key not in self._loaded:
                    driver.use_primary_context(index)  # a thread may not have asked for the GPU yet
                    self._loaded[key] = _Loaded(problem, spec, loaded(ready), ready.candidate)
        if len(self._found) >= MOST_LOADED:
            self._found = {}
        found = self._found[problem, index] = self._loaded[key]
        return found

    def _workspace(self, found: _Loaded, index: int, stream: int) -> int:
        """The address of memory for a launch."""
        if self.device.is_capturing():
            return int(self.device.empty(found.workspace, index).data_ptr())
        size, kept = self._workspaces.get((index, stream), (0, 0))
        if size < found.workspace:
            size = max(LEAST_WORKSPACE, 1 << (found.workspace - 1).bit_length())
            kept = self.device.lasting(size, index)
            self._workspaces[index, stream] = size, kept
        return kept


def prepare(
    shapes: Iterable[Problem], *, training: bool = True, runs_on: DeviceLauncher | None = None
) -> None:
    """Solve, compile and load the kernels of layers at the same time, on the current device.

    Call it before a graph is captured, in which no kernel may be loaded, and before serving.

    Args:
        shapes: Requests; their passes and numbers of steps do not matter.
        training: Whether the training and backward passes are wanted beside the forward pass.
        runs_on: What launches them later; by default, this machine's GPU.

    Raises:
        InfeasibleError: Nothing fits.
    """
    passes = PASSES if training else ("forward",)
    plain = [replace(one, direction="forward", **_FORWARD) for one in shapes]
    wanted = [replace(one, direction=name) for one in plain for name in passes]
    (runs_on or launcher()).prepare(wanted)


@cache
def launcher() -> DeviceLauncher:
    """The launcher of this machine's GPU: of the profile that KERNELTUNE_GPU names, or that fits it."""
    return DeviceLauncher(profile_here())
