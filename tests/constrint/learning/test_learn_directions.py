"""Decisions of the learning search: towards a better objective, unless a hint says otherwise."""

from __future__ import annotations

from typing import Any

from constrint import Model, abs_, sum_
from constrint.learning.decide import AS_BEFORE, GREATEST, LEAST
from constrint.learning.session import LearningRun
from constrint.modelling.objectives import Direction, as_goals
from constrint.preparing.options import Options
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import SearchTask


def rules_of(m: Model, goal: Any, way: Direction, hint: Any = None) -> dict[str, int]:
    """The value rule of each variable of a model."""
    prepared = Prepared(m, as_goals([(goal, way)]), ())
    assert prepared.root is not None
    options = Options(engine="interpreted", hint=hint)
    run = LearningRun(SearchTask(prepared, prepared.root, options, 0.0, prepared.goals[0]))
    return {str(x): run._ls.rule[v] for x, v in prepared.variables.items()}


def test_variables_that_say_how_good_a_solution_is() -> None:
    m = Model()
    a, b, c, d = (m.bool_var(name) for name in "abcd")
    x, y = m.int_var("x", -5, 5), m.int_var("y", 0, 9)
    m.add(a + b + c + d >= 1, x + y >= 0)
    goal = 3 * a - 2 * b + sum_([2 * c, -1 * c]) + abs_(x) + y
    expected = {"a": LEAST, "b": GREATEST, "c": LEAST, "d": AS_BEFORE, "x": AS_BEFORE, "y": LEAST}
    assert rules_of(m, goal, "min") == expected
    turned = {LEAST: GREATEST, GREATEST: LEAST, AS_BEFORE: AS_BEFORE}
    assert rules_of(m, goal, "max") == {name: turned[rule] for name, rule in expected.items()}
    assert rules_of(m, goal, "min", {a: 1, y: 3}) == {**expected, "a": AS_BEFORE, "y": AS_BEFORE}
