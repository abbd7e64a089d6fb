"""Newton's method on all steps at once, as published for parallel nonlinear recurrences: for comparison.

Each iteration linearises the cell at the states so far and solves the linear recurrence by doubling. How
many iterations it takes depends on the weights; states that do not converge are reported by a warning.
Gradients are those of the steps in order, along the states that were found.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import torch

from kerneltune.errors import InputError
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.running.diagonal_reference import CHECKPOINT_STEPS
from kerneltune.torch.equations import scan_functions

if TYPE_CHECKING:
    from kerneltune.cells.scan_reference import DerivedScanReference

TOLERANCE = 1e-5  # largest change of a state by the last iteration


class NewtonResult(NamedTuple):
    """The result of the iterations.

    Attributes:
        hidden: h after each step, `[B, T, D]`.
        last: The states after the last step, `[S, B, D]`, in float32.
        iterations: How many were made.
        converged: Of each channel, `[B, D]`, whether the last iteration moved no state beyond the tolerance.
        kept: The states before every 16th step, `[T / 16, S, B, D]`, from which gradients are computed.
    """

    hidden: torch.Tensor
    last: torch.Tensor
    iterations: int
    converged: torch.Tensor
    kept: torch.Tensor


@torch.no_grad()  # type: ignore[untyped-decorator]
def newton(
    cell: str,
    inputs: tuple[torch.Tensor, ...],
    weights: torch.Tensor,
    initial: torch.Tensor | None = None,
    *,
    tolerance: float = TOLERANCE,
    iterations: int | None = None,
) -> NewtonResult:
    """A diagonal cell by Newton's method from zeros. `diagonal(…, parallel="newton")` has gradients, too.

    Args:
        cell: Its name.
        inputs: What it reads, `[B, T, D]` each.
        weights: `[W, D]`.
        initial: The states before the first step, `[S, B, D]`; zeros if not given.
        tolerance: Largest change of a state in the last iteration.
        iterations: At most so many; by default as many as there are steps, after which it is exact if nothing
            overflowed.
    """
    module, states = functions_of(cell)
    batch, steps, channels = inputs[0].shape
    read = tuple(part.float() for part in inputs)
    first = (
        inputs[0].new_zeros((states, batch, channels), dtype=torch.float32) if initial is None else initial
    )
    found = torch.zeros((states, batch, steps, channels), dtype=torch.float32, device=first.device)
    done, moved = 0, torch.full((batch, channels), torch.inf, device=first.device)
    for _ in range(steps if iterations is None else iterations):
        before = torch.cat([first[:, :, None], found[:, :, :-1]], 2)
        after = torch.stack(list(torch.broadcast_tensors(*module.step(read, tuple(weights), tuple(before)))))
        slope = _jacobian(module, read, tuple(weights), tuple(before), states)
        rest = after - torch.einsum("ijbtd,jbtd->ibtd", slope, before)
        rest[:, :, 0] += torch.einsum("ijbd,jbd->ibd", slope[:, :, :, 0], first)
        solved = _solved(slope, rest)
        moved = (solved - found).abs().amax((0, 2))
        found, done = solved, done + 1
        if bool((moved <= tolerance).all()) or not bool(torch.isfinite(solved).any()):
            break
    converged = moved <= tolerance
    if not bool(converged.all()):
        count = int((~converged).sum())
        warnings.warn(
            f"Newton's method has not converged in {count} of {batch * channels} channels "
            f"after {done} iterations: their states are not those of the steps in order",
            stacklevel=3,
        )
    before = torch.cat([first[:, :, None], found[:, :, :-1]], 2)[:, :, ::CHECKPOINT_STEPS]
    kept = before.permute(2, 0, 1, 3).contiguous()
    return NewtonResult(found[0].to(inputs[0].dtype), found[:, :, -1].clone(), done, converged, kept)


@cache
def functions_of(cell: str) -> tuple[DerivedScanReference, int]:
    """The cell's functions for tensors, and how many states it has."""
    known = discover_scans().cell(cell)
    if not isinstance(known, EquationCell):
        raise InputError(f"{cell} is written in CUDA: torch's own operations need its equations")
    return scan_functions(known.derivation), len(known.spec.states)


def _jacobian(
    module: DerivedScanReference,
    read: tuple[torch.Tensor, ...],
    weights: tuple[torch.Tensor, ...],
    before: tuple[torch.Tensor, ...],
    states: int,
) -> torch.Tensor:
    """Of each state after a step by each before it, `[S, S, B, T, D]`."""
    rows = []
    for state in range(states):
        unit = tuple(torch.full_like(read[0], float(state == other)) for other in range(states))
        by_state, _, _ = module.backward(read, weights, before, unit)
        rows.append(torch.stack(list(torch.broadcast_tensors(*by_state))))
    return torch.stack(rows)


def _solved(slope: torch.Tensor, rest: torch.Tensor) -> torch.Tensor:
    """The states of s' = slope s + rest, from the first rest on, by doubling."""
    steps, distance = rest.shape[2], 1
    while distance < steps:
        joined = torch.einsum("ijbtd,jbtd->ibtd", slope[:, :, :, distance:], rest[:, :, :-distance])
        rest = torch.cat([rest[:, :, :distance], rest[:, :, distance:] + joined], 2)
        product = torch.einsum("ijbtd,jkbtd->ikbtd", slope[:, :, :, distance:], slope[:, :, :, :-distance])
        slope = torch.cat([slope[:, :, :, :distance], product], 3)
        distance *= 2
    return rest
