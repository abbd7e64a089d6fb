"""Rules of branching: each is known where it is applied, and an unknown one is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from constrint.engine import select
from constrint.engine.select import VALUE_RULES, VARIABLE_RULES, choose_value, select_between
from constrint.engine.state_arrays import Box, Branch, build
from constrint.errors import InternalError
from constrint.preparing import branching
from constrint.store import state
from constrint.store.state import State

BOX = Box([0, 3, 1], [9, 5, 8], [1, 2, 1], [None, None, (1, 2, 8)])
DECISIONS = {
    select.LEAST: (state.AT_MOST, 0),
    select.GREATEST: (state.AT_LEAST, 9),
    select.LOWER_HALF: (state.AT_MOST, 4),
    select.UPPER_HALF: (state.AT_LEAST, 5),
    select.MEDIAN: (state.EQUAL, 4),
    select.AS_BEST: (state.AT_MOST, 0),
    select.AS_BEST_OR_GREATEST: (state.AT_LEAST, 9),
}
CHOSEN = {
    select.BY_DEGREE: 2,
    select.IN_ORDER: 0,
    select.FEWEST: 1,
    select.MOST: 0,
    select.SMALLEST: 0,
    select.LARGEST: 0,
    select.MOST_CONSTRAINED: 1,
    select.OCCURRENCE: 2,
    select.REGRET: 1,
    select.BY_SCORE: 2,
}


def state_by(values: Any = (0, 0, 0), groups: Any = ()) -> State:
    return build(BOX, [], Branch((0, 1, 2), values, (1, 1, 9), groups=groups, weighing=1, credits=[]))


def test_every_rule_with_a_name_is_known() -> None:
    named = {*branching.VALUE_RULES.values(), select.AS_BEST_OR_GREATEST}
    assert named == VALUE_RULES >= set(DECISIONS)
    assert set(branching.VARIABLE_RULES.values()) == VARIABLE_RULES == set(CHOSEN)


def test_the_manual_names_every_selector() -> None:
    manual = (Path(__file__).parents[3] / "docs" / "constrint-search.md").read_text(encoding="utf-8")
    names = [*branching.VARIABLE_RULES, *branching.VALUE_RULES]
    assert [name for name in names if f"`{name}`" not in manual] == []


@pytest.mark.parametrize("rule", sorted(VALUE_RULES))
def test_each_value_rule_makes_its_decision(rule: int) -> None:
    found = state_by((rule, 0, 0))
    choose_value(found, 0, 0)
    decision, value = found.level_decision[0], found.level_value[0]
    assert (decision, value) == DECISIONS.get(rule, (decision, value))
    assert found.level_variable[0] == 0
    least = {state.AT_MOST: 0, state.EQUAL: 0, state.AT_LEAST: 1}[decision]  # it divides the domain 0..9
    assert least <= value <= (8 if decision == state.AT_MOST else 9)


@pytest.mark.parametrize("rule", sorted(VARIABLE_RULES))
def test_each_variable_rule_makes_its_choice(rule: int) -> None:
    assert select_between(state_by(), 0, 3, rule) == CHOSEN[rule]


def test_an_unknown_rule_is_an_error() -> None:
    with pytest.raises(InternalError, match="choose_value knows no value rule"):
        state_by((0, max(VALUE_RULES) + 1, 0))
    with pytest.raises(InternalError, match="select_between knows no variable rule"):
        state_by(groups=((1, max(VARIABLE_RULES) + 1),))
