"""Reified divisibility: literal <-> d divides x; 0 divides only 0."""

from __future__ import annotations

from collections.abc import Sequence

from constrint.store.domains import (
    contains,
    greatest_common_divisor,
    literal_value,
    remove,
    set_class,
    set_hi,
    set_literal,
    set_lo,
)
from constrint.store.propagator import Propagator, Watch, literal_holds, magnitude, watch_all
from constrint.store.state import FIXED, State, compilable
from constrint.support.record import record

DIVIDES = 8


@record()
class Divides(Propagator):
    """``literal <-> d divides x``."""

    literal: int
    d: int
    x: int
    kind = DIVIDES

    def scope(self) -> tuple[int, ...]:
        return (self.literal >> 1, self.d, self.x)

    def holds(self, values: Sequence[int]) -> bool:
        d, x = values[self.d], values[self.x]
        return literal_holds(self.literal, values) == (x % d == 0 if d else x == 0)

    def encode(self) -> list[int]:
        return [self.literal, self.d, self.x]

    def watches(self) -> list[Watch]:
        return [(self.literal >> 1, FIXED), *watch_all(self.d, self.x)]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        d, x = magnitude(lo, hi, self.d), magnitude(lo, hi, self.x)
        return (2 * x + d + 1) * (d + 1) + x + d + 2


@compilable
def keep_divisors_of(st: State, d: int, x: int, keep: bool) -> bool:
    """Keep the values of a bitset variable d that divide a fixed x != 0; without `keep`, the others."""
    value = st.lo[d]
    last = st.hi[d]
    step = st.step[d]
    while value <= last:
        if (value != 0 and x % value == 0) != keep and not remove(st, d, value):
            return False
        value += step
    return True


@compilable
def force_divides(st: State, d: int, x: int) -> bool:
    """Propagate that d divides x."""
    dl = st.lo[d]
    dh = st.hi[d]
    if dl == dh:
        if dl == 0:
            return set_lo(st, x, 0) and set_hi(st, x, 0)
        return set_class(st, x, abs(dl), 0)
    xl = st.lo[x]
    xh = st.hi[x]
    if xl <= 0 <= xh:
        return True
    most = max(abs(xl), abs(xh))
    if not (remove(st, d, 0) and set_lo(st, d, -most) and set_hi(st, d, most)):
        return False
    if st.lo[d] > 0:
        if xl > 0 and not set_lo(st, x, st.lo[d]):
            return False
        if xh < 0 and not set_hi(st, x, -st.lo[d]):
            return False
    if xl == xh and st.hole[d] >= 0:
        return keep_divisors_of(st, d, xl, True)
    return True


@compilable
def forbid_divides(st: State, d: int, x: int) -> bool:
    """Propagate that d does not divide x."""
    if not remove(st, x, 0):  # everything divides 0
        return False
    dl = st.lo[d]
    xl = st.lo[x]
    xh = st.hi[x]
    if dl == st.hi[d]:
        if dl == 0:
            return True
        divisor = abs(dl)
        if divisor == 1:
            return False
        if st.hole[x] < 0:
            if st.step[x] % divisor == 0 and xl % divisor == 0:
                return False
            if xl % divisor == 0:
                return remove(st, x, xl) and (xl != xh)
            return xh % divisor != 0 or remove(st, x, xh)
        value = xl
        step = st.step[x]
        while value <= xh:
            if value % divisor == 0 and not remove(st, x, value):
                return False
            value += step
        return True
    if not (remove(st, d, 1) and remove(st, d, -1)):
        return False
    if xl == xh and st.hole[d] >= 0:
        return keep_divisors_of(st, d, xl, False)
    return True


@compilable
def divides_state(st: State, d: int, x: int) -> int:
    """1 if d surely divides x, 0 if it surely does not, -1 if that is open."""
    dl = st.lo[d]
    dh = st.hi[d]
    xl = st.lo[x]
    xh = st.hi[x]
    if xl == xh and xl == 0:
        return 1
    if dl != dh:
        if xl > 0 and (dl > xh or dh < -xh):
            return 0
        return -1
    if dl == 0:
        return -1 if contains(st, x, 0) else 0
    divisor = abs(dl)
    if divisor == 1:
        return 1
    if xl == xh:
        return 1 if xl % divisor == 0 else 0
    step = st.step[x]
    if step % divisor == 0:
        return 1 if xl % divisor == 0 else 0
    if xl % greatest_common_divisor(step, divisor) != 0:
        return 0
    if xh - xl < divisor and xl % divisor != 0 and xl // divisor == xh // divisor:
        return 0
    return -1


@compilable
def divides(st: State, c: int) -> bool:
    """``literal <-> d divides x``."""
    first = st.start[c]
    literal = st.args[first]
    d = st.args[first + 1]
    x = st.args[first + 2]
    value = literal_value(st, literal)
    if value == 1:
        return force_divides(st, d, x)
    if value == 0:
        return forbid_divides(st, d, x)
    state = divides_state(st, d, x)
    if state == 1:
        return set_literal(st, literal)
    if state == 0:
        return set_literal(st, literal ^ 1)
    return True
