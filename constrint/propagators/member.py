"""Reified membership: literal <-> x in a set of intervals. Remembers the inner holes of wide domains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from constrint.store.domains import contains, literal_value, remove, set_hi, set_literal, set_lo
from constrint.store.propagator import Propagator, Watch, literal_holds, magnitude, watch_all
from constrint.store.state import FIXED, State, compilable
from constrint.support.record import record

MEMBER = 12

# Where the values of a variable lie, as bits of a mask.
INSIDE = 1
OUTSIDE = 2
BOTH = 3


def intervals_of(values: Iterable[int]) -> tuple[int, ...]:
    """The first and last value of each run of consecutive values, ascending."""
    flat: list[int] = []
    for value in sorted(set(values)):
        if flat and flat[-1] == value - 1:
            flat[-1] = value
        else:
            flat += [value, value]
    return tuple(flat)


@record()
class Member(Propagator):
    """``literal <-> x in intervals``; intervals are (first, last, first, last, …), ascending and disjoint."""

    literal: int
    x: int
    intervals: tuple[int, ...]
    kind = MEMBER

    def scope(self) -> tuple[int, ...]:
        return (self.literal >> 1, self.x)

    def holds(self, values: Sequence[int]) -> bool:
        x = values[self.x]
        ends = zip(self.intervals[::2], self.intervals[1::2], strict=True)
        return literal_holds(self.literal, values) == any(first <= x <= last for first, last in ends)

    def encode(self) -> list[int]:
        return [self.literal, self.x, *self.intervals]

    def watches(self) -> list[Watch]:
        return [(self.literal >> 1, FIXED), *watch_all(self.x)]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        return max([magnitude(lo, hi, self.x), *map(abs, self.intervals)]) + 1


@compilable
def interval_from(st: State, first: int, last: int, value: int) -> int:
    """Index of the first interval in args[first:last] that ends at or after value, or `last`."""
    low = 0
    high = (last - first) // 2
    while low < high:
        middle = (low + high) // 2
        if st.args[first + 2 * middle + 1] >= value:
            high = middle
        else:
            low = middle + 1
    return first + 2 * low


@compilable
def force_member(st: State, x: int, first: int, last: int) -> bool:
    """Propagate that x lies in one of the intervals."""
    args = st.args
    while True:
        low = st.lo[x]
        i = interval_from(st, first, last, low)
        if i == last:
            return False
        if args[i] <= low:
            break
        if not set_lo(st, x, args[i]):
            return False
    while True:
        high = st.hi[x]
        i = interval_from(st, first, last, high)
        if i < last and args[i] <= high:
            break
        if i == first or not set_hi(st, x, args[i - 1]):
            return False
    if st.hole[x] >= 0:
        i = interval_from(st, first, last, st.lo[x])
        value = st.lo[x]
        high = st.hi[x]
        step = st.step[x]
        while value < high:
            if value > args[i + 1]:
                i += 2
            elif value < args[i]:
                if not remove(st, x, value):
                    return False
                value += step
            else:
                value += step
    return True


@compilable
def forbid_member(st: State, x: int, first: int, last: int) -> bool:
    """Propagate that x lies in none of the intervals."""
    args = st.args
    while True:
        i = interval_from(st, first, last, st.lo[x])
        if i == last or args[i] > st.lo[x]:
            break
        if not set_lo(st, x, args[i + 1] + 1):
            return False
    while True:
        i = interval_from(st, first, last, st.hi[x])
        if i == last or args[i] > st.hi[x]:
            break
        if not set_hi(st, x, args[i] - 1):
            return False
    if st.hole[x] >= 0:
        i = interval_from(st, first, last, st.lo[x])
        step = st.step[x]
        while i < last and args[i] < st.hi[x]:
            value = args[i] + (st.lo[x] - args[i]) % step
            while value <= args[i + 1]:
                if not remove(st, x, value):
                    return False
                value += step
            i += 2
    return True


@compilable
def sides_of(st: State, x: int, i: int, last: int) -> int:
    """INSIDE, OUTSIDE or BOTH: where a bitset variable's values lie, for the intervals from place i on."""
    args = st.args
    sides = 0
    value = st.lo[x]
    high = st.hi[x]
    step = st.step[x]
    while value <= high:
        if contains(st, x, value):
            while i < last and args[i + 1] < value:
                i += 2
            sides |= INSIDE if i < last and args[i] <= value else OUTSIDE
            if sides == BOTH:
                break
        value += step
    return sides


@compilable
def member(st: State, c: int) -> bool:
    """``literal <-> x in intervals``."""
    first = st.start[c]
    last = st.start[c + 1]
    literal = st.args[first]
    x = st.args[first + 1]
    value = literal_value(st, literal)
    if value == 1:
        return force_member(st, x, first + 2, last)
    if value == 0:
        return forbid_member(st, x, first + 2, last)
    i = interval_from(st, first + 2, last, st.lo[x])
    if i == last or st.args[i] > st.hi[x]:
        return set_literal(st, literal ^ 1)
    if st.args[i] <= st.lo[x] and st.hi[x] <= st.args[i + 1]:
        return set_literal(st, literal)
    if st.hole[x] < 0:
        return True
    sides = sides_of(st, x, i, last)
    if sides == BOTH:
        return True
    return set_literal(st, literal ^ (0 if sides == INSIDE else 1))
