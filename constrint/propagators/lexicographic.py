"""Reified lexicographic order: literal <-> one list of variables comes before another.

Frisch, Hnich, Kiziltan, Miguel and Walsh, "Global constraints for lexicographic orderings", CP 2002. Domain
consistent if no variable occurs twice; O(n) a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from constrint.store.domains import literal_value, set_hi, set_literal, set_lo
from constrint.store.propagator import Propagator, Watch, literal_holds, magnitude, watch_bounds
from constrint.store.state import FIXED, State, compilable
from constrint.support.record import record

LEXICOGRAPHIC = 26


@record()
class Lexicographic(Propagator):
    """``literal <-> xs < ys`` for lists of equal length; ``<=`` unless strict."""

    literal: int
    xs: tuple[int, ...]
    ys: tuple[int, ...]
    strict: bool
    kind = LEXICOGRAPHIC
    priority: ClassVar[int] = 1

    def scope(self) -> tuple[int, ...]:
        return (self.literal >> 1, *self.xs, *self.ys)

    def holds(self, values: Sequence[int]) -> bool:
        left, right = [values[v] for v in self.xs], [values[v] for v in self.ys]
        return literal_holds(self.literal, values) == (left < right if self.strict else left <= right)

    def encode(self) -> list[int]:
        return [self.literal, len(self.xs), int(self.strict), *self.xs, *self.ys]

    def watches(self) -> list[Watch]:
        return [(self.literal >> 1, FIXED), *watch_bounds(*self.xs, *self.ys)]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        return max([1, *(magnitude(lo, hi, v) for v in self.scope())]) + 1


@compilable
def rest_can_follow(st: State, xs: int, ys: int, i: int, n: int, strict: bool) -> bool:
    """Whether the bounds allow the lists from place i on to be in order."""
    args = st.args
    while i < n:
        low = st.lo[args[xs + i]]
        high = st.hi[args[ys + i]]
        if low != high:
            return low < high
        i += 1
    return not strict


@compilable
def is_ordered(st: State, xs: int, ys: int, n: int, strict: bool) -> bool:
    """Whether the bounds prove that the lists are in order."""
    args = st.args
    for i in range(n):
        high = st.hi[args[xs + i]]
        low = st.lo[args[ys + i]]
        if high < low:
            return True
        if high > low:
            return False
    return not strict


@compilable
def put_in_order(st: State, xs: int, ys: int, n: int, strict: bool) -> bool:
    """Propagate that the lists are in order."""
    args = st.args
    i = 0
    while i < n:
        x = args[xs + i]
        y = args[ys + i]
        gap = 0 if rest_can_follow(st, xs, ys, i + 1, n, strict) else 1
        if not (set_hi(st, x, st.hi[y] - gap) and set_lo(st, y, st.lo[x] + gap)):
            return False
        if st.lo[x] != st.hi[x] or st.lo[y] != st.hi[y] or st.lo[x] != st.lo[y]:
            return True
        i += 1
    return not strict


@compilable
def lexicographic(st: State, c: int) -> bool:
    """``literal <-> xs < ys``."""
    first = st.start[c]
    args = st.args
    literal = args[first]
    n = args[first + 1]
    strict = args[first + 2] == 1
    xs = first + 3
    ys = xs + n
    value = literal_value(st, literal)
    if value == 1:
        return put_in_order(st, xs, ys, n, strict)
    if value == 0:
        return put_in_order(st, ys, xs, n, not strict)
    if is_ordered(st, xs, ys, n, strict):
        return set_literal(st, literal)
    if is_ordered(st, ys, xs, n, not strict):
        return set_literal(st, literal ^ 1)
    return True
