"""Decisions in the order of the model's search annotations, in turns with those that conflicts suggest.

Turns change at restarts. After a trial of each kind, following keeps half of all conflicts where its clauses
are shorter by a fifth on average; otherwise it has few. Its conflicts raise no activity: that guides the
other turns.

An entry of an annotation is a variable, or the atom that stands for a 0/1 variable. Domains are as large as
their bounds say.
"""

from __future__ import annotations

from constrint.engine.select import (
    AS_BEST,
    AS_BEST_OR_GREATEST,
    BY_SCORE,
    GREATEST,
    IN_ORDER,
    LARGEST,
    LOWER_HALF,
    MEDIAN,
    MOST,
    SMALLEST,
    UPPER_HALF,
)
from constrint.learning.layout import (
    CONFLICTS,
    COUNTED,
    DECISION,
    DECISIONS,
    FOLLOWED,
    FOLLOWS,
    FOLLOWS_SINCE,
    LATELY,
    MEMBERS,
    NOTHING,
    RARE,
    TRIAL,
    Learner,
    learn_compilable,
)
from constrint.learning.trail import open_level, raise_bound
from constrint.store.state import State

VARIABLE = 1 << 62  # stands for the value of an atom where an entry is a variable


@learn_compilable
def share(ls: Learner) -> int:
    """One of how many conflicts is for following."""
    scalar = ls.scalar
    others = scalar[COUNTED]
    own = scalar[COUNTED + 1]
    if others < scalar[TRIAL] or own < scalar[TRIAL]:
        return 2
    return 2 if 5 * scalar[MEMBERS + 1] * others < 4 * scalar[MEMBERS] * own else scalar[RARE]


@learn_compilable
def change_turn(ls: Learner) -> None:
    """At a restart: choose the kind of the next turn."""
    scalar = ls.scalar
    if len(ls.group_end) == 0:
        return
    if scalar[FOLLOWS] == 1:
        scalar[FOLLOWED] += scalar[CONFLICTS] - scalar[FOLLOWS_SINCE]
    for kind in range(2):
        if scalar[COUNTED + kind] > scalar[LATELY]:
            scalar[COUNTED + kind] //= 2
            scalar[MEMBERS + kind] //= 2
    scalar[FOLLOWS] = int(share(ls) * scalar[FOLLOWED] <= scalar[CONFLICTS])
    scalar[FOLLOWS_SINCE] = scalar[CONFLICTS]


@learn_compilable
def least_of(ls: Learner, i: int) -> int:
    """The least value of an entry."""
    if ls.follow_at[i] == VARIABLE:
        return ls.bound[ls.follow_bound[i]]
    return int(ls.bound[ls.follow_bound[i]] >= ls.follow_at[i])


@learn_compilable
def greatest_of(ls: Learner, i: int) -> int:
    """The greatest value of an entry."""
    greatest = -ls.bound[ls.follow_bound[i] ^ 1]
    return greatest if ls.follow_at[i] == VARIABLE else int(greatest >= ls.follow_at[i])


@learn_compilable
def measure(ls: Learner, i: int, low: int, high: int, rule: int) -> int:
    """The measure that a rule minimises."""
    if rule == SMALLEST:
        return low
    if rule == LARGEST:
        return -high
    if rule == MOST:
        return low - high
    if rule == BY_SCORE:
        return -ls.activity[ls.follow_bound[i] >> 1]
    return high - low


@learn_compilable
def next_entry(ls: Learner) -> int:
    """The entry to decide: of the first group with one that is open; NOTHING if all are fixed."""
    first = 0
    for group in range(len(ls.group_end)):
        rule = ls.group_rule[group]
        chosen = NOTHING
        best = 0
        for i in range(first, ls.group_end[group]):
            low = least_of(ls, i)
            high = greatest_of(ls, i)
            if low == high:
                continue
            if rule == IN_ORDER:
                return i
            value = measure(ls, i, low, high, rule)
            if chosen == NOTHING or value < best:
                chosen = i
                best = value
        if chosen != NOTHING:
            return chosen
        first = ls.group_end[group]
    return NOTHING


@learn_compilable
def is_best(ls: Learner, b: int, k: int) -> bool:
    """Whether an atom is true in the best solution, or by the hints."""
    best = ls.best[b >> 1]
    return -best >= k if b & 1 else best >= k


@learn_compilable
def decide_entry(ls: Learner, st: State, i: int) -> None:
    """Open a level with a decision on an entry, by its value rule."""
    rule = ls.follow_rule[i]
    b = ls.follow_bound[i]
    k = ls.follow_at[i]
    near_best = rule in (AS_BEST, AS_BEST_OR_GREATEST)
    open_level(ls)
    ls.scalar[DECISIONS] += 1
    if k != VARIABLE:
        rises = is_best(ls, b, k) if near_best else rule in (GREATEST, UPPER_HALF)
    else:
        low = ls.bound[b]
        high = -ls.bound[b ^ 1]
        k = low + 1
        rises = False
        if rule == GREATEST:
            k = high
            rises = True
        elif rule in (LOWER_HALF, UPPER_HALF, MEDIAN):
            k = ((low + high) >> 1) + 1
            rises = rule == UPPER_HALF
        elif near_best and ls.best[b >> 1] > low:
            k = min(ls.best[b >> 1], high)
            rises = True
    if rises:
        raise_bound(ls, st, b, k, DECISION)
    else:
        raise_bound(ls, st, b ^ 1, 1 - k, DECISION)
