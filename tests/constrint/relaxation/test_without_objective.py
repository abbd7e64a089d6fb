"""Relaxations of models without an objective refute what propagation does not, and lead to solutions."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import pytest
from lowered import hasty

from constrint import Model, Status, sum_
from constrint.relaxation.highs import has_highs
from constrint.relaxation.program import RelaxationProgram
from constrint.settings import DEFAULT, using

pytestmark = pytest.mark.skipif(not has_highs(), reason="linear programs need HiGHS")

SHORT = 10.0  # seconds that no search without a relaxation suffices for


def roster(people: int, days: int, most: int, least: int) -> tuple[Model, Any]:
    m = Model()
    x = m.bool_vars("x", (people, days))
    m.add(x.sum(axis=1) <= most, x.sum(axis=0) >= least)
    return m, x


def test_sums_that_contradict_each_other_are_refuted_at_the_root() -> None:
    m, _ = roster(12, 28, 20, 9)  # 240 shifts for 252
    result = m.solve(time_limit=SHORT)
    assert result.status is Status.INFEASIBLE
    assert result.statistics.method == "portfolio"
    assert result.statistics.nodes < 20_000


def test_learning_alone_asks_a_relaxation() -> None:
    m, _ = roster(12, 28, 20, 9)
    assert m.solve(learn=True, time_limit=SHORT).status is Status.INFEASIBLE


def test_a_roster_without_slack_is_found() -> None:
    m, x = roster(12, 30, 20, 8)
    m.add(*(x[i, j] + x[i, j + 1] + x[i, j + 2] <= 2 for i in range(12) for j in range(28)))
    assert m.solve(time_limit=SHORT)


def test_too_few_sums_are_said() -> None:
    m, _ = roster(3, 3, 1, 1)
    m.settings = DEFAULT.with_fields(relaxation={"least_sums": 100})
    assert "fewer than 100 (relaxation.least_sums)" in str(m.plan())
    m.settings = DEFAULT.with_fields(relaxation={"share_of_sums": 2.0})
    assert "(relaxation.share_of_sums)" in str(m.plan())


def draw(seed: int) -> tuple[Model, list[int], list[tuple[list[int], str, int]]]:
    """Sums over small domains, some nearly contradictory: the model, the domains' ends, and the sums."""
    rng = Random(seed)
    m = Model()
    count = rng.randint(5, 7)
    highs = [rng.choice([1, 1, 2]) for _ in range(count)]
    xs = [m.int_var(f"x{i}", 0, high) for i, high in enumerate(highs)]
    rows = []
    for _ in range(rng.randint(5, 10)):
        factors = [rng.choice([-3, -2, -1, 0, 1, 1, 2, 3]) for _ in xs]
        point = [rng.randint(0, high) for high in highs]
        limit = sum(a * x for a, x in zip(factors, point, strict=True))
        way = rng.choice(["<=", ">=", "=="] if rng.random() < 0.3 else ["<=", ">="])
        rows.append((factors, way, limit))
        total = sum_(a * x for a, x in zip(factors, xs, strict=True))
        m.add(total <= limit if way == "<=" else total >= limit if way == ">=" else total == limit)
    return m, highs, rows


def holds(row: tuple[list[int], str, int], values: tuple[int, ...]) -> bool:
    factors, way, limit = row
    total = sum(a * x for a, x in zip(factors, values, strict=True))
    return total <= limit if way == "<=" else total >= limit if way == ">=" else total == limit


@pytest.mark.parametrize("learn", ["auto", True])
def test_drawn_sums_against_brute_force(monkeypatch: pytest.MonkeyPatch, learn: Any) -> None:
    programs = infeasible = 0
    solve = RelaxationProgram.solve

    def counted(self: RelaxationProgram, *args: Any, **named: Any) -> int:
        nonlocal programs
        programs += 1
        return solve(self, *args, **named)

    monkeypatch.setattr(RelaxationProgram, "solve", counted)
    eager = {"before_programs": 0, "free": 1 << 60, "longest_interval": 1}
    always = {"least_sums": 0, "share_of_sums": 0.0, "trial_of_points": 1, "share_of_refuted": 0.0}
    settings = hasty(20, learning=eager, relaxation=always)
    for seed in range(300):
        with using(settings.with_fields(presolve={"most_postponed": 0})):
            m, highs, rows = draw(seed)
        points = product(*(range(high + 1) for high in highs))
        wanted = any(all(holds(row, values) for row in rows) for values in points)
        assert bool(m.solve(learn=learn, engine="interpreted")) == wanted, seed
        infeasible += not wanted
    assert infeasible > 30
    assert programs > 50
