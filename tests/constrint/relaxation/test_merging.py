"""Columns that rows make equal: programs without them prove what holds in all solutions, and no less."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest

from constrint.presolve.basis import KnownBasis
from constrint.relaxation.lp_rows import LpRow
from constrint.relaxation.merging import Merging
from constrint.relaxation.program import INFEASIBLE, OPTIMAL, RelaxationProgram
from constrint.relaxation.start import Start

COLUMNS = 6
COST = COLUMNS
Box = tuple[np.ndarray, np.ndarray]


def drawn(random: Random) -> tuple[list[LpRow], Box]:
    """Rows with chains of equal and opposite columns, and the bounds of the columns at a node."""
    lower = [random.randint(-2, 1) for _ in range(COLUMNS)]
    upper = [low + random.randint(0, 3) for low in lower]
    rows = []
    for _ in range(random.randint(1, 4)):
        x, y = random.sample(range(COLUMNS), 2)
        side = random.randint(-2, 2)
        rows.append(LpRow({x: random.choice((1, -1)), y: random.choice((1, -1))}, side, side))
    for _ in range(3):
        terms = {x: random.choice((-3, -2, -1, 1, 2, 3)) for x in random.sample(range(COLUMNS), 3)}
        side = random.randint(-4, 6)
        rows.append(random.choice((LpRow(terms, None, side), LpRow(terms, side, None))))
    rows.append(LpRow({**{x: random.randint(-4, 4) or 1 for x in range(COLUMNS)}, COST: -1}, None, 0))
    random.shuffle(rows)
    return rows, (np.array([*lower, -100], np.int64), np.array([*upper, 100], np.int64))


def solutions(rows: list[LpRow], box: Box) -> list[tuple[int, ...]]:
    """All solutions, with the least cost of each."""
    found = []
    about = [row for row in rows if COST not in row.terms]
    (of_cost,) = [row for row in rows if COST in row.terms]
    for point in product(*[range(low, high + 1) for low, high in zip(*box, strict=True)][:COLUMNS]):
        totals = [sum(a * point[x] for x, a in row.terms.items()) for row in about]
        if all(
            (row.low is None or row.low <= total) and (row.high is None or total <= row.high)
            for row, total in zip(about, totals, strict=True)
        ):
            cost = sum(a * point[x] for x, a in of_cost.terms.items() if x != COST)
            found.append((*point, cost))
    return found


@pytest.mark.parametrize("seed", range(300))
def test_proofs_hold_in_all_solutions_and_are_no_weaker(seed: int) -> None:
    random = Random(seed)
    rows, box = drawn(random)
    points = solutions(rows, box)
    favoured = [random.random() < 0.5 for _ in range(COLUMNS + 1)]
    plain = RelaxationProgram(rows, COLUMNS + 1, COST, 1)
    merging = Merging(rows, COLUMNS + 1, COST, favoured)
    merged = RelaxationProgram(rows, COLUMNS + 1, COST, 1, merging=merging)
    outcome = merged.solve(*box)
    assert not (outcome == INFEASIBLE and points and merged.refutation(*box) is not None)
    if outcome != OPTIMAL:
        assert plain.solve(*box) != OPTIMAL or not points
        return
    proof = merged.bound(*box)
    assert proof is not None
    least = -(-proof.least // proof.scale)
    lower, upper = box
    for point in points:
        assert point[COST] >= least
        assert int((proof.whole * np.array(point)).sum()) <= -proof.sides
        distances = np.where(proof.reduced > 0, np.array(point) - lower, np.array(point) - upper)
        spent = int((proof.reduced * distances).sum()) - int(proof.reduced[COST] * distances[COST])
        assert proof.scale * point[COST] >= proof.least + spent
    if plain.solve(*box) == OPTIMAL:
        weaker = plain.bound(*box)
        assert weaker is not None
        assert least >= -(-weaker.least // weaker.scale)
        if points:  # what HiGHS sees as a point is one of the whole program
            for row in rows:
                total = sum(a * merged.point[x] for x, a in row.terms.items())
                assert row.low is None or total >= row.low - 1e-6
                assert row.high is None or total <= row.high + 1e-6


def test_rows_added_later_are_merged_as_well_and_a_contradiction_stays() -> None:
    rows = [LpRow({0: 1, 1: -1}, 0, 0), LpRow({0: 1, 1: 1, 2: -1}, None, 0)]
    box = np.array([0, 0, -9]), np.array([4, 4, 9])
    program = RelaxationProgram(rows, 3, 2, 1, merging=Merging(rows, 3, 2))
    program.add([LpRow({0: 1, 1: 1}, 3, None)])
    assert program.solve(*box) == OPTIMAL
    assert program.point[:2] == pytest.approx([1.5, 1.5])
    program.add([LpRow({0: 1, 1: -1}, 1, None)])  # nothing is left of it but 0 >= 1
    assert program.solve(*box) == INFEASIBLE
    assert program.refutation(*box) is not None


def test_a_program_without_equal_columns_is_as_it_is() -> None:
    rows = [LpRow({0: 2, 1: 1}, 2, 2), LpRow({0: 1, 1: -1}, 0, None), LpRow({2: 1, 0: 1}, 3, 3)]
    assert Merging(rows, 3, 2).is_trivial  # the objective's column is kept, too


def test_a_basis_is_shared_by_programs_with_merged_columns() -> None:
    n = 120
    random = Random(1)
    covers = [LpRow(dict.fromkeys(random.sample(range(n), 4), 1), 1, None) for _ in range(n)]
    cost = LpRow({**{x: random.randint(1, 20) for x in range(n)}, 2 * n: -1}, None, 0)
    rows = [*covers, cost, *[LpRow({x: 1, n + x: -1}, 0, 0) for x in range(n)]]
    keys, basis = [(v, None) for v in range(2 * n + 1)], KnownBasis()
    box = np.array([0] * (2 * n + 1)), np.array([1] * (2 * n) + [9 * n])

    def program() -> RelaxationProgram:
        merging = Merging(rows, 2 * n + 1, 2 * n)
        return RelaxationProgram(rows, 2 * n + 1, 2 * n, 1, start=Start(basis, keys, 0), merging=merging)

    first, second = program(), program()
    assert first.solve(*box) == OPTIMAL
    assert first.iterations > 20
    first.tell_basis()
    assert second.solve(*box) == OPTIMAL
    assert second.iterations < 3
    assert second.point[2 * n] == pytest.approx(first.point[2 * n])


@pytest.mark.parametrize("merges", [False, True])
def test_rows_on_which_the_optimum_does_not_lie_are_dropped(merges: bool) -> None:
    """The value stays, no pivot is needed, and proofs go on to be those of the rows that are left."""
    rows = [LpRow({0: 1, 3: -1}, 0, 0), LpRow({0: 2, 1: 3, 2: -1}, None, 0), LpRow({1: 1, 3: 1}, 2, None)]
    box = np.array([0, 0, -99, 0]), np.array([9, 9, 99, 9])
    merging = Merging(rows, 4, 2) if merges else None
    program = RelaxationProgram(rows, 4, 2, 1, merging=merging)
    slack, tight = LpRow({0: 1}, None, 8), LpRow({0: 1, 1: -2}, None, -1)
    program.add([slack, LpRow({0: 1, 3: -1}, -1, None), tight, LpRow({1: 1}, None, 7)])
    assert program.solve(*box) == OPTIMAL
    value = program.point[2]
    program.drop_slack(len(rows))
    assert program.rows == [*rows, tight] or (merges and slack not in program.rows and tight in program.rows)
    assert program.solve(*box) == OPTIMAL
    assert program.iterations == 0
    assert program.point[2] == pytest.approx(value)
    proof = program.bound(*box)
    assert proof is not None
    assert proof.least / proof.scale == pytest.approx(value, abs=1e-3)
