"""The operators of scans on a CPU, by numba: minimal cells in one pass, else gates by torch in float32."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn import functional

from kerneltune.errors import InputError
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.running.minimal_cpu import Steps, minimal_scan
from kerneltune.running.scan_arrays import state_width
from kerneltune.running.scan_cpu import CHANNELS_AT_ONCE, JOBS, linear_scan
from kerneltune.torch.equations import array_functions, scan_functions
from kerneltune.torch.scan_options import Options

if TYPE_CHECKING:
    from kerneltune.cells.array_reference import ArrayReference
    from kerneltune.cells.scan_reference import DerivedScanReference

MINIMAL = ("mingru", "minlstm")
PART = 1 << 20  # numbers of an array that are computed at once


def forward_on_cpu(
    cell: str, inputs: list[torch.Tensor], options: Options
) -> tuple[torch.Tensor, torch.Tensor]:
    """H after each step in the inputs' dtype, and the last in float32."""
    if cell in MINIMAL and options.lengths is None and options.boundaries is None:
        return _in_one_pass(inputs, options) if _fits_one_pass(inputs) else _by_parts(cell, inputs, options)
    a, b = coefficients(cell, [part.float() for part in inputs])
    after, _, last = _recur(a, b, options, wants_before=False)
    return after.flatten(2).to(inputs[0].dtype), last


def _fits_one_pass(inputs: list[torch.Tensor]) -> bool:
    """Whether there is enough to compute side by side without dividing time, whatever threads there are."""
    batch, _, channels = inputs[0].shape
    known = inputs[0].dtype in (torch.float32, torch.bfloat16)
    wide = batch * -(-channels // CHANNELS_AT_ONCE) >= JOBS
    return known and wide and inputs[0].numel() > 0 and all(part.stride(2) == 1 for part in inputs)


def _in_one_pass(inputs: list[torch.Tensor], options: Options) -> tuple[torch.Tensor, torch.Tensor]:
    batch, steps, channels = inputs[0].shape
    hidden = torch.empty(inputs[0].shape, dtype=inputs[0].dtype)
    last = torch.zeros(batch, channels) if options.initial is None else options.initial.clone()
    resets = torch.zeros(batch, steps) if options.resets is None else options.resets
    minimal_scan(
        [_numbers(part) for part in inputs],
        _numbers(hidden),
        last.numpy(),
        resets.numpy().astype(bool),
        reverse=options.reverse,
        parts=-(-torch.get_num_threads() // batch),
    )
    return hidden, last


def _numbers(tensor: torch.Tensor) -> Steps:
    """A tensor [B, T, D] from its first to its last number, also where other tensors' numbers lie between."""
    tensor = tensor.detach()
    span = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    flat = tensor.as_strided((span,), (1,))
    short = tensor.dtype == torch.bfloat16
    numbers = flat.view(torch.int16).numpy().view(np.uint16) if short else flat.numpy()
    return Steps(numbers, tensor.stride(0), tensor.stride(1))


def _by_parts(
    cell: str, inputs: list[torch.Tensor], options: Options, numbers: int = PART
) -> tuple[torch.Tensor, torch.Tensor]:
    """Some steps after the others, so many that what is computed of them stays in the cache."""
    batch, steps, channels = inputs[0].shape
    hidden = torch.empty(inputs[0].shape, dtype=inputs[0].dtype)
    at_once = max(1, numbers // (batch * channels))
    firsts = range(0, steps, at_once)
    state = options.initial
    for first in reversed(firsts) if options.reverse else firsts:
        part = slice(first, first + at_once)
        a, b = coefficients(cell, [whole[:, part].float() for whole in inputs])
        resets = None if options.resets is None else options.resets[:, part]
        given = options._replace(initial=state, resets=resets)
        after, _, state = _recur(a, b, given, wants_before=False)
        hidden[:, part] = after
    assert state is not None
    return hidden, state


def backward_on_cpu(
    cell: str,
    inputs: list[torch.Tensor],
    gradient: torch.Tensor,
    last_gradient: torch.Tensor,
    options: Options,
) -> list[torch.Tensor]:
    """Gradients by the inputs and, in float32, by the initial h."""
    wide = [part.float() for part in inputs]
    a, b = coefficients(cell, wide)
    _, before, _ = _recur(a, b, options)
    by_hidden = gradient.float().reshape(before.shape)
    passed = a.transpose(-1, -2) if a.dim() == 5 else a
    if options.resets is not None:
        dropped = options.resets.reshape(*a.shape[:2], *(1,) * (a.dim() - 2)) != 0
        passed = torch.where(dropped, torch.zeros(()), passed)
    pushed = (passed @ by_hidden[..., None])[..., 0] if a.dim() == 5 else passed * by_hidden
    back = options._replace(initial=last_gradient, resets=None, reverse=not options.reverse)
    _, carried, by_initial = _recur(passed, pushed, back)
    whole = by_hidden + carried
    if options.lengths is not None:
        counts = torch.arange(a.shape[1]) < options.lengths[:, None]
        inside = counts.reshape(*counts.shape, *(1,) * (whole.dim() - 2))
        whole = torch.where(inside, whole, whole.new_zeros(()))
    found = _gradients(cell, wide, before.flatten(2), whole.flatten(2))
    if options.lengths is not None:  # whatever lies behind a row's end, NaN and all
        found = [torch.where(counts[..., None], part, part.new_zeros(())) for part in found]
    return [*(part.to(inputs[0].dtype) for part in found), by_initial]


def _recur(
    a: torch.Tensor, b: torch.Tensor, options: Options, *, wants_before: bool = True
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rows = a.shape[0] if options.boundaries is None else options.boundaries.shape[0] - 1
    start = torch.zeros(rows, *b.shape[2:]) if options.initial is None else options.initial
    single = [part.detach().contiguous().numpy() for part in (a, b, start.reshape(rows, *b.shape[2:]))]
    after, before, last = linear_scan(
        single[0],
        single[1],
        single[2],
        None if options.lengths is None else options.lengths.numpy(),
        None if options.resets is None else options.resets.numpy().astype(bool),
        reverse=options.reverse,
        boundaries=None if options.boundaries is None else options.boundaries.numpy(),
        wants_before=wants_before,
    )
    return torch.from_numpy(after), torch.from_numpy(before), torch.from_numpy(last).flatten(1)


def _candidate(n: torch.Tensor) -> torch.Tensor:
    if n.requires_grad:
        return n.clamp(max=0.0).sigmoid() + n.clamp(min=0.0)
    return n.clamp(max=0.0).sigmoid_().add_(n.clamp(min=0.0))  # n + 1/2 from 0 on: sigmoid(0) is 1/2


def _logit_of_a(cell: str, inputs: list[torch.Tensor]) -> torch.Tensor:
    if cell == "mingru":
        return -inputs[0]
    return functional.logsigmoid(inputs[0]).sub_(functional.logsigmoid(inputs[1]))


@cache
def _equations(cell: str) -> DerivedScanReference | None:
    """The functions of a cell of equations; None for those that have their own here.

    Raises:
        InputError: The cell is written in CUDA.
    """
    if cell in MINIMAL:  # which have 1 - a to all its digits where a is near 1
        return None
    found = discover_scans().cell(cell)
    if not isinstance(found, EquationCell):
        raise InputError(f"{cell} is written in CUDA: a CPU needs its equations")
    return scan_functions(found.derivation)


@cache
def _of_arrays(cell: str) -> ArrayReference | None:
    """The functions of a cell of equations whose h is several numbers; None for any other."""
    found = discover_scans().cell(cell)
    if not isinstance(found, EquationCell) or state_width(found) == 1:
        return None
    return array_functions(found.derivation)


def coefficients(cell: str, inputs: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """A and b of h' = a h + b; those of channels of two numbers as matrices and pairs."""
    if cell == "linear":
        return inputs[0], inputs[1]
    if arrays := _of_arrays(cell):
        a, b = arrays.matrices(*inputs)
        return a, b
    if derived := _equations(cell):
        a, b = derived.coefficients(*inputs)
        return a, b
    a = _logit_of_a(cell, inputs).sigmoid_()
    return a, (1.0 - a).mul_(
        _candidate(inputs[-1])
    )  # as on a GPU: h comes to the candidate whatever rounds a


def _gradients(
    cell: str, inputs: list[torch.Tensor], before: torch.Tensor, whole: torch.Tensor
) -> list[torch.Tensor]:
    """By the inputs, from h before each step and the whole gradient by h after it."""
    if cell == "linear":
        return [whole * before, whole]
    if arrays := _of_arrays(cell):
        return list(arrays.gradients(*inputs, before, whole))
    if derived := _equations(cell):
        return list(derived.backward(inputs, (), (before,), (whole,))[1])
    logit, n = _logit_of_a(cell, inputs), inputs[-1]
    a, rest = torch.sigmoid(logit), torch.sigmoid(-logit)
    by_logit = whole * (before - _candidate(n)) * a * rest
    slope = torch.where(n >= 0, torch.ones_like(n), torch.sigmoid(n) * torch.sigmoid(-n))
    by_n = whole * rest * slope
    if cell == "mingru":
        return [-by_logit, by_n]
    return [by_logit * torch.sigmoid(-inputs[0]), -by_logit * torch.sigmoid(-inputs[1]), by_n]
