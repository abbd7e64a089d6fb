"""Diagonal cells for PyTorch: layers that are not linear in their state, with diagonal recurrent weights.

    from kerneltune.torch import DiagonalGRU, diagonal

    layer = DiagonalGRU(512, 1024).to("cuda", torch.bfloat16)
    output, last = layer(x)              # x [B, T, 512] -> [B, T, 1024]; last is [S, B, 1024], float32

The answer is that of the steps in order, whatever computes it. On a GPU the solver decides how: every channel
in order, or chunks of time at once whose boundaries are verified and repaired. On a CPU numba takes the steps
in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from kerneltune.compiling.scan_arguments import INPUTS, OUTPUTS
from kerneltune.errors import InputError, nearest
from kerneltune.inputs.scan_descriptions import ScanCell, discover_scans, is_nonlinear
from kerneltune.running.diagonal_cpu import CpuInputs, backward, forward
from kerneltune.running.diagonal_reference import CHECKPOINT_STEPS
from kerneltune.torch.fitting import Fixed
from kerneltune.torch.native import differentiable_gradients, differentiates_twice
from kerneltune.torch.newton import newton
from kerneltune.torch.scan import check_tensors, launch_of
from kerneltune.torch.scan_cpu import Options
from kerneltune.torch.scan_launching import launcher
from kerneltune.torch.scan_native import native_diagonal

PARALLEL = ("sequential", "overlap", "newton")  # besides the solver's choice


@torch.library.custom_op("kerneltune::diagonal", mutates_args=())  # type: ignore[untyped-decorator]
def _diagonal(
    cell: str,
    inputs: list[torch.Tensor],
    weights: torch.Tensor,
    initial: torch.Tensor | None,
    lengths: torch.Tensor | None,
    resets: torch.Tensor | None,
    reverse: bool,
    strategy: str,
    keeps: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    results = _empty_results(cell, inputs[0], keeps)
    if not inputs[0].numel():
        results[3].zero_()
        return results
    if inputs[0].device.type != "cuda":
        found = forward(cell, _cpu(inputs, weights, lengths, resets, reverse), _start(results[1], initial))
        for result, array in zip(results[:3] if keeps else results[:2], found, strict=False):
            result.copy_(torch.from_numpy(array))
        results[3].zero_()
        return results
    arrays = dict(zip(INPUTS, inputs, strict=False))
    direction = "training" if keeps else "forward"
    options = Options(initial, lengths, resets, reverse=reverse)
    problem, tensors = launch_of(cell, arrays, options, direction)
    names = ("output0", "final_state", "checkpoints", "repaired")
    tensors |= dict(zip(names, results, strict=True)) | {"weights": weights.contiguous()}
    if not keeps:
        del tensors["checkpoints"]
    launcher(strategy).launch(problem, tensors)
    return results


@torch.library.register_fake("kerneltune::diagonal")  # type: ignore[untyped-decorator]
def _(
    cell: str,
    inputs: list[torch.Tensor],
    weights: torch.Tensor,
    initial: torch.Tensor | None,
    lengths: torch.Tensor | None,
    resets: torch.Tensor | None,
    reverse: bool,
    strategy: str,
    keeps: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    _check(cell, inputs, weights, initial, lengths, resets)  # compiled code does not ask again
    return _empty_results(cell, inputs[0], keeps)


@torch.library.custom_op("kerneltune::diagonal_backward", mutates_args=())  # type: ignore[untyped-decorator]
def _diagonal_backward(
    cell: str,
    inputs: list[torch.Tensor],
    weights: torch.Tensor,
    kept: torch.Tensor,
    gradient: torch.Tensor,
    last_gradient: torch.Tensor,
    lengths: torch.Tensor | None,
    resets: torch.Tensor | None,
    reverse: bool,
    strategy: str,
) -> list[torch.Tensor]:
    found = _empty_gradients(inputs, weights, last_gradient)
    count = len(inputs)
    if not inputs[0].numel():
        return [*found[: count + 1], found[count + 1].sum(0)]
    if inputs[0].device.type != "cuda":
        read = _cpu(inputs, weights, lengths, resets, reverse)
        by_input, by_initial, by_row = backward(
            cell, read, kept.numpy(), gradient.float().numpy(), last_gradient.float().numpy()
        )
        for result, array in zip(found, (*by_input, by_initial, by_row), strict=True):
            result.copy_(torch.from_numpy(array))
    else:
        arrays = dict(zip(INPUTS, inputs, strict=False)) | {"gradient": gradient}
        options = Options(last_gradient.contiguous(), lengths, resets, reverse=reverse)
        problem, tensors = launch_of(cell, arrays, options, "backward")
        tensors |= dict(zip(OUTPUTS, found[:count], strict=False))
        tensors |= {"final_state": found[count], "weight_gradient": found[count + 1]}
        tensors |= {"weights": weights.contiguous(), "checkpoints": kept.contiguous()}
        launcher(strategy).launch(problem, tensors)
    return [*found[: count + 1], found[count + 1].sum(0)]


@torch.library.register_fake("kerneltune::diagonal_backward")  # type: ignore[untyped-decorator]
def _(
    cell: str,
    inputs: list[torch.Tensor],
    weights: torch.Tensor,
    kept: torch.Tensor,
    gradient: torch.Tensor,
    last_gradient: torch.Tensor,
    lengths: torch.Tensor | None,
    resets: torch.Tensor | None,
    reverse: bool,
    strategy: str,
) -> list[torch.Tensor]:
    found = _empty_gradients(inputs, weights, last_gradient)
    return [*found[:-1], torch.empty_like(weights)]


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
    cell, read, weights, initial, lengths, resets, reverse, strategy, keeps = inputs
    if not keeps:
        raise InputError("gradients need the states that keeps=True keeps: call kerneltune.torch.diagonal")
    ctx.cell, ctx.reverse, ctx.strategy, ctx.count = cell, reverse, strategy, len(read)
    ctx.has_initial = initial is not None
    ctx.mark_non_differentiable(output[2], output[3])
    ctx.save_for_backward(*read, weights, output[2], initial, lengths, resets)


def _differentiate(ctx: Any, by_hidden: torch.Tensor, by_last: torch.Tensor, *_: Any) -> tuple[Any, ...]:
    *read, weights, kept, initial, lengths, resets = ctx.saved_tensors
    if torch.is_grad_enabled():  # what follows is differentiated, too

        def run(*parts: torch.Tensor) -> tuple[torch.Tensor, ...]:
            first = parts[-1] if ctx.has_initial else None
            options = Options(first, lengths, resets, None, ctx.reverse)
            return native_diagonal(ctx.cell, list(parts[: ctx.count]), parts[ctx.count], options)

        given = [*read, weights] if initial is None else [*read, weights, initial]
        again = differentiable_gradients(run, given, (by_hidden, by_last))
        by_start = again[-1] if ctx.has_initial else None
        return (None, again[: ctx.count], again[ctx.count], by_start, *[None] * 5)
    found = _diagonal_backward(
        *(ctx.cell, read, weights, kept, by_hidden, by_last.float(), lengths, resets),
        *(ctx.reverse, ctx.strategy),
    )
    by_initial = found[ctx.count] if ctx.has_initial else None
    return (None, found[: ctx.count], found[ctx.count + 1], by_initial, *[None] * 5)


torch.library.register_autograd("kerneltune::diagonal", _differentiate, setup_context=_remember)
operator, backward_operator = _diagonal, _diagonal_backward


class _ByNewton(torch.autograd.Function):  # type: ignore[misc] # torch has no types here
    """Newton's method; its gradients are those of the steps in order, along the states that it found."""

    @staticmethod
    def forward(
        ctx: Any, cell: str, weights: torch.Tensor, initial: torch.Tensor | None, *inputs: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        found = newton(cell, inputs, weights, initial)
        ctx.cell, ctx.has_initial = cell, initial is not None
        ctx.save_for_backward(weights, found.kept, *inputs)
        return found.hidden, found.last

    @staticmethod
    def backward(ctx: Any, by_hidden: torch.Tensor, by_last: torch.Tensor) -> tuple[Any, ...]:
        weights, kept, *inputs = ctx.saved_tensors
        last_gradient = by_last.float()
        found = _diagonal_backward(
            *(ctx.cell, inputs, weights, kept, by_hidden, last_gradient, None, None), False, ""
        )
        count = len(inputs)
        return (None, found[count + 1], found[count] if ctx.has_initial else None, *found[:count])


def diagonal(
    cell: str,
    *inputs: torch.Tensor,
    weights: torch.Tensor,
    initial: torch.Tensor | None = None,
    lengths: torch.Tensor | None = None,
    resets: torch.Tensor | None = None,
    reverse: bool = False,
    parallel: str | None = None,
    report: bool = False,
) -> Any:
    """A diagonal cell over all steps; gradients flow to its inputs, to its weights and to `initial`.

    Args:
        cell: `diag_gru`, `diag_lstm`, `diag_slstm`, or any other below `kernels/scan/cells` that has weights.
        inputs: What the cell reads, `[B, T, D]` each, of one dtype: bf16, fp16 or float32. Channels should
            lie side by side, or they are copied; batch rows and steps may lie anywhere.
        weights: The recurrent weights of each channel, `[W, D]`, in the order of `cell.yaml`.
        initial: The states before the first step, `[S, B, D]`; zeros if not given.
        lengths: Steps of each row that count, `[B]`; h is 0 at the others, which leave the states alone.
        resets: `[B, T]`: true where the states before the step are dropped.
        reverse: Whether the first step is the last that counts.
        parallel: `sequential` or `overlap` instead of what the solver chooses, both exact; or `newton`,
            iterations on all steps at once, which warns where they have not converged.
        report: Whether to return what was repaired, too.

    Returns:
        h after each step, `[B, T, D]`, and the states after the last, `[S, B, D]` in float32. With `report`
        also four integers on the inputs' device: boundaries between chunks that had moved at first, rounds
        of repair, boundaries that were passed in order, and all boundaries. Raises `InputError` for tensors
        that do not fit each other.
    """
    if not torch.compiler.is_compiling():  # else the operator's fake checks, which compilers do not trace
        _check(cell, inputs, weights, initial, lengths, resets)
    if parallel is not None and parallel not in PARALLEL:
        raise InputError(f"unknown parallel '{parallel}': {nearest(parallel, PARALLEL)}")
    weights = weights.float().contiguous()
    initial = None if initial is None else initial.float().contiguous()
    lengths = None if lengths is None else lengths.to(torch.int32).contiguous()
    resets = None if resets is None else resets.to(torch.uint8).contiguous()
    if parallel == "newton":
        if lengths is not None or resets is not None or reverse:
            raise InputError("parallel='newton' has neither lengths nor resets nor reverse")
        by_newton: tuple[torch.Tensor, torch.Tensor] = _ByNewton.apply(cell, weights, initial, *inputs)
        return (*by_newton, torch.zeros(4, dtype=torch.int32, device=weights.device)) if report else by_newton
    tensors = [part for part in (*inputs, weights, initial) if part is not None]
    keeps = torch.is_grad_enabled() and any(part.requires_grad for part in tensors)
    options = (cell, list(inputs), weights, initial, lengths, resets, reverse, parallel or "", keeps)
    if not torch.compiler.is_compiling() and torch._C._are_functorch_transforms_active():
        return _transformed(options, report)
    if keeps:
        hidden, last, _, repaired = _diagonal(*options)
    else:
        with torch.no_grad():
            hidden, last, _, repaired = _diagonal(*options)
    return (hidden, last, repaired) if report else (hidden, last)


def _transformed(options: tuple[Any, ...], report: bool) -> Any:
    """Under torch.func."""
    cell, inputs, weights, initial, lengths, resets, reverse, strategy, _ = options
    if differentiates_twice():
        given = Options(initial, lengths, resets, None, reverse)
        found = native_diagonal(cell, inputs, weights, given)
        return (*found, torch.zeros(4, dtype=torch.int32, device=weights.device)) if report else found
    from kerneltune.torch.scan_transforms import TransformedDiagonal

    hidden, last, _, repaired = TransformedDiagonal.apply(
        cell, reverse, strategy, weights, initial, lengths, resets, *inputs
    )
    return (hidden, last, repaired) if report else (hidden, last)


def _check(
    cell: str,
    inputs: Sequence[torch.Tensor],
    weights: torch.Tensor,
    initial: torch.Tensor | None,
    lengths: torch.Tensor | None,
    resets: torch.Tensor | None,
) -> None:
    """Raise `InputError` for tensors that do not fit each other or the cell."""
    known = _known(cell)
    check_tensors(known, inputs, None, lengths, resets, None)
    batch, _, channels = inputs[0].shape
    wanted = {
        "weights": (weights, [known.constants()["weights"], channels]),
        "initial": (initial, [len(known.spec.states), batch, channels]),
    }
    for name, (tensor, shape) in wanted.items():
        if tensor is not None and (list(tensor.shape) != shape or tensor.device != inputs[0].device):
            raise InputError(
                f"{name} is {shape} on {inputs[0].device} here, not {list(tensor.shape)} on {tensor.device}"
            )


class _Diagonal(Fixed, torch.nn.Module):  # type: ignore[misc] # torch has no types here
    """A diagonal cell with its projection: one matrix product, whose parts the cell reads in place.

    Args:
        input_size: Features of x.
        hidden_size: Channels of h.
        bias: Whether the projection has one.
        parallel: As for `diagonal`.

    Attributes:
        projection: From x to the cell's inputs, side by side.
        recurrent: The recurrent weights, `[W, hidden_size]`.
    """

    FIXED = frozenset(("hidden_size", "gates"))
    cell: str

    def __init__(
        self, input_size: int, hidden_size: int, *, bias: bool = True, parallel: str | None = None
    ) -> None:
        super().__init__()
        known = _known(self.cell)
        self.hidden_size, self.parallel, self.gates = hidden_size, parallel, len(known.spec.gates)
        self.projection = torch.nn.Linear(input_size, self.gates * hidden_size, bias=bias)
        self.recurrent = torch.nn.Parameter(0.5 * torch.randn(known.constants()["weights"], hidden_size))

    def forward(
        self, x: torch.Tensor, initial: torch.Tensor | None = None, **options: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """H after each step, `[B, T, hidden_size]`, and the last states, from x `[B, T, input_size]`."""
        parts = self.projection(x).chunk(self.gates, dim=-1)
        given = {"parallel": self.parallel, **options}
        found: tuple[torch.Tensor, torch.Tensor] = diagonal(
            self.cell, *parts, weights=self.recurrent, initial=initial, **given
        )
        return found


class DiagonalGRU(_Diagonal):
    """The diagonal GRU: z and r of x and u h, n = tanh(x + u r h), h' = (1 - z) h + z n."""

    cell = "diag_gru"


class DiagonalLSTM(_Diagonal):
    """The diagonal LSTM with coupled input and forget gates and peepholes."""

    cell = "diag_lstm"


class DiagonalSLSTM(_Diagonal):
    """The diagonal sLSTM (xLSTM), with an exponential input gate."""

    cell = "diag_slstm"


def _known(cell: str) -> ScanCell:
    cells = {name: one for name, one in discover_scans().cells.items() if is_nonlinear(one)}
    if cell not in cells:
        raise InputError(f"unknown diagonal cell '{cell}': {nearest(cell, cells)}")
    return cells[cell]


def _empty_results(
    cell: str, first: torch.Tensor, keeps: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    batch, steps, channels = first.shape
    shape = len(_known(cell).spec.states), batch, channels
    tiles = -(-steps // CHECKPOINT_STEPS) if keeps else 0
    return (
        torch.empty(first.shape, dtype=first.dtype, device=first.device),
        torch.empty(shape, dtype=torch.float32, device=first.device),
        torch.empty((tiles, *shape), dtype=torch.float32, device=first.device),
        torch.empty(4, dtype=torch.int32, device=first.device),
    )


def _empty_gradients(
    inputs: list[torch.Tensor], weights: torch.Tensor, last_gradient: torch.Tensor
) -> list[torch.Tensor]:
    """By the inputs, by the initial states, by the weights of each row."""
    whole = [torch.empty(part.shape, dtype=part.dtype, device=part.device) for part in inputs]
    by_initial = torch.empty(last_gradient.shape, dtype=torch.float32, device=last_gradient.device)
    by_row = weights.new_empty((inputs[0].shape[0], *weights.shape))
    return [*whole, by_initial, by_row]


def _cpu(
    inputs: list[torch.Tensor],
    weights: torch.Tensor,
    lengths: torch.Tensor | None,
    resets: torch.Tensor | None,
    reverse: bool,
) -> CpuInputs:
    batch, steps, _ = inputs[0].shape
    read = torch.stack([part.detach().float() for part in inputs]).numpy()
    counting = np.full(batch, steps, np.int32) if lengths is None else lengths.numpy()
    dropped = np.zeros((batch, steps), np.bool_) if resets is None else resets.numpy().astype(np.bool_)
    return CpuInputs(read, weights.detach().numpy(), counting, dropped, reverse)


def _start(like: torch.Tensor, initial: torch.Tensor | None) -> Any:
    return np.zeros(like.shape, np.float32) if initial is None else initial.detach().numpy()
