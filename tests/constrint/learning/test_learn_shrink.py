"""The members of a level become one: what is left implies the clause, and excludes no solution."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest

from constrint import BoolVar, IntExpr, Model, Status, all_different, sum_
from constrint.learning import analyse
from constrint.learning.layout import LITERALS, Learner
from constrint.settings import DEFAULT, using

NEVER = 1 << 40


def crowded(seed: int) -> tuple[Model, list[IntExpr]]:
    """Permutations with parities, sums and clauses: each value that is taken removes others."""
    random = Random(seed)
    m = Model()
    n = 5
    xs: list[IntExpr] = [m.int_var(f"x{i}", 0, n - random.randint(0, 1)) for i in range(n)]
    ys: list[IntExpr] = [m.int_var(f"y{i}", 0, 3) for i in range(3)]
    m.add(all_different(xs), all_different(ys))
    for _ in range(8):
        i, j, k = random.sample(range(n), 3)
        u, v = random.randint(0, n), random.randint(0, 3)
        m.add((xs[i] != u) | (ys[i % 3] == v) | (xs[j] == k))
    for _ in range(2):
        i, j, k = random.sample(range(n), 3)
        m.add(xs[i] + 2 * xs[j] - xs[k] - ys[i % 3] != random.randint(0, 4))
    m.minimize(sum_(random.randint(-3, 3) * x for x in (*xs, *ys)))
    return m, [*xs, *ys]


def best_of(m: Model, xs: list[IntExpr]) -> int | None:
    """The least value of the objective, by brute force."""
    (goal, _), best = m.goals[0], None
    for row in product(range(6), range(6), range(6), range(6), range(6), range(4), range(4), range(4)):
        if len(set(row[:5])) < 5 or len(set(row[5:])) < 3:
            continue
        assignment = dict(zip(xs, row, strict=True))
        inside = all(isinstance(x, BoolVar) or x.domain.hi >= v for x, v in assignment.items())  # type: ignore[attr-defined] # variables
        if inside and all(one.expr.evaluate(assignment) for one in m.constraints):
            value = goal.evaluate(assignment)
            best = value if best is None else min(best, value)
    return best


def test_optima_against_brute_force_and_what_shrinking_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink, seen = analyse.shrink, []  # type: ignore[attr-defined]

    def noted(ls: Learner, st: Any) -> bool:
        before = [
            (ls.clause_entry[i], ls.trail_level[ls.clause_entry[i]]) for i in range(ls.scalar[LITERALS])
        ]
        done = shrink(ls, st)
        after = [ls.clause_entry[i] for i in range(ls.scalar[LITERALS])]
        levels = [ls.trail_level[at] for at in after]
        assert {level for _, level in before} == set(levels), "a level came or went"
        assert after[0] == before[0][0], "the first implication point stays"
        for at in after:
            assert ls.trail_old[at] < ls.need[at] <= ls.trail_new[at]
        seen.append((len(before), len(after)))
        return done

    monkeypatch.setattr(analyse, "shrink", noted)
    infeasible = 0
    for seed in range(16):
        m, xs = crowded(seed)
        best = best_of(m, xs)
        r = m.solve(learn=True, engine="interpreted")
        assert (r.status is Status.OPTIMAL, r.objective) == (best is not None, best), f"seed {seed}"
        infeasible += best is None
    assert infeasible < 16
    assert sum(after < before for before, after in seen) > 10


def test_short_clauses_are_left_alone_where_the_settings_say_so() -> None:
    sizes = []
    for least in (3, NEVER):
        with using(DEFAULT.with_fields(learning={"least_shrunk": least})):
            learned = [crowded(seed)[0].solve(learn=True, engine="interpreted") for seed in range(6)]
        sizes.append([(r.objective, r.status) for r in learned])
    assert sizes[0] == sizes[1]
