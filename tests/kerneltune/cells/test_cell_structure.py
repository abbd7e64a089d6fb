"""What a cell is, decided from its equations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_cells import DrawnCell

from kerneltune.cells.equations import Equations, read_equations
from kerneltune.cells.graph import Node, behind
from kerneltune.cells.linear import coefficients, links
from kerneltune.cells.numbers import computed
from kerneltune.cells.structure import RECURRENT, SCANS, Structure
from kerneltune.cells.syntax import Source
from kerneltune.cli.cell import described, lines
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.tiling.space import TilingSpace

EXAMPLES = Path(__file__).parents[3] / "examples" / "cells"

CELLS = {
    "mingru": ("linear", "gates k n\nstates h\nz = sigmoid(W.k)\nh' = (1 - z) * h + z * tanh(W.n)"),
    "complex": (
        "linear",
        "gates a b x y\nstates h g\nh' = W.a * h - W.b * g + W.x\ng' = W.a * g + W.b * h + W.y",
    ),
    "divided": ("linear", "gates a x\nstates h\nh' = h / (1 + abs(W.a)) - -W.x"),
    "chosen": ("linear", "gates a\nstates h\nh' = where(W.a > 0, h, W.a)"),
    "weighted": ("linear", "gates a\nstates h\nweights p\nh' = sigmoid(p) * h + W.a"),
    "output": (  # SRU: h is any function of c, and no step reads it
        "linear",
        "gates f z o\nstates h c\nf = sigmoid(W.f)\nc' = f * c + (1 - f) * W.z\nh' = sigmoid(W.o) * tanh(c')",
    ),
    "without states": ("linear", "gates a\nstates h\nh' = tanh(W.a)"),
    "diag_gru": (
        "diagonal",
        "gates z n\nstates h\nweights u\nz = sigmoid(W.z + u * h)\nh' = (1 - z) * h + z * tanh(W.n)",
    ),
    "squared": ("diagonal", "gates a\nstates h\nh' = 0.5 * h * h + W.a"),
    "inverse": ("diagonal", "gates a\nstates h\nh' = W.a / (2 + h)"),
    "switched": ("diagonal", "gates a\nstates h\nh' = where(h > 0, W.a, 2 * W.a)"),
    "bounded": ("diagonal", "gates a\nstates h\nh' = max(0.5 * h, W.a)"),
    "elman": ("recurrent", "gates a\nstates h\nh' = tanh(a)"),
    "gru": ("recurrent", "gates r n\nstates h\nh' = h + tanh(W.n + sigmoid(W.r) * R.n)"),
}


def structure_of(text: str) -> Structure:
    return Structure(read_equations("mine", Source("mine.cell", text)))


@pytest.mark.parametrize("name", CELLS)
def test_the_kind_follows_from_the_equations(name: str) -> None:
    kind, text = CELLS[name]
    structure = structure_of(text)
    assert structure.kind == kind
    assert (not structure.nonlinear) == (kind == "linear") or kind == "recurrent"


def leaves(equations: Equations, seed: int, **fixed: Any) -> dict[Node, Any]:
    random = np.random.default_rng(seed)
    drawn = {
        n: random.standard_normal(5) for n in behind(equations.after) if not n.args and n.op != "constant"
    }
    return {node: fixed.get(node.op, value) for node, value in drawn.items()}


@pytest.mark.parametrize("name", [name for name in CELLS if CELLS[name][0] == "linear"])
def test_linear_cells_are_linear(name: str) -> None:
    """At a mean of two states, each carried state is the mean of what it is at both."""
    structure = structure_of(CELLS[name][1])
    equations = structure.equations
    one = leaves(equations, 1)
    other = {n: v + 1.7 * (n.op == "before") for n, v in one.items()}
    middle = {n: (one[n] + other[n]) / 2 for n in one}
    at = [computed(equations.after, known) for known in (one, middle, other)]
    for state, node in zip(equations.states, equations.after, strict=True):
        if state in structure.carried:
            np.testing.assert_allclose(at[1][node], (at[0][node] + at[2][node]) / 2, rtol=1e-12)


@pytest.mark.parametrize("number", range(40))
def test_slopes_of_drawn_cells_are_differences(number: int) -> None:
    structure = structure_of(DrawnCell(number).text)
    equations = structure.equations
    known = leaves(equations, number)
    for before in range(len(equations.states)):
        leaf = equations.graph.leaf("before", before)
        at = known.get(leaf, 0.0)
        above, below = (computed(equations.after, {**known, leaf: at + s}) for s in (1e-6, -1e-6))
        for after, node in enumerate(equations.after):
            slope = structure.slope(after, before)
            found = computed([slope], known)[slope]
            expected = (above[node] - below[node]) / 2e-6
            np.testing.assert_allclose(found + 0 * expected, expected, rtol=2e-5, atol=2e-7)
            assert structure.depends[after][before] or not np.any(expected)


def test_reasons() -> None:
    structure = structure_of(CELLS["diag_gru"][1])
    assert structure.strategies == ["sequential", "overlap"]
    assert structure.refusals["look_back"] == "h' has sigmoid(…) of a value that depends on a state"
    assert structure.refusals["block"] == "no gate has R h: there is no product to share"
    recurrent = structure_of(CELLS["gru"][1])
    assert recurrent.strategies == [name for name in RECURRENT if name != "warpgroup"]
    assert recurrent.refusals.keys() == {*SCANS, "warpgroup"}
    assert recurrent.refusals["warpgroup"] == "its products have rows for 1, 3 or 4 gates"
    assert "passes through R (n)" in recurrent.refusals["overlap"]
    assert structure_of(CELLS["mingru"][1]).strategies == ["look_back", "sequential"]
    weighted = structure_of(CELLS["weighted"][1])
    assert weighted.strategies == ["look_back_states", "sequential", "overlap"]
    assert weighted.refusals["look_back"] == "it sums no gradients by weights of units, such as p"
    assert (
        "one number a unit, which is the output, not h and g"
        in structure_of(CELLS["complex"][1]).refusals["look_back"]
    )
    assert "look_back_states" in structure_of(CELLS["complex"][1]).strategies
    four = structure_of(
        "gates a\nstates h b c d\n" + "\n".join(f"{s}' = h + b + c + d + W.a" for s in "hbcd")
    )
    assert four.refusals["look_back_states"] == "it carries at most 3 states, not 4"
    unread = structure_of("gates a\nstates h\nweights u\nh' = u * W.a")
    assert unread.refusals["look_back_states"].startswith("no step reads a state")
    many = structure_of("gates a b c d e f g\nstates h\nh' = h + W.a * W.b * W.c * W.d * W.e * W.f * W.g")
    assert many.strategies == []
    assert many.refusals["sequential"] == "scans read at most 6 gates, not 7"


@pytest.mark.parametrize(
    "equation",
    [
        "h + tanh(W.k) * (W.n - h)",
        "-(h - W.k) / W.n - 2 * h",
        "where(W.k > 0, W.n - h, h / 3) * W.k",
        "W.n * W.k - (W.k - (h - W.n))",
        "tanh(W.k) * W.n",
    ],
)
def test_coefficients(equation: str) -> None:
    equations = structure_of(f"gates k n\nstates h\nh' = {equation}").equations
    found = coefficients(equations)
    known = leaves(equations, 1)
    h = next((value for node, value in known.items() if node.op == "before"), 0.0)
    values = computed([*equations.after, found.a, found.b], known)
    np.testing.assert_allclose(values[found.a] * h + values[found.b], values[equations.after[0]], rtol=1e-12)
    assert not any(node.op == "before" for node in behind([found.a, found.b]))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("complex", "gates p q x\nstates h g\nh' = W.p * h - W.q * g + W.x\ng' = (W.q * h + W.p * g) / 1"),
        ("square", "gates p q x\nstates h g\nh' = W.p * h + W.q * g + W.x\ng' = W.q * h + W.p * g - W.x"),
        ("diagonal", "gates p x\nstates h g\nh' = W.x - W.p * h\ng' = where(W.p > 0, g, -g / 2) - 1"),
        ("real", "gates p x\nstates y h\nh' = h + W.p * (W.x - h)\ny' = tanh(h' * W.p)"),
        ("square", "gates p x\nstates a b c\na' = b + W.x\nb' = c - a\nc' = W.p * (a - 2 * (b + c))"),
    ],
)
def test_links_of_several_states(kind: str, text: str) -> None:
    """A s + b is the step of what is carried."""
    equations = structure_of(text).equations
    carried = [equations.states.index(name) for name in structure_of(text).carried]
    found = links(equations, carried)
    assert found.kind == kind
    known = leaves(equations, 1)
    before = {int(node.value): value for node, value in known.items() if node.op == "before"}
    flat = [node for row in found.rows for node in row]
    values = computed([*equations.after, *flat, *found.b], known)
    for state, row, rest in zip(carried, found.rows, found.b, strict=True):
        parts = [values[one] * before[number] for number, one in zip(carried, row, strict=True)]
        np.testing.assert_allclose(sum(parts) + values[rest], values[equations.after[state]], rtol=1e-12)


def test_inputs_that_are_factors() -> None:
    text = "gates a k n x\nstates h\nh' = (W.a - tanh(W.k)) * h / W.n + W.x"
    assert coefficients(structure_of(text).equations).factors == {0, 2}


def test_what_is_no_look_back(tmp_path: Path) -> None:
    """The strategies that are shown are those that have tilings."""
    for number, (kind, text) in enumerate(CELLS.values()):
        if kind == "recurrent":
            continue
        path = tmp_path / f"c{number}.cell"
        path.write_text(text)
        for direction in ("forward", "backward"):
            problem = ScanProblem(str(path), 2, 64, 32, "bf16", direction)
            space = TilingSpace(problem, load_profile("h100_sxm"), discover_scans())
            found = {one.name for one in space.applicable() if space.draw(one, 1, seed=1)}
            assert found == set(structure_of(text).strategies), text


@pytest.mark.parametrize("gates", range(1, 7))
def test_the_gates_that_warpgroup_takes(gates: int) -> None:
    names = [f"g{number}" for number in range(gates)]
    cell = EquationCell(
        "mine", gates=" ".join(names), states="h", equations=f"h' = tanh({' * '.join(names)})"
    )
    problem = Problem(cell.key, 1, 256, 256, "bf16")
    space = TilingSpace(problem, load_profile("h100_sxm"), discover(), "warpgroup")
    assert ("warpgroup" in Structure(cell.derivation.equations).refusals) == (space.candidates() == [])


KINDS = {"linear": {"lru", "mingru", "qrnn", "qrnn_f", "rg_lru"}, "diagonal": {"indrnn", "sru", "wkv"}}


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.cell")), ids=lambda path: path.stem)
def test_the_kinds_of_the_examples(path: Path) -> None:
    kind = next((kind for kind, names in KINDS.items() if path.stem in names), "recurrent")
    assert Structure(EquationCell.of_file(path).derivation.equations).kind == kind
    about = described(EquationCell.of_file(path))
    assert ("saved" in about) == (kind == "recurrent")
    assert lines(about)
