"""Cells of equations on a CPU, many steps at once, against the same step by step."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.running import diagonal_reference
from kerneltune.running.diagonal_equations import AT_ONCE, EquationSteps
from kerneltune.running.diagonal_reference import DiagonalInputs
from kerneltune.running.scan_arrays import state_width

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "cells"
SCANS = discover_scans()
CELLS = [  # those with arrays of several numbers run as scans
    name for name, cell in SCANS.cells.items() if isinstance(cell, EquationCell) and state_width(cell) == 1
]
CELLS += [
    str(path)
    for path in sorted(EXAMPLES.glob("*.cell"))
    if not EquationCell.of_file(path).derivation.equations.recurs
]


@pytest.mark.parametrize("kind", ["even", "reverse", "lengths", "resets", "all"])
@pytest.mark.parametrize("name", CELLS, ids=lambda name: Path(name).stem)
def test_many_steps_at_once_are_the_steps_in_order(name: str, kind: str) -> None:
    cell, draw = SCANS.cell(name), np.random.default_rng(4)
    assert isinstance(cell, EquationCell)
    spec, batch, steps = cell.spec, 3, 37
    channels = AT_ONCE // (8 * batch)  # so that it takes some parts
    lengths, resets = np.full(batch, steps, np.int32), np.zeros((batch, steps), bool)
    if kind in ("lengths", "all"):
        lengths[:] = 0, 20, steps
    if kind in ("resets", "all"):
        resets = draw.random((batch, steps)) < 0.2
    inputs = DiagonalInputs(
        tuple(0.5 * draw.standard_normal((batch, steps, channels)) for _ in spec.gates),
        0.3 * draw.standard_normal((len(spec.weights), channels)),
        0.2 + draw.random((len(spec.states), batch, channels)),
        lengths,
        resets,
        kind in ("reverse", "all"),
    )
    module, mine = cell.reference_module(), EquationSteps(cell.derivation)
    found, expected = mine.forward(inputs), diagonal_reference.forward(module, inputs)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    by = draw.standard_normal((batch, steps, channels)), draw.standard_normal(inputs.initial.shape)
    gradients = mine.backward(inputs, *by)
    others = diagonal_reference.backward(module, inputs, *by)
    for one, other in zip((*gradients[0], *gradients[1:]), (*others[0], *others[1:]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)
