"""Expressions, models and answers survive `copy.deepcopy` and a pickle, which multiprocessing makes."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from typing import Any

import drawn_schedules
import pytest
from global_models import draw_model as draw_global
from random_models import draw_model

import constrint
from constrint import (
    Brancher,
    Group,
    IntExpr,
    LimitExceeded,
    Model,
    ParseError,
    Status,
    all_different,
    cumulative,
    lex_less,
    max_,
    nvalue,
    sum_,
)
from constrint.globals import GLOBALS

WAYS: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),  # noqa: S301 - just written
    "oldest pickle": lambda one: pickle.loads(pickle.dumps(one, 2)),  # noqa: S301 - just written
}


@pytest.fixture(params=sorted(WAYS))
def copied(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    return WAYS[request.param]


def answers(model: Model) -> tuple[Any, ...]:
    result = model.solve()
    return model.to_text(), result.status, result.values, result.objective, result.violation


@pytest.mark.parametrize("name", GLOBALS)
def test_every_global_constraint(name: str, copied: Callable[[Any], Any]) -> None:
    for seed in range(4):
        model = draw_global(name, seed)
        assert answers(copied(model)) == answers(model), seed
    assert copied(GLOBALS[name]) is GLOBALS[name]


def test_every_operator_and_function(copied: Callable[[Any], Any]) -> None:
    for seed in range(60):
        model = draw_model(seed).build()
        assert answers(copied(model)) == answers(model), seed


def test_intervals(copied: Callable[[Any], Any]) -> None:
    for seed in range(20):
        model, _ = drawn_schedules.build(drawn_schedules.draw_schedule(seed), seed)
        again = copied(model)
        assert answers(again) == answers(model), seed
        assert again.solve().intervals == model.solve().intervals


def rich() -> Model:
    """A model with everything that one can hold."""
    model = Model("rich")
    x, y, u = model.int_var("x", 0, 9), model.int_var("y", values=[1, 4, 7]), model.int_var("u", 1, None)
    b, q = model.bool_var("b"), model.int_vars("q", (2, 2), 0, 5)
    color = model.enum_var("color", ["red", "green", 7])
    chosen = model.set_var("chosen", ["v", "w", 3])
    task = model.interval("task", (0, 5), (1, 3), optional=True, breaks=[(2, 3)])
    other = model.interval("other", (0, 5), 2)
    total = model.let("total", x + y + 2 * b)
    model.add(total >= 3, x * y <= 40, u == x // y + 1, all_different(q.flat), name="first")
    model.add(color != "red", chosen.contains("v") | b, cumulative([task, other], [1, 1], 1))
    model.add(lex_less([x, y], [y, u]) | (nvalue(list(q.flat)) > 3), max_(x, y) % 5 != 1)
    model.add(x + q[0, 1] >= 6, weight=2)
    model.add(y == 1, weight=0.5)
    off = model.add(x == 100, name="off")
    model.disable(off)
    model.minimize(0.5 * x + y)
    model.prefer((u, "max"))
    model.hint({x: 4, y: 7})
    return model


def test_whole_models(copied: Callable[[Any], Any]) -> None:
    model = rich()
    again = copied(model)
    assert again.to_text() == model.to_text()
    assert again.to_json() == model.to_json()
    assert answers(again) == answers(model)
    assert again.hints == model.hints
    assert again.variables["x"] is not model.variables["x"]
    again.add(again.variables["x"] == 9)
    again.enable(next(one for one in again.disabled if one.name == "off"))
    assert again.solve().status is Status.INFEASIBLE
    assert model.solve().status is Status.OPTIMAL


def test_models_in_open_scopes(copied: Callable[[Any], Any]) -> None:
    model = Model()
    x = model.int_var("x", 0, 9)
    model.add(x > 2)
    model.push()
    model.add(x > 5)
    again = copied(model)
    assert again.solve(minimize=again.variables["x"]).objective == 6
    again.pop()
    assert again.solve(minimize=again.variables["x"]).objective == 3
    assert model.solve(minimize=x).objective == 6


def test_answers(copied: Callable[[Any], Any]) -> None:
    model = rich()
    result = model.solve()
    again = copied(result)
    assert (again.status, again.values, again.objective) == (result.status, result.values, result.objective)
    assert (again.violation, again.intervals, again.numbers) == (
        result.violation,
        result.intervals,
        result.numbers,
    )
    assert [str(one) for one in again.violated] == [str(one) for one in result.violated]
    assert repr(again) == repr(result)
    guilty = model.solve(assumptions=[model.variables["x"] > 8, model.variables["x"] < 2])
    assert str(copied(guilty.conflict)) == str(guilty.conflict)
    small = Model()
    x, y = small.int_var("x", 0, 9), small.int_var("y", 0, 9)
    small.add(x * y == 12)
    found = small.solutions()
    assert list(copied(found)) == list(found)
    assert copied(found).size == found.size == 4
    assert copied(found) == found
    assert [dict(one) for one in copied(list(small.iter_solutions()))] == [
        dict(one) for one in small.iter_solutions()
    ]
    assert copied(small.pareto([(x, "max"), (y, "max")])).objectives == [(6, 2), (4, 3), (3, 4), (2, 6)]
    assert str(copied(small.plan())) == str(small.plan())
    small.add(x == 5)
    conflict = small.explain()
    assert str(copied(conflict)) == str(conflict)


def test_options_and_errors(copied: Callable[[Any], Any]) -> None:
    model = rich()
    brancher = Brancher("first_fail", "min", (Group([model.variables["x"]], "input_order", "max"),))
    again, other = copied((model, brancher))
    assert again.solve(branching=other).objective == model.solve(branching=brancher).objective
    for name in constrint.__all__:  # type: ignore[attr-defined]
        kind = getattr(constrint, name)
        if isinstance(kind, type) and issubclass(kind, Exception):
            assert str(copied(error_of(kind))) == str(error_of(kind)), name


def error_of(kind: type[Exception]) -> Exception:
    """An error as users meet it."""
    if kind is ParseError:
        return ParseError("no", filename="a.constrint", line=3, column=2, hint="yes", source_line="x in 1..y")
    return LimitExceeded("depth", 30, "a.constrint:3:2") if kind is LimitExceeded else kind("x")


def test_deep_expressions(copied: Callable[[Any], Any]) -> None:
    model = Model()
    x, y = model.int_var("x", 0, 3), model.int_var("y", 0, 1)
    deep: IntExpr = x
    for i in range(5_000):
        deep = max_(deep - y, i % 3) if i % 2 else abs(deep * y)
    model.let("deep", deep)
    model.add(deep + sum_([x, y]) > 2)
    again = copied(model)
    point = {again.variables["x"]: 3, again.variables["y"]: 1}
    assert again.lets["deep"].evaluate(point) == deep.evaluate({x: 3, y: 1})


def test_expressions_with_their_places(copied: Callable[[Any], Any]) -> None:
    model = Model.from_text("x in 0..9\ny in 0..9\nx * y >= 20; x != y")
    built = Model()
    q = built.int_vars("q", (2, 3), 0, 5)
    built.add((q.sum(axis=0) > 4).all(), q[0, 0] // q[1, 1] == 2)
    for one in (model, built):
        assert [part.position for part in copied(one).constraints] == [
            part.position for part in one.constraints
        ]
    array, condition = copied((q, q[0, 0] + q[0, 1] > 3))
    assert condition.evaluate({array[0, 0]: 3, array[0, 1]: 1})


def largest(model: Model) -> Any:
    return model.solve(maximize=model.variables["x"])


def test_models_and_results_pass_between_processes() -> None:
    models = [draw_global(name, 1) for name in GLOBALS]
    for model in models:
        if "x" not in model.variables:
            model.int_var("x", 0, 2)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map(largest, models)
    assert [result.values for result in found] == [largest(model).values for model in models]
