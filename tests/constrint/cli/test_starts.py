"""What starts import: ceilings on the number of modules, and packages that short commands do without.

Times are in benchmarks/solver/starts.py. A ceiling that is met by a new module that every start needs may be
raised; a module that only long searches or other commands need is to be imported where it is used. Folders
with a file for each propagator, function, global constraint, rule of presolve or record of settings are not
counted.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import sys
sys.argv = {argv!r}
try:
    {call}
except SystemExit:
    pass
own = [name for name in sys.modules if name.split(".")[0] in ("constrint", "kerneltune")]
own = [name for name in own if not name.startswith({files!r})]
print(len(own), *sorted({{name.split(".")[0] for name in sys.modules}}), file=sys.stderr)
"""
FILES = (
    "constrint.propagators.",
    "constrint.expr.arithmetic.",
    "constrint.globals.",
    "constrint.presolve.",
    "constrint.settings.",
)
HEAVY = {"numpy", "numba", "highspy", "ortools", "sympy", "pandas"}
PARSING = {"lark", "platformdirs", "tempfile", "difflib", "yaml"}
FOUR_LINES = "x in 1..64\ny in 1..64\nx * y <= 1000\nmaximize x + y\n"
FLATZINC = "var 1..9: x :: output_var;\nconstraint int_le(3, x);\nsolve minimize x;\n"
CONSTRINT = "from constrint.cli.main import main; main()"
TILE = ["tile", "lstm", "--heads", "12", "--head-dim", "64", "--batch", "16", "--gpu", "h100_sxm"]


def modules(call: str, arguments: list[str]) -> tuple[int, set[str]]:
    """How many modules of this project a process imports, and the names of all packages."""
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(argv=["command", *arguments], call=call, files=FILES)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    ).stderr
    number, *names = said.splitlines()[-1].split()
    return int(number), set(names)


def test_import_of_the_package() -> None:
    own, names = modules("import constrint; constrint.Model()", [])
    assert own <= 74
    assert names & (HEAVY | PARSING | {"click", "json"}) == set()


@pytest.mark.parametrize(
    ("text", "name", "call", "ceiling"),
    [
        (FOUR_LINES, "four.constrint", CONSTRINT, 170),
        (FLATZINC, "one.fzn", "from constrint.cli.flatzinc import main; main()", 150),
    ],
)
def test_solving_a_small_file(tmp_path: Path, text: str, name: str, call: str, ceiling: int) -> None:
    file = tmp_path / name
    file.write_text(text)
    arguments = ["solve", str(file)] if name.endswith(".constrint") else [str(file)]
    modules(call, arguments)  # makes the parser's tables
    own, names = modules(call, arguments)
    assert own <= ceiling
    assert names & (HEAVY | PARSING) == set()


def test_a_tiling() -> None:
    call = "from kerneltune.cli.main import main; main()"
    modules(call, TILE)
    own, names = modules(call, TILE)
    assert own <= 197
    assert names & (HEAVY | PARSING - {"yaml", "tempfile"}) == set()  # importlib.resources has tempfile


@pytest.mark.parametrize("command", ["main", "flatzinc"])
def test_commands_start_no_threads_of_linear_algebra(command: str) -> None:
    call = f"from constrint.cli.{command} import main; sys.argv = ['c', '--help']; main()"
    program = (
        f"import sys, os, atexit\natexit.register(lambda: print(os.environ['OPENBLAS_NUM_THREADS']))\n{call}"
    )
    unset = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    for given, expected in (({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env={**unset, **given},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.splitlines()[-1] == expected
