"""Elements with variable entries in the learning search: by values and by bounds, as branching says."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from constrint import Model, all_different, element, sum_
from constrint.settings import DEFAULT


def drawn(draw: Random) -> tuple[Model, Any]:
    """Elements, also of elements and under conditions, over entries with holes."""
    m = Model()
    count = draw.randint(2, 5)
    x = [m.int_var(f"x{i}", draw.randint(-4, 0), draw.randint(1, 5)) for i in range(count)]
    m.add(*(v != draw.randint(-1, 3) for v in x if draw.random() < 0.5))
    index, result = m.int_var("index", -1, count), m.int_var("result", -6, 6)
    entry = element(x, index)
    m.add(draw.choice([entry == result, element(x, entry) == result, (entry == result) | (x[0] > x[1])]))
    if draw.random() < 0.5:
        m.add(all_different(x))
    m.add(result + index <= draw.randint(0, 8))
    return m, sum_(draw.randint(-3, 3) * v for v in [*x, index, result])


@pytest.mark.parametrize("most", [0, DEFAULT.learning.most_entries])
def test_drawn_models_are_answered_as_by_branching(most: int) -> None:
    for seed in range(80):
        m, goal = drawn(Random(seed))
        m.settings = DEFAULT.with_fields(learning={"most_entries": most})
        plain, learned = m.solve(minimize=goal, learn=False), m.solve(minimize=goal, learn=True)
        assert (learned.status, learned.objective) == (plain.status, plain.objective), seed


def test_entries_are_compared_by_values_where_they_are_few() -> None:
    failures = []
    for most in (0, DEFAULT.learning.most_entries):
        draw = Random(7)
        m = Model()
        m.settings = DEFAULT.with_fields(learning={"most_entries": most})
        n = 20
        after = [m.int_var(f"n{i}", 0, n - 1) for i in range(n)]
        m.add(all_different(after))
        for i, v in enumerate(after):  # cycles of at most three
            m.add(*(v != j for j in range(n) if j != i and draw.random() < 0.75))
            second = element(after, v)
            m.add((v == i) | (second == i) | (element(after, second) == i))
        r = m.solve(
            maximize=sum_(element([draw.randint(0, 20) for _ in range(n)], v) for v in after), learn=True
        )
        failures.append(r.statistics.failures)
    assert 4 * failures[1] < 3 * failures[0]
