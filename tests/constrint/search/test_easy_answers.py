"""Any solution of a large model answers a call without an objective, however it was found."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import pytest

from constrint import Brancher, Model, Status

LARGE = 600


def clauses(seed: int) -> Model:
    """Clauses that a hidden assignment satisfies."""
    random = Random(seed)
    model = Model()
    xs = model.bool_vars("x", LARGE)
    hidden = [random.random() < 0.5 for _ in xs]
    for _ in range(3 * LARGE):
        some = random.sample(range(LARGE), 3)
        signs = [random.random() < 0.5 for _ in some]
        if any(sign == hidden[i] for sign, i in zip(signs, some, strict=True)):
            one, two, three = (xs[i] if sign else ~xs[i] for sign, i in zip(signs, some, strict=True))
            model.add(one | two | three)
    return model


@pytest.mark.parametrize("seed", range(3))
def test_a_solution_without_an_objective_is_never_only_feasible(seed: int) -> None:
    model = clauses(seed)
    assert model.solve(time_limit=60).status is Status.OPTIMAL


def chain(length: int) -> Model:
    model = Model()
    xs = model.int_vars("x", length, 0, 10)
    for left, right in pairwise(xs):
        model.add(left + 2 * right <= 15)
    return model


def test_bounds_that_satisfy_everything_answer_at_once() -> None:
    told: list[Any] = []
    result = chain(LARGE).solve(time_limit=60, on_solution=told.append)
    assert result.status is Status.OPTIMAL
    assert result.statistics.nodes == 0
    assert result.statistics.solutions == len(told) == 1


def test_preferred_values_are_still_tried_first() -> None:
    model = chain(LARGE)
    result = model.solve(time_limit=60, branching=Brancher(values="max"))
    assert max(result["x[0]"], result["x[1]"], result["x[2]"]) >= 5  # the least values are a solution, too
    hinted = chain(LARGE)
    hinted.hint({"x[0]": 7})
    assert hinted.solve(time_limit=60)["x[0]"] == 7


def test_an_objective_is_still_optimised() -> None:
    model = chain(LARGE)
    assert model.solve(time_limit=60, maximize=model.variables["x[0]"]).objective == 10
