"""Programs that interior points solve first: the same optima and proofs as by pivots alone."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from constrint.relaxation.lp_rows import LpRow
from constrint.relaxation.program import INFEASIBLE, OPTIMAL, RelaxationProgram
from constrint.settings import DEFAULT

BY_POINTS = DEFAULT.with_fields(relaxation={"least_of_interior_points": 0}).relaxation
BY_PIVOTS = DEFAULT.with_fields(relaxation={"least_of_interior_points": 10**9}).relaxation


def drawn(rng: Random) -> tuple[list[LpRow], int]:
    """Rows over some columns, the last of which is their cost."""
    count = rng.randint(3, 12)
    rows = [LpRow({i: rng.randint(1, 9) for i in range(count)} | {count: -1}, 0, 0)]
    for _ in range(rng.randint(2, 12)):
        over = rng.sample(range(count), rng.randint(2, min(5, count)))
        rows.append(LpRow({i: rng.choice([-2, 1, 1, 3]) for i in over}, rng.randint(-2, 9), None))
    return rows, count


def test_bounds_are_those_of_pivots() -> None:
    outcomes = set()
    for seed in range(150):
        rng = Random(seed)
        rows, count = drawn(rng)
        lower, upper = np.zeros(count + 1, np.int64), np.full(count + 1, 4, np.int64)
        upper[count] = 4 * 9 * count
        found = []
        for rules in (BY_POINTS, BY_PIVOTS):
            program = RelaxationProgram(list(rows), count + 1, count, 1, rules)
            outcome = program.solve(lower, upper)
            proof = program.bound(lower, upper) if outcome == OPTIMAL else None
            refuted = outcome == INFEASIBLE and program.refutation(lower, upper) is not None
            found.append((outcome, refuted, None if proof is None else -(-proof.least // proof.scale)))
            if outcome == OPTIMAL:  # further calls go on by pivots from the basis that was found
                tighter = upper.copy()
                tighter[0] = 1
                again = program.solve(lower, tighter)
                better = program.bound(lower, tighter) if again == OPTIMAL else None
                found[-1] += (again, None if better is None else -(-better.least // better.scale))  # type: ignore[assignment] # longer
        assert found[0] == found[1], seed
        outcomes.add(found[0][0])
    assert outcomes == {OPTIMAL, INFEASIBLE}


@pytest.mark.parametrize("seed", range(3))
def test_work_is_counted(seed: int) -> None:
    rows, count = drawn(Random(seed))
    program = RelaxationProgram(rows, count + 1, count, 1, BY_POINTS)
    program.solve(np.zeros(count + 1, np.int64), np.full(count + 1, 4, np.int64))
    assert program.iterations >= BY_POINTS.pivots_of_interior_point
