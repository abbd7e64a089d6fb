"""Rules of branching: each is known where it is applied, and an unknown one is an error."""

import pytest

from constrint.engine.build import Box, Branch, build
from constrint.engine.select import VALUE_RULES, VARIABLE_RULES, choose_value, select_between
from constrint.errors import InternalError
from constrint.preparing import branching
from constrint.store import state as numbers

BOX = Box([0, 3, 1], [9, 5, 8], [1, 2, 1], [None, None, (1, 2, 8)])
DECISIONS = {
    numbers.LEAST: (numbers.AT_MOST, 0),
    numbers.GREATEST: (numbers.AT_LEAST, 9),
    numbers.LOWER_HALF: (numbers.AT_MOST, 4),
    numbers.UPPER_HALF: (numbers.AT_LEAST, 5),
    numbers.ANY_VALUE: None,  # drawn
    numbers.MEDIAN: (numbers.EQUAL, 4),
    numbers.AS_BEST: (numbers.AT_MOST, 0),
    numbers.AS_BEST_OR_GREATEST: (numbers.AT_LEAST, 9),
}
CHOSEN = {
    numbers.BY_DEGREE: 2,
    numbers.IN_ORDER: 0,
    numbers.FEWEST: 1,
    numbers.MOST: 0,
    numbers.SMALLEST: 0,
    numbers.LARGEST: 0,
    numbers.MOST_CONSTRAINED: 1,
    numbers.OCCURRENCE: 2,
    numbers.REGRET: 1,
    numbers.BY_SCORE: 2,
}


def state_by(values=(0, 0, 0), groups=()):
    return build(BOX, [], Branch((0, 1, 2), values, (1, 1, 9), groups=groups, weighing=1, credits=[]))


def test_every_rule_with_a_name_is_known():
    named = {*branching.VALUE_RULES.values(), numbers.AS_BEST_OR_GREATEST}
    assert named == VALUE_RULES == set(DECISIONS)
    assert set(branching.VARIABLE_RULES.values()) == VARIABLE_RULES == set(CHOSEN)


@pytest.mark.parametrize("rule", sorted(VALUE_RULES))
def test_each_value_rule_makes_its_decision(rule):
    state = state_by((rule, 0, 0))
    choose_value(state, 0, 0)
    decision = state.level_decision[0], state.level_value[0]
    assert decision == (DECISIONS[rule] or decision)
    assert state.level_variable[0] == 0


@pytest.mark.parametrize("rule", sorted(VARIABLE_RULES))
def test_each_variable_rule_makes_its_choice(rule):
    assert select_between(state_by(), 0, 3, rule) == CHOSEN[rule]


def test_an_unknown_rule_is_an_error():
    with pytest.raises(InternalError, match="choose_value knows no value rule"):
        state_by((0, max(VALUE_RULES) + 1, 0))
    with pytest.raises(InternalError, match="select_between knows no variable rule"):
        state_by(groups=((1, max(VARIABLE_RULES) + 1),))
