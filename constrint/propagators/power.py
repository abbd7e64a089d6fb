"""Powers: x ** y == z for non-negative exponents; 0 ** 0 is 1."""

from __future__ import annotations

from collections.abc import Sequence

from constrint.store.domains import set_hi, set_lo
from constrint.store.propagator import Propagator, magnitude
from constrint.store.state import BOUNDS, CAP, HUGE, State, compilable
from constrint.support.record import record

POWER = 6


@record()
class Power(Propagator):
    """``x ** y == z`` with y >= 0."""

    x: int
    y: int
    z: int
    kind = POWER
    wakes = BOUNDS

    def scope(self) -> tuple[int, ...]:
        return (self.x, self.y, self.z)

    def holds(self, values: Sequence[int]) -> bool:
        exponent = values[self.y]
        return exponent >= 0 and int(values[self.x] ** exponent) == values[self.z]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        # Powers are computed up to the cap, which bounds z.
        return max(magnitude(lo, hi, v) for v in self.scope()) + 2


@compilable
def bit_length(n: int) -> int:
    """Number of binary digits of n >= 0."""
    bits = 0
    while n >= 4611686018427387904:  # beyond int64: doubling saves steps
        shift = 62
        while n >> 2 * shift > 0:
            shift *= 2
        n >>= shift
        bits += shift
    while n >= 65536:
        n >>= 16
        bits += 16
    while n > 0:
        n >>= 1
        bits += 1
    return bits


@compilable
def capped_power(base: int, exponent: int, cap: int) -> int:
    """``min(base ** exponent, cap)`` for base >= 0."""
    if base <= 1:
        return 1 if exponent == 0 else base
    # The product of two numbers with at most half the cap's digits is below the cap; this avoids dividing the
    # cap, which takes long for large integers.
    safe = 1 << (bit_length(cap) - 1) // 2
    power = 1
    while True:
        if exponent & 1:
            if (power > safe or base > safe) and power > cap // base:
                return cap
            power *= base
        exponent >>= 1
        if exponent == 0:
            return power
        if base > safe and base > cap // base:
            return cap
        base *= base


@compilable
def root(n: int, exponent: int, most: int, cap: int) -> int:
    """The greatest r <= most with r ** exponent <= n, for n >= 0 and exponent >= 1.

    Roots with few digits are found digit by digit. Others by Newton's method from above, which is fast for
    small exponents only.
    """
    if n <= 1 or exponent == 1:
        return min(n, most)
    bits = bit_length(n)
    if exponent >= bits:
        return min(1, most)
    digits = (bits + exponent - 1) // exponent
    if digits < exponent:
        found = 0
        while digits > 0:
            digits -= 1
            if capped_power(found + (1 << digits), exponent, n + 1) <= n:
                found += 1 << digits
        return min(found, most)
    guess = 1 << digits
    while True:
        better = ((exponent - 1) * guess + n // capped_power(guess, exponent - 1, cap)) // exponent
        if better >= guess:
            return min(guess, most)
        guess = better


@compilable
def logarithm(n: int, base: int) -> int:
    """The greatest e with base ** e <= n; for n >= 1 and base >= 2."""
    digits = bit_length(n)
    base_digits = bit_length(base)
    low = (digits - 1) // base_digits
    high = digits // (base_digits - 1)
    while low < high:
        middle = (low + high + 1) // 2
        if capped_power(base, middle, n + 1) <= n:
            low = middle
        else:
            high = middle - 1
    return low


@compilable
def odd_root_at_most(n: int, exponent: int, most: int, cap: int) -> int:
    """The greatest r with r ** exponent <= n and abs(r) <= most + 1, for an odd exponent."""
    if n >= 0:
        return root(n, exponent, most, cap)
    return -(root(-n - 1, exponent, most, cap) + 1)


@compilable
def power_of_constant_exponent(st: State, x: int, exponent: int, z: int) -> bool:
    """Propagate ``x ** exponent == z`` for a fixed exponent."""
    cap = st.scalar[CAP]
    huge = st.scalar[HUGE]
    xl = st.lo[x]
    xh = st.hi[x]
    if exponent == 0:
        return set_lo(st, z, 1) and set_hi(st, z, 1)
    most = max(abs(xl), abs(xh))
    at_low = capped_power(abs(xl), exponent, cap)
    at_high = capped_power(abs(xh), exponent, cap)
    if exponent % 2 == 1:
        if not (
            set_lo(st, z, at_low if xl >= 0 else -at_low) and set_hi(st, z, at_high if xh >= 0 else -at_high)
        ):
            return False
        # A bound of z at HUGE or beyond means "no bound"; its root would look like a real bound.
        if st.hi[z] < huge and not set_hi(st, x, odd_root_at_most(st.hi[z], exponent, most, cap)):
            return False
        return st.lo[z] <= -huge or set_lo(st, x, -odd_root_at_most(-st.lo[z], exponent, most, cap))
    least = 0
    if xl > 0:
        least = at_low
    elif xh < 0:
        least = at_high
    if not (set_lo(st, z, least) and set_hi(st, z, max(at_low, at_high))):
        return False
    if st.hi[z] < huge:
        outer = root(st.hi[z], exponent, most, cap)
        if not (set_lo(st, x, -outer) and set_hi(st, x, outer)):
            return False
    if st.lo[z] > 0:
        inner = root(st.lo[z] - 1, exponent, most, cap) + 1
        if st.lo[x] > -inner and not set_lo(st, x, inner):
            return False
        if st.hi[x] < inner and not set_hi(st, x, -inner):
            return False
    return True


@compilable
def power_of_positive_base(st: State, x: int, y: int, z: int) -> bool:
    """Propagate ``x ** y == z`` for a base of at least 1 and an open exponent."""
    cap = st.scalar[CAP]
    xl = st.lo[x]
    xh = st.hi[x]
    yl = st.lo[y]
    yh = st.hi[y]
    if not (set_lo(st, z, capped_power(xl, yl, cap)) and set_hi(st, z, capped_power(xh, yh, cap))):
        return False
    zl = st.lo[z]
    zh = st.hi[z]
    is_bounded = zh < st.scalar[HUGE]
    if is_bounded and yl >= 1 and not set_hi(st, x, root(zh, yl, xh, cap)):
        return False
    if zl > 1 and not set_lo(st, x, root(zl - 1, yh, xh, cap) + 1):
        return False
    if zh < 1:
        return False
    if is_bounded and xl >= 2 and not set_hi(st, y, logarithm(zh, xl)):
        return False
    return xh < 2 or zl <= 1 or set_lo(st, y, logarithm(zl - 1, xh) + 1)


@compilable
def power(st: State, c: int) -> bool:
    """``x ** y == z``."""
    first = st.start[c]
    x = st.args[first]
    y = st.args[first + 1]
    z = st.args[first + 2]
    if not set_lo(st, y, 0):
        return False
    if st.lo[y] == st.hi[y]:
        return power_of_constant_exponent(st, x, st.lo[y], z)
    xl = st.lo[x]
    if xl >= 1:
        return power_of_positive_base(st, x, y, z)
    cap = st.scalar[CAP]
    most = max(1, capped_power(max(abs(xl), abs(st.hi[x])), st.hi[y], cap))
    return set_lo(st, z, 0 if xl == 0 else -most) and set_hi(st, z, most)
