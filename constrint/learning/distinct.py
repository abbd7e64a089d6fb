"""Starts that differ: a resource of tasks that all take one moment and the whole of it.

Bounds consistency tells in O(n log n) whether some interval has as many starts as moments, or more; most runs
find none. Only where one moves a bound, the windows of `resource` look for it, and are its reason.
"""

from __future__ import annotations

from constrint.learning.layout import Learner, learn_compilable
from constrint.learning.resource import keep_windows
from constrint.propagators.all_different import raise_lows, rank_bounds
from constrint.store.state import State

# Scratch space, with n entries each; bounds of intervals and links follow.
LOW, HIGH, ORDERS, BOUNDS = 0, 1, 4, 6


@learn_compilable
def is_narrow(ls: Learner, p: int, n: int) -> bool:
    """Whether the starts have too few moments, or some of them fill an interval from which others must go."""
    room = ls.room
    first = ls.start[p]
    for side in range(2):  # the least starts, then the greatest, negated
        for i in range(n):
            b = ls.term[first + i] ^ side
            room[LOW * n + i] = ls.bound[b]
            room[HIGH * n + i] = -ls.bound[b ^ 1]
            room[ORDERS * n + i] = i
            room[ORDERS * n + n + i] = i
        count = rank_bounds(room, n, LOW * n, HIGH * n, ORDERS * n, BOUNDS * n)
        if raise_lows(room, n, LOW * n, HIGH * n, ORDERS * n + n, BOUNDS * n, count) != 0:
            return True
    return False


@learn_compilable
def keep_distinct(ls: Learner, st: State, p: int) -> bool:
    """Propagate that starts differ; False on contradiction."""
    n = (ls.start[p + 1] - ls.start[p]) // 2
    if not is_narrow(ls, p, n):
        return True
    return keep_windows(ls, st, p, n)
