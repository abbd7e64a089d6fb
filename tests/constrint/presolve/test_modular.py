"""Models without bounds that have no solution modulo some number are infeasible, and no others."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

import pytest

from constrint import IntExpr, Model, Status, UnboundedError, abs_, implies, max_, min_, sum_

INFEASIBLE: dict[Any, Callable[..., Any]] = {
    "parity of a product": lambda x, y, z: [x * (x + 1) == 2 * y + 1],
    "parity of a sum": lambda x, y, z: [abs_(z) - 3 == 2 * x - 6 * y - 3 * z],
    "remainders of squares": lambda x, y, z: [x * x % 4 == 2],
    "remainders of cubes": lambda x, y, z: [(x**3 + y) % 7 == 3, y % 7 == 0],
    "three squares": lambda x, y, z: [
        x * x + y * y + z * z % 8 == 8 * (x - y) + 7,
        z % 8 == 1,
        x + y == 2 * z,
    ],
    "inequalities": lambda x, y, z: [4 * x <= 4 * y + 3, 4 * x >= 4 * y + 1],
    "between multiples": lambda x, y, z: [6 * x - 4 * y < 2, 6 * x - 4 * y > 0],
    "both cases": lambda x, y, z: [
        implies(x > 0, 2 * x == 2 * y + 1),
        implies(x <= 0, 4 * z == 2 * x * y + 1),
    ],
    "a maximum": lambda x, y, z: [max_(2 * x, 4 * y) == 2 * z + 1],
    "a minimum": lambda x, y, z: [min_(6 * x, 3 * y, 9 * z + 3) % 3 == 1],
    "a constant of the model": lambda x, y, z: [(x * x) % 32 == 8 * (y % 2) + 12],
    "a maximum below its argument": lambda x, y, z: [max_(x, y) < x],
    "an absolute value": lambda x, y, z: [abs_(x) < x],
}


def unbounded() -> tuple[Model, list[IntExpr]]:
    model = Model()
    return model, [model.int_var(name) for name in "xyz"]


@pytest.mark.parametrize("name", INFEASIBLE)
def test_what_has_no_solution_is_infeasible(name: str) -> None:
    model, xs = unbounded()
    model.add(*INFEASIBLE[name](*xs))
    assert model.solve(time_limit=20).status is Status.INFEASIBLE
    assert model.solve(minimize=xs[0] - xs[1], time_limit=20).status is Status.INFEASIBLE
    assert model.count(time_limit=20) == 0
    assert list(model.iter_solutions(time_limit=20)) == []
    assert model.explain(time_limit=20) is not None


def drawn(random: Random, xs: list[IntExpr]) -> list[object]:
    def linear() -> IntExpr:
        return sum_([random.choice([-6, -4, -3, -2, 0, 2, 3, 4, 6]) * x for x in xs])

    def term() -> IntExpr:
        a, b = random.choice(xs), random.choice(xs)
        shapes = [a * b, a * (a + 1), a * a, a**3, linear(), linear(), max_(a, b), abs_(a), a // 3, a % 4 * b]
        return random.choice(shapes)

    found: list[object] = []
    for _ in range(random.randint(1, 3)):
        left, right = term(), term() + random.randint(-3, 3)
        shape = random.randrange(5)
        if shape == 0:
            found.append(left % random.choice([2, 3, 4, 6, 8]) == random.randrange(3))
        elif shape == 1:
            found.append((left == right) | (term() == random.randint(-2, 2)))
        elif shape == 2:
            found += [left >= right, left <= right + random.randint(0, 1)]
        else:
            found.append(left == right)
    return found


def test_drawn_models_with_solutions_are_never_infeasible() -> None:
    refuted = solved = 0
    for seed in range(100):
        model, xs = unbounded()
        model.add(*drawn(Random(seed), xs))  # type: ignore[arg-type]
        conditions = [one.expr for one in model.constraints]
        points = product(range(-5, 6), repeat=3)
        has_solution = any(
            all(condition.evaluate(dict(zip(xs, point, strict=True))) for condition in conditions)
            for point in points
        )
        if not has_solution:
            refuted += _is_refuted(model)
            continue
        solved += 1
        assert not _is_refuted(model), (seed, model.to_text())
    assert refuted > 5
    assert solved > 40


def _is_refuted(model: Model) -> bool:
    try:
        return model.solve(time_limit=0.5).status is Status.INFEASIBLE
    except UnboundedError:
        return False


def test_the_error_says_that_nothing_is_known() -> None:
    model, (x, y, z) = unbounded()
    model.add(x**4 + y**4 == z**4, x > 0, y > 0)
    with pytest.raises(UnboundedError, match="whether there is a solution, or a better one, is not known"):
        model.count()
