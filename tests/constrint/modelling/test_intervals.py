"""Intervals against their definitions by brute force, and against CP-SAT's own intervals."""

# mypy: disable-error-code="call-overload,list-item"
from __future__ import annotations

import os
from typing import Any

import pytest
from drawn_schedules import build, condition, cp_sat_plans, draw_schedule

import constrint as ci
from constrint import Interval
from constrint.answers.several import Solutions

DRAWN = int(os.environ.get("CONSTRINT_SCHEDULES", "80"))


def plans(results: Solutions, made: list[Interval]) -> list[Any]:
    return [tuple(result[interval] for interval in made) for result in results]


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(4))
def test_plans_are_those_of_the_definitions_each_once(part: int) -> None:
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


@pytest.mark.fuzz
def test_plans_are_those_of_cp_sat() -> None:
    found = 0
    for seed in range(1000, 1000 + DRAWN):
        schedule = draw_schedule(seed, breaks=False, most=3)
        model, made = build(schedule, seed)
        theirs = cp_sat_plans(schedule)
        assert set(plans(model.iter_solutions(engine="interpreted"), made)) == theirs, model.to_text()
        found += bool(theirs)
    assert found > DRAWN / 4


@pytest.mark.fuzz
def test_every_way_to_ask() -> None:
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


def test_what_is_left_out_follows() -> None:
    m = ci.Model()
    end = m.int_var("end", 0, 9)
    back = m.interval("back", size=3, end=end)
    free = m.interval("free", start=(0, 4), end=(2, 6))
    least = m.interval("least", size=(1, 2), end=(2, 4))
    assert [v for v in m.variables if "." in v] == ["free.start", "free.end", "least.size", "least.start"]
    found = {(r[back].start, r[free], r[least]) for r in m.iter_solutions()}  # type: ignore[union-attr]
    assert {start for start, _, _ in found} == set(range(-3, 7))
    assert {f for _, f, _ in found} == {(a, b - a, b) for a in range(5) for b in range(2, 7) if a <= b}
    assert {one for _, _, one in found} == {
        (s, d, s + d) for s in range(4) for d in (1, 2) if 2 <= s + d <= 4
    }


def test_three_parts_must_agree_where_it_is_present() -> None:
    m = ci.Model()
    x = m.int_vars("x", 3, 0, 2)
    task = m.interval("t", x[0], x[1], x[2], optional=True)
    found = [(tuple(x.values(r)), r[task]) for r in m.iter_solutions()]
    assert len(found) == 27 + 6
    assert all(when is None or when[0] + when[1] == when[2] for _, when in found)


def test_results_scopes_and_copies() -> None:
    m = ci.Model()
    a = m.interval("a", (0, 5), 2)
    with m.scope():
        b = m.interval("b", (0, 5), 2, optional=True)
        m.add(a.end_before_start(b), b.presence)
        result = m.solve(maximize=a.start)
        assert result.intervals == {"a": (3, 2, 5), "b": (5, 2, 7)}
        assert (result[b.start_or(-1)], result[b.end_or(-1)], result[b.size_or(-1)]) == (5, 7, 2)
        assert "b" in m.copy().intervals
    assert list(m.intervals) == ["a"]
    assert result.intervals["b"] == (5, 2, 7)
    assert "b.start" not in m.variables
    m.interval("b", 1, 1)  # the name is free again
    m.add(a.start > 9)
    assert m.solve().intervals == {}
    assert "<td>b</td><td>5</td><td>2</td><td>7</td>" in result._repr_html_()


def test_a_conflict_names_the_interval() -> None:
    m = ci.Model()
    a, b = (m.interval(name, (0, 9), 4, (5, 8)) for name in "ab")
    m.add(ci.no_overlap([a, b]), name="machine")
    assert [c.name for c in m.explain().constraints] == ["interval a", "interval b", "machine"]  # type: ignore[union-attr]


def test_set_up_times_by_kind_and_tasks_without_size() -> None:
    m = ci.Model()
    tasks = [m.interval(f"t{i}", (0, 9), size) for i, size in enumerate([2, 0, 3])]
    m.add(ci.no_overlap(tasks, transition=[[0, 1], [2, 0]], kinds=[0, 1, 0]))
    latest = ci.max_([task.end for task in tasks])
    assert m.solve(minimize=latest).objective == 5 + 1  # the two of one kind, then the other
    m.add(tasks[0].end_before_start(tasks[1]), tasks[1].end_before_start(tasks[2]))
    assert m.solve(minimize=latest).objective == 2 + 1 + 2 + 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": -1}, "a size is at least 0"),
        ({"size": (None, 3)}, "a size is at least 0"),
        ({"start": 1}, "needs a size, or both start and end"),
        ({"start": 0, "end": 4, "breaks": [(1, 2)]}, "needs a size where breaks stretch it"),
        ({"size": 3, "start": (5, 2)}, "there is no value for its start"),
        ({"size": (2, 3), "end": (0, 1), "optional": True}, "no start of at least 0 ends in 0..1"),
        ({"size": 1.5}, "size must be an integer, not 1.5"),
        ({"size": 3, "start": (1, 2, 3)}, "the pair of its bounds, not (1, 2, 3)"),
        ({"size": 3, "breaks": [(4, 2)]}, "begin < end, not (4, 2)"),
        ({"size": 3, "presence": 1}, "presence must be a condition"),
        ({"size": 3, "presence": ci.any_of([]), "optional": True}, "either optional=True or a presence"),
    ],
)
def test_mistakes_leave_the_model_as_it_was(arguments: Any, message: str) -> None:
    m = ci.Model()
    m.interval("a", 1, 1)
    before = m.to_text()
    with pytest.raises(ci.ModelError) as error:
        m.interval("x", **arguments)
    assert message in str(error.value)
    assert m.to_text() == before
    with pytest.raises(ci.ModelError, match="interval 'a' is declared twice"):
        m.interval("a", 2, 2)


def test_mistakes_in_constraints_are_explained() -> None:
    m = ci.Model()
    x = m.int_var("x", 0, 3)
    a, b = (m.interval(name, (0, 5), 2) for name in "ab")
    for call, message in [
        (lambda: ci.no_overlap([a, x], [1, 2]), "either all intervals or all numbers"),
        (lambda: ci.no_overlap([a, b], [1, 2]), "leave out the durations"),
        (lambda: ci.no_overlap([x]), "needs intervals, or starts with their durations"),
        (lambda: ci.no_overlap(a), "tasks must be a list"),
        (lambda: ci.no_overlap([a, b], transition=[[0, 1]]), "a row and a column for each kind"),
        (lambda: ci.no_overlap([a, b], transition=[[0, -1], [0, 0]]), "a transition time is negative"),
        (lambda: ci.no_overlap([a, b], transition=[[0]], kinds=[0]), "1 kind for 2 intervals"),
        (lambda: ci.cumulative([a], 2, 3), "demands must be a list"),
        (lambda: ci.cumulative([a, b], [1, 2]), "takes their demands and the capacity"),
        (lambda: ci.cumulative([x], [1], [1]), "cumulative takes intervals, demands, capacity; or"),
        (lambda: ci.alternative(a, []), "alternative needs at least one interval"),
        (lambda: ci.span(a, [x]), "span needs at least one interval, and nothing but intervals"),
        (lambda: bool(a), "its presence is the condition `.presence`"),
        (lambda: m.add(a), "Interval"),  # type: ignore[arg-type]
    ]:
        with pytest.raises(ci.ModelError) as error:
            call()  # type: ignore[no-untyped-call]
        assert message in str(error.value)
