"""no_overlap_optional: of any two tasks that are present, one ends before the other starts.

The tasks that are present have the propagation of `no_overlap`. One that may be absent becomes absent where
its bounds leave it no place among them: where it can neither precede nor follow one of them, or has to start
after those that it cannot precede and later than those that it cannot follow allow. O(n^2) a run. The bounds
of a task that may be absent are left alone: they hold only where it is present.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from constrint.propagators.no_overlap import order_tasks
from constrint.store.domains import literal_value, set_literal, set_lo
from constrint.store.propagator import Propagator, Watch, literal_holds, magnitude, watch_bounds
from constrint.store.state import FIXED, State, compilable
from constrint.support.record import record

NO_OVERLAP_OPTIONAL = 31


@record()
class NoOverlapOptional(Propagator):
    """Of any two present tasks one ends before the other starts; their durations are non-negative."""

    starts: tuple[int, ...]
    durations: tuple[int, ...]
    literals: tuple[int, ...]
    kind = NO_OVERLAP_OPTIONAL
    priority: ClassVar[int] = 2

    def scope(self) -> tuple[int, ...]:
        return (*self.starts, *self.durations, *[literal >> 1 for literal in self.literals])

    def holds(self, values: Sequence[int]) -> bool:
        tasks = [
            (values[s], values[d])
            for s, d, literal in zip(self.starts, self.durations, self.literals, strict=True)
            if literal_holds(literal, values)
        ]
        return all(d >= 0 for _, d in tasks) and all(
            s + d <= t or t + e <= s for i, (s, d) in enumerate(tasks) for t, e in tasks[:i]
        )

    def encode(self) -> list[int]:
        # The tasks, then the arguments of `no_overlap` for those that are present, written anew in each run.
        n = len(self.starts)
        return [
            n,
            *self.starts,
            *self.durations,
            *self.literals,
            *[0] * (1 + 2 * n + 4 * n + 4 * n + 3 * (n + 1)),
        ]

    def watches(self) -> list[Watch]:
        literals = [(literal >> 1, FIXED) for literal in self.literals]
        return [*watch_bounds(*self.starts, *self.durations), *literals]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        most = max(magnitude(lo, hi, s) for s in self.starts)
        return 2 * (most + sum(magnitude(lo, hi, d) for d in self.durations)) + 2


@compilable
def gather(st: State, first: int, present: int) -> bool:
    """Write the arguments of `no_overlap` for the present tasks; False if a duration cannot be 0 or more."""
    args = st.args
    n = args[first]
    count = 0
    for i in range(n):
        if literal_value(st, args[first + 1 + 2 * n + i]) == 1:
            args[present + 1 + count] = args[first + 1 + i]
            count += 1
    args[present] = count
    at = present + 1 + count
    for i in range(n):
        if literal_value(st, args[first + 1 + 2 * n + i]) == 1:
            d = args[first + 1 + n + i]
            if not set_lo(st, d, 0):
                return False
            args[at] = d
            at += 1
    for _ in range(4):
        for k in range(count):
            args[at] = k
            at += 1
    return True


@compilable
def has_place(st: State, first: int, present: int, i: int) -> bool:
    """Whether the bounds leave a task that may be absent a place among those that are present."""
    args = st.args
    n = args[first]
    s = args[first + 1 + i]
    d = args[first + 1 + n + i]
    if st.hi[d] < 0:
        return False
    duration = max(0, st.lo[d])
    low = st.lo[s]
    high = st.hi[s]
    count = args[present]
    for k in range(count):
        t = args[present + 1 + k]
        e = st.lo[args[present + 1 + count + k]]
        precedes = st.lo[s] + duration <= st.hi[t]
        follows = st.lo[t] + e <= st.hi[s]
        if not (precedes or follows):
            return False
        if not precedes:
            low = max(low, st.lo[t] + e)
        elif not follows:
            high = min(high, st.hi[t] - duration)
    return low <= high


@compilable
def no_overlap_optional(st: State, c: int) -> bool:
    """Propagate that of any two present tasks one ends before the other starts."""
    first = st.start[c]
    args = st.args
    n = args[first]
    present = first + 1 + 3 * n
    if not gather(st, first, present):
        return False
    if args[present] > 0 and not order_tasks(st, present):
        return False
    for i in range(n):
        literal = args[first + 1 + 2 * n + i]
        if (
            literal_value(st, literal) < 0
            and not has_place(st, first, present, i)
            and not set_literal(st, literal ^ 1)
        ):
            return False
    return True
