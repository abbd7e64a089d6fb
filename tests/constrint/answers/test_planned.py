"""Diagrams answer where a search for any solution has not: with the same meaning, and only then."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from soak_cases import cases

import constrint as ci
from constrint.settings import DEFAULT, using

COUNT = int(os.environ.get("CONSTRINT_PLANNED", "35"))


@pytest.fixture
def at_once() -> Iterator[None]:
    """The diagrams are tried at the first look, not after a second of search, and have time to be built."""
    with using(DEFAULT.with_fields(diagrams={"patience": -1.0, "seconds": 60.0})):
        yield


@pytest.mark.fuzz
def test_any_solution_is_one(at_once: None) -> None:
    methods = set()
    for case in cases(COUNT, 11):
        told: list[Any] = []
        r = case.model.solve(on_solution=told.append)
        assert r.status is (ci.Status.OPTIMAL if case.truths else ci.Status.INFEASIBLE)
        assert bool(r) == bool(case.truths) == (len(told) == 1)
        if r:
            assert case.row(r) in case.truths
            assert case.row(told[0]) == case.row(r)
        methods.add(r.statistics.method)
    assert methods == {"branching", "diagrams"}


@pytest.mark.parametrize(("most", "answers"), [(1_000_000, True), (500_000, False)])
def test_a_congruence_of_a_power_is_answered(at_once: None, most: int, answers: bool) -> None:
    model = ci.Model.from_text(f"x in 0..{most}\ny := 2 * x\nx ** 5 % 1000003 == 12345")
    r = model.solve()
    assert r.statistics.method == "diagrams"
    assert bool(r) == answers
    if answers:
        assert pow(r["x"], 5, 1_000_003) == 12345
        assert r["y"] == 2 * r["x"]


def test_what_is_too_large_for_diagrams_is_searched(at_once: None) -> None:
    m = ci.Model.from_text("x, y in 0..99\nx * y % 97 == 5\nx * x % 89 == y % 5 + 7")
    m.settings = m.settings.with_fields(diagrams={"memory": 1})
    r = m.solve()
    assert r.statistics.method == "branching"
    assert r.status is ci.Status.OPTIMAL


def test_calls_that_say_how_to_search_are_searched(at_once: None) -> None:
    model = ci.Model.from_text("x, y in 0..99\nx * y % 97 == 5\nx * x % 89 == y % 5 + 7")
    assert model.solve().statistics.method == "diagrams"
    for options in ({"engine": "interpreted"}, {"restarts": "luby"}, {"learn": True}):
        assert model.solve(**options).statistics.method != "diagrams"
    assert model.solve(minimize=model.variables["x"]).statistics.method != "diagrams"
