"""Clauses that other searches of the same constraints have learned, taken in at the root.

The inbox is a row of clauses, each its size and its members. The caller fills it between two runs; a run
takes one clause at a time, wherever there is room for it.
"""

from __future__ import annotations

from constrint.learning.clauses import BUMP, attach
from constrint.learning.layout import (
    ACTIVITY,
    ARENA,
    CONFLICTS,
    CORE_LEVELS,
    DECISION,
    HEAD_CELLS,
    INBOX,
    KEPT,
    LEVELS,
    MIDDLE_LEVELS,
    NOTHING,
    SIZE,
    TAKEN,
    USED,
    Learner,
    learn_compilable,
)
from constrint.learning.trail import raise_bound
from constrint.store.state import State


@learn_compilable
def take_in(ls: Learner, st: State) -> bool:
    """At level 0: take the next clause out of the inbox; False if it contradicts the root.

    Members that are false at the root are left out, and clauses that hold there.
    """
    scalar = ls.scalar
    arena = ls.arena
    first = scalar[TAKEN] + 1
    end = first + 2 * ls.inbox[scalar[TAKEN]]
    clause = scalar[ARENA]
    size = 0
    holds = False
    b = NOTHING
    k = 0
    for at in range(first, end, 2):
        if ls.bound[ls.inbox[at]] >= ls.inbox[at + 1]:
            holds = True
        if -ls.bound[ls.inbox[at] ^ 1] >= ls.inbox[at + 1]:
            b = ls.inbox[at]
            k = ls.inbox[at + 1]
            arena[clause + HEAD_CELLS + 2 * size] = b
            arena[clause + HEAD_CELLS + 2 * size + 1] = k
            size += 1
    scalar[TAKEN] = end
    if end == scalar[INBOX]:
        scalar[TAKEN] = 0
        scalar[INBOX] = 0
    if holds:
        return True
    if size <= 1:
        return size == 1 and raise_bound(ls, st, b, k, DECISION)
    arena[clause + SIZE] = size
    arena[clause + LEVELS] = ls.scalar[CORE_LEVELS] if size == 2 else ls.scalar[MIDDLE_LEVELS]
    arena[clause + USED] = scalar[CONFLICTS]
    arena[clause + ACTIVITY] = BUMP
    scalar[ARENA] = clause + HEAD_CELLS + 2 * size
    scalar[KEPT] += 1
    attach(ls, clause)
    return True
