"""Checks of solutions one after the other find what a check of the whole model finds."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from random import Random

import pytest
from random_models import draw_model

import constrint as ci
from constrint.modelling.declarations import Constraint
from constrint.preparing import checks
from constrint.preparing.checks import Assignment, SuccessiveChecks, check_solution


def is_right(check: Callable[[Assignment], None], assignment: Assignment) -> bool:
    try:
        check(assignment)
    except (ci.InternalError, ci.Undefined):
        return False
    return True


@pytest.mark.parametrize("block", range(4))
def test_they_find_what_a_check_of_the_whole_model_finds(block: int) -> None:
    """Of each solution, all assignments that differ from it in one or two values."""
    wrong = right = 0
    for seed in range(40 * block, 40 * (block + 1)):
        drawn = draw_model(seed)
        model, random = drawn.build(), Random(seed)
        variables = list(model.variables.values())
        successive = SuccessiveChecks(model)
        for row in random.sample(solutions := list(drawn.solutions()), min(12, len(solutions))):
            solution: Assignment = {x: row[name] for name, x in model.variables.items()}
            for _ in range(6):
                other: Assignment = dict(solution)
                for x in random.sample(variables, min(2, len(variables))):
                    other[x] = random.choice([*x.domain, max(x.domain) + 1])
                expected = is_right(lambda values: check_solution(model, values), other)  # noqa: B023
                assert is_right(copy(successive).check, other) == expected, f"seed {seed}"
                right, wrong = right + expected, wrong + (not expected)
            successive.check(solution)
    assert min(right, wrong) > 100


def test_constraints_without_a_changed_variable_are_not_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    m = ci.Model()
    x = m.int_vars("x", 50, 0, 100)
    m.add(*[x[i] + x[i + 1] <= 150 for i in range(49)])
    seen: list[int] = []
    first = checks.first_violated

    def counted(some: list[Constraint], values: Assignment) -> Constraint | None:
        seen.append(len(some))
        return first(some, values)

    monkeypatch.setattr(checks, "first_violated", counted)
    successive = SuccessiveChecks(m)
    for value in range(10):
        successive.check({**dict.fromkeys(x, 0), x[20]: value})
    assert seen == [49] * checks.CHECKS_OF_ALL + [49 - 47] * (10 - checks.CHECKS_OF_ALL)
