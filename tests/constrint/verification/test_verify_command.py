"""`constrint verify`: exit codes, what it prints, and hostile proofs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import constrint as ci
from constrint.cli.main import app
from constrint.verification.checker import HEAD, RejectedAtError, verify

TEXT = "x, y in 0..9\nx + 3 <= y or y + 4 <= x\nx * y >= 6\nminimize x + 2 * y\n"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A model and its proof."""
    model, proof = tmp_path / "m.constrint", tmp_path / "m.proof"
    model.write_text(TEXT)
    assert run("solve", "--learn", "--proof", str(proof), str(model)).exit_code == 0
    return model, proof


def test_a_proof_that_holds(files: tuple[Path, ...]) -> None:
    model, proof = map(str, files)
    said = run("verify", "--strict", model, proof)
    assert said.exit_code == 0
    assert said.stdout.startswith("verified: optimal\nminimize x + 2 * y = 8\n")
    document = json.loads(run("verify", "--json", model, proof).stdout)
    assert (document["verified"], document["claim"], document["objectives"]) == (True, "optimal", [8])
    assert document["values"] == {"x": 6, "y": 1}
    assert document["trusted"] == {}


def test_a_proof_that_is_rejected(files: tuple[Path, ...]) -> None:
    model, proof = files
    lines = proof.read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("learned"))
    proof.write_text("\n".join([*lines[:at], "learned 1 >= 9", *lines[at + 1 :]]))
    said = run("verify", str(model), str(proof))
    assert said.exit_code == 1
    assert f"line {at + 1}: the clause does not follow" in said.stdout
    document = json.loads(run("verify", "--json", str(model), str(proof)).stdout)
    assert (document["verified"], document["line"]) == (False, at + 1)


def test_a_proof_of_another_model(files: tuple[Path, ...], tmp_path: Path) -> None:
    _, proof = files
    for change in (("6", "7"), ("minimize", "maximize"), ("x, y in 0..9", "x, y in 0..8")):
        other = tmp_path / "other.constrint"
        other.write_text(TEXT.replace(*change))
        said = run("verify", str(other), str(proof))
        assert said.exit_code == 2, change
        assert "another" in said.stderr


def test_assumptions_are_part_of_the_model(files: tuple[Path, ...]) -> None:
    model, proof = map(str, files)
    assert run("solve", "--learn", "--proof", proof, "-A", "x < y", model).exit_code == 0
    assert run("verify", "-A", "x < y", model, proof).exit_code == 0
    assert run("verify", model, proof).exit_code == 2


def test_data_are_part_of_the_model(tmp_path: Path) -> None:
    model, data, proof = (tmp_path / name for name in ("m.constrint", "d.json", "m.proof"))
    model.write_text("param n in 1..9\nx in 0..n\nx * x <= 7\nmaximize x\n")
    data.write_text('{"n": 5}')
    assert run("solve", "--learn", "--proof", str(proof), str(model), str(data)).exit_code == 0
    assert run("verify", "--data", str(data), str(model), str(proof)).exit_code == 0
    data.write_text('{"n": 4}')
    assert run("verify", "--data", str(data), str(model), str(proof)).exit_code == 2


def test_models_in_other_formats(tmp_path: Path) -> None:
    m = ci.Model.from_text(TEXT)
    for ending in ("fzn", "json", "xml"):
        model, proof = tmp_path / f"m.{ending}", tmp_path / f"{ending}.proof"
        m.write(model)
        assert run("solve", "--learn", "--proof", str(proof), str(model)).exit_code == 0
        assert run("verify", "--strict", str(model), str(proof)).exit_code == 0, ending


def test_a_model_without_goals_takes_those_of_the_proof(tmp_path: Path) -> None:
    m = ci.Model.from_text(TEXT.replace("minimize x + 2 * y\n", ""))
    m.write(tmp_path / "m.constrint")
    x, y = m.variables.values()
    proof = tmp_path / "m.proof"
    m.solve(maximize=2 * x - y, minimize=y, learn=True, proof=proof)
    said = run("verify", str(tmp_path / "m.constrint"), str(proof))
    assert said.exit_code == 0
    assert "maximize 2 * x - y = 17" in said.stdout


def test_a_fractional_goal(tmp_path: Path) -> None:
    m = ci.Model()
    x, y = m.int_var("x", 0, 5), m.int_var("y", 0, 5)
    m.add(x + y <= 7)
    m.solve(maximize=0.5 * x + 0.25 * y, learn=True, proof=tmp_path / "proof")
    report = verify(m, (tmp_path / "proof").read_text().splitlines())
    assert report.claim == "optimal"
    assert report.values == {"x": 5, "y": 2}


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["constrint proof 1"],
        [HEAD],
        [HEAD, "lowering"],
        [HEAD, "claim optimal {}"],
        [HEAD, 'model "x in 0..9\\n"', "claim infeasible"],
        [HEAD, 'model "x in 0..9\\n"', "lowering", "infeasible", "claim infeasible"],
        [HEAD, 'model "x in .. in"', "claim unknown"],
        [HEAD, "model 7", "claim unknown"],
        [HEAD, 'model "x in 0..9\\n"', 'claim optimal {"x": 10}'],
        [HEAD, 'model "x in 0..9\\n"', 'claim optimal {"x": 3.0}'],
        [HEAD, 'model "x in 0..9\\n"', 'claim optimal {"y": 3}'],
        [HEAD, 'model "x in 0..9\\n"', 'claim optimal {"x": 3}', "exhausted"],
        [HEAD, 'model "x in 0..9\\n"', "lowering", 'variable 1 in 0 .. 8 is "x"', "search"],
        [HEAD, 'model "x in 0..9\\n"', "lowering", 'variable 1 in 0 .. 9 is "z"', "search"],
        [HEAD, 'model "x in 0..9\\n"', "lowering", 'constraint Clause {"literals": [2]}', "search"],
        [HEAD, 'model "x in 0..9\\n"', "lowering", "constraint Clause {}", "search"],
        [HEAD, 'model "x in 0..9\\n"', "lowering", "constraint Nothing {}", "search"],
        [HEAD, 'model "x in 0..9\\n"', "lowering", "constraint Clause " + "[" * 9000, "search"],
        [HEAD, 'model "x in 0..9\\n"', "lowering", "drop 5"],
        [HEAD, 'model "x in 0..9\\n"', "lowering", "search", "learned ", "exhausted", "claim infeasible"],
        [HEAD, "\x00"],
    ],
)
def test_hostile_proofs_are_rejected(lines: list[str]) -> None:
    with pytest.raises(RejectedAtError):
        verify(None, lines)


@pytest.mark.parametrize(
    "steps",
    [
        ["infeasible", "claim infeasible"],  # there is no better solution, but one
        ["from 0", 'constraint Clause {"literals": []}', "search 0", "exhausted", "claim infeasible"],
        ["presolve rows", "infeasible", "claim infeasible"],
        ["objective 0 min 1 times 1 plus 0", "search 0", "exhausted"],
        ['model "x in 0..9\\n"', 'claim optimal {"x": 9}'],
        ["solution 0=1 1=6 2=1"],
        ["learned 1 >= 9"],
        ["exhausted"],
        ["search 1"],
        ["search"],
    ],
)
def test_nothing_about_all_solutions_follows_a_search(files: tuple[Path, ...], steps: list[str]) -> None:
    _, proof = files
    lines = proof.read_text().splitlines()
    assert lines[-2] == "exhausted"
    with pytest.raises(RejectedAtError) as rejected:
        verify(None, [*lines[:-1], *steps])
    assert rejected.value.line > len(lines) - 1


def test_the_checker_runs_without_the_solver(files: tuple[Path, ...]) -> None:
    model, proof = files
    code = f"""
import sys
from constrint.frontends.text.text import read_model
from constrint.verification.checker import verify
report = verify(read_model(open({str(model)!r}).read()), open({str(proof)!r}))
assert report.claim == "optimal"
solver = ("learning", "presolve", "search", "relaxation", "local_search", "enumeration", "preparing.prepared")
print([name for name in sys.modules if name.startswith(tuple("constrint." + part for part in solver))])
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"
