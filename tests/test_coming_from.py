"""docs/coming-from.md: both columns of its tables run, line by line, and give the same answers."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from constrint import Model

PAGE = (Path(__file__).parents[1] / "docs" / "coming-from.md").read_text(encoding="utf-8")
TOOLS = ("CP-SAT", "CPMpy", "python-constraint")


def section(title: str) -> str:
    """The section of a tool."""
    text: str
    (text,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    return text


def columns(title: str) -> list[list[list[str]]]:
    """The code of each cell of each row of a section's table, without its head."""
    rows = [line for line in section(title).splitlines() if line.startswith("|")][2:]
    cells = [re.split(r"(?<!\\)\|", row)[1:-1] for row in rows]
    return [
        [[code.replace(r"\|", "|") for code in re.findall(r"`([^`]+)`", cell)] for cell in row]
        for row in cells
    ]


def run(code: str, names: dict[str, Any]) -> Any:
    """Run code of the page; the value of an expression."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            compiled = compile(code, "coming-from.md", "eval")
        except SyntaxError:
            exec(compile(code, "coming-from.md", "exec"), names)  # noqa: S102 - the page of this repository
            return None
        return eval(compiled, names)  # noqa: S307 - the page of this repository


@pytest.mark.parametrize("tool", TOOLS)
def test_both_columns_of_each_table_run(tool: str) -> None:
    foreign: dict[str, Any] = {}
    own: dict[str, Any] = {}
    rows = columns(tool)
    assert len(rows) > 8
    for left, right in rows:
        for names, codes in ((foreign, left), (own, right)):
            for code in codes:
                if code.isidentifier():
                    continue  # a name in a sentence
                try:
                    run(code, names)
                except Exception as error:
                    raise AssertionError(f"{tool}: {code}: {error!r}") from error


def test_a_mistake_in_a_table_is_found() -> None:
    with pytest.raises(AttributeError):
        run('m.new_int_variable(0, 9, "x")', {"m": Model()})
    assert all(len(row) == 2 for tool in TOOLS for row in columns(tool))


def test_both_columns_have_the_same_answers() -> None:
    names: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for left, right in columns("python-constraint")[:-2]:
        run(left[0], names)
        run(right[0], own) if len(right) < 2 or "from_tune" in right[1] else [
            run(code, own) for code in right
        ]
    theirs = sorted(tuple(sorted(one.items())) for one in names["p"].getSolutions())
    assert theirs == sorted(tuple(sorted(one.values.items())) for one in own["m"].iter_solutions())
    assert theirs


@pytest.mark.skipif(shutil.which("minizinc") is None, reason="MiniZinc's program is not installed")
def test_the_column_of_minizinc_is_a_model(tmp_path: Path) -> None:
    statements = [code for left, *_ in columns("MiniZinc") for code in left]
    declared = "".join(f"{one}\n" for one in statements if one.startswith("var ") and "{" not in one)
    declared += "var 0..9: y; var bool: a;\n"
    for statement in statements:
        text = statement if statement.endswith(";") else f"constraint ({statement}) = ({statement});"
        model = tmp_path / "m.mzn"
        head = 'include "all_different.mzn";\n' + ("" if statement.startswith("var ") else declared)
        model.write_text(f"{head}{text}\n{'' if statement.startswith('solve') else 'solve satisfy;'}\n")
        checked = subprocess.run(
            ["minizinc", "--model-check-only", str(model)], capture_output=True, text=True
        )
        assert checked.returncode == 0, f"{statement}: {checked.stderr}"
