"""Diagonal cells on a CPU in float64, on all rows and channels at once."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.running import diagonal_reference
from kerneltune.running.diagonal_reference import DiagonalInputs

if TYPE_CHECKING:
    from kerneltune.running.diagonal_equations import EquationSteps

Floats: TypeAlias = NDArray[np.float32]


class CpuInputs(NamedTuple):
    """Inputs of a cell.

    Attributes:
        read: The cell's inputs, `[G, B, T, D]`.
        weights: `[W, D]`.
        lengths: Steps of each row that count, `[B]`.
        resets: `[B, T]`: where the states before the step are dropped.
        reverse: Whether the last step is the first.
    """

    read: Floats
    weights: Floats
    lengths: NDArray[np.int32]
    resets: NDArray[np.bool_]
    reverse: bool


def forward(cell: str, inputs: CpuInputs, initial: Floats) -> tuple[Floats, Floats, Floats]:
    """H after each step, `[B, T, D]`, the last states, `[S, B, D]`, and those before every 16th step."""
    steps, given = _steps(cell), _wide(inputs, initial)
    found = steps.forward(given) if steps else diagonal_reference.forward(_functions(cell), given)
    return found.hidden.astype(np.float32), found.last.astype(np.float32), found.kept.astype(np.float32)


def backward(
    cell: str, inputs: CpuInputs, kept: Floats, gradient: Floats, last_gradient: Floats
) -> tuple[Floats, Floats, Floats]:
    """Gradients by the inputs, `[G, B, T, D]`, the initial states and each row's weights, `[B, W, D]`."""
    steps, given = _steps(cell), _wide(inputs, kept[0])
    by = gradient.astype(np.float64), last_gradient.astype(np.float64)
    if steps:
        by_input, start, by_row = steps.backward(given, *by)
    else:
        by_input, start, by_row = diagonal_reference.backward(_functions(cell), given, *by)
    return np.array(by_input, np.float32), start.astype(np.float32), by_row.astype(np.float32)


@cache
def _steps(cell: str) -> EquationSteps | None:
    """The passes of a cell of equations; None for any other."""
    from kerneltune.running.diagonal_equations import EquationSteps

    found = discover_scans().cell(cell)
    return EquationSteps(found.derivation) if isinstance(found, EquationCell) else None


@cache
def _functions(cell: str) -> ModuleType:
    """`step` and `backward` of a cell."""
    return discover_scans().cell(cell).reference_module()


def _wide(inputs: CpuInputs, initial: Floats) -> DiagonalInputs:
    read = tuple(inputs.read.astype(np.float64))
    rest = inputs.lengths, inputs.resets, inputs.reverse
    return DiagonalInputs(read, inputs.weights.astype(np.float64), initial.astype(np.float64), *rest)
