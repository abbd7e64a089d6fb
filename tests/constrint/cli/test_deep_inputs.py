"""Every command answers inputs of any depth, up to the limits of depth and beyond: without a traceback."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from constrint import Limits, Model
from constrint.cli.main import app
from constrint.errors import ConstrintError

HEAD = "x, y in 0..7\nb, c bool\n"
NESTED: dict[Any, Callable[..., Any]] = {
    "brackets": lambda d: "(" * d + "x" + ")" * d + " <= 5",
    "bracketed condition": lambda d: "(" * d + "x <= 5" + ")" * d,
    "not": lambda d: "not (" * d + "x <= 5" + ")" * d,
    "sign": lambda d: "-" * d + "x <= 5",
    "abs": lambda d: "abs(" * d + "x" + ")" * d + " <= 5",
    "difference": lambda d: "(y - " * d + "x" + ")" * d + " <= 5",
    "remainder": lambda d: "(x % " * d + "3" + ")" * d + " <= 5",
    "or and": lambda d: "(b or c and " * d + "x == 1" + ")" * d,
    "all ranks": lambda d: "(b <-> c -> b or c and not 1 <= y + 2 * -" * d + "x" + ")" * d,
    "implication": lambda d: "b -> " * d + "x == 1",
    "power": lambda d: "(" * d + "x" + " ** 1)" * d + " <= 5",
    "sum": lambda d: "x" + " + y" * d + " <= 5",
    "chain": lambda d: "x" + " <= y" * d,
    "quotients": lambda d: "x" + " // 2" * d + " <= 5",
    "index": lambda d: "[1, 2, 3][" * d + "x" + "]" * d + " <= 5",
    "minimum": lambda d: "min(y, " * d + "x" + ")" * d + " <= 5",
    "choice": lambda d: "if_then_else(b, y, " * d + "x" + ")" * d + " <= 5",
    "definitions": lambda d: "".join(f"a{i} := {f'a{i - 1}' if i else 'x'} // 2\n" for i in range(d)) + "b",
    "open": lambda d: "x == " + "(" * d,
    "sets": lambda d: "x in " + "{" * d + "1" + "}" * d,
}
FLASHRNN = {
    "brackets": lambda d: "(" * d + "x" + ")" * d + " <= 5;",
    "or": lambda d: "(x == 1 | " * d + "x == 2" + ")" * d + ";",
    "difference": lambda d: "(y - " * d + "x" + ")" * d + " <= 5;",
}
COMMANDS = [
    ["check", "--explain", "--time-limit", "1"],
    ["solve", "--time-limit", "1"],
    ["explain", "--time-limit", "1"],
    ["space", "--count", "--time-limit", "1"],
]


def depths(seed: str) -> list[int]:
    """A small depth, one below the default limit, and one beyond it."""
    random = Random(seed)
    return [random.randrange(20, 200), random.randrange(300, 500), random.choice((1_000, 3_000))]


def run(arguments: list[str], text: str) -> str:
    """What a command prints; it ends with one of the documented codes."""
    done = CliRunner().invoke(app, arguments, input=text, catch_exceptions=False)
    assert done.exit_code in (0, 1, 2, 3), done.output
    assert "nternal" not in done.output
    if done.exit_code == 2:
        assert "<stdin>" in done.output or "hint" in done.output, done.output
    return done.output


@pytest.mark.parametrize("kind", NESTED)
def test_text(kind: Any) -> None:
    for depth in depths(kind):
        text = HEAD + NESTED[kind](depth) + "\n"
        run(["fmt", "-"], text)
        run([*Random(kind + str(depth)).choice(COMMANDS), "-"], text)
        run(["check", "--max-depth", "5000", "-"], text)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("kind", ["or and", "difference", "choice"])
def test_below_a_raised_limit(kind: Any, command: Any) -> None:
    run([*command, "--max-depth", "2500", "-"], HEAD + NESTED[kind](Random(kind).randrange(500, 1_000)))


@pytest.mark.parametrize("kind", NESTED)
def test_json(kind: Any) -> None:
    for depth in depths(kind):
        try:
            model = Model.from_text(HEAD + NESTED[kind](depth), limits=Limits(depth=None))
            text = model.to_json()
        except ConstrintError:
            continue
        run([*Random(kind + str(depth)).choice(COMMANDS), "--dialect", "json", "-"], text)


@pytest.mark.parametrize("depth", [300, 3_000])
@pytest.mark.parametrize("key", ["constraints", "unknown", "definitions"])
def test_json_of_nested_lists(depth: int, key: str) -> None:
    document = {"format": "constrint", "version": 1, "name": "", "variables": [], key: 0}
    text = json.dumps(document).replace(": 0}", ": " + "[" * depth + "]" * depth + "}")
    run(["check", "--dialect", "json", "-"], text)


@pytest.mark.parametrize("kind", FLASHRNN)
def test_flashrnn(kind: str) -> None:
    for depth in depths(kind):
        text = "x, y <= 7;\n" + FLASHRNN[kind](depth) + "\n"
        run([*Random(kind + str(depth)).choice(COMMANDS), "--dialect", "flashrnn", "-"], text)


@pytest.mark.parametrize("kind", NESTED)
def test_without_a_limit_of_depth(kind: Any) -> None:
    with contextlib.suppress(ConstrintError):
        Model.from_text(HEAD + NESTED[kind](1_200), limits=Limits(depth=None))
