"""Structs of cells that are written by hand, beside the equations."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from click.testing import CliRunner

from kerneltune.cli.main import app
from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.source import translation_unit
from kerneltune.errors import CompilationError, InputError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

KERNELS = discover()
GPU = load_profile("h100_sxm")
EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "cells"


@pytest.fixture(params=["mgu", "peephole_lstm", "sru", "mingru", "lru"])
def mine(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "mine.cell"
    path.write_text((EXAMPLES / f"{request.param}.cell").read_text(encoding="utf-8"), encoding="utf-8")
    return path


def printed(*words: str) -> str:
    done = CliRunner().invoke(app, ["cell", "cuda", *words])
    assert done.exit_code == 0, done.output
    return done.stdout


def best(path: Path, direction: str = "forward") -> Candidate:
    recurs = EquationCell.of_file(path).derivation.equations.recurs
    if recurs:
        return TilingSpace(Problem(str(path), 1, 64, 8, "bf16", 32, direction), GPU, KERNELS).best()
    problem = ScanProblem(str(path), 2, 512, 64, "bf16", direction)
    return TilingSpace(problem, GPU, discover_scans()).best()


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_what_is_printed_counts_as_a_header(mine: Path, direction: str) -> None:
    """And compiles to the same machine code as what is generated."""
    generated, before = EquationCell.of_file(mine), best(mine, direction)
    recurs = generated.derivation.equations.recurs
    kernels = KERNELS if recurs else discover_scans()
    compiler = Compiler(kernels, GPU)
    cubin = compiler.compile(before).cubin
    text = printed(str(mine)).replace("struct DerivedCell {", "struct DerivedCell {  // by hand")
    mine.with_suffix(".cuh").write_text(text, encoding="utf-8")
    overridden = EquationCell.of_file(mine)
    assert overridden.override is not None
    assert overridden.key != generated.key
    after = best(mine, direction)
    assert after.values == before.values
    source = translation_unit(after, kernels, GPU)
    assert "// by hand" in source
    assert compiler.compile(after).cubin == cubin
    assert printed(str(mine)).count("DerivedCell") == 1  # what is generated, still


def test_shipped_headers_are_the_ones_of_their_cells() -> None:
    for kernels, name, struct in (
        (KERNELS, "slstm", "SlstmCell"),
        (discover_scans(), "minlstm", "MinLstmCell"),
    ):
        assert kernels.cell(name).spec.cell_struct == struct
        assert "DerivedCell" in printed(name)
        assert struct not in printed(name)


def test_a_header_says_what_training_saves() -> None:
    cell = KERNELS.cell("slstm")
    assert isinstance(cell, EquationCell)
    assert (cell.spec.saved_values, cell.spec.saved_states, cell.spec.backward_reads_hidden) == (4, 2, False)
    saved = cell.derivation.saved.values
    assert [node.op for node in saved] == ["select", "sigmoid", "tanh", "sigmoid"]
    assert cell.reference_module().jumping == (0,)


WRONG = {
    "one line 'struct NAME {', here are 0": ("struct Mine {", "class Mine {"),
    "mine.cuh:3:16: unknown name 'zz'": ("// saves: tanh(z)", "// saves: tanh(zz)"),
    "a line 'static constexpr int saved_states = NUMBER;' is missing": (
        "int saved_states = 0",
        "int other = 0",
    ),
    "saved_states is 3, of 1 states": ("int saved_states = 0", "int saved_states = 3"),
}
HEADER = """#pragma once
#include "common/numeric/activations.cuh"
// saves: tanh(z)
namespace kerneltune {
struct Mine {
  static constexpr int saved_states = 0;
  static constexpr int hidden_read = -1;
};
}
"""


@pytest.mark.parametrize("said", WRONG)
def test_what_is_wrong_is_said_with_its_place(said: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.cell"
    path.write_text("gates z\nstates h\nh' = tanh(z)\n", encoding="utf-8")
    old, new = WRONG[said]
    assert old in HEADER
    path.with_suffix(".cuh").write_text(HEADER.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=r"mine\.cuh") as caught:
        KERNELS.cell(str(path)).spec  # noqa: B018
    assert said in str(caught.value)


def test_constants_that_contradict_the_equations_do_not_compile(tmp_path: Path) -> None:
    path = tmp_path / "mine.cell"
    path.write_text("gates z\nstates h\nh' = tanh(z)\n", encoding="utf-8")
    text = printed(str(path)).replace("int gates = 1;", "int gates = 2;")
    path.with_suffix(".cuh").write_text(text, encoding="utf-8")
    with pytest.raises(CompilationError, match="gates: 'mine' has 1"):
        Compiler(KERNELS, GPU).compile(best(path))


def test_a_saved_layer_has_its_header_with_it(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from kerneltune.inputs import equation_cell
    from kerneltune.torch import Recurrent

    path = tmp_path / "mine.cell"
    path.write_text("gates z\nstates h\nh' = tanh(z + 0.25)\n", encoding="utf-8")
    path.with_suffix(".cuh").write_text(printed(str(path)), encoding="utf-8")
    layer = Recurrent(str(path), 4, 8)
    kept = pickle.dumps(layer)
    known = equation_cell.KNOWN.pop(layer.cell)
    path.with_suffix(".cuh").unlink()
    again = pickle.loads(kept)  # noqa: S301  # of this process
    found = equation_cell.KNOWN[again.cell]
    assert found is not known
    assert found.texts == known.texts
    assert found.override == known.override
