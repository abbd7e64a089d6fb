"""Which learned clauses are kept, and how their numbers of levels and activities change."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from learners import learner
from proved import is_proved

from constrint import BoolVar, IntExpr, Model
from constrint.learning import analyse, clauses
from constrint.learning.layout import (
    ACTIVITY,
    ARENA,
    BY_CLAUSE,
    BY_TERMS,
    CONFLICTS,
    HEAD_CELLS,
    KEPT,
    LEVELS,
    SIZE,
    USED,
    Learner,
)
from constrint.learning.learner_arrays import add_clause
from constrint.preparing.options import Engine
from constrint.settings import DEFAULT

NOW = 100_000


def learned(rows: list[tuple[int, ...]]) -> Learner:
    """A learner with clauses of (levels, conflicts since the last use, activity then); k numbers them."""
    ls, _ = learner(range(1000))
    ls.scalar[CONFLICTS] = NOW
    ls.scalar[KEPT] = len(rows)
    for number, (levels, unused, activity) in enumerate(rows):
        clause = ls.scalar[ARENA]
        add_clause(ls, [(2, number + 1), (3, -number)])
        ls.arena[clause + LEVELS] = levels
        ls.arena[clause + USED] = NOW - unused
        ls.arena[clause + ACTIVITY] = activity
    return ls


def kept(ls: Learner) -> list[int]:
    """The numbers of the clauses in the arena."""
    numbers, clause = [], 0
    while clause < ls.scalar[ARENA]:
        numbers.append(ls.arena[clause + HEAD_CELLS + 1] - 1)
        clause += HEAD_CELLS + 2 * ls.arena[clause + SIZE]
    return numbers


def test_the_core_and_what_the_middle_uses_stay() -> None:
    long = 10 * DEFAULT.learning.recent
    ls = learned(
        [
            (0, NOW, 0),  # of the model
            (DEFAULT.learning.core_levels, long, 0),
            (DEFAULT.learning.core_levels + 1, DEFAULT.learning.recent, 0),
            (DEFAULT.learning.middle_levels, DEFAULT.learning.recent + 1, clauses.BUMP),  # local by now
            (DEFAULT.learning.middle_levels + 1, 0, clauses.BUMP),
            (DEFAULT.learning.middle_levels + 1, 0, 4 * clauses.BUMP),
        ]
    )
    clauses.reduce(ls)
    assert kept(ls) == [0, 1, 2, 4, 5]
    assert ls.scalar[KEPT] == 4


def test_the_more_active_half_of_the_others_stays() -> None:
    activities = [clauses.BUMP << i for i in range(8)]
    ls = learned([(20, 0, activity) for activity in activities])
    clauses.reduce(ls)
    assert kept(ls) == [4, 5, 6, 7]
    # without use for four half-lives, 16 times as much is half as much
    rows = [(20, 4 * clauses.HALF_LIFE, 16), (20, 0, 4), (20, 0, 2)]
    ls = learned([(levels, unused, times * clauses.BUMP) for levels, unused, times in rows])
    clauses.reduce(ls)
    assert kept(ls) == [1, 2]


def test_a_use_adds_to_what_is_left_of_the_activity() -> None:
    ls = learned([(20, 2 * clauses.HALF_LIFE, 4 * clauses.BUMP)])
    clauses.explain_clause(ls, 0, 2)
    assert (ls.arena[USED], ls.arena[ACTIVITY]) == (NOW, 2 * clauses.BUMP)


def test_the_number_of_levels_only_falls() -> None:
    ls = learned([(5, 0, 0), (0, 0, 0)])
    second = HEAD_CELLS + 4
    for levels, expected in ((6, 5), (3, 3), (0, 3), (4, 3)):
        analyse.note_levels(ls, BY_CLAUSE, levels)
        analyse.note_levels(ls, 4 * second + BY_CLAUSE, levels)
        analyse.note_levels(ls, BY_TERMS, 1)
        assert (ls.arena[LEVELS], ls.arena[second + LEVELS]) == (expected, 0)


def dot(factors: list[int], xs: Sequence[BoolVar | int]) -> IntExpr | int:
    """The sum of products."""
    return sum(a * x for a, x in zip(factors, xs, strict=True))


def test_answers_hold_with_few_clauses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reductions: list[Any] = []
    reduce = clauses.reduce
    monkeypatch.setattr("constrint.learning.loop.reduce", lambda ls: reductions.append(reduce(ls)))
    few = DEFAULT.with_fields(learning={"first_keep": 4, "restart_unit": 2, "recent": 8})
    for seed in range(4):
        random = Random(seed)
        weights = [[random.randint(10, 60) for _ in range(12)] for _ in range(3)]
        worths = [random.randint(10, 60) for _ in range(12)]
        m = Model()
        m.settings = few
        xs = [m.bool_var(f"x{i}") for i in range(12)]
        m.add([dot(row, xs) <= 180 for row in weights])
        r = m.solve(maximize=dot(worths, xs), learn=True, engine="interpreted", proof=tmp_path / "proof")
        chosen = [x for x in product((0, 1), repeat=12) if all(dot(row, x) <= 180 for row in weights)]
        assert r.objective == max(dot(worths, x) for x in chosen)
        assert is_proved((tmp_path / "proof").read_text(encoding="utf-8"))
    assert len(reductions) > 3


@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
def test_bounds_that_clauses_raise_are_propagations(engine: Engine) -> None:
    m = Model()
    xs = [m.bool_var(f"x{i}") for i in range(50)]
    for a, b, c in zip(xs, xs[1:], xs[2:], strict=False):
        m.add(a | b | c, ~a | ~b | c, a | ~b | ~c)
    result = m.solve(learn=True, engine=engine)
    assert result.statistics.method == "learning"
    assert result.statistics.propagations > 0
