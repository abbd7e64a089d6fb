"""Shrinking a learned clause: the members of one decision level become the one atom that implies them all.

Explained entry by entry, backwards as in the analysis of the conflict, the members of a level end at its
first unique implication point. It takes their place where no premise of a lower level is new to the clause:
then it implies the members together with members of lower levels, which stay implied, level by level
(Fleury and Biere, "Efficient all-UIP learned clause minimization", SAT 2021). Clauses over the values of
large domains need it: a value that is taken removes a literal from each of many variables.
"""

from __future__ import annotations

from constrint.learning.explain import explain
from constrint.learning.layout import (
    DECISION,
    JOINS,
    LEAST_SHRUNK,
    LITERALS,
    PREMISES,
    STAMP,
    Learner,
    learn_compilable,
)
from constrint.learning.trail import entry_of
from constrint.store.state import State


@learn_compilable
def sort_members(ls: Learner) -> None:
    """Put the members other than the first in the order of the trail, by Shell's method."""
    entries = ls.clause_entry
    count = ls.scalar[LITERALS]
    gap = 1
    while 3 * gap < count:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap + 1, count):
            at = entries[i]
            j = i - gap
            while j >= 1 and entries[j] > at:
                entries[j + gap] = entries[j]
                j -= gap
            entries[j + gap] = at
        gap //= 3


@learn_compilable
def point_of_level(ls: Learner, st: State, first: int, end: int) -> int:
    """The entry that implies the members from the first to the end, all of one level; -1 where none does.

    Its `block_need` is the value that it needs.
    """
    scalar = ls.scalar
    entries = ls.clause_entry
    block = ls.block
    need = ls.block_need
    stamp = scalar[STAMP]
    scalar[JOINS] += 1
    mark = scalar[JOINS]
    for i in range(first, end):
        block[entries[i]] = mark
        need[entries[i]] = ls.need[entries[i]]
    at = entries[end - 1]
    level = ls.trail_level[at]
    left = end - first
    while left > 1:
        while block[at] != mark:
            at -= 1
        if ls.trail_why[at] == DECISION:
            return -1
        explain(ls, st, ls.trail_bound[at], need[at], ls.trail_why[at], at)
        left -= 1
        for i in range(scalar[PREMISES]):
            k = ls.premise_at[i]
            source = entry_of(ls, ls.premise_bound[i], k)
            if source < 0 or ls.trail_level[source] == 0:
                continue
            if ls.trail_level[source] == level:
                if block[source] == mark:
                    need[source] = max(need[source], k)
                else:
                    block[source] = mark
                    need[source] = k
                    left += 1
            elif ls.seen[source] != stamp or ls.need[source] < k:
                return -1
        at -= 1
    while block[at] != mark:
        at -= 1
    return at


@learn_compilable
def shrink(ls: Learner, st: State) -> bool:
    """Replace the members of levels by the entries that imply them; whether there were such levels."""
    scalar = ls.scalar
    entries = ls.clause_entry
    count = scalar[LITERALS]
    if count < scalar[LEAST_SHRUNK]:
        return False
    sort_members(ls)
    left = 1
    first = 1
    while first < count:
        level = ls.trail_level[entries[first]]
        end = first + 1
        while end < count and ls.trail_level[entries[end]] == level:
            end += 1
        at = -1
        if end - first > 1:
            at = point_of_level(ls, st, first, end)
        if at >= 0:
            ls.seen[at] = scalar[STAMP]
            ls.need[at] = ls.block_need[at]
            entries[left] = at
            left += 1
        else:
            for i in range(first, end):
                entries[left] = entries[i]
                left += 1
        first = end
    scalar[LITERALS] = left
    return left < count
