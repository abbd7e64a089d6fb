"""Explanations of the bounds that a resource gives: a window of time is too short for its tasks.

A task spends at least o in the window if it starts no earlier than begin + o - duration and no later than
end - o, and lasts at least o, as it runs without interruption. The explanation names these bounds for each
task, with its least demand and the greatest capacity where they are variables. With the negation of the bound
that is explained, the window is too short; what it lacks beyond one unit relaxes the others.
"""

from __future__ import annotations

from constrint.learning.layout import NOTHING, OPEN_RESOURCE, Learner, learn_compilable
from constrint.learning.linear import add_premise
from constrint.learning.trail import value_before, weakest
from constrint.store.state import State

# Rows of scratch space with n entries each.
SPENT, DURATION, DEMAND = 0, 1, 2


@learn_compilable
def read_task(ls: Learner, p: int, n: int, i: int, b: int, k: int, at: int) -> None:
    """Write the duration and demand of a task before an entry; the negation of the atom (b, k) counts."""
    room = ls.room
    first = ls.start[p]
    room[DURATION * n + i] = ls.factor[first + i]
    room[DEMAND * n + i] = ls.factor[first + n + i]
    if ls.kind[p] == OPEN_RESOURCE:
        duration = ls.term[first + 2 * n + i]
        demand = ls.term[first + n + i]
        room[DURATION * n + i] = 1 - k if b == duration ^ 1 else value_before(ls, duration, at)
        room[DEMAND * n + i] = 1 - k if b == demand ^ 1 else value_before(ls, demand, at)


@learn_compilable
def capacity_before(ls: Learner, p: int, n: int, b: int, k: int, at: int) -> int:
    """The capacity before an entry; the negation of the atom (b, k) counts."""
    if ls.kind[p] != OPEN_RESOURCE:
        return ls.limit[p]
    capacity = ls.term[ls.start[p] + 3 * n]
    return k - 1 if b == capacity ^ 1 else -value_before(ls, capacity, at)


@learn_compilable
def is_known(ls: Learner, p: int, n: int, i: int, begin: int, end: int) -> bool:
    """Whether a task spends as long in the window by the bounds of the root."""
    room = ls.room
    first = ls.start[p]
    s = ls.term[first + i]
    spent = room[SPENT * n + i]
    duration = room[DURATION * n + i]
    if ls.root[s] < begin + spent - duration or ls.root[s ^ 1] < spent - end:
        return False
    if ls.kind[p] != OPEN_RESOURCE:
        return True
    is_long = ls.root[ls.term[first + 2 * n + i]] >= duration
    return is_long and ls.root[ls.term[first + n + i]] >= room[DEMAND * n + i]


@learn_compilable
def add_task(ls: Learner, p: int, n: int, i: int, b: int, k: int, begin: int, end: int) -> None:
    """Add the premises of the time that a task spends in the window."""
    room = ls.room
    first = ls.start[p]
    s = ls.term[first + i]
    spent = room[SPENT * n + i]
    duration = room[DURATION * n + i]
    if ls.kind[p] == OPEN_RESOURCE:
        least = 1 - k if b == s ^ 1 else ls.root[s]
        if least >= begin + spent - duration:  # the start says nothing more than that
            duration = max(spent, begin + spent - least)
        if b != ls.term[first + 2 * n + i] ^ 1:
            add_premise(ls, ls.term[first + 2 * n + i], duration)
        if b != ls.term[first + n + i] ^ 1:
            add_premise(ls, ls.term[first + n + i], room[DEMAND * n + i])
    if s ^ 1 != b:  # the negated atom says this
        add_premise(ls, s, begin + spent - duration)
    if s != b:
        add_premise(ls, s ^ 1, spent - end)


@learn_compilable
def explain_resource(ls: Learner, st: State, p: int, b: int, k: int, at: int) -> None:
    """Add the premises from which a window derives the atom (b, k), or a contradiction if b is NOTHING."""
    begin = ls.window_begin[at]
    end = ls.window_end[at]
    first = ls.start[p]
    is_open = ls.kind[p] == OPEN_RESOURCE
    n = (ls.start[p + 1] - first) // (3 if is_open else 2)
    room = ls.room
    if b != NOTHING:
        k = weakest(ls, st, b, k)
    capacity = capacity_before(ls, p, n, b, k, at)
    spare = -capacity * (end - begin) - 1
    for i in range(n):
        read_task(ls, p, n, i, b, k, at)
        s = ls.term[first + i]
        low = value_before(ls, s, at)
        high = -value_before(ls, s ^ 1, at)
        if b == s:
            high = k - 1
        elif b == s ^ 1:
            low = 1 - k
        duration = room[DURATION * n + i]
        inside = min(min(duration, end - begin), min(low + duration - begin, end - high))
        room[SPENT * n + i] = max(0, inside)
        spare += room[DEMAND * n + i] * room[SPENT * n + i]
    for i in range(n):
        energy = room[DEMAND * n + i] * room[SPENT * n + i]
        if energy <= spare and not is_known(ls, p, n, i, begin, end):
            spare -= energy
            room[SPENT * n + i] = 0
    for i in range(n):
        demand = room[DEMAND * n + i]
        if room[SPENT * n + i] == 0 or demand == 0:
            continue
        if demand <= spare and not is_known(ls, p, n, i, begin, end):
            room[SPENT * n + i] -= spare // demand
            spare %= demand
        add_task(ls, p, n, i, b, k, begin, end)
    if is_open and b != ls.term[first + 3 * n] ^ 1:
        add_premise(ls, ls.term[first + 3 * n], -capacity - spare // (end - begin))
