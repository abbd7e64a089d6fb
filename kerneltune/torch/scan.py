"""Scans for PyTorch, as operators of `torch.library` with gradients.

    from kerneltune.torch import linear_recurrence

    h, last = linear_recurrence(a, b)             # [B, T, D] each; last is [B, D], float32

On a GPU tilings are solved and kernels compiled at the first call with a new shape, and kept; call once ahead
of capturing a graph. On a CPU the same operators run by numba. States are float32 whatever the inputs are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch.autograd.function import FunctionCtx

from kerneltune.compiling.scan_arguments import INPUTS, OUTPUTS
from kerneltune.errors import InputError, nearest
from kerneltune.inputs.descriptions import MARK, Cell
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.equation_cell import named as named_cell
from kerneltune.inputs.scan_descriptions import ScanCell, discover_scans, is_nonlinear
from kerneltune.running.scan_arrays import state_width, widths_of
from kerneltune.torch.placed import are_placed, over_mesh
from kerneltune.torch.scan_cpu import backward_on_cpu, forward_on_cpu
from kerneltune.torch.scan_direct import is_direct, run
from kerneltune.torch.scan_launching import DTYPES, aligned, named, run_kernel
from kerneltune.torch.scan_native import native_scan
from kerneltune.torch.scan_options import Family, Options, converted, gradients, remember

_OPTIONS = "Tensor? initial, Tensor? lengths, Tensor? resets, Tensor? boundaries, bool reverse"


@torch.library.custom_op(  # type: ignore[untyped-decorator]
    "kerneltune::scan", mutates_args=(), schema=f"(str cell, Tensor[] inputs, {_OPTIONS}) -> (Tensor, Tensor)"
)
def operator(cell: str, inputs: list[torch.Tensor], *given: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """`kerneltune::scan`."""
    return _forward(cell, inputs, Options(*given))


def _forward(cell: str, inputs: list[torch.Tensor], options: Options) -> tuple[torch.Tensor, torch.Tensor]:
    hidden, last = _empty_results(inputs, options)
    if not inputs[0].numel():
        return hidden, last
    if inputs[0].device.type != "cuda":
        return forward_on_cpu(cell, inputs, options)
    run_kernel(cell, "forward", options, named(INPUTS, inputs), {"output0": hidden, "final_state": last})
    return hidden, last


@operator.register_fake  # type: ignore[untyped-decorator]
def _(cell: str, inputs: list[torch.Tensor], *given: Any) -> tuple[torch.Tensor, torch.Tensor]:
    options = Options(*given)
    _check(cell, inputs, options)  # compiled code does not ask again
    return _empty_results(inputs, options)


@torch.library.custom_op(  # type: ignore[untyped-decorator]
    "kerneltune::scan_backward",
    mutates_args=(),
    schema="(str cell, Tensor[] inputs, Tensor hidden, Tensor gradient, Tensor last_gradient, "
    f"{_OPTIONS}) -> Tensor[]",
)
def backward_operator(
    cell: str, inputs: list[torch.Tensor], hidden: torch.Tensor, *given: Any
) -> list[torch.Tensor]:
    """`kerneltune::scan_backward`."""
    return _backward(cell, inputs, (hidden, *given[:2]), Options(*given[2:]))


def _backward(
    cell: str, inputs: list[torch.Tensor], by: Sequence[object], options: Options
) -> list[torch.Tensor]:
    hidden, gradient, last_gradient = by
    found = _empty_gradients(inputs, options)
    if not inputs[0].numel():
        return found
    if inputs[0].device.type != "cuda":
        return backward_on_cpu(cell, inputs, gradient, last_gradient, options)
    results = named(OUTPUTS, found[:-1]) | {"final_state": found[-1]}
    if options.initial is not None:
        results["first_hidden"] = options.initial.contiguous()
    arrays = named(INPUTS, inputs) | {"hidden": hidden, "gradient": gradient}
    run_kernel(cell, "backward", options._replace(initial=last_gradient), arrays, results)
    return found


@backward_operator.register_fake  # type: ignore[untyped-decorator]
def _(cell: str, inputs: list[torch.Tensor], hidden: torch.Tensor, *given: Any) -> list[torch.Tensor]:
    return _empty_gradients(inputs, Options(*given[2:]))


FAMILY = Family(
    forward=lambda cell, inputs, options: operator(cell, inputs, *options[:5]),
    backward=lambda cell, inputs, by, options: backward_operator(cell, inputs, *by, *options[:5]),
    native=native_scan,
    kept=0,
)
_DIRECT = Family(_forward, _backward, native_scan, kept=0)


def _remember(ctx: FunctionCtx, inputs: tuple[Any, ...], output: tuple[torch.Tensor, torch.Tensor]) -> None:
    cell, read, *given = inputs
    remember(ctx, cell, read, Options(*given), output[0])


def _differentiate(ctx: FunctionCtx, *by: torch.Tensor) -> tuple[object, ...]:
    found = gradients(ctx, FAMILY, by, again=torch.is_grad_enabled())
    return None, found.by_inputs, found.by_initial, None, None, None, None


operator.register_autograd(_differentiate, setup_context=_remember)


def scan(
    cell: str | EquationCell,
    *inputs: torch.Tensor,
    initial: torch.Tensor | None = None,
    lengths: torch.Tensor | None = None,
    resets: torch.Tensor | None = None,
    cu_seqlens: torch.Tensor | None = None,
    reverse: bool = False,
    group: object = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """A cell over all steps; gradients flow to its inputs and to `initial`.

    Args:
        cell: `linear`, `mingru` or `minlstm`; or the file of the equations of a cell that is linear in its
            state, or a `kerneltune.Cell`. `complex` and `matrix2` are there by `linear_recurrence`.
        inputs: What the cell reads, `[B, T, D]` each, of one dtype: bf16, fp16 or float32. Channels should
            lie side by side, or they are copied; batch rows and steps may lie anywhere.
        initial: h before the first step, `[B, D]`, or before that of each sequence, `[N, D]`; zeros if not
            given.
        lengths: Steps of each row that count, `[B]`; h is 0 at the others, which leave the state as it is.
        resets: `[B, T]`: true where h before the step is dropped.
        cu_seqlens: Where the sequences begin that lie one after the other in the one row of the batch, and
            T, `[N + 1]`, never falling; each sequence has a first and a last h of its own.
        reverse: Whether the scan begins at the last step that counts.
        group: A process group of `torch.distributed` over whose ranks time is divided: each gives its part,
            in the order of ranks, and gets h of it; see `kerneltune.torch.scan_ranks`. DTensors that are
            sharded along time need none; see `kerneltune.torch.placed`.

    Returns:
        h after each step, `[B, T, D]`, and after the last, `[B, D]` or `[N, D]` in float32. Raises
        `InputError` for tensors that do not fit each other.
    """
    cell = named_cell(cell)
    options = Options(initial, lengths, resets, cu_seqlens, reverse)
    if not torch.compiler.is_compiling():  # else the operator's fake checks, which compilers do not trace
        if are_placed(inputs):
            given = {"initial": initial, "lengths": lengths, "resets": resets, "cu_seqlens": cu_seqlens}
            return over_mesh(partial(scan, cell), inputs, {**given, "reverse": reverse, "group": group})
        _check(cell, inputs, options)
    options = converted(options)
    if group is not None:
        from kerneltune.torch.scan_ranks import across_ranks

        return across_ranks(_DIRECT, cell, inputs, options, group)[:2]
    if not torch.compiler.is_compiling() and torch._C._are_functorch_transforms_active():
        from kerneltune.torch.scan_transforms import transformed

        hidden, last = transformed(FAMILY, cell, inputs, options)
    elif is_direct(inputs, options):
        hidden, last = run(_DIRECT, cell, inputs, options)
    else:
        hidden, last = FAMILY.forward(cell, list(inputs), options)
    return hidden, last


def linear_recurrence(a: torch.Tensor, b: torch.Tensor, **options: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """H' = a h + b, by a number, a complex number or a matrix for each channel.

    Args:
        a: `[B, T, D]`, real or complex; or matrices `[B, T, D, 2, 2]`, with `b` `[B, T, D, 2]`.
        b: `[B, T, D]`.
        options: As for `scan`; states are complex where `a` is, and `[B, D, 2]` with matrices.

    Returns:
        h after each step, as `b`, and after the last in float32 or complex64.
    """
    if not torch.compiler.is_compiling() and are_placed((a, b)):
        return over_mesh(linear_recurrence, (a, b), options)
    if a.is_complex() or b.is_complex():
        return _of_pairs("complex", torch.view_as_real, torch.view_as_complex, a, b, options)
    if a.dim() == 5:
        if a.shape[3:] != (2, 2) or b.shape != a.shape[:4]:
            raise InputError(
                f"a is [B, T, D, 2, 2] and b [B, T, D, 2], not {list(a.shape)} and {list(b.shape)}"
            )
        return _of_pairs("matrix2", _same, _same, a, b, options)
    return scan("linear", a, b, **options)


def _same(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


def _of_pairs(
    cell: str,
    apart: Callable[[torch.Tensor], torch.Tensor],
    together: Callable[[torch.Tensor], torch.Tensor],
    a: torch.Tensor,
    b: torch.Tensor,
    options: dict[str, Any],
) -> tuple[torch.Tensor, torch.Tensor]:
    """The numbers of a channel side by side along the last axis, and back."""
    if a.is_complex() != b.is_complex():
        raise InputError(f"a is {a.dtype}, but b is {b.dtype}: both are complex or none is")
    if cell == "complex" and a.shape != b.shape:
        raise InputError(f"b is {list(b.shape)}, but a is {list(a.shape)}")
    initial = options.get("initial")
    if initial is not None:
        options = {**options, "initial": apart(initial).flatten(1)}
    read = [aligned(apart(part).flatten(2)) for part in (a, b)]
    h, last = scan(cell, *read, **options)
    return together(h.unflatten(-1, (-1, 2))), together(last.unflatten(-1, (-1, 2)))


def _check(name: str, inputs: Sequence[torch.Tensor], options: Options) -> None:
    cell = scan_cell(name)
    if is_nonlinear(cell):
        raise InputError(f"{cell.spec.name} is not linear in its state: call kerneltune.torch.diagonal")
    check_tensors(cell, inputs, options)


def scan_cell(name: str) -> ScanCell:
    """A scan's cell by its name, or by the key of its equations."""
    kernels = discover_scans()
    if name not in kernels.cells and MARK not in name:
        raise InputError(f"unknown scan '{name}': {nearest(name, kernels.cells)}")
    cell = kernels.cell(name)
    if not isinstance(cell, ScanCell):
        raise InputError(f"{cell.spec.name} has R h: it is for kerneltune.torch.recurrence and Recurrent")
    return cell


def check_tensors(cell: Cell, inputs: Sequence[torch.Tensor], options: Options) -> None:
    """Raise `InputError` for tensors that do not fit each other or the cell."""
    gates = cell.spec.gates
    if len(inputs) != len(gates):
        raise InputError(f"the cell reads {', '.join(gates)}: {len(inputs)} tensors were given")
    first, widths = inputs[0], widths_of(cell)
    if first.dim() != 3 or 0 in first.shape[1:]:
        raise InputError(f"{gates[0]} is [B, T, D], T and D at least 1, not {list(first.shape)}")
    if first.dtype not in DTYPES:
        raise InputError(f"{first.dtype} is not supported: {', '.join(map(str, DTYPES))} are")
    batch, steps, numbers = first.shape
    channels = numbers // widths[0]
    for name, part, width in zip(gates, inputs, widths, strict=True):
        shape = [batch, steps, channels * width]
        if list(part.shape) != shape or part.dtype != first.dtype or part.device != first.device:
            raise InputError(
                f"{name} is {list(part.shape)}, {part.dtype} on {part.device}, but {gates[0]} is "
                f"{list(first.shape)}, {first.dtype} on {first.device}"
            )
    boundaries = options.boundaries
    if boundaries is not None and (batch != 1 or options.lengths is not None or len(boundaries) < 2):
        raise InputError("cu_seqlens is [N + 1], and divides a batch of one row that has no lengths")
    rows = batch if boundaries is None else len(boundaries) - 1
    for name, extra, shape in (
        ("initial", options.initial, [rows, channels * state_width(cell)]),
        ("lengths", options.lengths, [batch]),
        ("resets", options.resets, [batch, steps]),
        ("cu_seqlens", boundaries, [rows + 1]),
    ):
        if extra is not None and (list(extra.shape) != shape or extra.device != first.device):
            raise InputError(
                f"{name} is {shape} on {first.device} here, not {list(extra.shape)} on {extra.device}"
            )


def _empty_results(inputs: list[torch.Tensor], options: Options) -> tuple[torch.Tensor, torch.Tensor]:
    hidden = torch.empty_like(inputs[-1], memory_format=torch.contiguous_format)  # as wide as h
    return hidden, _empty_states(inputs, options)


def _empty_states(inputs: list[torch.Tensor], options: Options) -> torch.Tensor:
    like = inputs[-1]
    rows = like.shape[0] if options.boundaries is None else options.boundaries.shape[0] - 1
    return like.new_empty((rows, like.shape[2]), dtype=torch.float32)


def _empty_gradients(inputs: list[torch.Tensor], options: Options) -> list[torch.Tensor]:
    found = [torch.empty_like(part, memory_format=torch.contiguous_format) for part in inputs]
    return [*found, _empty_states(inputs, options)]
