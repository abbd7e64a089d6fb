"""Cells with arrays of several numbers a channel on the emulated GPU, against float64."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from emulator.build import Emulator
from test_diagonal_emulated import check_drawn

from kerneltune.inputs.equation_cell import EquationCell

pytestmark = pytest.mark.emulated

ARRAYS = {
    "scaled": ("diagonal", "gates a b(x y)\nstates h(p q)\np' = W.a * p + W.x\nq' = W.a * q + W.y"),
    "turned": (
        "complex",
        "gates t b(x y)\nstates h(p q)\nc = 0.6 * tanh(W.t)\ns = 0.6 * sigmoid(W.t)\n"
        "p' = c * p - s * q + W.x\nq' = c * q + s * p + W.y",
    ),
    "gated": (
        "complex",
        "gates a(re im) g(u v) b(x y)\nstates h(p q)\nf = 0.5 * sigmoid(W.u)\n"
        "p' = f * W.re * p - f * W.im * q + sigmoid(W.v) * W.x\n"
        "q' = f * W.re * q + f * W.im * p + sigmoid(W.v) * W.y",
    ),
    "mixed": (
        "square",
        "gates m(a b c d) x(x_1 x_2)\nstates h(p q)\np' = tanh(W.a) / 2 * p + W.b * q + W.x_1 * W.d\n"
        "q' = W.c * p + 0.3 * q + sigmoid(W.x_2)",
    ),
    "fixed": ("square", "gates b(x y)\nstates h(p q)\np' = 0.9 * p - 0.1 * q + W.x\nq' = 0.5 * q + W.y"),
}


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("name", ARRAYS)
def test_cells_with_arrays_of_several_numbers(
    emulator: Emulator, tmp_path: Path, name: str, direction: str
) -> None:
    path, draw = tmp_path / f"{name}.cell", random.Random(f"{name} {direction}")
    kind, text = ARRAYS[name]
    path.write_text(text, encoding="utf-8")
    links = EquationCell.of_file(path).derivation.array_links
    assert links is not None
    assert links.kind == kind
    check_drawn(emulator, draw, str(path), "look_back", direction, gap=8)
