"""Cells of equations without R beside the diagonal cells in CUDA: references, descriptions, requests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kerneltune.compiling.source import translation_unit
from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.scan_descriptions import ScanCell, discover_scans, is_nonlinear
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.tiling.space import TilingSpace

EQUATIONS = {
    "diag_gru": """
gates z r n
states h
weights u_z u_r u_n
z = sigmoid(W.z + u_z * h)
r = sigmoid(W.r + u_r * h)
n = tanh(W.n + u_n * r * h)
h' = (1 - z) * h + z * n
""",
    "diag_lstm": """
gates f z o
states h c
weights u_f u_z u_o p_f p_o
f = sigmoid(W.f + u_f * h + p_f * c)
z = tanh(W.z + u_z * h)
c' = f * c + (1 - f) * z
h' = sigmoid(W.o + u_o * h + p_o * c') * tanh(c')
""",
}


def cell_of(tmp_path: Path, name: str, text: str) -> ScanCell:
    path = tmp_path / f"{name}.cell"
    path.write_text(text)
    cell = discover_scans().cell(str(path))
    assert isinstance(cell, ScanCell)
    return cell


@pytest.mark.parametrize("name", EQUATIONS)
def test_references_are_those_of_the_cells_in_cuda(tmp_path: Path, name: str) -> None:
    mine, theirs = cell_of(tmp_path, name, EQUATIONS[name]), discover_scans().cell(name)
    assert is_nonlinear(mine)
    ours, others = mine.constants(), theirs.constants()
    for name in ("chain", "special_functions"):  # of the cost model alone
        ours.pop(name), others.pop(name)
    assert ours == others
    random = np.random.default_rng(1)
    spec = mine.spec
    x, u, before, gradient = (
        tuple(random.standard_normal((3, 5)) for _ in names)
        for names in (spec.gates, spec.weights, spec.states, spec.states)
    )
    modules = mine.reference_module(), theirs.reference_module()
    for found, expected in zip(*(module.step(x, u, before) for module in modules), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    results = (m.backward(x, u, before, gradient) for m in modules)
    for one, other in zip(*results, strict=True):
        for found, expected in zip(one, other, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("direction", ["forward", "training", "backward"])
def test_a_file_is_tiled_as_a_scan(tmp_path: Path, direction: str) -> None:
    cell_of(tmp_path, "mine", EQUATIONS["diag_gru"])
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
    names = "a b c d e"
    sums = " + ".join(f"W.{name}" for name in names.split())
    many = cell_of(tmp_path, "b", f"gates {names}\nstates h\nweights u\nh' = u * h + {sums}\n")
    with pytest.raises(InputError, match=r"b\.cell: no gate has R h, and scans read at most 4 gates, not 5"):
        many.spec  # noqa: B018


def test_kinds_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "mine.cell"
    path.write_text("gates a\nstates h\nweights u\nh' = tanh(a + u * h)\n")
    assert not isinstance(discover().cell(str(path)), ScanCell)
    path.write_text("gates a\nstates h\nweights u\nh' = tanh(W.a + u * h)\n")
    cell = discover().cell(str(path))
    assert isinstance(cell, ScanCell)
    assert cell.spec.chain == 1


def test_a_linear_cell_is_the_one_in_cuda(tmp_path: Path) -> None:
    mine = cell_of(tmp_path, "mine", "gates a b\nstates h\nh' = W.a * h + W.b\n")
    assert mine.constants() == discover_scans().cell("linear").constants()
    assert mine.spec.coefficients == ("a",)
    assert not is_nonlinear(mine)
    space = TilingSpace(
        ScanProblem(str(tmp_path / "mine.cell"), 4, 4096, 256, "bf16"),
        load_profile("h100_sxm"),
        discover_scans(),
    )
    assert space.best().strategy == "look_back"
