"""The operators of scans on a CPU: gates by torch in float32, the recurrence by numba."""

from __future__ import annotations

from typing import TypeAlias

import torch
from torch.nn import functional

from kerneltune.running.scan_cpu import linear_scan

# initial, lengths, resets, reverse
Options: TypeAlias = "tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor | None, bool]"


def forward_on_cpu(
    cell: str, inputs: list[torch.Tensor], options: Options
) -> tuple[torch.Tensor, torch.Tensor]:
    """H after each step in the inputs' dtype, and the last in float32."""
    a, b = _coefficients(cell, [part.float() for part in inputs])
    after, _, last = _recur(a, b, options)
    return after.to(inputs[0].dtype), last


def backward_on_cpu(
    cell: str,
    inputs: list[torch.Tensor],
    gradient: torch.Tensor,
    last_gradient: torch.Tensor,
    options: Options,
) -> list[torch.Tensor]:
    """Gradients by the inputs and, in float32, by the initial h."""
    _, lengths, resets, reverse = options
    wide = [part.float() for part in inputs]
    a, b = _coefficients(cell, wide)
    _, before, _ = _recur(a, b, options)
    by_hidden = gradient.float()
    passed = a if resets is None else a * (resets == 0)[..., None]
    _, carried, by_initial = _recur(passed, passed * by_hidden, (last_gradient, lengths, None, not reverse))
    whole = by_hidden + carried
    if lengths is not None:
        whole = whole * (torch.arange(a.shape[1]) < lengths[:, None])[..., None]
    return [*(part.to(inputs[0].dtype) for part in _gradients(cell, wide, before, whole)), by_initial]


def _recur(
    a: torch.Tensor, b: torch.Tensor, options: Options
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    initial, lengths, resets, reverse = options
    start = torch.zeros(a.shape[0], a.shape[2]) if initial is None else initial
    single = [part.detach().contiguous().numpy() for part in (a, b, start)]
    after, before, last = linear_scan(
        single[0],
        single[1],
        single[2],
        None if lengths is None else lengths.numpy(),
        None if resets is None else resets.numpy().astype(bool),
        reverse=reverse,
    )
    return torch.from_numpy(after), torch.from_numpy(before), torch.from_numpy(last)


def _candidate(n: torch.Tensor) -> torch.Tensor:
    return torch.where(n >= 0, n + 0.5, torch.sigmoid(n))


def _logit_of_a(cell: str, inputs: list[torch.Tensor]) -> torch.Tensor:
    if cell == "mingru":
        return -inputs[0]
    return functional.logsigmoid(inputs[0]) - functional.logsigmoid(inputs[1])


def _coefficients(cell: str, inputs: list[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """A and b of h' = a h + b."""
    if cell == "linear":
        return inputs[0], inputs[1]
    logit = _logit_of_a(cell, inputs)
    return torch.sigmoid(logit), torch.sigmoid(-logit) * _candidate(inputs[-1])


def _gradients(
    cell: str, inputs: list[torch.Tensor], before: torch.Tensor, whole: torch.Tensor
) -> list[torch.Tensor]:
    """By the inputs, from h before each step and the whole gradient by h after it."""
    if cell == "linear":
        return [whole * before, whole]
    logit, n = _logit_of_a(cell, inputs), inputs[-1]
    a, rest = torch.sigmoid(logit), torch.sigmoid(-logit)
    by_logit = whole * (before - _candidate(n)) * a * rest
    slope = torch.where(n >= 0, torch.ones_like(n), torch.sigmoid(n) * torch.sigmoid(-n))
    by_n = whole * rest * slope
    if cell == "mingru":
        return [-by_logit, by_n]
    return [by_logit * torch.sigmoid(-inputs[0]), -by_logit * torch.sigmoid(-inputs[1]), by_n]
