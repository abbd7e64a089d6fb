"""Hints: no solution is lost by them in any way to search, and a feasible one is the first solution."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest
from random_models import RandomModel, build, draw_model

import constrint as ci
from constrint.search.easy import hinted_solution

DRAWN = int(os.environ.get("CONSTRINT_HINTS", "40"))
WAYS: Any = {
    "default": {},
    "branching": {"learn": False},
    "learning": {"learn": True},
    "neighbourhoods": {"lns": True},
    "restarts": {"restarts": ci.Restarts("luby", 1)},
    "near the best": {"branching": ci.Brancher("dom_w_deg", "best_so_far")},
    "compiled": {"engine": "compiled", "learn": False},
    "in order": {"branching": ci.Brancher("input_order", "max")},
}


def drawn_hint(draw: Random, model: RandomModel, solutions: list[dict[str, int]]) -> dict[str, int]:
    """Values of a solution, of none, or outside the domains; of all variables or of some."""
    hint = {name: draw.choice(values) for name, values in model.domains.items()}
    if solutions and draw.random() < 0.6:
        hint = dict(draw.choice(solutions))
    if draw.random() < 0.3:
        name = draw.choice(list(hint))
        hint[name] += draw.choice([-1000, 1000, 1 << 80]) if set(model.domains[name]) != {0, 1} else 0
    if draw.random() < 0.4:
        hint = {name: hint[name] for name in draw.sample(list(hint), draw.randint(1, len(hint)))}
    return hint


def usable(model: RandomModel, hint: dict[str, int]) -> dict[str, int]:
    """The hint without impossible values of Boolean variables, which are refused."""
    bools = {name for name, style in model.styles.items() if style == "bool"}
    return {name: value for name, value in hint.items() if name not in bools or value in (0, 1)}


@pytest.mark.fuzz
@pytest.mark.parametrize("way", WAYS)
def test_hints_lose_no_solution(way: str) -> None:
    feasible = 0
    for seed in range(DRAWN):
        drawn = draw_model(7000 + seed)
        draw = Random(seed)
        hint = usable(drawn, drawn_hint(draw, drawn, drawn.solutions()))
        direction: Any = draw.choice(["min", "max"])
        has_goal = way == "neighbourhoods" or draw.random() < 0.7
        feasible += check(drawn, hint, direction if has_goal else None, WAYS[way], f"seed {seed}, {way}")
    assert feasible > DRAWN // 3


def check(
    drawn: RandomModel, hint: dict[str, int], direction: str | None, options: dict[Any, Any], where: str
) -> bool:
    """Solve with a hint, and compare with brute force; returns whether there is a solution."""
    model = drawn.build()
    solutions = drawn.solutions()
    seen: list[ci.Result] = []
    named = {}
    if direction is not None:
        goal = build(drawn.objective, {**model.variables, **model.lets})
        named = {f"{direction}imize": goal}
        values = {tuple(one.items()): drawn.value(drawn.objective, one) for one in solutions}
        solutions = [one for one in solutions if values[tuple(one.items())] is not None]
    result = model.solve(**named, **options, hint=hint, on_solution=seen.append)  # type: ignore[call-overload]
    assert bool(result) == bool(solutions), where
    if not solutions:
        assert result.status is ci.Status.INFEASIBLE, where
        return False
    assert {name: result[name] for name in drawn.domains} in solutions, where
    if direction is not None:
        best = min if direction == "min" else max
        assert result.objective == best(values[tuple(one.items())] for one in solutions), where  # type: ignore[type-var]
        assert (result.bound, result.gap) == (result.objective, 0), where
        told = [one.objective for one in seen]
        assert told == sorted(set(told), reverse=direction == "min"), where
    if hint in solutions:
        assert {name: seen[0][name] for name in hint} == hint, where
    assert not model.hints  # it was for that call only
    return True


@pytest.mark.fuzz
@pytest.mark.parametrize("options", [{"executor": True}, {"backend": "cp-sat"}])
def test_workers_and_other_solvers_take_hints(options: dict[Any, Any]) -> None:
    with ThreadPoolExecutor(2) as executor:
        named = {"executor": executor} if "executor" in options else options
        for seed in range(DRAWN // 4):
            drawn = draw_model(7000 + seed)
            draw = Random(seed)
            model = drawn.build()
            hint = usable(drawn, drawn_hint(draw, drawn, drawn.solutions()))
            goal = ci.sum_(model.variables.values())
            try:
                result = model.solve(maximize=goal, hint=hint, **named)
            except ci.ModelError:  # CP-SAT cannot hold the model's numbers
                continue
            assert result.objective == model.solve(maximize=goal).objective, seed


def test_a_hinted_solution_of_a_hard_model_is_the_first() -> None:
    m = ci.Model()
    n = 40
    xs = m.int_vars("x", n, 0, 10**6)
    m.add(ci.all_different(list(xs)))
    for i in range(n):
        for j in range(i):
            m.add(abs(xs[i] - xs[j]) != (i * j) % 7 + 1)
    hint = {x: 1000 * i for i, x in enumerate(xs)}
    m.hint(hint)
    assert hinted_solution(m, []) == hint
    seen: list[ci.Result] = []
    m.solve(minimize=ci.max_(*xs), on_solution=lambda found: seen.append(found) or False)  # type: ignore[func-returns-value]
    assert [seen[0][x] for x in xs] == list(hint.values())


def test_the_nearest_solution_is_tried_where_the_hint_is_infeasible() -> None:
    m = ci.Model()
    x, y = m.int_var("x", 0, 100), m.int_var("y", 0, 100)
    m.add(x + y == 90, x != 40)
    result = m.solve(hint={x: 40, y: 51})
    assert abs(result[x] - 40) <= 2
    assert abs(result[y] - 51) <= 2


def test_a_hint_bounds_what_has_no_bounds() -> None:
    m = ci.Model()
    x, y = m.int_var("x"), m.int_var("y", 0, None)
    m.add(x * x == y * 3 + 1)
    assert m.solve(hint={x: -1000, y: 333333}).to_dict() == {"x": -1000, "y": 333333}


def test_a_hint_that_is_optimal_is_the_answer() -> None:
    m = ci.Model()
    x, y = m.int_var("x", 0, 1000), m.int_var("y", 0, 1000)
    m.add(x + y == 700)
    for hinted in (0, 123, 700):
        for options in WAYS.values():
            assert m.solve(maximize=x + y, hint={x: hinted}, **options)[x] == hinted


def test_what_is_no_hint_is_an_error_that_says_why() -> None:
    m = ci.Model()
    x, b = m.int_var("x", 0, 9), m.bool_var("b")
    other = ci.Model().int_var("x", 0, 9)
    for given, message in (
        ({other: 3}, "not a variable of this model"),
        ({"z": 3}, "'z' is not a variable"),
        ({x + 1: 3}, "not a variable of this model"),
        ({x: 1.5}, "the hint of 'x' must be an integer"),
        ({b: 2}, "a Boolean variable is 0 or 1"),
        ([3, 4], "a mapping of variables"),
        (ci.Result(ci.Status.INFEASIBLE), "without a solution"),
    ):
        with pytest.raises(ci.ModelError, match=message):
            m.hint(given)  # type: ignore[arg-type]
        with pytest.raises(ci.ModelError, match=message):
            m.solve(hint=given)  # type: ignore[arg-type]


def test_hints_are_kept_by_copies_scopes_and_json() -> None:
    m = ci.Model()
    x, y = m.int_var("x", 0, 9), m.int_var("y", 0, 9)
    m.hint({x: 4})
    with m.scope():
        m.hint({y: 7, x: 5})
        assert m.copy().hints == {"x": 5, "y": 7}
        assert ci.Model.from_json(m.to_json()).solve().to_dict() == {"x": 5, "y": 7}
    assert m.hints == {"x": 4}
    assert m.solve()[x] == 4
    m.hint(m.solve(assumptions=[y == 8]))
    assert m.hints == {"x": 4, "y": 8}
    with pytest.raises(ci.ModelError, match=r"hints.*'z'"):
        ci.Model.from_json(m.to_json().replace('"hints": {"x"', '"hints": {"z"'))
    with pytest.raises(ci.ModelError, match=r"hints\.x"):
        ci.Model.from_json(m.to_json().replace('"hints": {"x": 4', '"hints": {"x": "a"'))


@pytest.mark.fuzz
@pytest.mark.parametrize("way", [*WAYS, "cp-sat"])
def test_bounds_and_gaps_of_searches_that_stop_early(way: str) -> None:
    options: Any = {"backend": "cp-sat", "time_limit": 1e-2} if way == "cp-sat" else WAYS[way]
    stopped = 0
    for seed in range(DRAWN // 4 if way == "cp-sat" else DRAWN):
        drawn = draw_model(9000 + seed)
        model = drawn.build()
        values = [drawn.value(drawn.objective, one) for one in drawn.solutions()]
        known = [value for value in values if value is not None]
        goal = build(drawn.objective, {**model.variables, **model.lets})
        direction = Random(seed).choice(["min", "max"])
        if way != "cp-sat":
            options = {**options, "on_solution": lambda found: False}
        try:
            named: dict[str, Any] = {f"{direction}imize": goal}
            result: Any = model.solve(**named, **options)
        except ci.ModelError:  # CP-SAT cannot hold the model's numbers
            continue
        if result.bound is None or not known:
            assert result.gap is None
            continue
        best = min(known) if direction == "min" else max(known)
        at_least = result.bound - best if direction == "max" else best - result.bound
        assert at_least >= 0, (seed, way)
        if result:
            assert result.gap == abs(result.objective - result.bound) / max(1, abs(result.objective))
        stopped += result.status is ci.Status.FEASIBLE
    assert stopped > 0 or way == "cp-sat"
