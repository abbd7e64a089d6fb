"""Greedy descents: their order, where they come, and that what follows finds what it finds without them."""

from __future__ import annotations

from random import Random

import pytest

from constrint import IntExpr, Model, Status, sum_
from constrint.preparing.prepared import Prepared
from constrint.search.greedy import greedy_order
from constrint.settings import DEFAULT


def cover(rng: Random, count: int, rows: int, least: int) -> tuple[Model, IntExpr]:
    """A cover, and its cost; greedy descents come for `least` variables and more."""
    m = Model()
    m.settings = DEFAULT.with_fields(search={"least_greedy": least, "small": 2})
    x = list(m.bool_vars("x", count))
    for _ in range(rows):
        m.add(sum_(rng.sample(x, 3)) >= 1)
    return m, sum_([rng.randint(1, 9) * one for one in x])


def test_the_variables_that_gain_most_for_each_constraint_come_first() -> None:
    m = Model()
    m.settings = DEFAULT.with_fields(search={"least_greedy": 2, "small": 2})
    a, b, c, d = m.bool_vars("x", 4)
    m.add(a + b + c >= 1, a + c + d >= 1, a + d >= 1, b + d >= 1)
    prepared = Prepared(m, [(4 * a + 9 * b + 1 * c + 12 * d, "min")], ())
    assert prepared.root is not None
    order = greedy_order(prepared, prepared.root, prepared.goals[0][0])
    assert order is not None
    assert sorted(map(str, order[:2])) == sorted(map(str, [b, d]))


def test_goals_that_are_no_sum_of_many_have_none() -> None:
    m = Model()
    m.settings = DEFAULT.with_fields(search={"least_greedy": 3, "small": 2})
    x = m.int_vars("x", 4, 0, 9)
    m.add(x[0] + x[1] >= 3, x[2] + x[3] >= 4)
    prepared = Prepared(m, [(x[0] + 2 * x[3], "min")], ())
    assert prepared.root is not None
    assert greedy_order(prepared, prepared.root, prepared.goals[0][0]) is None


@pytest.mark.parametrize("way", ["minimize", "maximize"])
def test_optima_are_the_same(way: str) -> None:
    for seed in range(30):
        found = []
        for least in (2, 10**6):
            rng = Random(seed)
            m, cost = cover(rng, 8, 9, least)
            m.add(sum_(m.variables.values()) <= rng.randint(1, 6))
            r = m.solve(minimize=cost if way == "minimize" else -cost)
            found.append((r.status, r.objective))
        assert found[0] == found[1], seed


def test_the_first_solution_of_a_large_cover_is_good() -> None:
    """It is near the bound; the first one in the order of degrees costs three times as much."""
    rng = Random(1)
    m = Model()
    x = list(m.bool_vars("x", 600))
    for _ in range(600):
        m.add(sum_(rng.sample(x, 5)) >= 1)
    cost = sum_([rng.randint(1, 20) * one for one in x])
    r = m.solve(minimize=cost, on_solution=lambda _: False)
    assert r.status is Status.FEASIBLE
    assert r.statistics.finder == "greedy descent"
    assert r.objective is not None
    assert r.objective < 1200
