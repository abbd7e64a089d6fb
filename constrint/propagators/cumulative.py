"""cumulative: the tasks on a resource never demand more than its capacity.

Time-table filtering (Lahrichi 1982; Le Pape, Intelligent Systems Engineering 1994) on a sorted profile,
O(n^2) a run. Overload check of Baptiste, Le Pape and Nuijten, "Constraint-based scheduling", 2001, on every
window from a least start to a greatest end, O(n^2). Weaker than bounds consistency, which is NP-hard.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from constrint.propagators.all_different import sort_by
from constrint.store.domains import set_hi, set_lo
from constrint.store.propagator import Propagator, magnitude
from constrint.store.state import BOUNDS, State, compilable
from constrint.support.record import record

CUMULATIVE = 28


def fits(starts: Sequence[int], durations: Sequence[int], demands: Sequence[int], capacity: int) -> bool:
    """Whether durations and demands are non-negative, and the demand never exceeds the capacity."""
    if min([capacity, *durations, *demands]) < 0:
        return False
    tasks = list(zip(starts, durations, demands, strict=True))
    return all(sum(r for s, d, r in tasks if s <= time < s + d) <= capacity for time in set(starts))


@record()
class Cumulative(Propagator):
    """Durations, demands and capacity are non-negative, and running tasks never exceed the capacity."""

    starts: tuple[int, ...]
    durations: tuple[int, ...]
    demands: tuple[int, ...]
    capacity: int
    kind = CUMULATIVE
    wakes = BOUNDS
    priority: ClassVar[int] = 2

    def scope(self) -> tuple[int, ...]:
        return (*self.starts, *self.durations, *self.demands, self.capacity)

    def holds(self, values: Sequence[int]) -> bool:
        starts, durations, demands = (
            [values[v] for v in group] for group in (self.starts, self.durations, self.demands)
        )
        return fits(starts, durations, demands, values[self.capacity])

    def encode(self) -> list[int]:
        # The order by greatest end and the order of the profile's 2 n events are kept between runs. Scratch
        # space: the times of the events, the demand after each of them, and greatest ends.
        n = len(self.starts)
        head = [n, self.capacity, *self.starts, *self.durations, *self.demands]
        return [*head, *range(n), *range(2 * n), *[0] * (5 * n)]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        start = max(magnitude(lo, hi, s) for s in self.starts)
        duration = max(magnitude(lo, hi, d) for d in self.durations)
        demand = sum(magnitude(lo, hi, r) for r in self.demands)
        energy = len(self.starts) * duration * demand
        window = magnitude(lo, hi, self.capacity) * 2 * (start + duration + 1)
        return 2 * (start + duration + demand + energy + window) + 2


@compilable
def make_profile(st: State, first: int) -> int:
    """Write the times at which compulsory parts start or end, sorted, and the demand after each.

    Returns the number of events of tasks with a compulsory part; those of the other tasks stand behind them.
    """
    args = st.args
    n = args[first]
    starts = first + 2
    order = starts + 4 * n
    times = order + 2 * n
    levels = times + 2 * n
    last = 0
    found = 0
    for i in range(n):
        s = args[starts + i]
        end = st.lo[s] + st.lo[args[starts + n + i]]
        if st.hi[s] < end and (found == 0 or end > last):
            last = end
            found = 1
    count = 0
    for i in range(n):
        s = args[starts + i]
        end = st.lo[s] + st.lo[args[starts + n + i]]
        if st.hi[s] < end:
            args[times + i] = st.hi[s]
            args[times + n + i] = end
            count += 2
        else:
            args[times + i] = last + 1
            args[times + n + i] = last + 1
    sort_by(args, order, times, 2 * n)
    level = 0
    for k in range(count):
        e = args[order + k]
        if e < n:
            level += st.lo[args[starts + 2 * n + e]]
        else:
            level -= st.lo[args[starts + n + e]]
        args[levels + k] = level
    return count


@compilable
def fit_task(st: State, first: int, count: int, i: int) -> bool:
    """Move one task's bounds off the times at which the other tasks leave too little capacity."""
    args = st.args
    n = args[first]
    starts = first + 2
    order = starts + 4 * n
    times = order + 2 * n
    levels = times + 2 * n
    s = args[starts + i]
    duration = st.lo[args[starts + n + i]]
    demand = st.lo[args[starts + 2 * n + i]]
    capacity = st.hi[args[first + 1]]
    own_start = st.hi[s]
    own_end = st.lo[s] + duration
    low = st.lo[s]
    high = st.hi[s]
    most = capacity
    for k in range(count - 1):
        begin = args[times + args[order + k]]
        end = args[times + args[order + k + 1]]
        if begin == end:
            continue
        if own_start <= begin and end <= own_end:
            most = min(most, capacity - (args[levels + k] - demand))
        elif args[levels + k] + demand > capacity and low < end and begin < low + duration:
            low = end
    for k in range(count - 2, -1, -1):
        begin = args[times + args[order + k]]
        end = args[times + args[order + k + 1]]
        if begin == end or (own_start <= begin and end <= own_end):
            continue
        if args[levels + k] + demand > capacity and high < end and begin < high + duration:
            high = begin - duration
    if most < capacity and not set_hi(st, args[starts + 2 * n + i], most):
        return False
    return duration == 0 or demand == 0 or (set_lo(st, s, low) and set_hi(st, s, high))


@compilable
def has_room(st: State, first: int) -> bool:
    """Overload check: in each window from a least start to a greatest end, the tasks inside it fit."""
    args = st.args
    n = args[first]
    starts = first + 2
    by_end = starts + 3 * n
    ends = starts + 10 * n
    for i in range(n):
        args[ends + i] = st.hi[args[starts + i]] + st.lo[args[starts + n + i]]
    sort_by(args, by_end, ends, n)
    capacity = st.hi[args[first + 1]]
    for i in range(n):
        begin = st.lo[args[starts + i]]
        energy = 0
        for k in range(n):
            j = args[by_end + k]
            if st.lo[args[starts + j]] >= begin:
                energy += st.lo[args[starts + n + j]] * st.lo[args[starts + 2 * n + j]]
                if energy > capacity * (args[ends + j] - begin):
                    return False
    return True


@compilable
def cumulative(st: State, c: int) -> bool:
    """Propagate that running tasks together never exceed the capacity."""
    first = st.start[c]
    args = st.args
    n = args[first]
    if not set_lo(st, args[first + 1], 0):
        return False
    for i in range(first + 2 + n, first + 2 + 3 * n):
        if not set_lo(st, args[i], 0):
            return False
    if not has_room(st, first):
        return False
    count = make_profile(st, first)
    levels = first + 2 + 8 * n
    order = first + 2 + 4 * n
    times = order + 2 * n
    for k in range(count - 1):
        # Events at the same time count together.
        if args[times + args[order + k]] != args[times + args[order + k + 1]] and not set_lo(
            st, args[first + 1], args[levels + k]
        ):
            return False
    for i in range(n):  # noqa: SIM110 - what is compiled has loops only
        if not fit_task(st, first, count, i):
            return False
    return True
