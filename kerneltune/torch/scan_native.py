"""Scans in torch's own operations, step by step: for gradients of gradients and for transforms of transforms.

The functions here compute what the operators of `kerneltune.torch.scan` and `kerneltune.torch.diagonal` do.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch

from kerneltune.torch.newton import functions_of
from kerneltune.torch.scan_cpu import coefficients
from kerneltune.torch.scan_options import Options

States = tuple[torch.Tensor, ...]
Step = Callable[[int, States], States]


def native_scan(cell: str, inputs: list[torch.Tensor], options: Options) -> tuple[torch.Tensor, torch.Tensor]:
    """As `kerneltune::scan`."""
    if options.boundaries is not None:
        return _each_sequence(cell, inputs, options)
    a, b = coefficients(cell, [part.float() for part in _within(inputs, options.lengths)])
    pairs = a.dim() == 5
    shape = (b.shape[0], *b.shape[2:])
    start = b.new_zeros(shape) if options.initial is None else options.initial.reshape(shape)

    def step(t: int, states: States) -> States:
        (h,) = states
        kept = (a[:, t] @ h[..., None])[..., 0] if pairs else a[:, t] * h
        return (kept + b[:, t],)

    hidden, (last,) = _in_order(step, (start,), a.shape[1], options)
    return hidden.flatten(2).to(inputs[0].dtype), last.flatten(1)


def native_diagonal(
    cell: str, inputs: list[torch.Tensor], options: Options
) -> tuple[torch.Tensor, torch.Tensor]:
    """As `kerneltune::diagonal`: h after each step, and the last states."""
    assert options.weights is not None
    module, count = functions_of(cell)
    read = [part.float() for part in _within(inputs, options.lengths)]
    shape = (count, read[0].shape[0], read[0].shape[2])
    start = read[0].new_zeros(shape) if options.initial is None else options.initial
    rows = tuple(options.weights.unbind(0))

    def step(t: int, states: States) -> States:
        found = module.step(tuple(part[:, t] for part in read), rows, states)
        return tuple(torch.broadcast_tensors(*found))

    hidden, last = _in_order(step, tuple(start.unbind(0)), read[0].shape[1], options)
    return hidden.to(inputs[0].dtype), torch.stack(last)


def _within(inputs: list[torch.Tensor], lengths: torch.Tensor | None) -> list[torch.Tensor]:
    """The inputs, and 0 behind a row's end."""
    if lengths is None:
        return inputs
    counts = counting(inputs[0].shape[1], lengths)
    return [torch.where(counts, part, part.new_zeros(())) for part in inputs]


def counting(steps: int, lengths: torch.Tensor) -> torch.Tensor:
    """Which steps count, `[B, T, 1]`."""
    return (torch.arange(steps, device=lengths.device) < lengths[:, None])[..., None]


def _in_order(step: Step, states: States, steps: int, options: Options) -> tuple[torch.Tensor, States]:
    """H after each step, `[B, T, …]`, and the states after the last, each of them `[B, …]`."""
    found: list[torch.Tensor] = []

    def marks(of: torch.Tensor) -> torch.Tensor:
        return of.view(-1, *[1] * (states[0].dim() - 1))

    for t in range(steps - 1, -1, -1) if options.reverse else range(steps):
        before = states
        if options.resets is not None:
            dropped = marks(options.resets[:, t] != 0)
            before = tuple(torch.where(dropped, one.new_zeros(()), one) for one in states)
        after = step(t, before)
        output = after[0]
        if options.lengths is not None:
            counts = marks(t < options.lengths)
            after = tuple(torch.where(counts, new, old) for new, old in zip(after, states, strict=True))
            output = torch.where(counts, output, output.new_zeros(()))
        found.append(output)
        states = after
    return torch.stack(found[::-1] if options.reverse else found, dim=1), states


def _each_sequence(
    cell: str, inputs: list[torch.Tensor], options: Options
) -> tuple[torch.Tensor, torch.Tensor]:
    """Sequences one after another in one row."""
    assert options.boundaries is not None
    hidden, lasts = [], []
    for number, (first, end) in enumerate(pairwise(options.boundaries.tolist())):
        start = None if options.initial is None else options.initial[number : number + 1]
        if first == end:
            zeros = torch.zeros_like(inputs[-1][:, 0], dtype=torch.float32)
            lasts.append(zeros if start is None else start)
            continue
        resets = None if options.resets is None else options.resets[:, first:end]
        given = Options(initial=start, resets=resets, reverse=options.reverse)
        output, last = native_scan(cell, [part[:, first:end] for part in inputs], given)
        hidden.append(output)
        lasts.append(last)
    return torch.cat(hidden, dim=1), torch.cat(lasts)
