"""Global constraints reach their documented consistency at the root if no variable occurs twice."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

import constrint as ci
from constrint.lowering.conditions import Lowering
from constrint.lowering.variables import Infeasible
from constrint.presolve import presolve


def left_at_the_root(model: ci.Model) -> Any:
    """The values of each variable after propagation; None where that proves that there is no solution."""
    lowering = Lowering()
    try:
        for variable in model.variables.values():
            lowering.declare(variable)
        for constraint in model.constraints:
            lowering.require(constraint.expr)
        box = presolve(lowering.problem).box
    except Infeasible:
        return None
    left = {}
    for name, variable in model.variables.items():
        v = lowering.variables[variable]
        values = box.values[v] or range(box.lo[v], box.hi[v] + 1, box.step[v])
        left[name] = set(values)
    return left


def supported(model: ci.Model, domains: dict[str, set[int]]) -> list[dict[str, int]]:
    """The solutions within domains."""
    variables = list(model.variables.values())
    points = itertools.product(*[sorted(domains[v.name]) for v in variables])
    found = []
    for point in points:
        assignment = dict(zip(variables, point, strict=True))
        try:
            if all(c.expr.evaluate(assignment) for c in model.constraints):
                found.append({v.name: x for v, x in assignment.items()})
        except ci.Undefined:
            continue
    return found


def _variables(rng: random.Random, model: ci.Model, count: int) -> list[ci.IntExpr]:
    return [model.int_var(f"x{i}", values=rng.sample(range(-1, 5), rng.randint(1, 4))) for i in range(count)]


def _regular(rng: Any, xs: Any) -> Any:
    arcs = [(q, a, rng.randrange(3)) for q in range(3) for a in range(-1, 5) if rng.random() < 0.5]
    return ci.regular(xs, arcs, 0, [1, 2])


ON_DOMAINS = {
    "all_different": lambda rng, xs: ci.all_different(xs, consistency="domain"),
    "shifted": lambda rng, xs: ci.all_different(
        [rng.choice([1, -1, 2]) * x + rng.randint(-2, 2) for x in xs], consistency="domain"
    ),
    "count": lambda rng, xs: ci.count(xs, rng.randint(0, 2)) == rng.randint(1, 3),
    "among": lambda rng, xs: ci.among(xs, rng.sample(range(-1, 5), 2)) >= rng.randint(1, 4),
    "element_2d": lambda rng, xs: (
        ci.element_2d([[rng.randint(-1, 4) for _ in range(3)] for _ in range(3)], xs[0], xs[1])
        == rng.randint(-1, 4)
    ),
    "table": lambda rng, xs: ci.table(xs, [[rng.randint(-1, 4) for _ in xs] for _ in range(30)]),
    "increasing": lambda rng, xs: ci.increasing(xs, strict=rng.random() < 0.5),
    "decreasing": lambda rng, xs: ci.decreasing(xs, strict=rng.random() < 0.5),
    "lex_less": lambda rng, xs: ci.lex_less(xs[:2], xs[2:4]),
    "lex_less_equal": lambda rng, xs: ci.lex_less_equal(xs[:2], xs[2:4]),
    "value_precede": lambda rng, xs: ci.value_precede(rng.sample(range(4), 3), xs),
    "regular": _regular,
}


@pytest.mark.parametrize("name", ON_DOMAINS)
def test_every_value_that_is_left_has_a_solution(name: str) -> None:
    narrowed = 0
    for seed in range(60):
        rng = random.Random(f"{name} {seed}")
        model = ci.Model()
        xs = _variables(rng, model, 4)
        model.add(ON_DOMAINS[name](rng, xs))
        whole = {v.name: set(v.domain) for v in model.variables.values()}
        solutions = supported(model, whole)
        left = left_at_the_root(model)
        assert (left is None) == (not solutions), model.to_text()
        if left is not None:
            for variable in whole:
                assert left[variable] == {s[variable] for s in solutions}, f"{variable}\n{model.to_text()}"
            narrowed += left != whole
    assert narrowed > 5


def test_bounds_of_all_different_have_solutions_between_the_bounds() -> None:
    narrowed = 0
    for seed in range(150):
        rng = random.Random(seed)
        model = ci.Model()
        xs = []
        for i in range(5):
            low = rng.randint(0, 4)
            xs.append(model.int_var(f"x{i}", low, low + rng.randint(0, 3)))
        model.add(ci.all_different(xs, consistency="bounds"))
        whole = {v.name: set(v.domain) for v in model.variables.values()}
        left = left_at_the_root(model)
        assert (left is None) == (not supported(model, whole)), model.to_text()
        if left is None:
            continue
        relaxed = {name: set(range(min(values), max(values) + 1)) for name, values in left.items()}
        solutions = supported(model, relaxed)
        for name, values in left.items():
            found = {s[name] for s in solutions}
            assert {min(values), max(values)} <= found, f"{name}\n{model.to_text()}"
        narrowed += left != whole
    assert narrowed > 30


def test_scheduling_finds_what_its_rules_are_for() -> None:
    model = ci.Model()
    a, b, c = (model.int_var(name, 0, 6) for name in "abc")
    late = model.int_var("late", 0, 20)
    # Three tasks of 3 fill 0 … 9: edge finding puts the fourth behind them.
    model.add(ci.no_overlap([a, b, c, late], [3, 3, 3, 5]))
    assert min(left_at_the_root(model)["late"]) == 9

    model = ci.Model()
    fixed, free = model.int_var("fixed", 2, 3), model.int_var("free", 1, 6)
    # Surely under way from 3 to 6: nothing else that needs more than the rest may be then.
    model.add(ci.cumulative([fixed, free], [4, 3], [2, 2], 3))
    assert left_at_the_root(model)["free"] == {6}

    model = ci.Model()
    xs = model.int_vars("x", 4, 0, 2)
    model.add(ci.cumulative(xs, [2] * 4, [1] * 4, 1))
    assert left_at_the_root(model) is None  # eight units of work in four of time

    model = ci.Model()
    x, y = model.int_var("x", 0, 3), model.int_var("y", 0, 1)
    model.add(ci.diffn([x, 2], [y, 0], [2, 2], [3, 4]))
    assert left_at_the_root(model)["x"] == {0}


def test_circuits_do_not_close_early() -> None:
    model = ci.Model()
    x = model.int_vars("x", 4, 0, 3)
    model.add(ci.circuit(x), x[0] == 1, x[1] == 2)
    left = left_at_the_root(model)
    assert left["x[2]"] == {3}
    assert left["x[3]"] == {0}
    model.add(x[3] == 1)
    assert left_at_the_root(model) is None


def test_counts_of_values_bound_each_other() -> None:
    model = ci.Model()
    x = model.int_vars("x", 4, 0, 2)
    a, b = model.int_var("a", 2, 4), model.int_var("b", 0, 4)
    model.add(ci.global_cardinality(x, {0: a, 1: b, 2: 1}))
    left = left_at_the_root(model)
    assert left["a"] == {2, 3}
    assert left["b"] == {0, 1}
    model.add(x[0] == 1, x[1] != 2, x[2] != 2)
    left = left_at_the_root(model)
    assert [left[f"x[{i}]"] for i in range(4)] == [{1}, {0}, {0}, {2}]
