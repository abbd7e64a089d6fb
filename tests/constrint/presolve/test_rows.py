"""Parallel rows and coefficients of 0/1 variables: nothing but what the solutions need, and all of it."""

from __future__ import annotations

from itertools import product
from operator import mul
from random import Random

import pytest

import constrint as ci
from constrint.lowering.problem import Infeasible
from constrint.presolve.parallel_rows import tightened, without_parallel
from constrint.propagators import Clause, LinearEq, LinearLe, Propagator


def solutions(nodes: list[Propagator], lo: list[int], hi: list[int]) -> set[tuple[int, ...]]:
    every = product(*[range(a, b + 1) for a, b in zip(lo, hi, strict=True)])
    return {values for values in every if all(node.holds(values) for node in nodes)}


def test_the_tightest_of_parallel_rows_stays_where_the_first_was() -> None:
    clause = Clause((0, 2))
    rows = [
        LinearLe(((2, 0), (2, 1)), 9),
        clause,
        LinearLe(((1, 1), (1, 0)), 3),
        LinearLe(((-3, 0), (-3, 1)), -5),
    ]
    assert without_parallel(rows) == [LinearLe(((1, 0), (1, 1)), 3), LinearLe(((-1, 0), (-1, 1)), -2), clause]
    met = [LinearLe(((1, 0), (-1, 1)), 2), LinearLe(((-2, 0), (2, 1)), -4)]
    assert without_parallel(met) == [LinearEq(((1, 0), (-1, 1)), 2)]
    assert without_parallel([rows[0], clause]) is None


@pytest.mark.parametrize(
    "rows",
    [
        [LinearLe(((1, 0), (1, 1)), 2), LinearLe(((-1, 0), (-1, 1)), -3)],
        [LinearEq(((1, 0), (1, 1)), 2), LinearEq(((2, 0), (2, 1)), 6)],
        [LinearEq(((1, 0), (-1, 1)), 2), LinearLe(((-1, 0), (1, 1)), -3)],
    ],
)
def test_rows_that_exclude_each_other(rows: list[Propagator]) -> None:
    with pytest.raises(Infeasible):
        without_parallel(rows)


def test_coefficients_shrink_to_what_decides_the_row() -> None:
    lo, hi = [0, 0, -2], [1, 1, 4]
    assert tightened([LinearLe(((5, 0), (3, 1)), 6)], lo, hi) == [LinearLe(((1, 0), (1, 1)), 1)]
    # x2 <= 4 - 100 (1 - x0), where x2 is at most 4: 4 - 6 (1 - x0) says the same
    assert tightened([LinearLe(((-100, 0), (1, 2)), -96)], lo, hi) is None
    assert tightened([LinearLe(((-100, 0), (1, 2)), -1)], lo, hi) == [LinearLe(((-5, 0), (1, 2)), -1)]
    assert tightened([LinearLe(((1, 0), (1, 1)), 1)], lo, hi) is None
    assert tightened([LinearLe(((9, 0), (9, 0)), 6)], lo, hi) is None  # one variable twice


@pytest.mark.parametrize("seed", range(60))
def test_drawn_rows_keep_their_solutions(seed: int) -> None:
    draw = Random(seed)
    lo = [draw.choice((0, 0, 0, -2)) for _ in range(4)]
    hi = [low + draw.choice((1, 1, 3)) for low in lo]
    nodes: list[Propagator] = []
    for _ in range(draw.randint(2, 8)):
        factors = draw.sample((-9, -4, -2, -1, 1, 1, 2, 3, 6, 12), 3)
        base = [(a, v) for a, v in zip(factors, draw.sample(range(4), 3), strict=True)]
        for factor in draw.sample((1, 1, 2, -1, -3), draw.randint(1, 3)):
            terms = [(factor * a, v) for a, v in base]
            draw.shuffle(terms)
            kind = draw.choice((LinearLe, LinearLe, LinearLe, LinearEq))
            nodes.append(kind(tuple(terms), draw.randint(-4, 16)))
    before = solutions(nodes, lo, hi)
    try:
        merged = without_parallel(nodes) or nodes
    except Infeasible:
        assert not before
        return
    assert len(merged) <= len(nodes)
    assert solutions(merged, lo, hi) == before
    for node in merged:  # one by one, so that no row hides another's fault
        assert solutions(tightened([node], lo, hi) or [node], lo, hi) == solutions([node], lo, hi)


@pytest.mark.parametrize("seed", range(12))
def test_every_search_finds_the_same(seed: int) -> None:
    """Rows and looser multiples of them, by all searches, against all assignments."""
    draw = Random(seed)
    drawn = [([draw.randint(-3, 9) for _ in range(6)], draw.randint(4, 14)) for _ in range(4)]
    prices = [draw.randint(1, 9) for _ in range(6)]
    least = -draw.randint(0, 9)
    every = [
        (*bits, y)
        for *bits, y in product(*[(0, 1)] * 6, range(6))
        if all(least <= sum(map(mul, row, bits)) + y <= bound for row, bound in drawn)
    ]

    m = ci.Model()
    x = [m.bool_var(f"x{i}") for i in range(6)]
    y = m.int_var("y", 0, 5)
    for row, bound in drawn:
        total = ci.sum_(a * v for a, v in zip(row, x, strict=True)) + y
        m.add(total <= bound, 2 * total <= 2 * bound + 3, -total <= -least)
    assert m.count() == len(every)
    found = [tuple(result[v] for v in (*x, y)) for result in m.iter_solutions()]
    assert sorted(found) == every
    goal = ci.sum_(a * v for a, v in zip(prices, x, strict=True)) + 2 * y
    best = max((sum(map(mul, prices, bits)) + 2 * y for *bits, y in every), default=None)
    for how in ({}, {"learn": True}, {"learn": False}, {"restarts": "luby"}):
        assert m.solve(maximize=goal, **how).objective == best
