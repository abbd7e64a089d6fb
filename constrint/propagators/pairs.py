"""Sums of products of truth values: low <= sum(coefficient * x * y) <= high, without product variables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import ClassVar

from constrint.store.domains import set_hi, set_lo
from constrint.store.propagator import Propagator
from constrint.store.state import BOUNDS, State, compilable
from constrint.support.record import record

PAIRS = 30


@record()
class Pairs(Propagator):
    """``low <= sum(a * x * y) <= high`` for terms (a, x, y) of 0/1 variables, where no a is 0."""

    terms: tuple[tuple[int, int, int], ...]
    low: int
    high: int
    kind = PAIRS
    wakes = BOUNDS
    priority: ClassVar[int] = 2

    def scope(self) -> tuple[int, ...]:
        return tuple([v for _, x, y in self.terms for v in (x, y)])

    def holds(self, values: Sequence[int]) -> bool:
        return self.low <= sum([a * values[x] * values[y] for a, x, y in self.terms]) <= self.high

    def encode(self) -> list[int]:
        return [self.low, self.high, *chain.from_iterable(self.terms)]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        return abs(self.low) + abs(self.high) + 2 * sum([abs(a) for a, _, _ in self.terms]) + 2


@compilable
def pairs(st: State, c: int) -> bool:
    """``low <= sum(a * x * y) <= high``."""
    args = st.args
    lo = st.lo
    hi = st.hi
    first = st.start[c]
    last = st.start[c + 1]
    low = args[first]
    high = args[first + 1]
    least = 0
    most = 0
    for i in range(first + 2, last, 3):
        a = args[i]
        surely = a * lo[args[i + 1]] * lo[args[i + 2]]
        perhaps = a * hi[args[i + 1]] * hi[args[i + 2]]
        least += min(surely, perhaps)
        most += max(surely, perhaps)
    if least > high or most < low:
        return False
    if least >= low and most <= high:
        return True
    for i in range(first + 2, last, 3):
        a = args[i]
        x = args[i + 1]
        y = args[i + 2]
        if lo[x] * lo[y] == hi[x] * hi[y]:
            continue
        # A product that becomes 1 moves one end of the sum by its coefficient; one that becomes 0 moves the
        # other.
        if least + a > high or most + a < low:
            if most - a < low or least - a > high:
                return False
            if lo[x] == 1:
                if not set_hi(st, y, 0):
                    return False
            elif lo[y] == 1 and not set_hi(st, x, 0):
                return False
        elif (most - a < low or least - a > high) and not (set_lo(st, x, 1) and set_lo(st, y, 1)):
            return False
    return True
