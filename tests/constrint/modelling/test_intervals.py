"""Intervals against their definitions by brute force, and against CP-SAT's own intervals."""

from __future__ import annotations

import os

import pytest
from drawn_schedules import build, condition, cp_sat_plans, draw_schedule

import constrint as ci

DRAWN = int(os.environ.get("CONSTRINT_SCHEDULES", "120"))


def plans(results, made) -> list:
    return [tuple(result[interval] for interval in made) for result in results]


@pytest.mark.parametrize("part", range(4))
def test_plans_are_those_of_the_definitions_each_once(part):
    found = 0
    for seed in range(part, DRAWN, 4):
        schedule = draw_schedule(seed)
        wanted = schedule.plans()
        model, made = build(schedule, seed)
        listed = plans(model.iter_solutions(engine="interpreted"), made)
        assert len(listed) == len(wanted), model.to_text()
        assert set(listed) == wanted, model.to_text()
        assert model.count() == len(wanted), model.to_text()
        found += bool(wanted)
    assert found > DRAWN / 16


def test_plans_are_those_of_cp_sat():
    found = 0
    for seed in range(1000, 1000 + DRAWN):
        schedule = draw_schedule(seed, breaks=False, most=3)
        model, made = build(schedule, seed)
        theirs = cp_sat_plans(schedule)
        assert set(plans(model.iter_solutions(engine="interpreted"), made)) == theirs, model.to_text()
        found += bool(theirs)
    assert found > DRAWN / 4


def test_every_way_to_ask():
    """Text, JSON, learning, diagrams and CP-SAT keep the plans, and find the same optimum."""
    for seed in range(2000, 2000 + DRAWN // 6):
        schedule = draw_schedule(seed)
        model, made = build(schedule, seed)
        wanted = schedule.plans()
        latest = ci.max_([task.end_or(-9) for task in made])
        best = min((max([-9, *[task[2] for task in plan if task]]) for plan in wanted), default=None)
        for options in ({}, {"learn": True}, {"backend": "cp-sat"}, {"restarts": "luby"}):
            result = model.solve(minimize=latest, **options)
            assert (result.objective if result else None) == best, (options, model.to_text())
            assert not result or tuple(result[task] for task in made) in wanted
        assert model.solutions().size == len(wanted), model.to_text()
        again = ci.Model.from_json(model.to_json())
        assert again.count() == ci.Model.from_text(model.to_text()).count() == len(wanted)
        negated, made = build(draw_schedule(seed), seed)
        rule = negated.copy()
        rule.constraints[:] = [c for c in rule.constraints if c.name]
        every = rule.count()
        rule.add(~ci.all_of([condition(one, made) for one in schedule.rules]))
        assert rule.count() == every - len(wanted), model.to_text()
