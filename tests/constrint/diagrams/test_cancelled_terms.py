"""A term that cancels out of a sum must still be defined, and its values may be far larger than the sum."""

from __future__ import annotations

from itertools import product
from random import Random

from constrint import IntExpr, Model, isqrt, nvalue, sum_

EDGES = (31, 32, 62, 63, 64, 100)


def partial_terms(x: IntExpr, y: IntExpr) -> list[IntExpr]:
    """Terms of large values that are undefined for some x or y."""
    return [isqrt(x), x // y, x % y, (x + 1) // (y - 1), x * isqrt(y), isqrt(x) * isqrt(y), x ** (y + 1)]


def drawn(random: Random, far: int) -> tuple[Model, IntExpr]:
    model = Model()
    x = model.int_var("x", values=[-2, 2, 4, far])
    y = model.int_var("y", -1, 2)
    term = random.choice(partial_terms(x, y))
    a = random.choice([1, -3, 1 << 40])
    total = random.choice(
        [
            a * term - a * term + y,
            nvalue([term, y]),
            sum_([y, a * term, x, -a * term]) - x,
            (a * term + y) * 2 - 2 * a * term,
            y - (term * 0),
        ]
    )
    return model, total


def test_cancelled_terms_of_any_size_are_exact() -> None:
    for seed in range(300):
        random = Random(seed)
        far = random.choice([1, -1]) * (1 << random.choice(EDGES)) + random.randint(-1, 1)
        model, total = drawn(random, far)
        bound = random.randint(-2, 3)
        condition = random.choice([total > bound, total == bound, total != bound, total <= bound])
        model.add(condition)
        x, y = model.variables["x"], model.variables["y"]
        points = product((-2, 2, 4, far), range(-1, 3))
        expected = {(a, b) for a, b in points if condition.evaluate({x: a, y: b})}
        found = {(row["x"], row["y"]) for row in model.solutions()}
        assert found == expected, (seed, model.to_text())
