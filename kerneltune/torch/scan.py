"""Scans for PyTorch, as operators of `torch.library` with gradients, and layers on them.

    from kerneltune.torch import MinGRU, MinLSTM, linear_recurrence

    h, last = linear_recurrence(a, b)             # [B, T, D] each; last is [B, D], float32
    layer = MinGRU(512, 1024).to("cuda", torch.bfloat16)
    output, last = layer(x)                       # x [B, T, 512] -> [B, T, 1024]

On a GPU tilings are solved and kernels compiled at the first call with a new shape, and kept; call once ahead
of capturing a graph. On a CPU the same operators run by numba. States are float32 whatever the inputs are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from math import gcd
from threading import Lock
from typing import Any

import torch

from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.feedback import settle
from kerneltune.compiling.scan_arguments import INPUTS, OUTPUTS, packed_scan
from kerneltune.errors import InputError, nearest
from kerneltune.inputs.descriptions import Kernels
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.inputs.scan_problem import WIDEST_VECTOR, ScanProblem
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace
from kerneltune.torch.scan_cpu import backward_on_cpu, forward_on_cpu

DTYPES = {torch.bfloat16: "bf16", torch.float16: "fp16", torch.float32: "fp32"}


@dataclass(frozen=True)
class _Stream:
    handle: int


@dataclass
class _Loaded:
    """A kernel in the device's primary context, and the workspace that each stream keeps for it."""

    candidate: Candidate
    kernel: Any
    workspaces: dict[int, torch.Tensor] = field(default_factory=dict)

    def workspace(self, stream: int, device: torch.device) -> torch.Tensor:
        if stream not in self.workspaces:
            size = max(self.candidate.workspace, 16)
            self.workspaces[stream] = torch.full(
                (size,), self.candidate.workspace_fill, dtype=torch.uint8, device=device
            )
        return self.workspaces[stream]


@dataclass
class ScanLauncher:
    """Solves, compiles, loads and launches scans on whichever CUDA device the tensors are."""

    profile: HardwareProfile
    kernels: Kernels = field(default_factory=discover_scans)
    strategy: str | None = None  # only this one
    _loaded: dict[tuple[ScanProblem, torch.device], _Loaded] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)  # autograd launches from threads of its own

    def launch(self, problem: ScanProblem, tensors: dict[str, torch.Tensor]) -> None:
        """Queue one launch on the current stream; the tensors by the names of the kernel's arguments."""
        device = tensors["input0"].device
        # A kernel made for more steps serves fewer: tilings of powers of two are enough.
        key = replace(problem, steps=1 << (problem.steps - 1).bit_length()), device
        with self._lock, torch.cuda.device(device):
            if key not in self._loaded:
                self._loaded[key] = self._load(key[0])
            loaded = self._loaded[key]
            stream = torch.cuda.current_stream(device).cuda_stream
            addresses = {name: tensor.data_ptr() for name, tensor in tensors.items()}
            addresses["workspace"] = loaded.workspace(stream, device).data_ptr()
            strides = {
                name: (tensor.stride(0), tensor.stride(1))
                for name, tensor in tensors.items()
                if tensor.dim() == 3
            }
            loaded.kernel.launch(packed_scan(problem, addresses, strides), _Stream(stream))

    def _load(self, problem: ScanProblem) -> _Loaded:
        from kerneltune.running.launch import ExtendedKernel

        space = TilingSpace(problem, self.profile, self.kernels, self.strategy)
        compiled = settle(space, Compiler(space.kernels, self.profile)).compiled
        candidate = compiled.candidate
        cooperative = space.kernels.strategy(candidate.strategy).spec.cooperative
        return _Loaded(candidate, ExtendedKernel(compiled.cubin, candidate, cooperative=cooperative))


@cache
def launcher() -> ScanLauncher:
    """The launcher of this machine's GPU."""
    from kerneltune.torch.rnn import launcher as layers_launcher

    return ScanLauncher(layers_launcher().profile)


@torch.library.custom_op("kerneltune::scan", mutates_args=())  # type: ignore[untyped-decorator]
def _scan(
    cell: str,
    inputs: list[torch.Tensor],
    initial: torch.Tensor | None,
    lengths: torch.Tensor | None,
    resets: torch.Tensor | None,
    reverse: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    if inputs[0].device.type != "cuda":
        return forward_on_cpu(cell, inputs, (initial, lengths, resets, reverse))
    arrays = dict(zip(INPUTS, inputs, strict=False))
    problem, tensors = _launch_of(cell, arrays, initial, lengths, resets, reverse, "forward")
    hidden, last = _empty_results(inputs[0])
    launcher().launch(problem, {**tensors, "output0": hidden, "final_state": last})
    return hidden, last


@torch.library.register_fake("kerneltune::scan")  # type: ignore[untyped-decorator]
def _(
    cell: str,
    inputs: list[torch.Tensor],
    initial: torch.Tensor | None,
    lengths: torch.Tensor | None,
    resets: torch.Tensor | None,
    reverse: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    return _empty_results(inputs[0])


@torch.library.custom_op("kerneltune::scan_backward", mutates_args=())  # type: ignore[untyped-decorator]
def _scan_backward(
    cell: str,
    inputs: list[torch.Tensor],
    hidden: torch.Tensor,
    gradient: torch.Tensor,
    last_gradient: torch.Tensor,
    initial: torch.Tensor | None,
    lengths: torch.Tensor | None,
    resets: torch.Tensor | None,
    reverse: bool,
) -> list[torch.Tensor]:
    if inputs[0].device.type != "cuda":
        options = initial, lengths, resets, reverse
        return backward_on_cpu(cell, inputs, gradient, last_gradient, options)
    arrays = dict(zip(INPUTS, inputs, strict=False)) | {"hidden": hidden, "gradient": gradient}
    problem, tensors = _launch_of(cell, arrays, last_gradient, lengths, resets, reverse, "backward")
    found = [_empty_results(part) for part in inputs]
    tensors |= {name: pair[0] for name, pair in zip(OUTPUTS, found, strict=False)}
    by_initial = found[0][1]
    tensors["final_state"] = by_initial
    if initial is not None:
        tensors["first_hidden"] = initial
    launcher().launch(problem, tensors)
    return [*(pair[0] for pair in found), by_initial]


@torch.library.register_fake("kerneltune::scan_backward")  # type: ignore[untyped-decorator]
def _(
    cell: str,
    inputs: list[torch.Tensor],
    hidden: torch.Tensor,
    gradient: torch.Tensor,
    last_gradient: torch.Tensor,
    initial: torch.Tensor | None,
    lengths: torch.Tensor | None,
    resets: torch.Tensor | None,
    reverse: bool,
) -> list[torch.Tensor]:
    return [*(_empty_results(part)[0] for part in inputs), _empty_results(inputs[0])[1]]


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, torch.Tensor]) -> None:
    cell, read, initial, lengths, resets, reverse = inputs
    ctx.cell, ctx.reverse, ctx.count = cell, reverse, len(read)
    ctx.has_initial = initial is not None
    ctx.save_for_backward(*read, output[0], initial, lengths, resets)


def _differentiate(ctx: Any, by_hidden: torch.Tensor, by_last: torch.Tensor) -> tuple[Any, ...]:
    *read, hidden, initial, lengths, resets = ctx.saved_tensors
    found = _scan_backward(
        ctx.cell, read, hidden, by_hidden, by_last.float(), initial, lengths, resets, ctx.reverse
    )
    by_initial = found[ctx.count] if ctx.has_initial else None
    return None, found[: ctx.count], by_initial, None, None, None


torch.library.register_autograd("kerneltune::scan", _differentiate, setup_context=_remember)


def scan(
    cell: str,
    *inputs: torch.Tensor,
    initial: torch.Tensor | None = None,
    lengths: torch.Tensor | None = None,
    resets: torch.Tensor | None = None,
    reverse: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """A cell over all steps; gradients flow to its inputs and to `initial`.

    Args:
        cell: `linear`, `mingru` or `minlstm`.
        inputs: What the cell reads, `[B, T, D]` each, of one dtype: bf16, fp16 or float32. Channels should
            lie side by side, or they are copied; batch rows and steps may lie anywhere.
        initial: h before the first step, `[B, D]`; zeros if not given.
        lengths: Steps of each row that count, `[B]`; h is 0 at the others, which leave the state as it is.
        resets: `[B, T]`: true where h before the step is dropped.
        reverse: Whether the scan begins at the last step that counts.

    Returns:
        h after each step, `[B, T, D]`, and after the last, `[B, D]` in float32. Raises `InputError` for
        tensors that do not fit each other.
    """
    cells = discover_scans().cells
    if cell not in cells:
        raise InputError(f"unknown scan '{cell}': {nearest(cell, cells)}")
    if cells[cell].constants()["nonlinear"]:
        raise InputError(f"{cell} has weights of its own: call kerneltune.torch.diagonal.diagonal")
    _check(cells[cell].spec.gates, inputs, initial, lengths, resets)
    if initial is not None:
        initial = initial.float().contiguous()
    if lengths is not None:
        lengths = lengths.to(torch.int32).contiguous()
    if resets is not None:
        resets = resets.to(torch.uint8).contiguous()
    found: tuple[torch.Tensor, torch.Tensor] = _scan(cell, list(inputs), initial, lengths, resets, reverse)
    return found


def linear_recurrence(a: torch.Tensor, b: torch.Tensor, **options: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """H' = a h + b over `[B, T, D]`; options and results as for `scan`."""
    return scan("linear", a, b, **options)


class _Minimal(torch.nn.Module):  # type: ignore[misc] # torch has no types here
    """A minimal cell with its projections: one matrix product, then one scan that reads its parts in place.

    Args:
        input_size: Features of x.
        hidden_size: Channels of h.
        bias: Whether the projections have one.
    """

    cell: str

    def __init__(self, input_size: int, hidden_size: int, *, bias: bool = True) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.gates = len(discover_scans().cell(self.cell).spec.gates)
        self.projection = torch.nn.Linear(input_size, self.gates * hidden_size, bias=bias)

    def forward(
        self, x: torch.Tensor, initial: torch.Tensor | None = None, **options: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """H after each step, `[B, T, hidden_size]`, and after the last, from x `[B, T, input_size]`."""
        return scan(self.cell, *self.projection(x).chunk(self.gates, dim=-1), initial=initial, **options)


class MinGRU(_Minimal):
    """minGRU (Feng et al. 2024): z = sigmoid(k), h' = (1 - z) h + z g(n)."""

    cell = "mingru"


class MinLSTM(_Minimal):
    """minLSTM with normalised gates (Feng et al. 2024)."""

    cell = "minlstm"


def _check(
    gates: tuple[str, ...],
    inputs: tuple[torch.Tensor, ...],
    initial: torch.Tensor | None,
    lengths: torch.Tensor | None,
    resets: torch.Tensor | None,
) -> None:
    if len(inputs) != len(gates):
        raise InputError(f"the cell reads {', '.join(gates)}: {len(inputs)} tensors were given")
    first = inputs[0]
    if first.dim() != 3 or 0 in first.shape:
        raise InputError(f"{gates[0]} is [B, T, D], none of them 0, not {list(first.shape)}")
    if first.dtype not in DTYPES:
        raise InputError(f"{first.dtype} is not supported: {', '.join(map(str, DTYPES))} are")
    batch, steps, channels = first.shape
    for name, part in zip(gates, inputs, strict=True):
        if part.shape != first.shape or part.dtype != first.dtype or part.device != first.device:
            raise InputError(
                f"{name} is {list(part.shape)}, {part.dtype} on {part.device}, but {gates[0]} is "
                f"{list(first.shape)}, {first.dtype} on {first.device}"
            )
    for name, extra, shape in (
        ("initial", initial, [batch, channels]),
        ("lengths", lengths, [batch]),
        ("resets", resets, [batch, steps]),
    ):
        if extra is not None and (list(extra.shape) != shape or extra.device != first.device):
            raise InputError(
                f"{name} is {shape} on {first.device} here, not {list(extra.shape)} on {extra.device}"
            )


def _empty_results(first: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    batch, _, channels = first.shape
    hidden = torch.empty(first.shape, dtype=first.dtype, device=first.device)
    return hidden, torch.empty((batch, channels), dtype=torch.float32, device=first.device)


def _launch_of(
    cell: str,
    arrays: dict[str, torch.Tensor],
    entering: torch.Tensor | None,
    lengths: torch.Tensor | None,
    resets: torch.Tensor | None,
    reverse: bool,
    direction: str,
) -> tuple[ScanProblem, dict[str, torch.Tensor]]:
    """The request that these tensors make, and they by the names of the kernel's arguments."""
    arrays = {name: array if array.stride(2) == 1 else array.contiguous() for name, array in arrays.items()}
    first = arrays["input0"]
    size = first.element_size()
    places = [array.data_ptr() for array in arrays.values()]
    steps_apart = [array.stride(axis) * size for array in arrays.values() for axis in (0, 1)]
    problem = ScanProblem(
        cell,
        first.shape[0],
        first.shape[1],
        first.shape[2],
        DTYPES[first.dtype],
        direction,
        reverse,
        lengths is not None,
        resets is not None,
        gcd(WIDEST_VECTOR, *places, *steps_apart),
    )
    others = {"initial": entering, "lengths": lengths, "resets": resets}
    return problem, arrays | {name: part for name, part in others.items() if part is not None}
