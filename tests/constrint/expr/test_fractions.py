"""Fractional coefficients: exact, in sums, comparisons and goals, and given back in the user's scale."""

# mypy: disable-error-code="arg-type"
from __future__ import annotations

import itertools
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

import constrint as ci
from constrint.expr.rational import Rational, fraction_of
from constrint.expr.written import write_expression

OPERATORS = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def drawn_number(draw: Random) -> Any:
    kind = draw.randrange(5)
    if kind == 0:
        return draw.randint(-4, 4)
    if kind == 1:
        return Fraction(draw.randint(-9, 9), draw.randint(1, 7))
    if kind == 2:
        return Decimal(draw.randint(-90, 90)).scaleb(-draw.randint(0, 2))
    return round(draw.uniform(-3, 3), draw.randint(0, 3))


def exact(number: Any) -> Fraction:
    return Fraction(str(number)) if isinstance(number, float) else Fraction(number)


def drawn_sum(draw: Random, names: list[str]) -> list[tuple[Any, tuple[str, ...]]]:
    """Terms: a coefficient and the factors."""
    return [
        (drawn_number(draw), tuple(draw.sample(names, draw.choice([0, 1, 1, 1, 2]))))
        for _ in range(draw.randint(1, 4))
    ]


def built(terms: list[tuple[Any, tuple[str, ...]]], names: dict[str, ci.IntExpr], draw: Random) -> Any:
    parts: list[Any] = []
    for coefficient, factors in terms:
        product: Any = 1
        for name in factors:
            product = product * names[name]
        ways = [lambda c, p: c * p, lambda c, p: p * c]
        parts.append(draw.choice(ways)(coefficient, product) if factors else coefficient)
    ways = [sum, ci.sum_, lambda all_parts: -sum((-part for part in all_parts), 0 * names["x"])]  # type: ignore[list-item, misc]
    return draw.choice(ways)(parts)  # type: ignore[call-arg]


def value(terms: list[tuple[Any, tuple[str, ...]]], point: dict[str, int]) -> Fraction:
    total = Fraction(0)
    for coefficient, factors in terms:
        part = exact(coefficient)
        for name in factors:
            part *= point[name]
        total += part
    return total


@pytest.mark.parametrize("seed", range(60))
def test_drawn_constraints_and_goals_are_exact(seed: int) -> None:
    draw = Random(seed)
    m = ci.Model()
    domains = {name: range(draw.randint(-3, 0), draw.randint(1, 4)) for name in ("x", "y", "z")}
    names = {name: m.int_var(name, own[0], own[-1]) for name, own in domains.items()}
    constraints = []
    for _ in range(draw.randint(1, 2)):
        left, right = drawn_sum(draw, list(names)), drawn_sum(draw, list(names))
        operator = draw.choice(list(OPERATORS))
        condition = OPERATORS[operator](names["x"] * 0 + built(left, names, draw), built(right, names, draw))
        m.add(condition)
        constraints.append((left, operator, right))
    goal = drawn_sum(draw, list(names))
    points = [dict(zip(domains, point, strict=True)) for point in itertools.product(*domains.values())]
    kept = [
        point
        for point in points
        if all(OPERATORS[op](value(left, point), value(right, point)) for left, op, right in constraints)
    ]
    assert m.count() == len(kept)
    objective = names["x"] * 0 + built(goal, names, draw)
    for options in ({}, {"learn": True}, {"lns": True}, {"backend": "cp-sat"}):
        seen: list[ci.Result] = []
        result = m.solve(maximize=objective, on_solution=seen.append, **options)
        if not kept:
            assert result.status is ci.Status.INFEASIBLE
            continue
        best = max(value(goal, point) for point in kept)
        assert exact(result.objective) == best or result.objective == float(best)
        assert result.bound == result.objective == seen[-1].objective
        assert result[objective] == result.objective
        assert value(goal, {name: result[name] for name in domains}) == best


def test_floats_are_the_decimals_that_they_are_written_as() -> None:
    m = ci.Model()
    x, y = m.int_var("x", 0, 9), m.int_var("y", 0, 9)
    assert (
        write_expression(0.1 * x + 0.2 * y <= 0.3) == "0.1 * x + 0.2 * y <= 0.3"
    )  # in binary, 0.1 + 0.2 is more than 0.3
    assert (0.1 * x + 0.2 * y == 0.3).evaluate({x: 1, y: 1})
    assert fraction_of(np.float64(0.1)) == fraction_of(np.float32(0.1)) == Fraction(1, 10)
    assert fraction_of(1e-3) == Fraction(1, 1000)
    m.add(x + y >= 0.5)
    assert m.solve(minimize=x + y).objective == 1
    assert m.solve(minimize=x == 2.5).objective == 0


def test_the_objective_has_the_type_of_the_coefficients() -> None:
    m = ci.Model()
    x = m.int_var("x", 0, 9)
    for goal, expected in (
        (0.5 * x, 4.5),
        (x * Fraction(1, 3), Fraction(3)),
        (Decimal("0.25") * x, Fraction(9, 4)),
        ((0.5 * x) / 4 + 1, 2.125),
        (abs(0.5 * x - 1), 3.5),
    ):
        found = m.solve(maximize=goal)
        assert (found.objective, type(found.objective)) == (expected, type(expected))
        assert found.gap == 0
        assert (type(found[goal]), found[goal]) == (type(expected), expected)
    m.minimize(0.5 * x, x)
    m.maximize(Fraction(1, 2) * x)
    assert m.copy().solve().objective == (0.0, 0, Fraction(0))
    assert ci.Model.from_json(m.to_json()).solve().objective == (0.0, 0, Fraction(0))
    front = m.pareto([(0.5 * x, "max"), (x, "max")])
    assert front.objectives == [(4.5, 9)]


def test_what_is_no_fraction_is_an_error_that_says_why() -> None:
    m = ci.Model()
    x, y = m.int_var("x", 0, 9), m.int_var("y", 0, 9)
    half = 0.5 * x
    assert isinstance(half, Rational)
    for wrong, message in (
        (lambda: x * float("nan"), "must be finite"),
        (lambda: x <= float("inf"), "must be finite"),
        (lambda: x + Decimal("Infinity"), "must be finite"),
        (lambda: half // 2, "of integers, and `0.5 . x` is a fraction: round it"),
        (lambda: 3 % half, "of integers, and `0.5 . x` is a fraction: round it"),
        (lambda: 2**half, "of integers, and `0.5 . x` is a fraction: round it"),
        (lambda: half**y, "takes a constant exponent"),
        (lambda: half / y, "divides by a constant"),
        (lambda: 1 / half, "divides by a constant"),
        (lambda: half / 0, "division by 0"),
        (lambda: ci.gcd_(half, y), "stand in sums, multiples, comparisons and objectives"),
        (lambda: ci.all_different([half, y]), "stand in sums, multiples, comparisons and objectives"),  # type: ignore[list-item]
        (lambda: m.add(half), "must be a condition"),
        (lambda: x + "a", "not an integer expression"),  # type: ignore[operator]
        (lambda: bool(half), "no truth value"),
    ):
        with pytest.raises(ci.ModelError, match=message):
            wrong()


def test_arrays_take_fractions() -> None:
    m = ci.Model()
    xs = m.int_vars("x", 3, 0, 3)
    weights = [0.5, 0.25, 0.125]
    goals = [
        xs @ weights,
        np.array(weights) @ xs,
        (xs * np.array(weights)).sum(),
        np.sum(weights * xs),
        sum(weights * xs),
    ]
    for goal in goals:
        assert m.solve(maximize=goal).objective == 2.625
    m.add(0.5 * xs <= np.array([1.2, 0.2, 1.0]))
    result = m.solve(maximize=xs.sum())
    assert result[xs].tolist() == [2, 0, 2]
    assert result[0.25 * xs].tolist() == [0.5, 0.0, 0.5]
    assert "0.5 * x" in repr(0.5 * xs)
    with pytest.raises(ci.ModelError):
        (0.5 * xs) // 2


def test_functions_of_fractions_are_exact() -> None:
    m = ci.Model()
    x, y, k = m.int_var("x", 0, 5), m.int_var("y", -2, 4), m.int_var("k", -1, 3)
    prices = [0.5, Fraction(1, 3), 2]
    third = Fraction(1, 3)
    pairs: list[tuple[Any, Any]] = [
        (ci.max_(0.5 * x, y), lambda x, y, k: max(Fraction(x, 2), y)),
        (ci.min_([third * x, y, 0.25]), lambda x, y, k: min(third * x, y, Fraction(1, 4))),
        (ci.max_(0.5 * one for one in (x, y)), lambda x, y, k: Fraction(max(x, y), 2)),
        (ci.element(prices, k) * x, lambda x, y, k: [Fraction(1, 2), third, 2][k] * x),
        (ci.array(prices)[k], lambda x, y, k: [Fraction(1, 2), third, 2][k]),
        (ci.element([0.5 * x, y], k), lambda x, y, k: [Fraction(x, 2), y][k]),
        (ci.if_then_else(x > y, 0.5 * x, third), lambda x, y, k: Fraction(x, 2) if x > y else third),
        ((ci.array([x, y]) * [0.5, 2]).min(), lambda x, y, k: min(Fraction(x, 2), 2 * y)),
        (abs(0.5 * x - y) * y, lambda x, y, k: abs(Fraction(x, 2) - y) * y),
    ]
    points = [(a, b, c) for a in range(6) for b in range(-2, 5) for c in range(-1, 4)]
    for expr, meaning in pairs:
        is_indexed = "k" in repr(expr)
        length = 2 if "[x, 2 * y]" in repr(expr) else 3
        where = [one for one in points if not is_indexed or 0 <= one[2] < length]
        for bound in (0.5, third, 1):
            again = m.copy()
            again.add(expr <= bound)
            fraction = Fraction(str(bound)) if isinstance(bound, float) else Fraction(bound)
            assert again.count() == sum(meaning(*one) <= fraction for one in where), repr(expr)
        for a, b, c in where:
            exact = expr.numerator.evaluate({x: a, y: b, k: c})
            assert Fraction(exact, expr.denominator) == meaning(a, b, c)
