"""`kerneltune cell show`, and requests that name a cell's file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import kerneltune
from kerneltune.cli.main import app, with_folders
from kerneltune.compiling.source import translation_unit
from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.tiling.candidate import Candidate

COUPLED = """# Coupled gates
gates f z o
states h c

f = sigmoid(f)
c' = f * c + (1 - f) * tanh(z)
h' = sigmoid(o) * tanh(c')
"""
SIZES = ["--gpu", "h100_sxm", "--heads", "2", "--head-dim", "64", "--batch", "8"]


def run(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


@pytest.fixture
def coupled(tmp_path: Path) -> Path:
    path = tmp_path / "coupled.cell"
    path.write_text(COUPLED)
    return path


@pytest.mark.parametrize("direction", ["forward", "training", "backward"])
def test_a_file_is_tiled(coupled: Path, direction: str) -> None:
    done = run("tile", str(coupled), *SIZES, "--pass", direction, "--json")
    assert done.exit_code == 0, done.output
    candidate = Candidate.from_json(json.loads(done.stdout)["candidates"][0])
    source = translation_unit(candidate, discover(), load_profile("h100_sxm"))
    assert "struct DerivedCell" in source
    assert '/cell.cuh"' not in source


def test_a_path_from_the_current_folder_is_the_same_file(
    coupled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(coupled.parent)
    done = run("tile", "coupled.cell", *SIZES, "--json")
    assert json.loads(done.stdout)["candidates"][0]["problem"]["cell"] == str(coupled)


@pytest.mark.parametrize("command", ["tune", "compile"])
def test_a_file_of_equations_is_no_folder_of_a_kernel(
    command: str, coupled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it lies, and whatever options there are; only a folder of that name is one."""
    monkeypatch.chdir(coupled.parent)
    for path in (coupled, coupled.relative_to(Path.cwd()), Path("nowhere.cell"), Path("no", "where.cell")):
        for options in ([], ["--gpu", "h100_sxm"], SIZES):
            assert with_folders([command, str(path), *options]) == [command, str(path), *options]
    Path("folder.cell").mkdir()
    assert with_folders([command, "folder.cell"])[0] == f"{command}-kernel"


def test_what_is_wrong_is_said_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "wrong.cell"
    path.write_text(COUPLED.replace("tanh(z)", "tahn(z)"))
    for words in (["tile", str(path), *SIZES], ["cell", "show", str(path)]):
        done = run(*words)
        assert done.exit_code == 2
        assert f"{path}:6:24: unknown function 'tahn'" in done.stderr.replace("\n", "")
    done = run("tile", str(tmp_path / "none.cell"), *SIZES)
    assert done.exit_code == 2
    assert "cannot read" in done.stderr


def test_a_cell_is_shown() -> None:
    done = run("cell", "show", "lstm")
    assert done.exit_code == 0, done.output
    shown = re.sub(" +", " ", done.stdout)
    for part in ("recurrent through R", "c' = c f + i z", "in float32: c", "block exact", "by c: f\n"):
        assert part in shown
    found = json.loads(run("cell", "show", "slstm", "--json").stdout)
    assert found["kind"] == "recurrent"
    assert found["jacobian"][3][:3] == ["0", "0", "0"]
    assert found["saved"]["states"] == ["c", "n"]


def test_cells_without_equations_have_none_to_show() -> None:
    assert run("cell", "show", "lstn").exit_code == 2


def test_a_cell_in_python() -> None:
    cell = kerneltune.Cell(
        "mine", gates="a f", states="h", equations="\nf = sigmoid(f)\nh' = f * h + (1 - f) * tanh(a)\n"
    )
    assert cell.spec.gates == ("a", "f")
    assert cell.spec.backward_reads_hidden
    with pytest.raises(InputError, match="cell 'mine':2:6: unknown name 'g'"):
        kerneltune.Cell("mine", gates="a", states="h", equations="\nh' = g * a")
    with pytest.raises(InputError, match="is no name of a cell"):
        kerneltune.Cell("my cell", gates="a", states="h", equations="h' = a")
    with pytest.raises(InputError, match="the gate 'b' is never used"):
        kerneltune.Cell("mine", gates="a b", states="h", equations="h' = a")
