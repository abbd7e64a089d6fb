"""Bounds: raising them with a reason on the trail, undoing that, and finding the entry of an atom."""

from __future__ import annotations

from constrint.learning.heap import push
from constrint.learning.layout import (
    FAILED_BOUND,
    FAILED_TO,
    FAILED_WHY,
    LEVEL,
    NEXT,
    NOTHING,
    QUEUE_HEAD,
    QUEUE_TAIL,
    TRAIL,
    Learner,
    learn_compilable,
)
from constrint.store.domains import next_member, previous_member
from constrint.store.state import State


@learn_compilable
def round_up(st: State, b: int, k: int) -> int:
    """The least value of bound b, from k on, in the root domain; there must be one."""
    v = b >> 1
    if b & 1:
        x = -k
        x -= (x - st.base[v]) % st.step[v]
        if st.hole[v] >= 0:
            x = previous_member(st, v, x)
        return -x
    k += (st.base[v] - k) % st.step[v]
    if st.hole[v] >= 0:
        k = next_member(st, v, k)
    return k


@learn_compilable
def weakest(ls: Learner, st: State, b: int, k: int) -> int:
    """The least k' for which the atoms (b, k') and (b, k) are equivalent in the root domain."""
    v = b >> 1
    if ls.plain[v] == 1 or k <= ls.root[b]:
        return k
    if b & 1:
        x = -k + 1
        x += (st.base[v] - x) % st.step[v]
        if st.hole[v] >= 0:
            x = next_member(st, v, x)
        return 1 - x
    x = k - 1
    x -= (x - st.base[v]) % st.step[v]
    if st.hole[v] >= 0:
        x = previous_member(st, v, x)
    return x + 1


@learn_compilable
def raise_to_member(ls: Learner, b: int, k: int, why: int) -> bool:
    """Make an atom true whose k is a member of the domain; if it is false, record the conflict."""
    bound = ls.bound
    old = bound[b]
    if k <= old:
        return True
    scalar = ls.scalar
    if k > -bound[b ^ 1]:
        scalar[FAILED_BOUND] = b
        scalar[FAILED_TO] = k
        scalar[FAILED_WHY] = why
        return False
    at = scalar[TRAIL]
    ls.trail_bound[at] = b
    ls.trail_old[at] = old
    ls.trail_new[at] = k
    ls.trail_before[at] = ls.top[b]
    ls.trail_why[at] = why
    ls.trail_level[at] = scalar[LEVEL]
    ls.top[b] = at
    bound[b] = k
    scalar[TRAIL] = at + 1
    return True


@learn_compilable
def raise_bound(ls: Learner, st: State, b: int, k: int, why: int) -> bool:
    """Make an atom true; if it is false, record the conflict and return False."""
    if ls.plain[b >> 1] == 0 and ls.bound[b] < k <= -ls.bound[b ^ 1]:
        k = round_up(st, b, k)
    return raise_to_member(ls, b, k, why)


@learn_compilable
def undo_last(ls: Learner) -> None:
    """Remove the last entry from the trail; a variable that was fixed keeps its value as its phase."""
    scalar = ls.scalar
    at = scalar[TRAIL] - 1
    scalar[TRAIL] = at
    b = ls.trail_bound[at]
    v = b >> 1
    bound = ls.bound
    if bound[2 * v] == -bound[2 * v + 1]:
        ls.phase[v] = bound[2 * v]
        if ls.place[v] < 0:
            push(ls, v)
    bound[b] = ls.trail_old[at]
    ls.top[b] = ls.trail_before[at]


@learn_compilable
def clear_queues(ls: Learner) -> None:
    """Clear the queues of propagators."""
    scalar = ls.scalar
    capacity = len(ls.kind)
    for which in range(2):
        for i in range(scalar[QUEUE_HEAD + which], scalar[QUEUE_TAIL + which]):
            ls.queued[ls.queue[which * capacity + i % capacity]] = 0
        scalar[QUEUE_HEAD + which] = 0
        scalar[QUEUE_TAIL + which] = 0


@learn_compilable
def back_to(ls: Learner, level: int) -> None:
    """Undo all levels above one, and clear the queues: lower levels were at a fixpoint."""
    scalar = ls.scalar
    clear_queues(ls)
    if level < scalar[LEVEL]:
        bottom = ls.level_start[level + 1]
        while scalar[TRAIL] > bottom:
            undo_last(ls)
        scalar[LEVEL] = level
    scalar[NEXT] = scalar[TRAIL]


@learn_compilable
def open_level(ls: Learner) -> None:
    """Open a decision level."""
    level = ls.scalar[LEVEL] + 1
    ls.scalar[LEVEL] = level
    ls.level_start[level] = ls.scalar[TRAIL]


@learn_compilable
def value_before(ls: Learner, b: int, at: int) -> int:
    """The value of bound b before an entry was made."""
    entry = ls.top[b]
    if entry < at:
        return ls.bound[b]
    while ls.trail_before[entry] >= at:
        entry = ls.trail_before[entry]
    return ls.trail_old[entry]


@learn_compilable
def entry_of(ls: Learner, b: int, k: int) -> int:
    """The entry that made a true atom true; NOTHING for the root domain."""
    if k <= ls.root[b]:
        return NOTHING
    entry = ls.top[b]
    while entry >= 0 and ls.trail_old[entry] >= k:
        entry = ls.trail_before[entry]
    return entry


@learn_compilable
def settle_root(ls: Learner) -> None:
    """At level 0 at a fixpoint: make present bounds permanent, so that they need no reasons."""
    scalar = ls.scalar
    for at in range(scalar[TRAIL]):
        b = ls.trail_bound[at]
        ls.root[b] = ls.bound[b]
        ls.top[b] = NOTHING
    scalar[TRAIL] = 0
    scalar[NEXT] = 0
