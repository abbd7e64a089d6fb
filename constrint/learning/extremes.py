"""Extremes: some entry, whose condition holds, is at least z; entries and z are bounds.

``z == max(xs)``, minima (by negated bounds), ``z == abs(x)`` (entries x and -x) and both directions of
``z == xs[index]`` (entries under the conditions ``index == place``) have this form, in addition to sums for
their other half. The greatest entry that is left bounds z; the last entry that can reach z must reach it.

An entry is excluded by its condition, or as it stays below a level. Levels are as high as the inference
allows, so premises are the weakest of this form. O(n) a run.
"""

from __future__ import annotations

from constrint.learning.layout import BY_TERMS, FAULT, NOTHING, Learner, learn_compilable
from constrint.learning.linear import add_premise, contradict
from constrint.learning.trail import raise_bound, value_before, weakest
from constrint.store.state import State


@learn_compilable
def keep_extreme(ls: Learner, st: State, p: int) -> bool:
    """Propagate an extreme; False on contradiction."""
    bound = ls.bound
    first = ls.start[p]
    n = (ls.start[p + 1] - first) // 2
    z = ls.limit[p]
    why = 4 * p + BY_TERMS
    who = NOTHING
    most = 0
    reach = 0
    for i in range(first, first + n):
        condition = ls.term[i + n]
        if condition >= 0 and -bound[condition ^ 1] < ls.factor[i + n]:
            continue
        top = -bound[ls.term[i] ^ 1]
        if who < 0 or top > most:
            most = top
            who = i
        reach += int(top >= bound[z])
    if reach == 0:
        return contradict(ls, why)
    if -bound[z ^ 1] > most and not raise_bound(ls, st, z ^ 1, -most, why):
        return False
    if reach > 1:
        return True
    condition = ls.term[who + n]
    if condition >= 0 and not raise_bound(ls, st, condition, ls.factor[who + n], why):
        return False
    return raise_bound(ls, st, ls.term[who], bound[z], why)


@learn_compilable
def is_excluded_entry(ls: Learner, i: int, n: int, at: int) -> bool:
    """Whether the condition of an entry was false before an entry of the trail."""
    condition = ls.term[i + n]
    return condition >= 0 and -value_before(ls, condition ^ 1, at) < ls.factor[i + n]


@learn_compilable
def level_above(ls: Learner, p: int, skipped: int, least: int, at: int) -> int:
    """The least level, from `least` on, that no entry but `skipped` reaches unless it is excluded."""
    first = ls.start[p]
    n = (ls.start[p + 1] - first) // 2
    level = least
    for i in range(first, first + n):
        if i != skipped and not is_excluded_entry(ls, i, n, at):
            level = max(level, 1 - value_before(ls, ls.term[i] ^ 1, at))
    return level


@learn_compilable
def add_below(ls: Learner, p: int, skipped: int, level: int, at: int) -> None:
    """Add why no entry but `skipped` reaches a level."""
    first = ls.start[p]
    n = (ls.start[p + 1] - first) // 2
    for i in range(first, first + n):
        entry = ls.term[i] ^ 1
        if i == skipped or ls.root[entry] >= 1 - level:
            continue
        if is_excluded_entry(ls, i, n, at):
            add_premise(ls, ls.term[i + n] ^ 1, 1 - ls.factor[i + n])
        else:
            add_premise(ls, entry, 1 - level)


@learn_compilable
def explain_extreme(ls: Learner, st: State, p: int, b: int, k: int, at: int) -> None:
    """Add the premises from which an extreme derives the atom (b, k), or a contradiction if b is NOTHING."""
    first = ls.start[p]
    n = (ls.start[p + 1] - first) // 2
    z = ls.limit[p]
    if b != NOTHING:
        k = weakest(ls, st, b, k)
    if b == z ^ 1:
        add_below(ls, p, NOTHING, 1 - k, at)
        return
    low = value_before(ls, z, at)
    if b == NOTHING:
        level = level_above(ls, p, NOTHING, ls.root[z], at)
        add_premise(ls, z, level)
        add_below(ls, p, NOTHING, level, at)
        return
    for i in range(first, first + n):
        is_entry = ls.term[i] == b
        if is_entry or (ls.term[i + n] == b and ls.factor[i + n] >= k):
            level = level_above(ls, p, i, k if is_entry else ls.root[z], at)
            if level <= low:
                add_premise(ls, z, level)
                add_below(ls, p, i, level, at)
                return
    ls.scalar[FAULT] = 1  # an inference without a reason: the search ends instead of learning from it
