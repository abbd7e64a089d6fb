"""Scans for PyTorch, as operators of `torch.library` with gradients.

    from kerneltune.torch import linear_recurrence

    h, last = linear_recurrence(a, b)             # [B, T, D] each; last is [B, D], float32

On a GPU tilings are solved and kernels compiled at the first call with a new shape, and kept; call once ahead
of capturing a graph. On a CPU the same operators run by numba. States are float32 whatever the inputs are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd
from typing import Any

import torch

from kerneltune.compiling.scan_arguments import INPUTS, OUTPUTS
from kerneltune.errors import InputError, nearest
from kerneltune.inputs.descriptions import Cell
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.inputs.scan_problem import WIDEST_VECTOR, ScanProblem
from kerneltune.running.scan_arrays import state_width, widths_of
from kerneltune.torch.native import differentiable_gradients, differentiates_twice
from kerneltune.torch.scan_cpu import Options, backward_on_cpu, forward_on_cpu
from kerneltune.torch.scan_launching import DTYPES, launcher
from kerneltune.torch.scan_native import native_scan


@torch.library.custom_op("kerneltune::scan", mutates_args=())  # type: ignore[untyped-decorator]
def _scan(
    cell: str,
    inputs: list[torch.Tensor],
    initial: torch.Tensor | None,
    lengths: torch.Tensor | None,
    resets: torch.Tensor | None,
    boundaries: torch.Tensor | None,
    reverse: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    if not inputs[0].numel():
        return _empty_results(inputs, boundaries)
    if inputs[0].device.type != "cuda":
        return forward_on_cpu(cell, inputs, Options(initial, lengths, resets, boundaries, reverse))
    arrays = dict(zip(INPUTS, inputs, strict=False))
    options = Options(initial, lengths, resets, boundaries, reverse)
    problem, tensors = launch_of(cell, arrays, options, "forward")
    hidden, last = _empty_results(inputs, boundaries)
    launcher().launch(problem, {**tensors, "output0": hidden, "final_state": last})
    return hidden, last


@torch.library.register_fake("kerneltune::scan")  # type: ignore[untyped-decorator]
def _(
    cell: str,
    inputs: list[torch.Tensor],
    initial: torch.Tensor | None,
    lengths: torch.Tensor | None,
    resets: torch.Tensor | None,
    boundaries: torch.Tensor | None,
    reverse: bool,
) -> tuple[torch.Tensor, torch.Tensor]:
    _check(cell, inputs, initial, lengths, resets, boundaries)  # compiled code does not ask again
    return _empty_results(inputs, boundaries)


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
    boundaries: torch.Tensor | None,
    reverse: bool,
) -> list[torch.Tensor]:
    if not inputs[0].numel():
        found, by_initial = _empty_gradients(inputs, boundaries)
        return [*found, by_initial]
    if inputs[0].device.type != "cuda":
        options = Options(initial, lengths, resets, boundaries, reverse)
        return backward_on_cpu(cell, inputs, gradient, last_gradient, options)
    arrays = dict(zip(INPUTS, inputs, strict=False)) | {"hidden": hidden, "gradient": gradient}
    options = Options(last_gradient, lengths, resets, boundaries, reverse)
    problem, tensors = launch_of(cell, arrays, options, "backward")
    found, by_initial = _empty_gradients(inputs, boundaries)
    tensors |= dict(zip(OUTPUTS, found, strict=False))
    tensors["final_state"] = by_initial
    if initial is not None:
        tensors["first_hidden"] = initial.contiguous()
    launcher().launch(problem, tensors)
    return [*found, by_initial]


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
    boundaries: torch.Tensor | None,
    reverse: bool,
) -> list[torch.Tensor]:
    found, by_initial = _empty_gradients(inputs, boundaries)
    return [*found, by_initial]


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, torch.Tensor]) -> None:
    cell, read, initial, lengths, resets, boundaries, reverse = inputs
    ctx.cell, ctx.reverse, ctx.count = cell, reverse, len(read)
    ctx.has_initial = initial is not None
    ctx.save_for_backward(*read, output[0], initial, lengths, resets, boundaries)


def _differentiate(ctx: Any, by_hidden: torch.Tensor, by_last: torch.Tensor) -> tuple[Any, ...]:
    *read, hidden, initial, lengths, resets, boundaries = ctx.saved_tensors
    if torch.is_grad_enabled():  # what follows is differentiated, too
        by = by_hidden, by_last
        given = [*read] if initial is None else [*read, initial]

        def run(*parts: torch.Tensor) -> tuple[torch.Tensor, ...]:
            first = parts[-1] if ctx.has_initial else None
            options = Options(first, lengths, resets, boundaries, ctx.reverse)
            return native_scan(ctx.cell, list(parts[: ctx.count]), options)

        again = differentiable_gradients(run, given, by)
        return None, again[: ctx.count], again[-1] if ctx.has_initial else None, None, None, None, None
    found = _scan_backward(
        *(ctx.cell, read, hidden, by_hidden, by_last.float().contiguous()),
        *(initial, lengths, resets, boundaries, ctx.reverse),
    )
    by_initial = found[ctx.count] if ctx.has_initial else None
    return None, found[: ctx.count], by_initial, None, None, None, None


torch.library.register_autograd("kerneltune::scan", _differentiate, setup_context=_remember)
operator, backward_operator = _scan, _scan_backward


def scan(
    cell: str,
    *inputs: torch.Tensor,
    initial: torch.Tensor | None = None,
    lengths: torch.Tensor | None = None,
    resets: torch.Tensor | None = None,
    cu_seqlens: torch.Tensor | None = None,
    reverse: bool = False,
) -> tuple[torch.Tensor, torch.Tensor]:
    """A cell over all steps; gradients flow to its inputs and to `initial`.

    Args:
        cell: `linear`, `mingru` or `minlstm`; `complex` and `matrix2` are there by `linear_recurrence`.
        inputs: What the cell reads, `[B, T, D]` each, of one dtype: bf16, fp16 or float32. Channels should
            lie side by side, or they are copied; batch rows and steps may lie anywhere.
        initial: h before the first step, `[B, D]`, or before that of each sequence, `[N, D]`; zeros if not
            given.
        lengths: Steps of each row that count, `[B]`; h is 0 at the others, which leave the state as it is.
        resets: `[B, T]`: true where h before the step is dropped.
        cu_seqlens: Where the sequences begin that lie one after the other in the one row of the batch, and
            T, `[N + 1]`, never falling; each sequence has a first and a last h of its own.
        reverse: Whether the scan begins at the last step that counts.

    Returns:
        h after each step, `[B, T, D]`, and after the last, `[B, D]` or `[N, D]` in float32. Raises
        `InputError` for tensors that do not fit each other.
    """
    if not torch.compiler.is_compiling():  # else the operator's fake checks, which compilers do not trace
        _check(cell, inputs, initial, lengths, resets, cu_seqlens)
    if initial is not None:
        initial = initial.float().contiguous()
    if lengths is not None:
        lengths = lengths.to(torch.int32).contiguous()
    if resets is not None:
        resets = resets.to(torch.uint8).contiguous()
    if cu_seqlens is not None:
        cu_seqlens = cu_seqlens.to(torch.int32).contiguous()
    found: tuple[torch.Tensor, torch.Tensor]
    if not torch.compiler.is_compiling() and torch._C._are_functorch_transforms_active():
        if differentiates_twice():
            options = Options(initial, lengths, resets, cu_seqlens, reverse)
            return native_scan(cell, list(inputs), options)
        from kerneltune.torch.scan_transforms import TransformedScan

        found = TransformedScan.apply(cell, reverse, initial, lengths, resets, cu_seqlens, *inputs)
        return found
    found = _scan(cell, list(inputs), initial, lengths, resets, cu_seqlens, reverse)
    return found


def linear_recurrence(a: torch.Tensor, b: torch.Tensor, **options: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """H' = a h + b, by a number, a complex number or a matrix for each channel.

    Args:
        a: `[B, T, D]`, real or complex; or matrices `[B, T, D, 2, 2]`, with `b` `[B, T, D, 2]`.
        b: `[B, T, D]`.
        options: As for `scan`; states are complex where `a` is, and `[B, D, 2]` with matrices.

    Returns:
        h after each step, as `b`, and after the last in float32 or complex64.
    """
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
    read = [_aligned(apart(part).flatten(2)) for part in (a, b)]
    h, last = scan(cell, *read, **options)
    return together(h.unflatten(-1, (-1, 2))), together(last.unflatten(-1, (-1, 2)))


def _aligned(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.contiguous()
    return tensor.clone() if tensor.data_ptr() % WIDEST_VECTOR else tensor


def _check(
    name: str,
    inputs: Sequence[torch.Tensor],
    initial: torch.Tensor | None,
    lengths: torch.Tensor | None,
    resets: torch.Tensor | None,
    boundaries: torch.Tensor | None,
) -> None:
    cells = discover_scans().cells
    if name not in cells:
        raise InputError(f"unknown scan '{name}': {nearest(name, cells)}")
    if cells[name].constants()["nonlinear"]:
        raise InputError(f"{name} has weights of its own: call kerneltune.torch.diagonal.diagonal")
    check_tensors(cells[name], inputs, initial, lengths, resets, boundaries)


def check_tensors(
    cell: Cell,
    inputs: Sequence[torch.Tensor],
    initial: torch.Tensor | None,
    lengths: torch.Tensor | None,
    resets: torch.Tensor | None,
    boundaries: torch.Tensor | None,
) -> None:
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
    if boundaries is not None and (batch != 1 or lengths is not None or len(boundaries) < 2):
        raise InputError("cu_seqlens is [N + 1], and divides a batch of one row that has no lengths")
    rows = batch if boundaries is None else len(boundaries) - 1
    for name, extra, shape in (
        ("initial", initial, [rows, channels * state_width(cell)]),
        ("lengths", lengths, [batch]),
        ("resets", resets, [batch, steps]),
        ("cu_seqlens", boundaries, [rows + 1]),
    ):
        if extra is not None and (list(extra.shape) != shape or extra.device != first.device):
            raise InputError(
                f"{name} is {shape} on {first.device} here, not {list(extra.shape)} on {extra.device}"
            )


def _empty_results(
    inputs: list[torch.Tensor], boundaries: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    like = inputs[-1]  # as wide as h
    hidden = torch.empty(like.shape, dtype=like.dtype, device=like.device)
    rows = like.shape[0] if boundaries is None else boundaries.shape[0] - 1
    return hidden, torch.empty((rows, like.shape[2]), dtype=torch.float32, device=like.device)


def _empty_gradients(
    inputs: list[torch.Tensor], boundaries: torch.Tensor | None
) -> tuple[list[torch.Tensor], torch.Tensor]:
    found = [torch.empty(part.shape, dtype=part.dtype, device=part.device) for part in inputs]
    return found, _empty_results(inputs, boundaries)[1]


def launch_of(
    cell: str, arrays: dict[str, torch.Tensor], options: Options, direction: str
) -> tuple[ScanProblem, dict[str, torch.Tensor]]:
    """The request that these tensors make, and they by the names of the kernel's arguments."""
    about = discover_scans().cell(cell)
    pairs = state_width(about) > 1
    arrays = {
        name: _aligned(array) if pairs else array if array.stride(2) == 1 else array.contiguous()
        for name, array in arrays.items()
    }
    first = arrays["input0"]
    places = [array.data_ptr() for array in arrays.values()]
    size = first.element_size()
    steps_apart = [array.stride(axis) * size for array in arrays.values() for axis in (0, 1)]
    sequences = 0 if options.boundaries is None else options.boundaries.shape[0] - 1
    problem = ScanProblem(
        cell,
        first.shape[0],
        first.shape[1],
        first.shape[2] // widths_of(about)[0],
        DTYPES[first.dtype],
        direction,
        options.reverse,
        options.lengths is not None,
        options.resets is not None,
        WIDEST_VECTOR if pairs else gcd(WIDEST_VECTOR, *places, *steps_apart),
        sequences,
    )
    others = {
        "initial": options.initial,
        "lengths": options.lengths,
        "resets": options.resets,
        "boundaries": options.boundaries,
    }
    # A caller's are contiguous, what vmap folds and compilers hand over need not be.
    given = {name: part.contiguous() for name, part in others.items() if part is not None}
    return problem, arrays | given
