"""Cells of equations on the emulated GPU, against float64."""

from __future__ import annotations

import random
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drawn_cells import DrawnCell
from emulator.build import Emulator
from emulator.crossed import more, one_each
from emulator.passes import check_case, run_case
from test_diagonal_emulated import check_drawn, drawn_candidate
from test_scans_emulated import check

from kerneltune.cells.structure import Structure
from kerneltune.compiling.halffloat import decode
from kerneltune.inputs.descriptions import Cell, Kernels, discover
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.measuring.measure import tiling_plan
from kerneltune.pipeline.tilings import CompiledTiling, run_tilings
from kerneltune.running.case import random_case
from kerneltune.tiling.space import TilingSpace

pytestmark = pytest.mark.emulated

KERNELS = discover()
GPU = load_profile("h100_sxm")
PASSES = ("forward", "training", "backward")
STRATEGIES = [name for name in KERNELS.strategies if name in KERNELS.backward]


def with_cell(cell: Cell) -> Kernels:
    return replace(KERNELS, cells={**KERNELS.cells, cell.name: cell})


@pytest.mark.parametrize("number", more(20))
def test_drawn_cells_are_right(emulator: Emulator, number: int) -> None:
    cell = EquationCell.of_text("drawn", DrawnCell(number, weights=False).text, "drawn.cell")
    kernels, draw = with_cell(cell), random.Random(number)
    exact = [name for name in Structure(cell.derivation.equations).strategies if name in STRATEGIES]
    for direction in PASSES:
        strategy = draw.choice(exact)
        dtype = draw.choice(KERNELS.strategies[strategy].spec.dtypes)
        shape = (2, 16 * draw.randint(1, 2)) if strategy in ("block", "cluster", "product") else (1, 64)
        problem = Problem("drawn", *shape, draw.randint(1, 9), dtype, 3, direction)
        space = TilingSpace(problem, GPU, kernels, strategy)
        check_case(emulator, kernels, GPU, space.best(), [number])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_step_that_reads_a_state_which_its_gradients_do_not(emulator: Emulator, strategy: str) -> None:
    """As a sum, a product with a constant and a side of a comparison; R h of a step is one gate's alone."""
    equations = """
        h' = tanh(R.a + z + 0.5 * h - 0.3 * c + min(h, W.a))
        c' = 0.5 * c + 0.25 * h + tanh(W.b)
    """
    cell = EquationCell("reading", gates="a b z", states="h c", equations=equations)
    kernels = with_cell(cell)
    for direction in ("forward", "training"):
        problem = Problem("reading", 1, 64, 5, "fp16", 4, direction)
        check_case(emulator, kernels, GPU, TilingSpace(problem, GPU, kernels, strategy).best(), [1, 2])


@pytest.mark.parametrize(("strategy", "direction"), one_each(STRATEGIES, PASSES))
def test_a_cell_of_three_saved_states(emulator: Emulator, strategy: str, direction: str) -> None:
    equations = """
        c' = sigmoid(f) * c + tanh(a)
        n' = sigmoid(a) * n + c
        m' = sigmoid(o) * m + f
        h' = tanh(c' + n' - 0.1 * m')
    """
    cell = EquationCell("three", gates="a f o", states="h c n m", equations=equations)
    assert cell.spec.saved_states == 3
    kernels = with_cell(cell)
    problem = Problem("three", 1, 64, 5, "bf16", 3, direction)
    check_case(emulator, kernels, GPU, TilingSpace(problem, GPU, kernels, strategy).best(), [1, 2])


PEEPHOLE = """
    i = sigmoid(i + p_i * c)
    f = sigmoid(f + p_f * c)
    c' = f * c + i * tanh(z)
    h' = sigmoid(o + p_o * c') * tanh(c')
"""


def in_float32(strategy: str) -> bool:
    return "fp32" in KERNELS.strategies[strategy].spec.dtypes


WEIGHTS = one_each(STRATEGIES, PASSES, ["bf16"])
WEIGHTS += [
    pytest.param(strategy, direction, "fp32", marks=[pytest.mark.slow])
    for strategy in filter(in_float32, STRATEGIES)
    for direction in PASSES
]


@pytest.mark.parametrize(("strategy", "direction", "dtype"), WEIGHTS)
def test_weights_of_single_units(emulator: Emulator, strategy: str, direction: str, dtype: str) -> None:
    cell = EquationCell("peephole", gates="i f z o", states="h c", weights="p_i p_f p_o", equations=PEEPHOLE)
    kernels = with_cell(cell)
    problem = Problem("peephole", 2, 64, 20, dtype, 3, direction)
    check_case(emulator, kernels, GPU, TilingSpace(problem, GPU, kernels, strategy).best(), [1, 2])


EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "cells").glob("*.cell"))
RECURRENT = [path for path in EXAMPLES if EquationCell.of_file(path).derivation.equations.recurs]


@pytest.mark.parametrize(("path", "direction"), one_each(RECURRENT, PASSES))
def test_example_cells(emulator: Emulator, path: Path, direction: str) -> None:
    problem = Problem(str(path), 2, 16, 5, "bf16", 4, direction)
    check_case(emulator, KERNELS, GPU, TilingSpace(problem, GPU, KERNELS, "block").best(), [3, 4])


NUMBERS = [pytest.param(gates, marks=[] if gates == 5 else [pytest.mark.slow]) for gates in (2, 5, 6)]


@pytest.mark.parametrize("gates", NUMBERS)
@pytest.mark.parametrize(
    ("strategy", "direction"), one_each([name for name in STRATEGIES if name != "warpgroup"], PASSES)
)
def test_any_number_of_gates(emulator: Emulator, strategy: str, direction: str, gates: int) -> None:
    """With both kinds of gradients, which in 16 bits are packed otherwise for even numbers."""
    names = [f"g{number}" for number in range(gates)]
    more_gates = "".join(f" * sigmoid({name})" for name in names[2:])
    equations = f"""
        r = sigmoid(g0)
        c' = r * c + tanh(W.g1 + r * R.g1){more_gates}
        h' = tanh(c') * r
    """
    kernels = with_cell(EquationCell("many", gates=" ".join(names), states="h c", equations=equations))
    problem = Problem("many", 1, 64, 5, "bf16", 3, direction)
    check_case(emulator, kernels, GPU, TilingSpace(problem, GPU, kernels, strategy).best(), [1, 2])


@pytest.mark.parametrize("direction", PASSES)
def test_a_file_is_run_by_children(
    emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, direction: str
) -> None:
    """As `kerneltune run` does: children find the cell by its path, one draws the case, another measures."""
    monkeypatch.setenv("KERNELTUNE_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "mine.cell"
    path.write_text((EXAMPLES[0].parent / "peephole_lstm.cell").read_text(encoding="utf-8"), encoding="utf-8")
    problem = Problem(str(path), 1, 16, 3, "bf16", 3, direction)
    candidate = TilingSpace(problem, GPU, KERNELS, "block").best()
    tiling = CompiledTiling(candidate, b"\x7fELF", False, 5)
    runner = Path(__file__).parent / "emulator" / "runner.py"
    child = (sys.executable, str(runner), str(emulator.folder), "h100_sxm")
    (trial,) = run_tilings([tiling], KERNELS.root, tiling_plan(2, 0), timeout=240.0, child=child)
    assert trial.passed, trial.sentence


WEIGHTED = [
    path
    for path in EXAMPLES
    if path not in RECURRENT and EquationCell.of_file(path).derivation.coefficients is None
]


@pytest.mark.parametrize(
    ("path", "strategy", "direction"), one_each(WEIGHTED, ["sequential", "overlap"], PASSES)
)
def test_example_cells_without_r(emulator: Emulator, path: Path, strategy: str, direction: str) -> None:
    draw = random.Random(f"{path.stem} {strategy} {direction}")
    check(emulator, drawn_candidate(draw, str(path), strategy, direction, "h100_sxm"), 3, "h100_sxm")


LINEAR = {
    "leaky": "gates x\nstates h\noption alpha = 0.3\nh' = (1 - alpha) * h + alpha * tanh(W.x)",
    "plain": "gates p q\nstates h\nh' = W.p * h + W.q",
    "mingru": "gates k n\nstates h\nh' = h + sigmoid(W.k) * (where(W.n >= 0, W.n + 0.5, sigmoid(W.n)) - h)",
    "mean": "gates x\nstates h\nh' = 0.5 * (h - W.x)",
    "chosen": "gates p q n x\nstates h\nh' = where(W.p > W.q, -h, h / (1 + exp(W.n))) - W.x",
    "forgotten": "gates x y\nstates h\nh' = tanh(W.x) * W.y",
}


@pytest.mark.parametrize(
    ("name", "strategy", "direction"),
    one_each(list(LINEAR), ["look_back", "sequential"], ["forward", "backward"]),
)
def test_linear_cells(emulator: Emulator, tmp_path: Path, name: str, strategy: str, direction: str) -> None:
    """h' = a h + b of inputs alone: a and b are taken from the equations."""
    path = tmp_path / f"{name}.cell"
    path.write_text(LINEAR[name], encoding="utf-8")
    draw = random.Random(f"{name} {strategy} {direction}")
    gpu = draw.choice(["h100_sxm", "t4"])
    check(emulator, drawn_candidate(draw, str(path), strategy, direction, gpu), 3, gpu)


LINKED = {
    "lru": (
        "complex",
        "gates x y\nstates h g\nweights a b\ngain 0.2\nh' = a*h - b*g + W.x\ng' = b*h + a*g + W.y",
    ),
    "turned": (
        "complex",
        "gates p q x\nstates h g\ngain 0.5\nc = sigmoid(W.p)\nd = 0.5 * tanh(W.q)\n"
        "h' = c * h + d * g + W.x\ng' = c * g - d * h",
    ),
    "rg_lru": (
        "real",
        "gates r i x\nstates h\nweights l\na = exp(-8 * softplus(-l) * sigmoid(W.r))\n"
        "h' = a * h + sqrt(1.001 - a**2) * sigmoid(W.i) * W.x",
    ),
    "pooled": (
        "real",
        "gates f z o\nstates h c\nf = sigmoid(W.f)\nc' = f*c + (1-f)*tanh(W.z)\nh' = sigmoid(W.o)*c'",
    ),
    "read_before": (
        "real",
        "gates f z\nstates c h\nweights u\nc' = sigmoid(W.f + u) * c + tanh(W.z)\nh' = tanh(c) * W.f",
    ),
    "learnt": ("real", "gates x\nstates h\noption alpha = 0.3 learnable\nh' = (1 - alpha) * h + alpha * W.x"),
    "block": (
        "square",
        "gates x y p q\nstates h g\nweights a b\ngain 0.2\nh' = tanh(W.p)/2 * h + a * g + W.x\n"
        "g' = b * h + tanh(W.q)/2 * g + W.y",
    ),
    "triple": (
        "square",
        "gates x p\nstates h g k\nweights a b\ngain 0.2\nh' = a * h + 0.5 * g + W.x\n"
        "g' = b * h + sigmoid(W.p)/2 * k\nk' = 0.3 * (h - g) + 0.4 * k",
    ),
    "side_by_side": (
        "diagonal",
        "gates f z o\nstates h c n\nweights v\nf = sigmoid(W.f)\nc' = f * c + (1 - f) * W.z\n"
        "n' = 0.9 * n + 0.1 * v * W.z\nh' = sigmoid(W.o) * tanh(c' + n')",
    ),
}


@pytest.mark.parametrize("direction", PASSES)
@pytest.mark.parametrize("name", LINKED)
def test_cells_of_several_states_weights_and_outputs(
    emulator: Emulator, tmp_path: Path, name: str, direction: str
) -> None:
    """In tiles that look back: matrices of all kinds, gradients by weights, outputs that no step reads."""
    path, draw = tmp_path / f"{name}.cell", random.Random(f"{name} {direction}")
    kind, text = LINKED[name]
    path.write_text(text, encoding="utf-8")
    links = EquationCell.of_file(path).derivation.links
    assert links is not None
    assert links.kind == kind
    check_drawn(emulator, draw, str(path), "look_back_states", direction, gap=8)


SIX = {
    "diagonal": (
        "gates a b i f z o\nstates h c\nweights u\nf = sigmoid(W.f + u * c)\n"
        "c' = f * c + sigmoid(W.i) * tanh(W.z)\nh' = sigmoid(W.o) * tanh(c') + W.a * sigmoid(W.b)"
    ),
    "linear": (
        "gates a b i f z o\nstates h\nf = sigmoid(W.f)\n"
        "h' = f * h + (1 - f) * sigmoid(W.i) * tanh(W.z) + W.a * sigmoid(W.b) * W.o"
    ),
    "linked": (
        "gates a b i f z o\nstates h c n\nf = sigmoid(W.f)\nc' = f * c + sigmoid(W.i) * tanh(W.z)\n"
        "n' = f * n + W.a\nh' = sigmoid(W.o) * tanh(c' + n') * W.b"
    ),
}
WITH_SIX = [("diagonal", "sequential"), ("diagonal", "overlap"), ("linear", "look_back")]
WITH_SIX += [("linear", "sequential"), ("linked", "look_back_states"), ("linked", "sequential")]


@pytest.mark.parametrize("direction", PASSES)
@pytest.mark.parametrize(("name", "strategy"), WITH_SIX)
def test_scans_of_six_gates(
    emulator: Emulator, tmp_path: Path, name: str, strategy: str, direction: str
) -> None:
    if name == "linear" and direction == "training":
        return
    path = tmp_path / f"{name}.cell"
    path.write_text(SIX[name], encoding="utf-8")
    draw = random.Random(f"{name} {strategy} {direction}")
    check(emulator, drawn_candidate(draw, str(path), strategy, direction, "h100_sxm"), 3, "h100_sxm")


WITHOUT_WEIGHTS = {
    "spiking": """
        n = 0.9 * v + W.x
        h' = where(n > 1, 1, 0) slope 1 / (1 + abs(n))**2
        v' = n - h'
    """,
    "complex": """
        h' = 0.7 * tanh(W.x) * h - 0.6 * sigmoid(W.y) * v + W.x
        v' = 0.7 * tanh(W.x) * v + 0.6 * sigmoid(W.y) * h + W.y
    """,
}


@pytest.mark.parametrize(
    ("name", "strategy", "direction"), one_each(list(WITHOUT_WEIGHTS), ["sequential", "overlap"], PASSES)
)
def test_cells_without_r_and_weights(
    emulator: Emulator, tmp_path: Path, name: str, strategy: str, direction: str
) -> None:
    path = tmp_path / f"{name}.cell"
    gates = "x y" if "W.y" in WITHOUT_WEIGHTS[name] else "x"
    equations = textwrap.dedent(WITHOUT_WEIGHTS[name])
    path.write_text(f"gates {gates}\nstates h v\n{equations}", encoding="utf-8")
    draw = random.Random(f"{name} {strategy} {direction}")
    gpu = draw.choice(["h100_sxm", "t4"])
    check(emulator, drawn_candidate(draw, str(path), strategy, direction, gpu), 3, gpu)


@pytest.mark.parametrize("direction", PASSES)
def test_an_option_that_is_learnt(emulator: Emulator, tmp_path: Path, direction: str) -> None:
    """In a recurrent cell: a gate whose input is the number."""
    path = tmp_path / "leaky.cell"
    text = "gates a\nstates h\noption alpha = 0.3 learnable\nh' = (1 - alpha) * h + alpha * tanh(a)"
    path.write_text(text, encoding="utf-8")
    assert KERNELS.cell(str(path)).spec.gates == ("a", "alpha")
    problem = Problem(str(path), 2, 16, 5, "bf16", 4, direction)
    check_case(emulator, KERNELS, GPU, TilingSpace(problem, GPU, KERNELS, "block").best(), [3, 4])


OVERRIDDEN = sorted(path.with_suffix(".cell") for path in (KERNELS.root / "cells").glob("*.cuh"))


@pytest.mark.parametrize("direction", PASSES)
@pytest.mark.parametrize("path", OVERRIDDEN, ids=lambda path: path.stem)
def test_what_is_written_by_hand_is_what_is_generated(emulator: Emulator, path: Path, direction: str) -> None:
    """A header beside a cell's equations counts, so both kernels must be the same cell."""
    generated = EquationCell.of_text(path.stem, path.read_text(encoding="utf-8"), str(path))
    assert KERNELS.cell(path.stem).spec.cell_struct not in generated.declaration(KERNELS.root)
    found, outputs = [], ("states", "input_gradient", "initial_gradient")
    for cell in (KERNELS.cell(path.stem), generated):
        problem, kernels = Problem(path.stem, 2, 16, 5, "fp32", 6, direction), with_cell(cell)
        candidate = TilingSpace(problem, GPU, kernels, "block").best()
        case = random_case(problem, cell, 7)
        results = run_case(emulator, kernels, GPU, candidate, case, 1)
        assert case.judge(results).right
        arrays = {
            one: decode(results[one], "fp32") if results[one].dtype.kind == "u" else results[one]
            for one in outputs
            if one in results
        }
        found.append((arrays, {one: case.expected[one] for one in outputs if one in case.expected}))
    (hand, hand_expected), (made, expected) = found
    assert hand.keys() == made.keys() != set()
    for name, array in hand.items():
        np.testing.assert_allclose(array, made[name], rtol=1e-4, atol=1e-5, err_msg=name)
    for name, array in hand_expected.items():
        np.testing.assert_allclose(array, expected[name], rtol=1e-9, atol=1e-11, err_msg=name)


SCANS_OVERRIDDEN = sorted(
    path.with_suffix(".cell") for path in (KERNELS.root / "scan" / "cells").glob("*.cuh")
)


@pytest.mark.parametrize("strategy", ["look_back", "sequential"])
@pytest.mark.parametrize("path", SCANS_OVERRIDDEN, ids=lambda path: path.stem)
def test_generated_scans_are_right_where_a_header_counts(
    emulator: Emulator, tmp_path: Path, path: Path, strategy: str
) -> None:
    """The others of the tests here run what is written by hand."""
    alone = tmp_path / path.name
    alone.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    for direction in ("forward", "backward"):
        draw = random.Random(f"{path.stem} {strategy} {direction}")
        check(emulator, drawn_candidate(draw, str(alone), strategy, direction, "h100_sxm"), 3, "h100_sxm")
