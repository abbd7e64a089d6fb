"""no_overlap (disjunctive): of any two tasks on a machine, one ends before the other starts.

Overload check and edge finding after Vilím, "Global constraints in scheduling", PhD thesis, Prague 2007, on
sorted lists instead of theta trees: O(n^2) a run, which is faster for usual sizes. Weaker than bounds
consistency, which is NP-hard.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from constrint.propagators.all_different import sort_by
from constrint.store.domains import set_hi, set_lo
from constrint.store.propagator import Propagator, magnitude
from constrint.store.state import BOUNDS, State, compilable
from constrint.support.record import record

NO_OVERLAP = 27


@record()
class NoOverlap(Propagator):
    """Durations are non-negative, and of any two tasks one ends before the other starts."""

    starts: tuple[int, ...]
    durations: tuple[int, ...]
    kind = NO_OVERLAP
    wakes = BOUNDS
    priority: ClassVar[int] = 2

    def scope(self) -> tuple[int, ...]:
        return (*self.starts, *self.durations)

    def holds(self, values: Sequence[int]) -> bool:
        tasks = [(values[s], values[d]) for s, d in zip(self.starts, self.durations, strict=True)]
        return all(d >= 0 for _, d in tasks) and all(
            s + d <= t or t + e <= s for i, (s, d) in enumerate(tasks) for t, e in tasks[:i]
        )

    def encode(self) -> list[int]:
        # Two orders for each direction of time, by start and by end, are kept between runs. Scratch space:
        # least start, greatest end, duration and new start of each task; sums and latest ends along the order
        # by start.
        n = len(self.starts)
        return [n, *self.starts, *self.durations, *list(range(n)) * 4, *[0] * (4 * n + 3 * (n + 1))]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        most = max(magnitude(lo, hi, s) for s in self.starts)
        return 2 * (most + sum(magnitude(lo, hi, d) for d in self.durations)) + 2


@compilable
def note_tasks(st: State, first: int, sign: int, tasks: int) -> None:
    """Write the least start, greatest end and duration of each task; sign -1 reverses time."""
    args = st.args
    n = args[first]
    for i in range(n):
        s = args[first + 1 + i]
        duration = st.lo[args[first + 1 + n + i]]
        if sign == 1:
            args[tasks + i] = st.lo[s]
            args[tasks + n + i] = st.hi[s] + duration
        else:
            args[tasks + i] = -(st.hi[s] + duration)
            args[tasks + n + i] = -st.lo[s]
        args[tasks + 2 * n + i] = duration
        args[tasks + 3 * n + i] = args[tasks + i]


@compilable
def find_edges(args: list[int], n: int, by_start: int, end: int, tasks: int) -> bool:
    """Edge finding for the tasks that must end by `end`; False if they do not fit.

    A task that does not fit among them starts after them.
    """
    ends = tasks + n
    durations = ends + n
    started = durations + n
    before = started + n  # earliest end of the tasks so far in the order
    after = before + n + 1  # over the tasks from the next on: greatest start + the durations from there
    total = after + n + 1  # sum of their durations
    none = args[tasks + args[by_start]]  # earlier than all of them
    args[before] = none
    for k in range(n):
        j = args[by_start + k]
        args[before + k + 1] = args[before + k]
        if args[ends + j] <= end:
            args[before + k + 1] = max(args[before + k], args[tasks + j]) + args[durations + j]
    finish = args[before + n]
    if finish > end:
        return False
    args[after + n] = none
    args[total + n] = 0
    for k in range(n - 1, -1, -1):
        j = args[by_start + k]
        args[after + k] = args[after + k + 1]
        args[total + k] = args[total + k + 1]
        if args[ends + j] <= end:
            args[total + k] += args[durations + j]
            args[after + k] = max(args[after + k], args[tasks + j] + args[total + k])
    for k in range(n):
        i = args[by_start + k]
        if args[ends + i] > end and finish > args[tasks + i]:
            own = max(args[before + k], args[tasks + i]) + args[durations + i] + args[total + k]
            if max(own, args[after + k]) > end:
                args[started + i] = max(args[started + i], finish)
    return True


@compilable
def push_starts(st: State, first: int, sign: int) -> bool:
    """Raise the least starts (sign 1) or lower the greatest ends (sign -1)."""
    args = st.args
    n = args[first]
    by_start = first + 1 + 2 * n + (0 if sign == 1 else 2 * n)
    by_end = by_start + n
    tasks = first + 1 + 6 * n
    note_tasks(st, first, sign, tasks)
    sort_by(args, by_start, tasks, n)
    sort_by(args, by_end, tasks + n, n)
    last = 0
    for k in range(n):
        end = args[tasks + n + args[by_end + k]]
        if (k == 0 or end != last) and not find_edges(args, n, by_start, end, tasks):
            return False
        last = end
    for i in range(n):
        start = args[tasks + 3 * n + i]
        if start > args[tasks + i]:
            s = args[first + 1 + i]
            if sign == 1:
                if not set_lo(st, s, start):
                    return False
            elif not set_hi(st, s, -start - args[tasks + 2 * n + i]):
                return False
    return True


@compilable
def order_tasks(st: State, first: int) -> bool:
    """Propagate the order of tasks whose durations are at least 0; their arguments begin at `first`."""
    args = st.args
    n = args[first]
    if not (push_starts(st, first, 1) and push_starts(st, first, -1)):
        return False
    # Bound a duration by the next task that can only follow it.
    for i in range(n):
        d = args[first + 1 + n + i]
        if st.lo[d] == st.hi[d]:
            continue
        s = args[first + 1 + i]
        for j in range(n):
            t = args[first + 1 + j]
            follows = st.hi[s] < st.lo[t] + st.lo[args[first + 1 + n + j]]
            if j != i and follows and not set_hi(st, d, st.hi[t] - st.lo[s]):
                return False
    return True


@compilable
def no_overlap(st: State, c: int) -> bool:
    """Propagate that of any two tasks one ends before the other starts."""
    first = st.start[c]
    args = st.args
    n = args[first]
    for i in range(first + 1 + n, first + 1 + 2 * n):
        if not set_lo(st, args[i], 0):
            return False
    return order_tasks(st, first)
