"""Conflicts and corrections found by linear programs are those of brute force."""

from __future__ import annotations

from collections.abc import Container
from itertools import combinations
from random import Random
from typing import Any

import pytest
from random_models import Generator, RandomModel

from constrint import Model, sum_
from constrint.answers.linear_conflicts import LinearConflicts, linear_conflicts
from constrint.relaxation.highs import has_highs
from constrint.settings import DEFAULT, using
from constrint.support.deadline import NEVER

pytestmark = pytest.mark.skipif(not has_highs(), reason="linear programs need HiGHS")

ALWAYS = DEFAULT.with_fields(relaxation={"least_blamed": 0})


def draw(seed: int) -> RandomModel:
    """A random model of a few constraints more."""
    generator = Generator(Random(seed), max_assignments=60)
    drawn = generator.draw()
    drawn.constraints += [generator.boolean(2) for _ in range(3)]
    return drawn


def feasible(drawn: RandomModel, kept: Any) -> bool:
    part = RandomModel(drawn.domains, drawn.styles, drawn.lets, [drawn.constraints[i] for i in sorted(kept)])
    return bool(part.solutions())


def test_verdicts_of_drawn_models_are_those_of_brute_force() -> None:
    """Every subset of the constraints: a ray or a point that says something is right."""
    told = {True: 0, False: 0, None: 0}
    for seed in range(120):
        drawn = draw(seed)
        with using(ALWAYS):
            model = drawn.build()
        search = linear_conflicts(model, NEVER)
        if search is None or len(model.constraints) > 5:
            continue
        numbers = range(len(model.constraints))
        for size in range(len(numbers) + 1):
            for chosen in combinations(numbers, size):
                known = search.is_feasible(chosen)
                told[known] += 1
                if known is not None:
                    assert known == feasible(drawn, chosen), (seed, chosen)
                core = search.shrunk(chosen)
                if core is not None:
                    assert set(core) <= set(chosen)
                    assert not feasible(drawn, core), (seed, core)
    assert told[True] > 200
    assert told[False] > 25


def test_conflicts_and_corrections_of_drawn_models_are_those_of_brute_force(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decided = 0
    ask = LinearConflicts.is_feasible

    def counted(self: LinearConflicts, numbers: Any) -> bool | None:
        nonlocal decided
        known = ask(self, numbers)
        decided += known is not None
        return known

    monkeypatch.setattr(LinearConflicts, "is_feasible", counted)
    for seed in range(50):
        drawn = draw(seed)
        if len(drawn.constraints) > 5:
            continue
        with using(ALWAYS):
            model = drawn.build()
        numbers = set(range(len(drawn.constraints)))
        sets = [set(one) for size in range(len(numbers) + 1) for one in combinations(sorted(numbers), size)]
        holds = {frozenset(one): feasible(drawn, one) for one in sets}
        cores = {one for one, ok in holds.items() if not ok and all(holds[one - {number}] for number in one)}
        removed = {
            frozenset(numbers - one)
            for one, ok in holds.items()
            if ok and not any(holds[one | {number}] for number in numbers - one)
        }
        place = {one: number for number, one in enumerate(model.constraints)}
        found = model.conflicts()
        assert {frozenset(place[one] for one in each.constraints) for each in found} == cores, seed
        fixes = model.corrections()
        assert {frozenset(place[one] for one in each.constraints) for each in fixes} == removed, seed
    assert decided > 50


def roster() -> Model:
    m = Model()
    x = m.bool_vars("x", (12, 28))
    m.add(x.sum(axis=1) <= 20, x.sum(axis=0) >= 9)  # 240 shifts for 252 places
    m.add(*(sum_(x[i, j + k] for k in range(6)) <= 5 for i in range(12) for j in range(23)))
    m.add(*(x[0, j] | x[1, j] for j in range(28)))
    return m


def test_a_roster_names_the_sums_that_contradict_each_other() -> None:
    conflict = roster().explain(time_limit=30)
    assert conflict is not None
    assert conflict.minimal
    assert len(conflict.constraints) == 39  # 11 people and all days, or 12 people and 27 days
    assert len(roster().conflicts(limit=1, time_limit=30)[0].constraints) == 39
    assert len(roster().corrections(limit=1, time_limit=30)[0].constraints) == 2


def short_roster(kept: Container[int] = range(60)) -> Model:
    """400 shifts for 440 places, with some of its constraints."""
    m = Model()
    x = m.bool_vars("x", (20, 40))
    m.add(*(one for i, one in enumerate([*(x.sum(axis=1) <= 20), *(x.sum(axis=0) >= 11)]) if i in kept))
    return m


def test_a_correction_does_not_wait_for_conflicts() -> None:
    m = short_roster()
    (fix,) = m.corrections(limit=1, time_limit=30)
    removed = {i for i, one in enumerate(m.constraints) if one in fix.constraints}
    kept = set(range(60)) - removed
    assert short_roster(kept).solve()
    assert not any(short_roster({*kept, one}).solve() for one in removed)


def test_constraints_beside_those_that_are_asked_for_always_hold() -> None:
    m = Model()
    x = m.bool_vars("x", (6, 8))
    people = [m.add(sum_(x[i, j] for j in range(8)) <= 3) for i in range(6)]
    m.add(*(sum_(x[i, j] for i in range(6)) >= 3 for j in range(8)))  # 18 shifts for 24 places
    found = m.conflicts(*people, limit=1)
    assert len(found[0].constraints) == 5
    days = set(m.constraints[6:])
    assert not days & set(found[0].constraints)
    assert len(m.corrections(*people, limit=1)[0].constraints) == 2


def test_a_model_that_needs_more_than_int64_is_left_alone() -> None:
    with using(ALWAYS):
        m = Model()
    x, y = m.int_var("x", 0, None), m.int_var("y", 0, 1 << 70)
    m.add(x + y >= 1 << 71, x <= y, y <= 5)
    assert linear_conflicts(m, NEVER) is None
    conflict = m.explain()
    assert conflict is not None
    assert len(conflict.constraints) == 3
