"""Type checkers find the mistakes in programs, which are marked `# error`, and nothing else."""

from __future__ import annotations

import importlib.util
import inspect
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import constrint as ci
from constrint.answers.solve_arguments import SolveArguments
from constrint.expr.arrays import ExprArray
from constrint.modelling.symbols import EnumVar, SetVar

ROOT = Path(__file__).parents[3]
PROGRAMS = sorted((Path(__file__).parent / "typed_programs").glob("*.py"))
Places = set[tuple[str, int]]


def marked(*marks: str) -> Places:
    """The lines of the programs that have a mistake.

    Args:
        marks: Comments of mistakes: `# error`, and `# strict error` of those that only strict mypy finds.
    """
    return {
        (path.name, number)
        for path in PROGRAMS
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if line.endswith(marks)
    }


def test_there_are_twelve_programs_with_mistakes() -> None:
    assert len(PROGRAMS) == 12
    assert {name for name, _ in marked("# error")} == {path.name for path in PROGRAMS}


@pytest.mark.slow  # half a minute without mypy's cache, which `make lint` fills; 3 s with it
def test_mypy_finds_each_mistake_and_nothing_else() -> None:
    pytest.importorskip("mypy")
    names = [str(path.relative_to(ROOT)) for path in PROGRAMS]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--output", "json", *names],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    found = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    assert found, run.stdout + run.stderr
    errors = {(Path(one["file"]).name, one["line"]) for one in found if one["severity"] == "error"}
    assert errors == marked("# error", "# strict error"), found


@pytest.mark.slow  # 15 s
@pytest.mark.skipif(
    shutil.which("pyright") is None and importlib.util.find_spec("pyright") is None,
    reason="needs pyright",
)
def test_pyright_finds_each_mistake_and_nothing_else() -> None:
    command = ["pyright"] if shutil.which("pyright") else [sys.executable, "-m", "pyright"]
    run = subprocess.run(
        [*command, "--outputjson", "--pythonpath", sys.executable, *map(str, PROGRAMS)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(run.stdout)["generalDiagnostics"]
    errors = {
        (Path(one["file"]).name, one["range"]["start"]["line"] + 1)
        for one in found
        if one["severity"] == "error"
    }
    assert errors == marked("# error"), found


def test_overloads_of_solve_take_its_arguments() -> None:
    own = set(inspect.signature(ci.Model.solve).parameters) - {"self", "minimize", "maximize"}
    assert set(SolveArguments.__annotations__) == own


def test_generic_classes_take_arguments_while_running() -> None:
    assert ExprArray[ci.IntVar] is not None
    assert ExprArray[ci.IntVar, tuple[int]] is not None
    assert ci.Result[int] is not None
    assert EnumVar[str] is not None
    assert SetVar[int] is not None
