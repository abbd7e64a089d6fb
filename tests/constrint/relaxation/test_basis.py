"""Programs of the same constraints begin at the basis of the first one."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from constrint import Model, Status, sum_
from constrint.presolve.basis import KnownBasis
from constrint.relaxation.lp_rows import LpRow
from constrint.relaxation.program import OPTIMAL, RelaxationProgram
from constrint.relaxation.start import Start
from constrint.settings import DEFAULT, using


def covers(n: int) -> tuple[list[LpRow], np.ndarray, np.ndarray]:
    """Rows of a cover with its cost in the last column, and the bounds of the columns."""
    random = Random(n)
    rows = [LpRow(dict.fromkeys(random.sample(range(n), 4), 1), 1, None) for _ in range(n)]
    rows.append(LpRow({**{x: random.randint(1, 20) for x in range(n)}, n: -1}, None, 0))
    return rows, np.zeros(n + 1, np.int64), np.array([1] * n + [100 * n], np.int64)


def test_a_program_of_other_rows_and_columns_needs_few_pivots() -> None:
    rows, lower, upper = covers(300)
    basis = KnownBasis()
    first = RelaxationProgram(rows, 301, 300, 1, start=Start(basis, [(v, None) for v in range(301)], 0))
    assert first.solve(lower, upper) == OPTIMAL
    assert first.iterations > 50
    first.tell_basis()
    order = list(range(301))
    Random(1).shuffle(order)  # the column of each variable
    place = {v: i for i, v in enumerate(order)}
    moved = [LpRow({place[x]: a for x, a in row.terms.items()}, row.low, row.high) for row in rows[::-1]]
    moved.append(LpRow({0: 1, 301: 1}, None, 2))
    keys = [(v, None) for v in order]
    second = RelaxationProgram(moved, 302, place[300], 1, start=Start(basis, [*keys, None], 0))
    ends = [each[order].tolist() for each in (lower, upper)]
    assert second.solve(np.array([*ends[0], 0]), np.array([*ends[1], 1])) == OPTIMAL
    assert second.iterations < 5
    assert second.point[place[300]] == pytest.approx(first.point[300])


@pytest.mark.parametrize("seed", range(6))
def test_a_wrong_basis_changes_no_optimum(seed: int) -> None:
    rows, lower, upper = covers(60)
    keys = [(v, None) for v in range(61)]
    cold = RelaxationProgram(rows, 61, 60, 1)
    assert cold.solve(lower, upper) == OPTIMAL
    random, basis = Random(seed), KnownBasis()
    start = Start(basis, keys, 0)
    basis.note(
        [(key, random.randint(0, 4)) for key in keys],
        [(key, random.randint(0, 4)) for key in start._row_keys(rows)],
    )
    led = RelaxationProgram(rows, 61, 60, 1, start=start)
    assert led.solve(lower, upper) == OPTIMAL
    assert led.point[60] == pytest.approx(cold.point[60])


def test_the_root_of_a_cover_is_solved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    firsts: list[int] = []
    solve = RelaxationProgram.solve

    def counted(self: RelaxationProgram, *arguments: Any, **options: Any) -> int:
        is_first = not self._is_begun
        outcome = solve(self, *arguments, **options)
        if is_first:
            firsts.append(self.iterations)
        return outcome

    monkeypatch.setattr(RelaxationProgram, "solve", counted)
    random = Random(5)
    settings = DEFAULT.with_fields(
        search={"nodes_before_dual": 0}, portfolio={"alone": 0, "before_each_part": 0}
    )
    with using(settings):
        m = Model()
    x = m.bool_vars("x", 150)
    for _ in range(150):
        m.add(sum_(random.sample(list(x), 5)) >= 1)
    result = m.solve(minimize=sum_(random.randint(1, 30) * v for v in x), time_limit=20)
    assert result.status in (Status.OPTIMAL, Status.FEASIBLE)
    assert len(firsts) >= 2  # the dual row and the relaxation
    assert firsts[0] > 50
    assert max(firsts[1:]) <= 10
