"""Global cardinality: how often each listed value occurs among some variables.

The count of each value is domain consistent by itself, and the sum of all counts is bounds consistent; the
conjunction is not. This equals propagating the constraint's decomposition into sums of truth values
(cost-based decompositions as in Bessiere, Katsirelos, Narodytska, Quimper and Walsh, IJCAI 2009) in one
propagator: O(sum of domain sizes + values) a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from constrint.store.domains import contains, fix, remove, set_hi, set_lo
from constrint.store.propagator import Propagator, Watch, magnitude, watch_all, watch_bounds
from constrint.store.state import BITS, State, compilable
from constrint.support.record import record

CARDINALITY = 23


@record()
class Cardinality(Propagator):
    """``counts[j]`` variables equal ``values[j]``; if closed, every variable equals a listed value.

    The values are distinct and ascending.
    """

    variables: tuple[int, ...]
    values: tuple[int, ...]
    counts: tuple[int, ...]
    closed: bool
    kind = CARDINALITY
    priority: ClassVar[int] = 2

    def scope(self) -> tuple[int, ...]:
        return (*self.variables, *self.counts)

    def holds(self, values: Sequence[int]) -> bool:
        found = [values[v] for v in self.variables]
        if self.closed and not set(found) <= set(self.values):
            return False
        return all(found.count(value) == values[z] for value, z in zip(self.values, self.counts, strict=True))

    def encode(self) -> list[int]:
        # The counts are followed by the index of each number from the least value on, or -1, and by the
        # values. Scratch space: how often each value surely occurs and may occur; where ranges of possible
        # values start and end.
        least = self.values[0]
        numbers = [-1] * (self.values[-1] - least + 1)
        for j, value in enumerate(self.values):
            numbers[value - least] = j
        head = [len(self.variables), len(self.values), int(self.closed), least, len(numbers)]
        room = [0] * (3 * len(self.values) + 1)
        return [*head, *self.variables, *self.counts, *numbers, *self.values, *room]

    def watches(self) -> list[Watch]:
        return watch_all(*self.variables) + watch_bounds(*self.counts)

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        most = max(magnitude(lo, hi, v) for v in self.scope())
        n = len(self.variables)
        total = sum(magnitude(lo, hi, z) for z in self.counts)
        return 2 * (most + max(map(abs, self.values)) + total + n) + 2


@compilable
def is_range(st: State, v: int) -> bool:
    """Whether a variable has every value between its bounds."""
    if st.step[v] != 1:
        return False
    hole = st.hole[v]
    if hole < 0:
        return True
    first = st.lo[v] - st.base[v]
    last = st.hi[v] - st.base[v]
    for word in range(first // BITS, last // BITS + 1):
        low = first % BITS if word == first // BITS else 0
        high = last % BITS if word == last // BITS else BITS - 1
        mask = ((1 << (high - low + 1)) - 1) << low
        if st.words[hole + word] & mask != mask:
            return False
    return True


@compilable
def count_range(st: State, first: int, v: int, ends: int) -> bool:
    """Note the listed values of a variable without inner holes as possible; True if it may have others."""
    args = st.args
    least = args[first + 3]
    span = args[first + 4]
    low = max(st.lo[v] - least, 0)
    high = min(st.hi[v] - least, span - 1)
    if low <= high:
        args[ends + low] += 1
        args[ends + high + 1] -= 1
    return st.lo[v] < least or st.hi[v] >= least + span


@compilable
def count_members(st: State, first: int, v: int, numbers: int, sure: int) -> bool:
    """Count the listed values of an open variable as possible; returns whether it may have others."""
    args = st.args
    m = args[first + 1]
    least = args[first + 3]
    span = args[first + 4]
    possible = sure + m
    lo = st.lo[v]
    hi = st.hi[v]
    outside = False
    hole = st.hole[v]
    if hole < 0:
        listed = numbers + span
        found = 0
        for j in range(m):
            if contains(st, v, args[listed + j]):
                args[possible + j] += 1
                found += 1
        return (hi - lo) // st.step[v] + 1 > found
    step = st.step[v]
    words = st.words
    bit = (lo - st.base[v]) // step
    x = lo - least
    last = hi - least
    while x <= last:
        if (words[hole + bit // BITS] >> (bit % BITS)) & 1 == 1:
            j = args[numbers + x] if 0 <= x < span else -1
            if j >= 0:
                args[possible + j] += 1
            else:
                outside = True
        x += step
        bit += 1
    return outside


@compilable
def bound_counts(st: State, first: int, sure: int, outside: int) -> bool:
    """Bound each count by its sure and possible occurrences, and by the sum of all counts."""
    args = st.args
    n = args[first]
    m = args[first + 1]
    counts = first + 5 + n
    least = 0
    most = 0
    for j in range(m):
        z = args[counts + j]
        if not (set_lo(st, z, args[sure + j]) and set_hi(st, z, args[sure + m + j])):
            return False
        least += st.lo[z]
        most += st.hi[z]
    for j in range(m):
        z = args[counts + j]
        low = st.lo[z]
        high = st.hi[z]
        if low == high:
            continue
        # n - outside <= sum of all counts <= n
        if not (set_hi(st, z, n - least + low) and set_lo(st, z, n - outside - most + high)):
            return False
        least += st.lo[z] - low
        most += st.hi[z] - high
    return n - outside <= most and least <= n


@compilable
def settle_value(st: State, first: int, value: int, is_full: bool) -> bool:
    """Fix the open variables that can have a value to it; or, if is_full, remove the value from them."""
    args = st.args
    for i in range(first + 5, first + 5 + args[first]):
        v = args[i]
        if st.lo[v] != st.hi[v] and contains(st, v, value):
            if is_full:
                if not remove(st, v, value):
                    return False
            elif not fix(st, v, value):
                return False
    return True


@compilable
def cardinality(st: State, c: int) -> bool:
    """Propagate that ``counts[j]`` variables equal ``values[j]``."""
    first = st.start[c]
    args = st.args
    n = args[first]
    m = args[first + 1]
    least = args[first + 3]
    span = args[first + 4]
    counts = first + 5 + n
    numbers = counts + m
    listed = numbers + span
    sure = listed + m
    for j in range(3 * m + 1):
        args[sure + j] = 0
    outside = 0
    ends = sure + 2 * m
    is_dense = m == span
    for i in range(first + 5, counts):
        v = args[i]
        if st.lo[v] != st.hi[v]:
            if is_dense and is_range(st, v):
                if count_range(st, first, v, ends):
                    outside += 1
            elif count_members(st, first, v, numbers, sure):
                outside += 1
            continue
        x = st.lo[v] - least
        j = args[numbers + x] if 0 <= x < span else -1
        if j >= 0:
            args[sure + j] += 1
            args[sure + m + j] += 1
        elif args[first + 2] == 1:
            return False
        else:
            outside += 1
    if args[first + 2] == 1:
        outside = 0
    if is_dense:
        more = 0
        for j in range(m):
            more += args[ends + j]
            args[sure + m + j] += more
    if not bound_counts(st, first, sure, outside):
        return False
    for j in range(m):
        fixed = args[sure + j]
        if args[sure + m + j] > fixed:
            z = args[counts + j]
            if st.hi[z] == fixed:
                if not settle_value(st, first, args[listed + j], True):
                    return False
            elif st.lo[z] == args[sure + m + j] and not settle_value(st, first, args[listed + j], False):
                return False
    return True
