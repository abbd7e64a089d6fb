"""Models as JSON: round trips lose nothing, and mistakes are reported with their place."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from random_models import draw_model

import constrint.expr
from constrint import (
    BoolExpr,
    IntExpr,
    LimitExceeded,
    Limits,
    Model,
    ModelError,
    ParseError,
    all_of,
    any_of,
    element,
    gcd_,
    if_then_else,
    iff,
    implies,
    lcm_,
    max_,
    min_,
    table,
)
from constrint.cli.main import app
from constrint.expr import FUNCTIONS, BoolConst, BoolVar, Const, IntFunction, IntVar
from constrint.frontends.json.nodes import READERS, WRITERS
from constrint.globals import GLOBALS


def every_node() -> Model:
    m = Model("every node")
    x, y = m.int_var("x", -3, 9), m.int_var("y", values=[1, 2, 7])
    z, free = m.int_var("z", None, 10, step=3), m.int_var("free")
    b, empty = m.bool_var("b"), m.int_var("empty", values=[])
    part = m.let("part", x * y + 2)
    m.add(part // y + part % y >= abs(x) ** 2 - 4, name="arithmetic")
    m.add(min_(x, y) <= max_(x, y, 3), gcd_(x, y) != lcm_(x, y), element([4, 5, 6], y) < 6)
    m.add(b & (x > 2) | ~b, implies(b, x == 3), iff(b, y > 1), all_of([]), any_of([]))
    m.add(x.is_in([1, 5, 9]), z.is_in(range(0, 9, 3)), free.is_in(constrint.Domain(0, None, 4)))
    m.add(table([x, y], [(1, 2), (-3, 7)]), if_then_else(b, x, y) > 1, BoolConst(False))
    m.add(constrint.divides(y, x + 2**70), empty == 3, Const(3) == 3)
    m.assume(x > -2, name="a guess")
    m.minimize(part)
    m.maximize(x - y)
    m.prefer((x, "max"), (y * y, "min"))
    return m


def same(left: Model, right: Model) -> None:
    """Two models have the same text, names, assumptions and places."""
    assert list(left.variables) == list(right.variables)
    for name, variable in left.variables.items():
        assert variable.domain == right.variables[name].domain
        assert type(variable) is type(right.variables[name])
    assert [(c.name, c.assumed) for c in left.constraints] == [(c.name, c.assumed) for c in right.constraints]
    assert [str(c.position) for c in left.constraints] == [str(c.position) for c in right.constraints]


def test_every_node_survives() -> None:
    m = every_node()
    again = Model.from_json(m.to_json())
    same(m, again)
    assert again.name == "every node"
    assert again.to_json() == m.to_json()
    assert again.to_json(indent=2).count("\n") > 100


def test_every_kind_of_expression_has_a_form() -> None:
    """A new node must be added to json_nodes.py."""
    nodes = [
        cls
        for _, cls in inspect.getmembers(constrint.expr, inspect.isclass)
        if issubclass(cls, IntExpr)
        and cls not in (IntExpr, BoolExpr, IntFunction)
        and not cls.__name__.startswith("_")
    ]
    assert len(nodes) > 20
    assert [node for node in nodes if node not in WRITERS] == [BoolConst, BoolVar, Const, IntVar]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9))
def test_random_models_survive(seed: int) -> None:
    drawn = draw_model(seed, max_assignments=60)
    model = drawn.build()
    again = Model.from_json(model.to_json())
    same(model, again)
    assert again.to_json() == model.to_json()
    variables = list(again.variables.values())
    solutions = drawn.solutions()
    for solution in solutions:
        assignment = {variable: solution[variable.name] for variable in variables}
        assert all(constraint.expr.evaluate(assignment) for constraint in again.constraints)
    assert len(solutions) == sum(1 for _ in again.iter_solutions(time_limit=20))


def test_what_is_shared_stays_shared() -> None:
    """A part that doubles forty times has 2^40 copies as a tree."""
    m = Model()
    x = m.int_var("x", 0, 3)
    part: IntExpr = x
    for _ in range(40):
        part = max_(part, part + 0 * x)
    m.add(part == 2)
    assert m.to_json() == Model.from_json(m.to_json()).to_json()
    assert len(m.to_json()) < 10_000


def test_a_definition_may_come_after_its_use() -> None:
    m = Model()
    x = m.int_var("x", 0, 3)
    square = x * x
    m.let("more", square + 1)
    m.let("square", square)
    m.let("same", square)
    m.add(square == 4)
    for again in (Model.from_json(m.to_json()), Model.from_text(m.to_text())):
        assert again.solve().values == {"x": 2, "more": 5, "square": 4, "same": 4}


def test_integers_of_any_size() -> None:
    m = Model()
    x = m.int_var("x", 0, 7**9000)
    m.add(x + 7**5000 == 7**8000)
    with pytest.raises(LimitExceeded, match=r"variables\[0\].domain.hi: .* more than 4,000 digits"):
        Model.from_json(m.to_json())
    again = Model.from_json(m.to_json(), limits=Limits(digits=None))
    assert again.variables["x"].domain.hi == 7**9000
    assert again.constraints[0].expr.evaluate({again.variables["x"]: 7**8000 - 7**5000})
    json.loads(m.to_json())


def test_places_in_the_source_survive() -> None:
    m = Model.from_text("x in 1..5\nbig: x > 7\nmaximize x", filename="a.constrint")
    conflict = Model.from_json(m.to_json()).explain()
    assert str(conflict) == str(m.explain())
    assert "a.constrint:2:6: big: x > 7" in str(conflict)


MODEL = {"format": "constrint", "version": 1, "variables": [{"name": "x", "domain": {"lo": 1, "hi": 9}}]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "version 2 of the format; version 1 is known"),
        ({"format": "other"}, "'other'"),
        ({"extra": 1}, "'extra' is unknown here"),
        ({"constraints": 3}, "constraints: an array is needed here, not an integer"),
        ({"constraints": [{}]}, "constraints[0]: 'expr' is missing"),
        ({"constraints": [{"expr": ["==", "x", "y"]}]}, "constraints[0].expr[2]: there is no variable"),
        ({"constraints": [{"expr": ["?", "x", 1]}]}, "there is no operator '?'"),
        ({"constraints": [{"expr": ["==", "x"]}]}, "2 operands are needed here, not 1"),
        ({"constraints": [{"expr": "x"}]}, "constraints[0].expr: a condition is needed here"),
        ({"constraints": [{"expr": ["not", "x"]}]}, "a condition is needed here"),
        ({"constraints": [{"expr": ["shared", 0]}]}, "there is no shared part 0"),
        ({"constraints": [{"expr": ["in", "x", {"lo": 1}]}]}, "'hi' is missing"),
        ({"constraints": [{"expr": []}]}, "there is no operator None"),
        ({"constraints": [{"expr": ["table", ["x"], [[1, 2]]]}]}, "a row has 1 value here, not 2"),
        ({"shared": [["shared", 0]], "constraints": [{"expr": ["shared", 0]}]}, "earlier parts only"),
        ({"variables": [{"name": "x", "domain": "int"}]}, "variables[0].domain: an object is needed"),
        ({"variables": [{"name": "x", "domain": {"lo": 0, "hi": 9, "step": 0}}]}, "a step is at least 1"),
        ({"variables": [{"name": "", "domain": "bool"}]}, "variables[0]: a name must be a string"),
        ({"variables": [{"name": "x", "domain": [1.5]}]}, "1.5 is not an integer"),
        ({"goals": [{"expr": "x", "direction": "up"}]}, 'the direction is "max" or "min"'),
    ],
)
def test_mistakes_are_named_with_their_place(changes: dict[str, int | str], message: str) -> None:
    text = json.dumps({**MODEL, "constraints": [], **changes})
    with pytest.raises(ModelError) as error:
        Model.from_json(text, filename="m.json")
    assert message in str(error.value)


def test_text_that_is_no_json_has_a_place() -> None:
    with pytest.raises(ParseError) as error:
        Model.from_json('{"format":\n nothing}', filename="m.json")
    assert str(error.value).startswith("m.json:2:2: this is not JSON")


def test_files_and_the_command(tmp_path: Path) -> None:
    m = Model.from_text("x in 1..5; x * x > 10; minimize x")
    path = tmp_path / "m.json"
    path.write_text(m.to_json(), encoding="utf-8")
    assert Model.from_file(path).solve()["x"] == 4
    assert CliRunner().invoke(app, ["solve", str(path)]).output.startswith("x = 4\n")
    piped = CliRunner().invoke(app, ["solve", "--dialect", "json", "--all", "-"], input=m.to_json())
    assert piped.output == "x=4\nx=5\n"


def test_undefined_terms_mean_the_same_when_read_again() -> None:
    m = Model()
    x = m.int_var("x", 0, 2)
    m.add((6 // x == 3) | (x == 0))
    again = Model.from_json(m.to_json())
    assert again.constraints[0].expr.evaluate({again.variables["x"]: 0}) is True
    assert again.count() == 2


def test_the_example_of_the_manual_is_valid() -> None:
    reference = Path(__file__).parents[3] / "docs" / "constrint-json.md"
    example = re.findall(r"```json\n(.*?)```", reference.read_text(encoding="utf-8"), re.S)[0]
    assert Model.from_json(example).solve()["area"] == 16384


def test_the_manual_names_every_operator() -> None:
    reference = (Path(__file__).parents[3] / "docs" / "constrint-json.md").read_text(encoding="utf-8")
    called = {name for name, function in FUNCTIONS.items() if not function.infix} | set(GLOBALS)  # as in text
    named = [name for name in READERS if name not in called]
    assert [name for name in named if f'"{name}"' not in reference and f"`{name}`" not in reference] == []


def test_writing_again_changes_nothing() -> None:
    m = Model()
    x, y = m.int_var("x", 0, 3), m.int_var("y", 0, 3)
    m.add(x >= 2, weight=0.5)
    m.add(x + y == 4, weight=2)
    m.minimize(0.25 * (x + 2 * y) + 1, 0.5 * x, x * y)
    written = m.to_json()
    assert Model.from_json(written).to_json() == written
