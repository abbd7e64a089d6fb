"""What `constrint solve` prints about goals, named constants and models without solutions."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from constrint.cli.main import app


def run(text: str, *arguments: str) -> str:
    return CliRunner().invoke(app, ["solve", *arguments, "-"], input=text).output


def test_goals_are_named_as_variables_and_definitions() -> None:
    text = "n := 3\nx[1..n] in 2..9\ny := x[1] + 1\nminimize x[n]\nmaximize y\nminimize x[2] + x[1]\n"
    assert [line for line in run(text).splitlines() if line.startswith("#")] == [
        "# minimal x[3] = 2",
        "# maximal y = 10",
        "# minimal x[2] + x[1] = 11",
    ]


def test_named_constants_are_not_on_each_line() -> None:
    text = "n := 3\nx in 1..n\ny := x + n\n"
    lines = ["x=1 y=4", "x=2 y=5", "x=3 y=6"]
    assert run(text, "--all").splitlines() == lines
    assert sorted(run(text, "--sample", "3").splitlines()) == lines
    assert "n = 3" in run(text)
    assert json.loads(run(text, "--all", "--json"))["solutions"][0] == {"n": 3, "x": 1, "y": 4}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("x in 2..9\nx * x == 50", ["this constraint cannot hold with x in 2..9:", "x * x == 50"]),
        ("a, b, c, d in 0..1\na+b+c+d > 4", ["with a in 0..1, b in 0..1, c in 0..1, …:", "a+b+c+d > 4"]),
        ("enum e := {p, q}\nx in {q}\nx == p", ["cannot hold with x in {q}:", "x == p"]),
        (
            "x[1..3] in 0..9\nminimize x[4]",
            ["this constraint cannot hold:", "the objective has a value: x[4]"],
        ),
        (
            "x[1..3] in 0..9\nx[1] > 2\ni in 3..6\ni != 3\nminimize x[i]",
            ["these 2 constraints", "i != 3", "the objective has a value: x[i]"],
        ),
        ("x in 0..9\nx > 3\nx < 2\nminimize 7 // x", ["these 2 constraints", "x > 3", "x < 2"]),
    ],
)
def test_reasons_of_infeasible_models(text: str, lines: list[str]) -> None:
    found = run(text).splitlines()
    assert len(found) == len(lines)
    assert all(part in line for line, part in zip(found, lines, strict=True))
