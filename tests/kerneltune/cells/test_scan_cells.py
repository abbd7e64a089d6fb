"""Cells of equations without R: references, descriptions, requests; the shipped ones in plain floats."""

from __future__ import annotations

import builtins
import math
import re
from pathlib import Path

import numpy as np
import pytest

from kerneltune.cells.graph import behind
from kerneltune.cells.numbers import computed
from kerneltune.cells.scan_reference import DerivedScanReference
from kerneltune.compiling.source import translation_unit
from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.scan_descriptions import ScanCell, discover_scans, is_nonlinear
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.tiling.space import TilingSpace


def cell_of(tmp_path: Path, name: str, text: str) -> ScanCell:
    path = tmp_path / f"{name}.cell"
    path.write_text(text)
    cell = discover_scans().cell(str(path))
    assert isinstance(cell, ScanCell)
    return cell


SHIPPED = discover_scans().root / "scan" / "cells"


@pytest.mark.parametrize("direction", ["forward", "training", "backward"])
def test_a_file_is_tiled_as_a_scan(tmp_path: Path, direction: str) -> None:
    cell_of(tmp_path, "mine", (SHIPPED / "diag_gru.cell").read_text(encoding="utf-8"))
    problem = ScanProblem(str(tmp_path / "mine.cell"), 4, 4096, 256, "bf16", direction)
    kernels, profile = discover_scans(), load_profile("h100_sxm")
    space = TilingSpace(problem, profile, kernels)
    candidate = space.best()
    assert (
        candidate.parameters
        == TilingSpace(ScanProblem("diag_gru", 4, 4096, 256, "bf16", direction), profile, kernels)
        .best()
        .parameters
    )
    assert "struct DerivedCell" in translation_unit(candidate, kernels, profile)


def test_what_has_no_kernels(tmp_path: Path) -> None:
    names = "a b c d e f g"
    sums = " + ".join(f"W.{name}" for name in names.split())
    many = cell_of(tmp_path, "b", f"gates {names}\nstates h\nweights u\nh' = u * h + {sums}\n")
    with pytest.raises(InputError, match=r"b\.cell: no gate has R h, and scans read at most 6 gates, not 7"):
        many.spec  # noqa: B018


def test_kinds_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "mine.cell"
    path.write_text("gates a\nstates h\nweights u\nh' = tanh(a + u * h)\n")
    assert not isinstance(discover().cell(str(path)), ScanCell)
    path.write_text("gates a\nstates h\nweights u\nh' = tanh(W.a + u * h)\n")
    cell = discover().cell(str(path))
    assert isinstance(cell, ScanCell)
    assert cell.work(False)["step_latency"] == 7


def test_a_linear_cell(tmp_path: Path) -> None:
    mine = cell_of(tmp_path, "mine", "gates a b\nstates h\nh' = W.a * h + W.b\n")
    assert mine.constants()["gradient_inputs"] == 1
    assert mine.constants()["computes"] == 0
    assert mine.spec.coefficients == ("a",)
    assert not is_nonlinear(mine)
    space = TilingSpace(
        ScanProblem(str(tmp_path / "mine.cell"), 4, 4096, 256, "bf16"),
        load_profile("h100_sxm"),
        discover_scans(),
    )
    assert space.best().strategy == "look_back"


def sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


def diag_gru(x: list[float], u: list[float], state: list[float]) -> list[float]:
    (h,) = state
    z, r = sigmoid(x[0] + u[0] * h), sigmoid(x[1] + u[1] * h)
    return [(1 - z) * h + z * math.tanh(x[2] + u[2] * r * h)]


def diag_lstm(x: list[float], u: list[float], state: list[float]) -> list[float]:
    h, c = state
    f = sigmoid(x[0] + u[0] * h + u[3] * c)
    new = f * c + (1 - f) * math.tanh(x[1] + u[1] * h)
    return [sigmoid(x[2] + u[2] * h + u[4] * new) * math.tanh(new), new]


def diag_slstm(x: list[float], u: list[float], state: list[float]) -> list[float]:
    """By c and n themselves: c' = sigmoid(f) c + exp(i) z, n' = sigmoid(f) n + exp(i)."""
    h, v, log_n = state
    i, f = x[0] + u[0] * h, x[1] + u[1] * h
    n = sigmoid(f) * math.exp(log_n) + math.exp(i)
    c = sigmoid(f) * v * math.exp(log_n) + math.exp(i) * math.tanh(x[2] + u[2] * h)
    return [sigmoid(x[3] + u[3] * h) * c / n, c / n, math.log(n)]


def linear(x: list[float], u: list[float], state: list[float]) -> list[float]:
    return [x[0] * state[0] + x[1]]


def positive(n: float) -> float:
    return n + 0.5 if n >= 0 else sigmoid(n)


def mingru(x: list[float], u: list[float], state: list[float]) -> list[float]:
    z = sigmoid(x[0])
    return [(1 - z) * state[0] + z * positive(x[1])]


def minlstm(x: list[float], u: list[float], state: list[float]) -> list[float]:
    f, i = sigmoid(x[0]), sigmoid(x[1])
    return [f / (f + i) * state[0] + i / (f + i) * positive(x[2])]


def complex(x: list[float], u: list[float], state: list[float]) -> list[float]:
    after = builtins.complex(*x[:2]) * builtins.complex(*state) + builtins.complex(*x[2:])
    return [after.real, after.imag]


def matrix2(x: list[float], u: list[float], state: list[float]) -> list[float]:
    return list(np.reshape(x[:4], (2, 2)) @ state + x[4:])


BY_HAND = (complex, diag_gru, diag_lstm, diag_slstm, linear, matrix2, mingru, minlstm)
STEPS = {one.__name__: one for one in BY_HAND}


def test_every_shipped_scan_has_its_equations_here() -> None:
    assert sorted(STEPS) == sorted(path.stem for path in SHIPPED.glob("*.cell"))


@pytest.mark.parametrize("name", STEPS)
def test_shipped_scans_are_their_equations(name: str) -> None:
    """In Python's floats, and their gradients by differences."""
    derivation, draw = EquationCell.of_file(SHIPPED / f"{name}.cell").derivation, np.random.default_rng(3)
    said = derivation.equations
    x, u, state, gradient = (
        list(draw.normal(size=len(names))) for names in (said.gates, said.weights, said.states, said.states)
    )
    module = DerivedScanReference(derivation)
    whole = [np.array([value]) for value in state]
    after = module.step([np.array([value]) for value in x], u, whole)
    np.testing.assert_allclose(np.ravel(after), STEPS[name](x, u, state), rtol=1e-12)
    found = [[np.asarray(one, float) for one in part] for part in module.backward(x, u, whole, gradient)]
    for which, values in enumerate((state, x, u)):
        for number in range(len(values)):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [list(state), list(x), list(u)]
                moved[which][number] += step
                ends.append(np.dot(gradient, STEPS[name](moved[1], moved[2], moved[0])))
            slope = (ends[0] - ends[1]) / 2e-6
            np.testing.assert_allclose(found[which][number], slope, rtol=1e-6, atol=1e-8)


def operations(cell: ScanCell) -> tuple[int, int]:
    """Sums, products and fused ones, and special functions, in the text of a struct's backward step."""
    text = cell.declaration(discover_scans().root)
    body = text[text.index("void backward(") :].split("{\n", 1)[1]
    special = len(re.findall(r"Math::(?:sigmoid|tanh|log_sigmoid)\(|Gate<Math>::of\(", body))
    return len(re.findall(r"fmaf\(|Gate<Math>::of\(| [*+-] ", body)), special


# By hand: sigmoid(-d) is 1 - sigmoid(d), and the gradient by a weight the one by its gate times a state.
@pytest.mark.parametrize(
    ("name", "most"), [("diag_gru", (22, 3)), ("diag_lstm", (29, 4)), ("diag_slstm", (28, 5))]
)
def test_backward_has_no_more_operations_than_by_hand(name: str, most: tuple[int, int]) -> None:
    cell = discover_scans().cells[name]
    assert isinstance(cell, ScanCell)
    found = operations(cell)
    assert found[0] <= most[0]
    assert found[1] <= most[1]


def test_gradients_with_one_known_gradient_are_one_product(tmp_path: Path) -> None:
    cell = cell_of(
        tmp_path,
        "mine",
        "gates x y\nstates h c\nweights u v\n\nc' = tanh(W.x + u * c)\nh' = tanh(W.y + v * c') + u * c'",
    )
    text = cell.declaration(discover_scans().root)
    line = next(one for one in text.splitlines() if one.endswith("gradient_1);"))
    assert line.count("gradient_0") == 1, text


def test_a_sigmoid_that_is_known_gives_that_of_the_opposite(tmp_path: Path) -> None:
    known, other = (
        cell_of(tmp_path, name, f"gates x y\nstates h\nweights u\n\nd = W.x + u * h\nh' = {equation}")
        for name, equation in [
            ("known", "sigmoid(d) * W.y + softplus(-d)"),
            ("other", "sigmoid(W.y) + softplus(-d)"),
        ]
    )
    assert operations(known)[1] == 1  # backward needs no softplus
    assert operations(other)[1] == 2


@pytest.mark.parametrize("d", [-20.0, -1.0, 0.0, 3.0, 20.0])
def test_slopes_of_softplus_by_a_known_sigmoid(tmp_path: Path, d: float) -> None:
    text = "gates x y\nstates h\nweights u\n\nd = W.x + u * h\nh' = sigmoid(d) * W.y + softplus(-d)"
    cell = cell_of(tmp_path, "known", text)
    derivation = cell.derivation  # type: ignore[attr-defined]
    leaves = {"input": [d, 0.5], "before": [0.3], "weight": [0.0], "seed": [1.0]}
    results = derivation.backward.input
    known = {n: np.float64(leaves[n.op][int(n.value)]) for n in behind(results) if n.op in leaves}
    sigmoid = 1 / (1 + math.exp(-d))
    expected = sigmoid * (1 - sigmoid) * 0.5 - 1 / (1 + math.exp(d))
    assert computed(results, known)[results[0]] == pytest.approx(expected, abs=1e-12)
