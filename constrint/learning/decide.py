"""Decisions: the next variable, and the atom of it that is tried as true."""

from __future__ import annotations

from constrint.learning.follow import decide_entry, next_entry
from constrint.learning.heap import pop, push
from constrint.learning.layout import (
    DECISION,
    DECISIONS,
    FOLLOWS,
    GOAL,
    HAS_SOLUTION,
    HEAP,
    IS_BELOW,
    LEVEL,
    NOTHING,
    WITHIN,
    Learner,
    learn_compilable,
)
from constrint.learning.trail import open_level, raise_bound
from constrint.store.state import State

# Value rules.
AS_BEFORE = 0  # the value in the best solution, or when it was last fixed
LEAST = 1
GREATEST = 2


@learn_compilable
def slack_at_middle(ls: Learner, p: int) -> int:
    """Twice the slack of a sum if every variable is in the middle of its domain."""
    slack = 2 * ls.limit[p]
    for i in range(ls.start[p], ls.start[p + 1]):
        b = ls.term[i]
        slack -= ls.factor[i] * (ls.bound[b] - ls.bound[b ^ 1])
    return slack


@learn_compilable
def value_to_try(ls: Learner, v: int) -> int:
    """The value towards which a variable is decided."""
    if ls.rule[v] == LEAST:
        return ls.bound[2 * v]
    if ls.rule[v] == GREATEST:
        return -ls.bound[2 * v + 1]
    if ls.scalar[HAS_SOLUTION] == 1:
        return ls.best[v]
    if ls.when_true[v] >= 0 and ls.when_false[v] >= 0:
        return int(slack_at_middle(ls, ls.when_true[v]) >= slack_at_middle(ls, ls.when_false[v]))
    return ls.phase[v]


@learn_compilable
def decide(ls: Learner, st: State) -> bool:
    """Open a level with a decision; False if every variable is fixed."""
    bound = ls.bound
    scalar = ls.scalar
    if scalar[IS_BELOW] != 0 and scalar[LEVEL] == 0:
        goal = scalar[GOAL]
        k = -bound[goal] - scalar[WITHIN]
        if bound[goal ^ 1] < k:
            open_level(ls)
            scalar[DECISIONS] += 1
            raise_bound(ls, st, goal ^ 1, k, DECISION)
            return True
    if scalar[FOLLOWS] == 1:
        entry = next_entry(ls)
        if entry != NOTHING:
            decide_entry(ls, st, entry)
            return True
    while ls.scalar[HEAP] > 0:
        v = pop(ls)
        low = bound[2 * v]
        high = -bound[2 * v + 1]
        if low == high:
            continue
        value = value_to_try(ls, v)
        open_level(ls)
        ls.scalar[DECISIONS] += 1
        if value <= low:
            raise_bound(ls, st, 2 * v + 1, -low, DECISION)
        elif value >= high:
            raise_bound(ls, st, 2 * v, high, DECISION)
        else:
            raise_bound(ls, st, 2 * v, value, DECISION)
            push(ls, v)
        return True
    return False
