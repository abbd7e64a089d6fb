"""Diagonal cells for PyTorch, as operators of `torch.library`: a unit sees its own states, not linearly.

    from kerneltune.torch import diagonal

    h, last = diagonal("diag_gru", z, r, n, weights=u)   # [B, T, D] each, u [3, D]; last [1, B, D]

The answer is that of the steps in order, whatever computes it. On a GPU the solver decides how: every channel
in order, or chunks of time at once whose boundaries are verified and repaired. On a CPU numba takes the steps
in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np
import torch
from torch.autograd.function import FunctionCtx

from kerneltune.compiling.scan_arguments import INPUTS, OUTPUTS
from kerneltune.errors import InputError, nearest
from kerneltune.inputs.descriptions import MARK
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.equation_cell import named as named_cell
from kerneltune.inputs.scan_descriptions import ScanCell, discover_scans, is_nonlinear
from kerneltune.running.diagonal_cpu import CpuInputs, backward, forward
from kerneltune.running.diagonal_reference import CHECKPOINT_STEPS
from kerneltune.torch.newton import newton
from kerneltune.torch.placed import are_placed, over_mesh
from kerneltune.torch.scan import check_tensors, scan_cell
from kerneltune.torch.scan_direct import is_direct, run
from kerneltune.torch.scan_launching import named, run_kernel
from kerneltune.torch.scan_native import native_diagonal
from kerneltune.torch.scan_options import Family, Options, Results, converted, gradients, remember

PARALLEL = ("sequential", "overlap", "look_back_states", "newton")  # besides the solver's choice
_Results: TypeAlias = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


_REST = "bool reverse, str strategy"


@torch.library.custom_op(  # type: ignore[untyped-decorator]
    "kerneltune::diagonal",
    mutates_args=(),
    schema="(str cell, Tensor[] inputs, Tensor weights, Tensor? initial, Tensor? lengths, Tensor? resets, "
    f"{_REST}, bool keeps) -> (Tensor, Tensor, Tensor, Tensor)",
)
def operator(cell: str, inputs: list[torch.Tensor], *given: Any) -> _Results:
    """`kerneltune::diagonal`."""
    return _run(cell, inputs, _options(*given))


def _run(cell: str, inputs: list[torch.Tensor], options: Options) -> _Results:
    results = _empty_results(cell, inputs[0], options)
    hidden, last, kept, repaired = results
    if inputs[0].device.type != "cuda" or not inputs[0].numel():
        repaired.zero_()
    if not inputs[0].numel():
        return results
    if inputs[0].device.type != "cuda":
        initial = options.initial
        start = np.zeros(last.shape, np.float32) if initial is None else initial.detach().numpy()
        found = forward(cell, _cpu(inputs, options), start)
        for result, array in zip(results[:3] if options.keeps else results[:2], found, strict=False):
            result.copy_(torch.from_numpy(array))
        return results
    others = {"output0": hidden, "final_state": last, "repaired": repaired}
    if options.keeps:
        others["checkpoints"] = kept
    run_kernel(cell, "training" if options.keeps else "forward", options, named(INPUTS, inputs), others)
    return results


@operator.register_fake  # type: ignore[untyped-decorator]
def _(cell: str, inputs: list[torch.Tensor], *given: Any) -> _Results:
    options = _options(*given)
    _check(cell, inputs, options)  # compiled code does not ask again
    return _empty_results(cell, inputs[0], options)


@torch.library.custom_op(  # type: ignore[untyped-decorator]
    "kerneltune::diagonal_backward",
    mutates_args=(),
    schema="(str cell, Tensor[] inputs, Tensor weights, Tensor kept, Tensor gradient, Tensor last_gradient, "
    f"Tensor? lengths, Tensor? resets, {_REST}) -> Tensor[]",
)
def backward_operator(
    cell: str, inputs: list[torch.Tensor], weights: torch.Tensor, *given: Any
) -> list[torch.Tensor]:
    """`kerneltune::diagonal_backward`."""
    return _run_backward(cell, inputs, given[:3], _options(weights, None, *given[3:]))


def _run_backward(
    cell: str, inputs: list[torch.Tensor], by: Sequence[Any], options: Options
) -> list[torch.Tensor]:
    (kept, gradient, last_gradient), weights = by, options.weights
    assert weights is not None
    options = options._replace(initial=last_gradient)
    *by_input, by_initial, by_row = found = _empty_gradients(cell, inputs, weights)
    if inputs[0].numel() and inputs[0].device.type != "cuda":
        by_each, start, rows = backward(
            cell,
            _cpu(inputs, options),
            kept=kept.numpy(),
            gradient=gradient.float().numpy(),
            last_gradient=last_gradient.float().numpy(),
        )
        for result, array in zip(found, (*by_each, start, rows), strict=True):
            result.copy_(torch.from_numpy(array))
    elif inputs[0].numel():
        others = {"final_state": by_initial, "weight_gradient": by_row, "checkpoints": kept.contiguous()}
        arrays = named(INPUTS, inputs) | {"gradient": gradient}
        run_kernel(cell, "backward", options, arrays, named(OUTPUTS, by_input) | others)
    return [*by_input, by_initial, by_row.sum(0)]


@backward_operator.register_fake  # type: ignore[untyped-decorator]
def _(cell: str, inputs: list[torch.Tensor], weights: torch.Tensor, *given: Any) -> list[torch.Tensor]:
    return [*_empty_gradients(cell, inputs, weights)[:-1], torch.empty_like(weights)]


def _options(
    weights: torch.Tensor,
    initial: torch.Tensor | None,
    lengths: torch.Tensor | None,
    resets: torch.Tensor | None,
    reverse: bool,
    strategy: str,
    keeps: bool = False,
) -> Options:
    """The record of the operators' flat arguments."""
    return Options(
        initial=initial,
        lengths=lengths,
        resets=resets,
        reverse=reverse,
        weights=weights,
        strategy=strategy,
        keeps=keeps,
    )


def _forward(cell: str, inputs: list[torch.Tensor], options: Options) -> _Results:
    initial, lengths, resets, _, reverse, weights, strategy, keeps = options
    given = weights, initial, lengths, resets, reverse, strategy, keeps
    found: _Results = operator(cell, inputs, *given)
    return found


def _backward(
    cell: str, inputs: list[torch.Tensor], by: Sequence[object], options: Options
) -> list[torch.Tensor]:
    _, lengths, resets, _, reverse, weights, strategy, _ = options
    rest = lengths, resets, reverse, strategy
    found: list[torch.Tensor] = backward_operator(cell, inputs, weights, *by, *rest)
    return found


FAMILY = Family(_forward, _backward, native_diagonal, kept=2)
_DIRECT = Family(_run, _run_backward, native_diagonal, kept=2)


def _remember(ctx: FunctionCtx, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
    cell, read, *given = inputs
    options = _options(*given)
    if not options.keeps:
        raise InputError("gradients need the states that keeps=True keeps: call kerneltune.torch.diagonal")
    ctx.mark_non_differentiable(output[2], output[3])
    remember(ctx, cell, read, options, output[2])


def _differentiate(ctx: FunctionCtx, *by: torch.Tensor) -> tuple[object, ...]:
    found = gradients(ctx, FAMILY, by[:2], again=torch.is_grad_enabled())
    return (None, found.by_inputs, found.by_weights, found.by_initial, *[None] * 5)


operator.register_autograd(_differentiate, setup_context=_remember)


class _ByNewton(torch.autograd.Function):  # type: ignore[misc] # torch has no types here
    """Newton's method; its gradients are those of the steps in order, along the states that it found."""

    @staticmethod
    def forward(
        ctx: FunctionCtx,
        cell: str,
        weights: torch.Tensor,
        initial: torch.Tensor | None,
        *inputs: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        found = newton(cell, inputs, weights, initial)
        remember(ctx, cell, inputs, Options(initial=initial, weights=weights), found.kept)
        return found.hidden, found.last

    @staticmethod
    def backward(ctx: FunctionCtx, *by: torch.Tensor) -> tuple[object, ...]:
        found = gradients(ctx, FAMILY, by)
        return (None, found.by_weights, found.by_initial, *found.by_inputs)


def diagonal(
    cell: str | EquationCell,
    *inputs: torch.Tensor,
    weights: torch.Tensor | None = None,
    initial: torch.Tensor | None = None,
    lengths: torch.Tensor | None = None,
    resets: torch.Tensor | None = None,
    reverse: bool = False,
    group: object = None,
    parallel: str | None = None,
    report: bool = False,
) -> Any:
    """A diagonal cell over all steps; gradients flow to its inputs, to its weights and to `initial`.

    Args:
        cell: `diag_gru`, `diag_lstm`, `diag_slstm`, or any other below `kernels/scan/cells` that has weights;
            the file of the equations of a cell without R, or a `kerneltune.Cell`.
        inputs: What the cell reads, `[B, T, D]` each, of one dtype: bf16, fp16 or float32. Channels should
            lie side by side, or they are copied; batch rows and steps may lie anywhere.
        weights: The weights of each channel, `[W, D]`, in the cell's order; for a cell without, none.
        initial: The states before the first step, `[S, B, D]`; by default zeros, and ones for states that
            must be positive.
        lengths: Steps of each row that count, `[B]`; h is 0 at the others, which leave the states alone.
        resets: `[B, T]`: true where the states before the step are dropped.
        reverse: Whether the first step is the last that counts.
        group: As for `scan`; the second integer of the report is then the rounds of exchanges.
        parallel: `sequential`, `overlap` or, of a cell that is linear in its states, `look_back_states`
            instead of what the solver chooses, all exact; or `newton`, iterations on all steps at once, which
            warns where they have not converged.
        report: Whether to return what was repaired, too.

    Returns:
        h after each step, `[B, T, D]`, and the states after the last, `[S, B, D]` in float32. With `report`
        also four integers on the inputs' device: boundaries between chunks that had moved at first, rounds
        of repair, boundaries that were passed in order, and all boundaries. Raises `InputError` for tensors
        that do not fit each other.
    """
    cell = named_cell(cell)
    if weights is None:
        weights = inputs[0].new_zeros((0, inputs[0].shape[-1]), dtype=torch.float32)
    options = Options(initial, lengths, resets, None, reverse, weights, parallel or "")
    if not torch.compiler.is_compiling():  # else the operator's fake checks, which compilers do not trace
        if are_placed(inputs):
            given = {"weights": weights, "initial": initial, "lengths": lengths, "resets": resets}
            more = {"reverse": reverse, "group": group, "parallel": parallel, "report": report}
            return over_mesh(partial(diagonal, cell), inputs, {**given, **more})
        _check(cell, inputs, options)
    if parallel is not None and parallel not in PARALLEL:
        raise InputError(f"unknown parallel '{parallel}': {nearest(parallel, PARALLEL)}")
    options = converted(_begun(cell, inputs[0], options))
    found: Results
    if group is not None:
        from kerneltune.torch.scan_ranks import across_ranks

        hidden, last, rounds = across_ranks(_DIRECT, cell, inputs, options, group)
        found = hidden, last, hidden, torch.tensor([0, rounds, 0, 0], device=weights.device)
    elif parallel == "newton":
        if lengths is not None or resets is not None or reverse:
            raise InputError("parallel='newton' has neither lengths nor resets nor reverse")
        found = _ByNewton.apply(cell, options.weights, options.initial, *inputs)
    elif not torch.compiler.is_compiling() and torch._C._are_functorch_transforms_active():
        from kerneltune.torch.scan_transforms import transformed

        found = transformed(FAMILY, cell, inputs, options._replace(keeps=True))
    else:
        tensors = [part for part in (*inputs, options.weights, options.initial) if part is not None]
        keeps = torch.is_grad_enabled() and any(part.requires_grad for part in tensors)
        options = options._replace(keeps=keeps)
        if is_direct(inputs, options):
            found = run(_DIRECT, cell, inputs, options)
        else:
            with torch.set_grad_enabled(keeps):
                found = _forward(cell, list(inputs), options)
    if not report:
        return found[:2]
    repaired = found[3] if len(found) > 2 else torch.zeros(4, dtype=torch.int32, device=weights.device)
    return (*found[:2], repaired)


def _begun(cell: str, first: torch.Tensor, options: Options) -> Options:
    """The options with the states before the first step that a cell with positive states begins with."""
    starts = _starts(cell)
    if not any(starts):
        return options
    if options.resets is not None:
        raise InputError(
            f"{_known(cell).spec.name} has no resets: they are to zero, and it has positive states"
        )
    if options.initial is not None:
        return options
    return options._replace(initial=torch.stack([first.new_full(first[:, 0].shape, one) for one in starts]))


def _starts(cell: str) -> tuple[float, ...]:
    """Each state before the first step."""
    spec = _known(cell).spec
    return tuple(float(name in spec.positive) for name in spec.states)


_starts._dynamo_marked_constant = True  # type: ignore[attr-defined] # compiled code does not ask again


def _check(cell: str, inputs: Sequence[torch.Tensor], options: Options) -> None:
    """Raise `InputError` for tensors that do not fit each other or the cell."""
    known = _known(cell)
    check_tensors(known, inputs, options._replace(initial=None))
    batch, _, channels = inputs[0].shape
    wanted = {
        "weights": (options.weights, [known.constants()["weights"], channels]),
        "initial": (options.initial, [len(known.spec.states), batch, channels]),
    }
    for name, (tensor, shape) in wanted.items():
        if tensor is not None and (list(tensor.shape) != shape or tensor.device != inputs[0].device):
            raise InputError(
                f"{name} is {shape} on {inputs[0].device} here, not {list(tensor.shape)} on {tensor.device}"
            )


@cache
def _known(cell: str) -> ScanCell:
    cells = {name: one for name, one in discover_scans().cells.items() if is_nonlinear(one)}
    if cell not in cells and MARK not in cell:
        raise InputError(f"unknown diagonal cell '{cell}': {nearest(cell, cells)}")
    found = scan_cell(cell)
    if not found.nonlinear:
        raise InputError(f"{found.spec.name} is linear in its state: call kerneltune.torch.scan")
    return found


def _empty_results(cell: str, first: torch.Tensor, options: Options) -> _Results:
    batch, steps, channels = first.shape
    shape = len(_known(cell).spec.states), batch, channels
    tiles = -(-steps // CHECKPOINT_STEPS) if options.keeps else 0
    return (
        torch.empty_like(first, memory_format=torch.contiguous_format),
        first.new_empty(shape, dtype=torch.float32),
        first.new_empty((tiles, *shape), dtype=torch.float32),
        first.new_empty(4, dtype=torch.int32),
    )


def _empty_gradients(cell: str, inputs: list[torch.Tensor], weights: torch.Tensor) -> list[torch.Tensor]:
    """By the inputs, by the initial states, by the weights of each row."""
    batch, _, channels = inputs[0].shape
    whole = [torch.empty_like(part, memory_format=torch.contiguous_format) for part in inputs]
    states = len(_known(cell).spec.states), batch, channels
    by_initial = inputs[0].new_empty(states, dtype=torch.float32)
    return [*whole, by_initial, weights.new_empty((batch, *weights.shape))]


def _cpu(inputs: list[torch.Tensor], options: Options) -> CpuInputs:
    batch, steps, _ = inputs[0].shape
    lengths, resets, weights = options.lengths, options.resets, options.weights
    assert weights is not None
    return CpuInputs(
        read=torch.stack([part.detach().float() for part in inputs]).numpy(),
        weights=weights.detach().clone().numpy(),  # FSDP resizes storage, which numpy would hold
        lengths=np.full(batch, steps, np.int32) if lengths is None else lengths.numpy(),
        resets=np.zeros((batch, steps), np.bool_) if resets is None else resets.numpy().astype(np.bool_),
        reverse=options.reverse,
    )
