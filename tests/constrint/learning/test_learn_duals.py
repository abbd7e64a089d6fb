"""The learning search asks a linear relaxation at its nodes, and learns from what that proves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import permutations, product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from goals import towards
from linked_models import draw_linked
from random_models import build, draw_model

from constrint import Model, Status, all_different, circuit, element, sum_
from constrint.answers.search_arguments import options_of
from constrint.errors import ModelError
from constrint.learning import duals, session
from constrint.learning.added_rows import AddedRow, AddedRows
from constrint.learning.duals import ColumnPlaces, Duals
from constrint.learning.layout import CONFLICTS, CONSULT_AT, LEVEL, QUEUE_HEAD, QUEUE_TAIL, TRAIL, Learner
from constrint.modelling.objectives import as_goals
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import SearchTask
from constrint.relaxation.program import DualProof
from constrint.settings import DEFAULT, using

MODELS = int(os.environ.get("CONSTRINT_DUAL_MODELS", "90"))
"""Models of each block."""


class Seen:
    """What the relaxation was asked, and what came of it."""

    def __init__(self) -> None:
        self.looks = self.deep = self.rows = 0


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Seen]:
    """Ask at every node from the first one on, and take every row, however little it says."""
    count = Seen()
    look = Duals.consult

    def watched(self: Duals, ls: Learner, worked: int) -> Learner | None:
        found = look(self, ls, worked)
        count.looks += 1
        count.deep += int(ls.scalar[LEVEL] > 0)
        count.rows += found is not None
        return found

    monkeypatch.setattr(Duals, "consult", watched)
    monkeypatch.setattr(duals, "_acts", lambda ls, row: True)
    with using(DEFAULT.with_fields(learning={"before_programs": 0, "free": 1 << 60, "longest_interval": 1})):
        yield count


@pytest.mark.fuzz
@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
@pytest.mark.parametrize("block", range(2))
def test_linked_models_against_brute_force(seen: Seen, block: int, engine: Any) -> None:
    for seed in range(90_000 + MODELS * block, 90_000 + MODELS * (block + 1)):
        m = draw_linked(seed)
        rng = Random(seed)
        factors = [rng.choice([-5, -3, -2, -1, 1, 2, 4]) for _ in m.xs]
        total = sum_(a * x for a, x in zip(factors, m.xs, strict=True))
        values = [sum(a * x for a, x in zip(factors, row, strict=True)) for row in m.solutions()]
        for way, best_of in (("minimize", min), ("maximize", max)):
            r = m.model.solve(**towards(way, total), learn=True, engine=engine)
            wanted = (Status.OPTIMAL, best_of(values)) if values else (Status.INFEASIBLE, None)
            assert (r.status, r.objective) == wanted, (seed, way)
    assert seen.rows > MODELS / 4


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(2))
def test_random_models_against_brute_force(seen: Seen, block: int) -> None:
    for seed in range(95_000 + MODELS * block, 95_000 + MODELS * (block + 1)):
        drawn = draw_model(seed)
        m = drawn.build()
        solutions = drawn.solutions()
        values = [drawn.value(drawn.objective, solution) for solution in solutions]
        try:
            r = m.solve(minimize=build(drawn.objective, {**m.variables, **m.lets}), learn=True)
        except ModelError:
            continue
        best = min((value for value in values if value is not None), default=None)
        wanted = (Status.INFEASIBLE if best is None else Status.OPTIMAL, best)
        assert (r.status, r.objective) == wanted, seed


def least_tour(far: list[list[int]]) -> int:
    nodes = range(1, len(far))
    return min(
        sum(far[a][b] for a, b in zip((0, *order), (*order, 0), strict=True)) for order in permutations(nodes)
    )


@pytest.mark.parametrize("seed", range(12))
def test_tours_and_assignments_and_knapsacks(seen: Seen, seed: int) -> None:
    """Models that search is needed for: their relaxations have members, cuts, and integer columns."""
    rng = Random(seed)
    n = 7
    far = [[rng.randint(1, 60) for _ in range(n)] for _ in range(n)]
    m = Model()
    x = m.int_vars("x", n, 0, n - 1)
    m.add(circuit(x))
    m.minimize(sum_(element(far[i], x[i]) for i in range(n)))
    assert m.solve(learn=True).objective == least_tour(far)

    m = Model()
    x = m.int_vars("x", n, 0, n - 1)
    m.add(all_different(x), x[0] < x[1])
    m.minimize(sum_(element(far[i], x[i]) for i in range(n)))
    orders = (order for order in permutations(range(n)) if order[0] < order[1])
    assert m.solve(learn=True).objective == min(
        sum(far[i][j] for i, j in enumerate(order)) for order in orders
    )

    m = Model()
    x = m.int_vars("x", 6, 0, 3)
    rows = [[rng.randint(1, 30) for _ in x] for _ in range(3)]
    worth = [rng.randint(10, 40) for _ in x]
    room = [sum(row) for row in rows]
    m.add(*[sum_(a * y for a, y in zip(row, x, strict=True)) <= r for row, r in zip(rows, room, strict=True)])
    m.maximize(sum_(a * y for a, y in zip(worth, x, strict=True)))
    weights, gains = np.array(rows), np.array(worth)
    points = np.array(list(product(range(4), repeat=6)))
    fits = (points @ weights.T <= np.array(room)).all(axis=1)
    assert m.solve(learn=True).objective == int((points[fits] @ gains).max())
    assert seen.deep > 3
    assert seen.rows > 3


def knapsack(seed: int, **learning: int) -> Model:
    rng = Random(seed)
    m = Model()
    m.settings = DEFAULT.with_fields(learning=learning)
    x = m.bool_vars("x", 30)
    rows = [[rng.randint(5, 60) for _ in x] for _ in range(5)]
    m.add(*[sum_(a * y for a, y in zip(row, x, strict=True)) <= sum(row) // 2 for row in rows])
    m.maximize(sum_(rng.randint(5, 60) * y for y in x))
    return m


def test_answers_do_not_depend_on_how_long_slices_are() -> None:
    found = []
    for size in (500, 20_000):
        r = knapsack(3, before_programs=20, slice=size).solve(learn=True, engine="interpreted")
        found.append((r.objective, r.statistics.failures, r.statistics.nodes))
    assert found[0] == found[1]


def test_programs_save_conflicts_where_their_bound_is_close() -> None:
    with_programs = knapsack(4).solve(learn=True)
    without = knapsack(4, before_programs=1 << 40).solve(learn=True)
    assert with_programs.objective == without.objective
    assert 2 * with_programs.statistics.failures < without.statistics.failures


def test_programs_wait_until_they_are_paid_for_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = waited = 0
    consult = Duals.consult

    def watched(self: Duals, ls: Learner, worked: int) -> Learner | None:
        nonlocal asked, waited
        is_paid = self.spent <= worked * self._share(ls)
        before = self.spent
        found = consult(self, ls, worked)
        assert (self.spent > before) == is_paid
        assert 0 < ls.scalar[CONSULT_AT] - ls.scalar[CONFLICTS] <= 16
        asked, waited = asked + is_paid, waited + (not is_paid)
        return found

    monkeypatch.setattr(Duals, "consult", watched)
    m = knapsack(4, before_programs=0, free=0, longest_interval=16)
    assert m.solve(learn=True, engine="interpreted").status is Status.OPTIMAL
    assert min(asked, waited) > 3, (asked, waited)


def test_a_proof_is_written_without_asking(seen: Seen, tmp_path: Path) -> None:
    proof = tmp_path / "proof.txt"
    m = Model()
    x = m.bool_vars("x", 8)
    m.add(sum_(x) <= 4, 3 * x[0] + 5 * x[1] + 2 * x[2] <= 7)
    m.maximize(sum_((i + 2) * y for i, y in enumerate(x)))
    assert m.solve(learn=True, proof=proof).status is Status.OPTIMAL
    assert seen.looks == 0


def small_learner() -> Learner:
    """A learner of four variables from 0 to 9 and one sum of them."""
    m = Model()
    x = m.int_vars("x", 4, 0, 9)
    m.add(sum_(x) <= 20)
    prepared = Prepared(m, as_goals([(x[0] - x[1], "min")]), ())
    assert prepared.root is not None
    options = options_of(learn=True, engine="interpreted")
    run = session.LearningRun(SearchTask(prepared, prepared.root, options, 0.0, prepared.goals[0]))
    return run._ls


def wakes(ls: Learner) -> set[tuple[int, int]]:
    """Each bound with each propagator that it wakes."""
    return {
        (b, ls.wake[i]) for b in range(len(ls.bound)) for i in range(ls.wake_start[b], ls.wake_start[b + 1])
    }


def added_row(terms: list[tuple[int, int]], limit: int) -> AddedRow:
    """A row of bounds and factors."""
    bounds, factors = np.array(terms, np.int64).T
    return AddedRow(bounds, factors, limit)


def test_rows_come_and_go_and_those_in_use_stay() -> None:
    ls = small_learner()
    before = wakes(ls)
    first = len(ls.kind)
    added = AddedRows(ls)
    rows = [added_row([(2, 3), (5, 2)], 4), added_row([(4, 1)], 2), added_row([(2, 1), (7, 5)], 9)]
    ls = added.with_row(ls, rows[0])
    assert wakes(ls) == before | {(2, first), (5, first)}
    ls = added.with_row(ls, rows[1])
    assert wakes(ls) == before | {(4, first)}
    # The present row becomes the reason of a bound: it stays in front of the next one.
    ls.trail_bound[0], ls.trail_why[0], ls.scalar[TRAIL] = 4, 4 * first + 1, 1
    ls = added.with_row(ls, rows[2])
    assert wakes(ls) == before | {(4, first), (2, first + 1), (7, first + 1)}
    assert ls.trail_why[0] == 4 * first + 1
    # Now the second one is in use alone: it moves to the front, and so does the reason.
    ls.trail_why[0] = 4 * (first + 1) + 1
    ls = added.with_row(ls, rows[0])
    assert wakes(ls) == before | {(2, first), (7, first), (2, first + 1), (5, first + 1)}
    assert ls.trail_why[0] == 4 * first + 1
    assert ls.limit[first:] == [9, 4]
    queued = [ls.queue[i] for i in range(ls.scalar[QUEUE_HEAD], ls.scalar[QUEUE_TAIL])]
    assert {first, first + 1} <= set(queued)
    assert sorted(set(queued)) == sorted(queued)


def test_columns_without_a_variable_are_taken_at_their_least() -> None:
    """A row over a member that has no literal, and one that has the opposite of a 0/1 variable."""
    ls = small_learner()
    v = 1
    ls.root[2 * v], ls.root[2 * v + 1] = 0, -1
    keys = [(2, None), (3, 4), (v, None)]
    columns = ColumnPlaces(keys, {(v, None): (2 * v + 1, 0)})
    proof = DualProof(0, 0, np.zeros(3, np.int64), np.array([3, -5, 2], np.int64), -7)
    # 3 x - 5 (y == 4) + 2 (1 - v) <= 7 becomes 3 x - 2 v <= 10
    row = columns.row(ls, proof)
    assert row is not None
    terms = zip(row.bounds.tolist(), row.factors.tolist(), strict=True)
    assert (sorted(terms), row.limit) == ([(3, 2), (4, 3)], 10)
