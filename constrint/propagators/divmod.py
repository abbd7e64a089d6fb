"""Division with remainder: x // y == q and x % y == r, rounded down as in Python; the divisor is not 0."""

from __future__ import annotations

from collections.abc import Sequence

from constrint.store.domains import contains, remove, set_class, set_hi, set_lo
from constrint.store.propagator import Propagator, magnitude
from constrint.store.state import SETTLED, State, compilable
from constrint.support.record import record

DIVMOD = 7


@record()
class DivMod(Propagator):
    """``y != 0 and x // y == q and x % y == r``."""

    x: int
    y: int
    q: int
    r: int
    kind = DIVMOD

    def scope(self) -> tuple[int, ...]:
        return (self.x, self.y, self.q, self.r)

    def holds(self, values: Sequence[int]) -> bool:
        divisor = values[self.y]
        return divisor != 0 and divmod(values[self.x], divisor) == (values[self.q], values[self.r])

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        x, y, q, r = (magnitude(lo, hi, v) for v in self.scope())
        # The last term bounds the combination of the stride of x (at most its width) with the divisor.
        return 2 * x + q * y + r + y + 2 + (2 * x + y + 1) * (y + 1)


@compilable
def exclude_zero(st: State, v: int) -> bool:
    """Remove 0 from v; inside the bounds only if v has a bitset."""
    return remove(st, v, 0)


@compilable
def bound_quotient(st: State, x: int, y: int, q: int) -> bool:
    """Bound q by the quotients of the bounds of x and y."""
    xl = st.lo[x]
    xh = st.hi[x]
    yl = st.lo[y]
    yh = st.hi[y]
    if yl > 0 and xl >= 0:
        return set_lo(st, q, xl // yh) and set_hi(st, q, xh // yl)
    if yl < 0 < yh:
        most = max(abs(xl), abs(xh))
        return set_lo(st, q, -most) and set_hi(st, q, most)
    a = xl // yl
    b = xl // yh
    c = xh // yl
    d = xh // yh
    return set_lo(st, q, min(min(a, b), min(c, d))) and set_hi(st, q, max(max(a, b), max(c, d)))


@compilable
def bound_remainder(st: State, x: int, y: int, r: int) -> bool:
    """Bound r by the divisor, and by x where neither is negative."""
    yl = st.lo[y]
    yh = st.hi[y]
    if not set_hi(st, r, yh - 1 if yh > 0 else 0):
        return False
    if not set_lo(st, r, yl + 1 if yl < 0 else 0):
        return False
    if st.lo[x] >= 0 and yl > 0:
        return set_hi(st, r, st.hi[x])
    return True


@compilable
def bound_dividend(st: State, x: int, y: int, q: int, r: int) -> bool:
    """Bound x by q * y + r, and r by x - q * y."""
    yl = st.lo[y]
    yh = st.hi[y]
    ql = st.lo[q]
    qh = st.hi[q]
    a = ql * yl
    b = ql * yh
    c = qh * yl
    d = qh * yh
    low = min(min(a, b), min(c, d))
    high = max(max(a, b), max(c, d))
    if not (set_lo(st, x, low + st.lo[r]) and set_hi(st, x, high + st.hi[r])):
        return False
    return set_lo(st, r, st.lo[x] - high) and set_hi(st, r, st.hi[x] - low)


@compilable
def sign_divisor(st: State, x: int, y: int, q: int) -> bool:
    """Fix the sign of y if the signs of x and of a non-zero quotient are known."""
    sign = 1 if st.lo[q] >= 1 else -1 if st.hi[q] < 0 else 0
    if sign != 0 and st.lo[x] >= 0:
        return set_lo(st, y, 1) if sign > 0 else set_hi(st, y, -1)
    if sign != 0 and st.hi[x] <= 0:
        return set_hi(st, y, -1) if sign > 0 else set_lo(st, y, 1)
    return True


@compilable
def bound_divisor(st: State, x: int, y: int, q: int, r: int) -> bool:
    """Bound y by x - r, a multiple of it; for x >= 0 and y > 0 also by x // q and x // (q + 1)."""
    if st.lo[x] < 0 or st.lo[y] <= 0:
        if st.lo[q] >= 1 or st.hi[q] <= -2:
            most = max(abs(st.lo[x]), abs(st.hi[x]))
            if not (set_lo(st, y, -most) and set_hi(st, y, most)):
                return False
        low = st.lo[x] - st.hi[r]
        high = st.hi[x] - st.lo[r]
        if low > 0 or high < 0:  # x - r is not 0, and a multiple of y
            most = max(abs(low), abs(high))
            return set_lo(st, y, -most) and set_hi(st, y, most)
        return True
    if st.lo[x] > st.hi[r] and not set_hi(st, y, st.hi[x] - st.lo[r]):
        return False
    ql = st.lo[q]
    if ql > 0 and not set_hi(st, y, st.hi[x] // ql):
        return False
    return set_lo(st, y, max(st.lo[x] // (st.hi[q] + 1), st.lo[r]) + 1)


@compilable
def keep_supported_divisors(st: State, x: int, y: int, q: int, r: int) -> bool:
    """For a fixed x, keep the values of a bitset variable y whose quotient is in q and remainder in r."""
    dividend = st.lo[x]
    value = st.lo[y]
    last = st.hi[y]
    step = st.step[y]
    while value <= last:
        if (
            value == 0 or not contains(st, q, dividend // value) or not contains(st, r, dividend % value)
        ) and not remove(st, y, value):
            return False
        value += step
    return True


@compilable
def division(st: State, c: int) -> bool:
    """Propagate ``y != 0 and x // y == q and x % y == r``."""
    first = st.start[c]
    x = st.args[first]
    y = st.args[first + 1]
    q = st.args[first + 2]
    r = st.args[first + 3]
    xl = st.lo[x]
    xh = st.hi[x]
    yl = st.lo[y]
    yh = st.hi[y]
    if not (
        exclude_zero(st, y)
        and bound_quotient(st, x, y, q)
        and bound_remainder(st, x, y, r)
        and bound_dividend(st, x, y, q, r)
        and sign_divisor(st, x, y, q)
        and bound_divisor(st, x, y, q, r)
    ):
        return False
    if st.lo[x] == xl and st.hi[x] == xh and st.lo[y] == yl and st.hi[y] == yh:
        # Only the results moved, and x and y are consistent with them already.
        st.scalar[SETTLED] = 1 if (xl != xh and yl != yh) or (xl == xh and yl == yh) else 0
    if st.lo[y] == st.hi[y]:
        if st.lo[x] == st.hi[x]:
            return True
        if st.lo[r] == st.hi[r] and not set_class(st, x, abs(st.lo[y]), st.lo[r]):
            return False
    elif st.lo[x] == st.hi[x] and st.hole[y] >= 0:
        return keep_supported_divisors(st, x, y, q, r)
    return True
