"""Launchers of scan kernels on torch's tensors: solved, compiled, loaded once, then launched."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from math import gcd
from threading import Lock
from typing import NamedTuple

import torch

from kerneltune.compiling.scan_arguments import ARRAYS, POINTERS, numbers, packed
from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import Kernels
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.inputs.scan_problem import WIDEST_VECTOR, ScanProblem
from kerneltune.running import driver
from kerneltune.running.launch import ExtendedKernel
from kerneltune.running.scan_arrays import state_width, widths_of
from kerneltune.tiling.candidate import Candidate
from kerneltune.torch.loading import Stream, load
from kerneltune.torch.scan_options import Options

DTYPES = {torch.bfloat16: "bf16", torch.float16: "fp16", torch.float32: "fp32"}
MOST_FOUND = 4096  # launches that are made ready
_NAMED = {name: dtype for dtype, name in DTYPES.items()}
_WORKSPACE = POINTERS.index("workspace")
_TYPES = {"resets": torch.uint8, **dict.fromkeys(("lengths", "boundaries", "repaired"), torch.int32)}


@dataclass
class _Loaded:
    """A kernel in the device's primary context, and the workspace that each stream keeps for it."""

    candidate: Candidate
    kernel: ExtendedKernel
    workspaces: dict[int, torch.Tensor] = field(default_factory=dict)

    def workspace(self, stream: int, device: torch.device) -> torch.Tensor:
        if stream not in self.workspaces:
            size = max(self.candidate.workspace, 16)
            self.workspaces[stream] = torch.full(
                (size,), self.candidate.workspace_fill, dtype=torch.uint8, device=device
            )
        return self.workspaces[stream]


class Form(NamedTuple):
    """A launch besides its tensors: the cell, the pass, and how many tensors, the first, are its arrays."""

    cell: str
    direction: str
    reverse: bool
    arrays: int

    def problem(self, tensors: dict[str, torch.Tensor], alignment: int) -> ScanProblem:
        """The request, for tensors by the names of the kernel's arguments.

        Args:
            tensors: The arrays that the kernel reads of every step, then all others.
            alignment: The largest power of two bytes, up to `WIDEST_VECTOR`, that divides the addresses of
                the arrays.
        """
        pairs, width = _widths(self.cell)
        first, read = tensors["input0"], list(tensors.values())[: self.arrays]
        apart = [array.stride(axis) * first.element_size() for array in read for axis in (0, 1)]
        boundaries = tensors.get("boundaries")
        batch, steps, wide = first.shape
        return ScanProblem(
            *(self.cell, batch, steps, wide // width, DTYPES[first.dtype], self.direction),
            reverse=self.reverse,
            lengths="lengths" in tensors,
            resets="resets" in tensors,
            alignment=WIDEST_VECTOR if pairs else gcd(alignment, *apart),
            sequences=0 if boundaries is None else boundaries.shape[0] - 1,
        )


@dataclass(frozen=True)
class _Ready:
    """A launch of which only the addresses are missing.

    Attributes:
        loaded: The kernel.
        numbers: The fields of its arguments that are no pointers.
        places: Which pointer each tensor is, in the order in which they are given.
    """

    loaded: _Loaded
    numbers: tuple[int, ...]
    places: tuple[int, ...]

    def arguments(self, addresses: Iterable[int], workspace: int) -> bytes:
        """The kernel's, for tensors at these addresses."""
        pointers = [0] * len(POINTERS)
        for place, address in zip(self.places, addresses, strict=True):
            pointers[place] = address
        pointers[_WORKSPACE] = workspace
        return packed(pointers, self.numbers)


@dataclass
class ScanLauncher:
    """Solves, compiles, loads and launches scans on whichever CUDA device the tensors are."""

    profile: HardwareProfile
    kernels: Kernels = field(default_factory=discover_scans)
    strategy: str | None = None  # only this one
    _loaded: dict[tuple[ScanProblem, int], _Loaded] = field(default_factory=dict)
    _ready: dict[Hashable, _Ready] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)  # autograd launches from threads of its own

    def launch(self, form: Form, tensors: dict[str, torch.Tensor]) -> None:
        """Queue one launch on the current stream; the tensors by the names of the kernel's arguments."""
        first = tensors["input0"]
        index = first.get_device()
        if int(torch._C._cuda_getDevice()) != index:
            with torch.cuda.device(index):
                return self.launch(form, tensors)
        addresses = [tensor.data_ptr() for tensor in tensors.values()]
        alignment = gcd(WIDEST_VECTOR, *addresses[: form.arrays])
        laid = [(name, t.shape, t.stride(), t.dtype, t.get_device()) for name, t in tensors.items()]
        key = form, alignment, *laid
        stream = int(torch._C._cuda_getCurrentRawStream(index))
        with self._lock:
            ready = self._ready.get(key) or self._make_ready(key, form.problem(tensors, alignment), tensors)
            workspace = ready.loaded.workspace(stream, first.device).data_ptr()
            ready.loaded.kernel.launch(ready.arguments(addresses, workspace), Stream(stream))
        return None

    def _make_ready(self, key: Hashable, problem: ScanProblem, tensors: dict[str, torch.Tensor]) -> _Ready:
        first = tensors["input0"]
        _check_arrays(problem, tensors, first.device)
        strides = {
            name: (tensor.stride(0), tensor.stride(1))
            for name, tensor in tensors.items()
            if tensor.dim() == 3
        }
        places = tuple(POINTERS.index(name) for name in tensors)
        if len(self._ready) >= MOST_FOUND:
            self._ready = {}
        loaded = self._find(problem, first.get_device())
        found = self._ready[key] = _Ready(loaded, numbers(problem, strides), places)
        return found

    def _find(self, problem: ScanProblem, index: int) -> _Loaded:
        """The kernel of a request: one made for more steps serves fewer, so powers of two are enough."""
        steps, some = 1 << (problem.steps - 1).bit_length(), min(problem.sequences, 1)
        key = replace(problem, steps=steps, sequences=some), index
        if key not in self._loaded:
            driver.use_primary_context(index)  # autograd's threads have none before they ask for the GPU
            self._loaded[key] = self._load(key[0])
        return self._loaded[key]

    def _load(self, problem: ScanProblem) -> _Loaded:
        return _Loaded(*load(problem, self.profile, self.kernels, self.strategy))


def _check_arrays(problem: ScanProblem, tensors: dict[str, torch.Tensor], device: torch.device) -> None:
    """Raise `InputError` for a tensor on another device, or laid out as the kernel does not read it."""
    for name, one in tensors.items():
        dtype = _NAMED[problem.dtype] if name in ARRAYS else _TYPES.get(name, torch.float32)
        if name not in ARRAYS and not one.is_contiguous():
            raise InputError(
                f"{name} is {list(one.shape)} with strides {one.stride()}: it must be contiguous"
            )
        if one.device != device or one.dtype != dtype:
            raise InputError(f"{name} is {one.dtype} on {one.device}, but {dtype} on {device} is wanted")


@cache
def launcher(strategy: str = "") -> ScanLauncher:
    """The launcher of this machine's GPU, of one strategy alone if it is named."""
    from kerneltune.torch.launching import launcher as layers_launcher

    return ScanLauncher(layers_launcher().profile, strategy=strategy or None)


def run_kernel(
    cell: str,
    direction: str,
    options: Options,
    arrays: dict[str, torch.Tensor],
    others: dict[str, torch.Tensor],
) -> None:
    """Queue one launch.

    Args:
        cell: The cell's name.
        direction: The pass.
        options: Those of the call; backward, `initial` is the gradient by the last states.
        arrays: What the kernel reads of every step, by the names of its arguments.
        others: What it writes, and what else it reads, likewise.
    """
    pairs, _ = _widths(cell)
    arrays = {
        name: aligned(array) if pairs else array if array.stride(2) == 1 else array.contiguous()
        for name, array in arrays.items()
    }
    # A caller's are contiguous, what vmap folds and compilers hand over need not be.
    given = {
        name: part.contiguous()
        for name in ("initial", "lengths", "resets", "boundaries", "weights")
        if (part := getattr(options, name)) is not None
    }
    form = Form(cell, direction, options.reverse, len(arrays))
    launcher(options.strategy).launch(form, {**arrays, **given, **others})


@cache
def _widths(cell: str) -> tuple[bool, int]:
    """Whether a channel of the state is several numbers, and numbers of a channel of the first input."""
    about = discover_scans().cell(cell)
    return state_width(about) > 1, widths_of(about)[0]


def named(names: Iterable[str], tensors: Iterable[torch.Tensor]) -> dict[str, torch.Tensor]:
    """As many of the names as there are tensors."""
    return dict(zip(names, tensors, strict=False))


def aligned(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, or a copy, contiguous and at an address that the widest reads are allowed at."""
    tensor = tensor.contiguous()
    return tensor.clone() if tensor.data_ptr() % WIDEST_VECTOR else tensor
