"""One thing is singular in displays, messages and the output of commands: never `1 constraints`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import constrint as ci
from constrint import Model
from constrint.cli.main import app

ONE = re.compile(r"(?<![\w.,/-])1 (?!is\b|has\b|s\b|times\b|plus\b|minus\b)[a-z]+s\b")


def one_of_each() -> Model:
    m = Model("one")
    m.add(m.int_var("x", 1, 1) >= 1, name="only")
    return m


def of_text(text: str) -> str:
    with pytest.raises(ci.ParseError) as caught:
        Model.from_text(text)
    return str(caught.value)


def of_call(call: Callable[[], object]) -> str:
    with pytest.raises((ci.ModelError, ci.LimitError, IndexError)) as caught:
        call()
    return str(caught.value)


DISPLAYS: dict[str, Callable[[Model], object]] = {
    "Model": lambda m: m,
    "print(model)": str,
    "its page": lambda m: m._repr_html_(),
    "Result": lambda m: m.solve(),
    "SolutionSet": lambda m: m.solutions(),
    "Ranking": lambda m: m.best_solutions(1, minimize=m.variables["x"]),
    "Front": lambda m: m.pareto([(m.variables["x"], "max")]),
    "its page, of a front": lambda m: m.pareto([(m.variables["x"], "max")])._repr_html_(),
    "plan": lambda m: m.plan(),
    "table": lambda m: of_call(lambda: ci.table([m.variables["x"], 1], [(1,)])),
    "short table": lambda m: of_call(lambda: ci.table([m.variables["x"], 1], [("*",)])),
    "number": lambda m: of_call(lambda: m.solutions()[3]),
    "text: min": lambda _: of_text("min() == 1"),
    "text: abs": lambda _: of_text("abs(1, 2) == 1"),
    "text: function": lambda _: of_text("f(a) := a == 1; f(1, 2)"),
    "text: table": lambda _: of_text("x in 0..1; table([x, x], [[1]])"),
    "text: circuit": lambda _: of_text("x in 0..1; circuit([x, x], 2)"),
}


@pytest.mark.parametrize("display", DISPLAYS)
def test_displays_and_messages(display: str) -> None:
    assert not ONE.findall(str(DISPLAYS[display](one_of_each())))


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve"],
        ["solve", "--all"],
        ["solve", "--log"],
        ["solve", "--pareto"],
        ["solve", "--best", "1"],
        ["space"],
        ["space", "--explain"],
        ["check"],
        ["check", "--explain"],
    ],
)
def test_commands(arguments: list[str], tmp_path: Path) -> None:
    path = tmp_path / "one.constrint"
    path.write_text("x in 1..1\nx >= 1\nmaximize x\n")
    found = CliRunner().invoke(app, [*arguments, str(path)])
    assert not ONE.findall(found.output)
