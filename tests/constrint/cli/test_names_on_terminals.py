"""Names and labels of foreign models on a terminal: they add no lines, and steer nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from constrint import Model
from constrint.cli.main import app

ODD = ["x\ny = 7", "\x1b[2J", "a\rb", "\x9b31m", "\u202eabc", "\u2028", "t\tb", "\x7f"]
COMMANDS = [
    ["solve"], ["solve", "--all"], ["solve", "--sample", "2"], ["space"], ["space", "--list"], ["check"],
    ["check", "--explain"], ["explain"], ["explain", "--all"], ["explain", "--corrections"],
    ["solve", "--assume", "nothing > 1"], ["space", "--given", "nothing=1"], ["convert", "-", "--to", "lp"],
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("feasible", [True, False])
def test_the_same_lines_as_with_plain_names(tmp_path: Path, command: list[str], feasible: bool) -> None:
    def answer(name: str) -> tuple[list[str], int]:
        m = Model()
        x, y = m.int_var(name, 0, 3), m.enum_var("e", [name, "plain"])
        m.add(x > 1, name=name)
        m.add(y == name)
        if not feasible:
            m.add(x < 1, name=f"{name}2")
        m.write(tmp_path / "m.json")
        first, *more = command
        words = [first, str(tmp_path / "m.json"), *more]
        done = CliRunner().invoke(app, words)
        assert done.exception is None or isinstance(done.exception, SystemExit)
        return done.output.splitlines(keepends=True), done.exit_code

    lines, code = answer("plain_name")
    for name in ODD:
        found, own = answer(name)
        assert own == code
        assert len(found) == len(lines), (name, found)
        assert all(line.rstrip("\n").isprintable() for line in found), (name, found)


def test_json_has_the_names_as_they_are(tmp_path: Path) -> None:
    for name in ODD:
        m = Model()
        m.int_var(name, 2, 2)
        m.write(tmp_path / "m.json")
        done = CliRunner().invoke(app, ["solve", "--json", str(tmp_path / "m.json")])
        assert json.loads(done.output)["values"] == {name: 2}
