"""Sums in blocks bound their variables as whole sums do, and searches through them find the same."""

from __future__ import annotations

from random import Random
from typing import Literal

import pytest

from constrint import IntExpr, Model, Status, sum_
from constrint.engine.dfs import propagate
from constrint.engine.encoding import encoded
from constrint.engine.fixpoint import FAILED
from constrint.engine.state_arrays import LIMIT, Box, Branch, build
from constrint.preparing.long_sums import in_blocks
from constrint.propagators import LinearEq, LinearLe
from constrint.settings import DEFAULT
from constrint.store.propagator import Propagator
from constrint.store.state import State


def drawn(rng: Random) -> tuple[Box, list[Propagator]]:
    """Domains and up to four sums over up to twenty of them."""
    count = rng.randint(3, 20)
    lo = [rng.randint(-5, 3) for _ in range(count)]
    hi = [low + rng.choice([0, 1, 1, 4]) for low in lo]
    sums: list[Propagator] = []
    for _ in range(rng.randint(1, 4)):
        over = rng.sample(range(count), rng.randint(2, count))
        terms = tuple((rng.choice([-3, -1, 1, 1, 2, 5]), v) for v in sorted(over))
        ends = [sorted((a * lo[v], a * hi[v])) for a, v in terms]
        bound = rng.randint(sum(low for low, _ in ends), sum(high for _, high in ends))
        sums.append(rng.choice([LinearEq, LinearLe])(terms, bound))
    return Box(lo, hi, [1] * count, [None] * count), sums


def bounds(state: State, count: int) -> tuple[list[int], list[int]] | None:
    """The domains at the fixpoint of a state; None if one is empty."""
    return None if propagate(state, 10**6) == FAILED else (list(state.lo[:count]), list(state.hi[:count]))


def test_bounds_are_those_of_the_whole_sums() -> None:
    empty = divided = 0
    for seed in range(2000):
        rng = Random(seed)
        box, sums = drawn(rng)
        count = len(box.lo)
        nodes, blocks = in_blocks(box, sums, rng.choice([1, 2, 4, 9]))
        divided += bool(blocks)
        encoding = encoded(count, nodes, blocks)
        whole = bounds(build(box, sums, Branch()), count)
        assert bounds(build(box, nodes, Branch(), encoding=encoding), count) == whole, seed
        empty += whole is None
    assert divided > 1500
    assert 20 < empty < 1900


def test_sums_beyond_int64_stay_whole() -> None:
    terms = tuple((LIMIT // 4, v) for v in range(9))
    sums: list[Propagator] = [LinearLe(terms, LIMIT)]
    assert in_blocks(Box([0] * 9, [1] * 9, [1] * 9, [None] * 9), sums, 2) == (sums, [])


def small_model(rng: Random, longest: int) -> tuple[Model, IntExpr]:
    m = Model()
    m.settings = DEFAULT.with_fields(search={"longest_sum": longest})
    x = m.int_vars("x", 7, 0, 2)
    goal = m.int_var("goal", -99, 99)
    m.add(goal == sum_(x) - x[3] * 2)
    for _ in range(3):
        coefficients = [rng.choice([-2, -1, 1, 3]) for _ in range(7)]
        m.add(sum_([a * v for a, v in zip(coefficients, x, strict=True)]) <= rng.randint(-2, 3))
    return m, goal


@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
def test_searches_find_what_they_find_in_whole_sums(engine: Literal["interpreted", "compiled"]) -> None:
    for seed in range(12):
        divided, goal = small_model(Random(seed), 1)
        whole, _ = small_model(Random(seed), 10**6)
        found = [
            sorted(list(r.values.values()) for r in m.iter_solutions(engine=engine)) for m in (divided, whole)
        ]
        assert found[0] == found[1], seed
        r = divided.solve(maximize=goal, learn=False, engine=engine)
        best = max((values[-1] for values in found[1]), default=None)
        assert (r.status is Status.OPTIMAL, r.objective) == (best is not None, best), seed
