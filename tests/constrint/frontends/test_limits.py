"""Limits of reading: each one is enforced with its place, and can be raised."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from random_models import draw_model

from constrint import IntExpr, LimitError, LimitExceeded, Limits, Model, ModelError, ParseError
from constrint.cli.main import app
from constrint.expr.evaluation import SharedValues, is_light
from constrint.expr.walk import Depths
from constrint.frontends.text.format import format_text
from constrint.support.limits import Budget, ReadingStopped, budget_for, recursion_room

HEAD = "x in 0..3\nb bool\n"


def document(**parts: Any) -> str:
    variables = [{"name": "x", "domain": {"lo": 0, "hi": 3}}]
    return json.dumps(
        {"format": "constrint", "version": 1, "variables": variables, "constraints": [], **parts}
    )


def nested(depth: int) -> str:
    expr = '"x"'
    for _ in range(depth):
        expr = f'["abs", {expr}]'
    return document().replace('"constraints": []', f'"constraints": [{{"expr": ["<=", {expr}, 3]}}]')


EXCEEDED = [
    # text, dialect, limits, a text that is within them, the place
    (HEAD + "((((x)))) == 1", "constrint", {"depth": 3}, HEAD + "(((x))) == 1", "<t>:3:4"),
    (HEAD + "not not not not b", "constrint", {"depth": 3}, HEAD + "not not not b", "<t>:3:13"),
    (HEAD + "- - - - x == 1", "constrint", {"depth": 3}, HEAD + "- - - x == 1", "<t>:3:7"),
    (HEAD + "x ** x ** x ** x == 1", "constrint", {"depth": 2}, HEAD + "x ** x ** x == 1", "<t>:3:11"),
    (HEAD + "b -> b -> b -> b", "constrint", {"depth": 2}, HEAD + "b -> b -> b", "<t>:3:11"),
    (HEAD + "x // 2 // 2 // 2 == 1", "constrint", {"depth": 2}, HEAD + "x // 2 // 2 == 1", "<t>:3:1"),
    (
        HEAD + "c := abs(x)\nd := abs(c)",
        "constrint",
        {"depth": 2},
        HEAD + "c := abs(x)",
        "<t>:4:1",
    ),
    (HEAD + "x <= 12345", "constrint", {"digits": 4}, HEAD + "x <= 1234", "<t>:3:6"),
    (HEAD + "x in {1, 12345}", "constrint", {"digits": 4}, HEAD + "x in {1, 1234}", "<t>:3:10"),
    (HEAD + f"x in {{{'1, ' * 20}12345}}", "constrint", {"digits": 4}, HEAD + "x in {1, 1234}", "<t>:3:7"),
    (HEAD + "x <= 2 ** 200", "constrint", {"digits": 5}, HEAD + "x <= 2 ** 160", "<t>:3:6"),
    (HEAD + "x <= 99" + " * 9" * 60, "constrint", {"digits": 5}, HEAD + "x <= 99" + " * 9" * 40, "<t>:3:6"),
    (
        HEAD + "c := 9 * 9 * 9 * 9 * 9 * 9 * 9 * x; d := c * 9 * 9 * 9 * 9 * 9 * 9 * 9",
        "constrint",
        {"digits": 1},
        HEAD + "c := 9 * x; d := c * 9",
        "<t>:3:42",
    ),
    (HEAD + "y, z in 0..1", "constrint", {"variables": 3}, HEAD + "y in 0..1", "<t>:3:4"),
    (HEAD + "y, z bool", "constrint", {"variables": 3}, HEAD + "y bool", "<t>:3:4"),
    (HEAD + "x in {1, 2, 3, 4}", "constrint", {"values": 3}, "x in {1, 2, 3}", "<t>:3:16"),
    (HEAD + "x in {1..1000}", "constrint", {"values": 99}, "x in {1..90}", "<t>:3:7"),
    (HEAD + f"s := [{'1, ' * 50}]", "constrint", {"values": 40}, HEAD + f"s := [{'1, ' * 30}]", "<t>:3:7"),
    (HEAD + "x + x + x + x == 1", "constrint", {"nodes": 5}, HEAD + "x == 1", "<t>:3:"),
    ("x * y == z; z <= 9", "flashrnn", {"variables": 2}, "x * y == 4", "<t>:1:10"),
    ("x == 12345", "flashrnn", {"digits": 4}, "x == 1234", "<t>:1:6"),
    (nested(4), "json", {"depth": 4}, nested(3), "<t>: constraints[0].expr[1]"),
    (document(shared=[12345]), "json", {"digits": 4}, document(shared=[1234]), "<t>:1:"),
    (
        document(definitions=[{"name": "d", "expr": ["integer", "0x12345"]}]),
        "json",
        {"digits": 4},
        document(definitions=[{"name": "d", "expr": ["integer", "0x12"]}]),
        "<t>: definitions[0].expr",
    ),
    (
        document(variables=[{"name": n, "domain": "bool"} for n in "abc"]),
        "json",
        {"variables": 2},
        document(),
        "<t>: variables[2]",
    ),
    (
        document(variables=[{"name": "a", "domain": [1, 3, 7]}]),
        "json",
        {"values": 2},
        document(variables=[{"name": "a", "domain": [1, 3]}]),
        "<t>: variables[0].domain",
    ),
    (
        document(definitions=[{"name": n, "expr": ["abs", e]} for n, e in ("ax", "ba", "cb")]),
        "json",
        {"depth": 3},
        document(definitions=[{"name": n, "expr": ["abs", e]} for n, e in ("ax", "ba")]),
        "<t>: definitions[2].expr",
    ),
    (document(), "json", {"bytes": 50}, "", "<t>"),
]


@pytest.mark.parametrize(("text", "dialect", "limits", "within", "place"), EXCEEDED)
def test_limits_are_met_with_their_place(
    text: str, dialect: str, limits: dict[str, int], within: str, place: str
) -> None:
    ((name, value),) = limits.items()
    with pytest.raises(LimitExceeded) as caught:
        Model.from_text(text, filename="<t>", dialect=dialect, limits=Limits(**limits))
    assert caught.value.name == name
    assert caught.value.limit in (value, 10 * value)  # constants may amount to ten times the digits
    assert str(caught.value).startswith(place)
    assert f"limits=Limits({name}=…)" in str(caught.value)
    assert f"--max-{name} N" in str(caught.value)
    Model.from_text(text, dialect=dialect)
    if within:
        Model.from_text(within, dialect=dialect, limits=Limits(**limits))


@pytest.mark.parametrize("kind", ["(", "not ", "-", "[", "{", "b -> ", "x ** ", "abs("])
def test_nesting_of_any_kind_is_answered(kind: str) -> None:
    with pytest.raises((LimitExceeded, ParseError), match="<text>:3:"):
        Model.from_text(HEAD + kind * 20_000)


def test_deep_models_can_be_read_where_the_limit_is_raised() -> None:
    deep = "(" * 5000 + "x" + ")" * 5000
    model = Model.from_text(f"{HEAD}{deep} == 2", limits=Limits(depth=None))
    assert model.solve()["x"] == 2
    assert sys.getrecursionlimit() < 5000


def test_limits_are_checked() -> None:
    for wrong in (0, -1, 2.5, "7", True):
        with pytest.raises(ModelError, match="depth"):
            Limits(depth=wrong)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="Limits"):
        Model.from_text("", limits={"depth": 3})  # type: ignore[arg-type]
    error = LimitExceeded("depth", 3, "a:1:2")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301 - our own


MANY = document(shared=[["abs", ["+", i, 1]] for i in range(40_000)])
LONG = HEAD + "x <= 3\n" * 30_000


@pytest.mark.parametrize(
    "read",
    [
        lambda limit: Model.from_text(LONG, time_limit=limit),
        lambda limit: Model.from_text(MANY, dialect="json", time_limit=limit),
        lambda limit: format_text(LONG, budget=budget_for(time_limit=limit)),
    ],
)
def test_reading_obeys_the_time_limit(read: Callable[..., Any]) -> None:
    with pytest.raises(ReadingStopped, match="time limit"):
        read(0.01)


def test_reading_obeys_the_memory_limit() -> None:
    grown = HEAD + "\n".join(f"x{i} in 0..{i}" for i in range(20_000))
    code = (
        "import sys; from constrint import Model, LimitError\n"
        "Model.from_text('x in 0..3')\n"
        "try: Model.from_text(sys.stdin.read(), memory_limit=4_000_000)\n"
        "except LimitError as error: print('memory limit' in str(error))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=grown, capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == "True\n", done.stderr
    assert issubclass(ReadingStopped, LimitError)


@pytest.mark.parametrize("command", ["solve", "check", "explain", "space", "fmt"])
def test_commands_have_the_limits(command: str, tmp_path: Path) -> None:
    path = tmp_path / "m.constrint"
    path.write_text(LONG + "((x)) == 1")
    refused = CliRunner().invoke(app, [command, str(path), "--max-bytes", "100"])
    assert refused.exit_code == 2
    assert "m.constrint" in refused.output
    assert "--max-bytes N" in refused.output
    if command != "fmt":
        assert CliRunner().invoke(app, [command, str(path), "--max-depth", "1"]).exit_code == 2
    stopped = CliRunner().invoke(app, [command, str(path), "--time-limit", "0.001"])
    assert stopped.exit_code == 3
    assert "time limit" in stopped.output
    path.write_text("x in 0..3\n((x)) == 1")
    assert CliRunner().invoke(app, [command, str(path), "--max-depth", "0"]).exit_code == 0


@pytest.mark.parametrize("name", ["nothing", ".", "/dev/zero", "nul\0byte", "noutf8", "surrogate\ud800"])
@pytest.mark.parametrize("command", ["solve", "fmt"])
def test_files_that_cannot_be_read(
    command: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "noutf8").write_bytes(b"x in 0..3\n\xff\xfe")
    result = CliRunner().invoke(app, [command, name, "--max-bytes", "1000000"])
    assert result.exit_code == 2
    assert result.output.startswith("error: ")
    if name == "noutf8":
        assert "noutf8:2: this is not UTF-8 text" in result.output


SQUARES = "x in 0..{top}\na0 := x\n" + "".join(f"a{i + 1} := a{i} * a{i}\n" for i in range(60))
DAGS = {
    "squares": SQUARES.format(top=1) + "a60 == 1",
    "sums": SQUARES.format(top=1).replace("*", "+") + "a60 == 2 ** 60",
    "conditions": SQUARES.format(top=1).replace("*", "and").replace("a0 := x", "a0 := x >= 1") + "a60",
    "maxima": SQUARES.format(top=1).replace("*", "+").replace("a0 +", "max(a0, 0) +") + "a60 >= 1",
}


@pytest.mark.parametrize("kind", DAGS)
def test_definitions_are_shared(kind: str) -> None:
    model = Model.from_text(DAGS[kind])
    result = model.solve(engine="interpreted")
    assert result["x"] == 1
    assert Model.from_text(model.to_text()).solve(engine="interpreted")["x"] == 1
    assert Model.from_json(model.to_json()).solve(engine="interpreted")["x"] == 1


@pytest.mark.parametrize("growth", ["a{i} * a{i}", "a{i} ** 2", "lcm(a{i} ** 2, a{i} - 1)"])
def test_values_that_would_be_too_long_are_refused(growth: str) -> None:
    text = "x in 0..3\na0 := x\n" + "".join(f"a{i + 1} := {growth.format(i=i)}\n" for i in range(60))
    model = Model.from_text(text)
    x, last = model.variables["x"], model.lets["a60"]
    with pytest.raises(ModelError, match="too large to compute"):
        last.evaluate({x: 3})
    assert last.evaluate({x: 0}) == 0
    assert model.lets["a5"].evaluate(SharedValues({x: 3})) >= 3**32


def test_shared_values_are_those_of_evaluate() -> None:
    for seed in range(150):
        model = Model.from_text(draw_model(seed, max_assignments=50).text())
        exprs = [*model.lets.values(), *[constraint.expr for constraint in model.constraints]]
        assignment = {v: (v.domain.lo or 0) + seed % 3 for v in model.variables.values()}
        values = SharedValues(assignment)
        for expr in exprs:
            assert _outcome(expr, values) == _outcome(expr, assignment)


def _outcome(expr: IntExpr, assignment: Any) -> int | str:
    try:
        return int(expr.evaluate(assignment))
    except ArithmeticError:
        return "undefined"


def test_depths_of_shared_parts() -> None:
    model = Model.from_text("x in 0..3\na := abs(x); b := max(a, abs(a)); c := max(b, b)")
    depths = Depths(None)
    assert [depths.note(expr) for expr in model.lets.values()] == [2, 4, 5]
    assert is_light(model.lets["c"])
    assert not is_light(Model.from_text(DAGS["squares"]).lets["a60"])


def test_recursion_room_is_given_back() -> None:
    before = sys.getrecursionlimit()
    with recursion_room(20_000):
        with recursion_room(100):
            assert sys.getrecursionlimit() > 20_000
        assert sys.getrecursionlimit() > 20_000
    assert sys.getrecursionlimit() == before
    assert Budget().limits == Limits()
