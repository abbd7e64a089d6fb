"""Products: x * y == z."""

from __future__ import annotations

from collections.abc import Sequence

from constrint.store.domains import contains, remove, set_hi, set_lo
from constrint.store.propagator import Propagator
from constrint.store.state import SETTLED, State, compilable
from constrint.support.record import record

PRODUCT = 5


@record()
class Product(Propagator):
    """``x * y == z``."""

    x: int
    y: int
    z: int
    kind = PRODUCT

    def scope(self) -> tuple[int, ...]:
        return (self.x, self.y, self.z)

    def holds(self, values: Sequence[int]) -> bool:
        return values[self.x] * values[self.y] == values[self.z]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        x, y, z = self.x, self.y, self.z
        return max(-lo[x], hi[x]) * max(-lo[y], hi[y]) + max(-lo[z], hi[z]) + 2


@compilable
def keep_within_product(st: State, x: int, y: int, z: int) -> bool:
    """Bound z by the products of the bounds of x and y."""
    xl = st.lo[x]
    xh = st.hi[x]
    yl = st.lo[y]
    yh = st.hi[y]
    if xl >= 0 and yl >= 0:
        return set_lo(st, z, xl * yl) and set_hi(st, z, xh * yh)
    a = xl * yl
    b = xl * yh
    c = xh * yl
    d = xh * yh
    return set_lo(st, z, min(min(a, b), min(c, d))) and set_hi(st, z, max(max(a, b), max(c, d)))


@compilable
def bound_factor(st: State, x: int, y: int, z: int) -> bool:
    """Bound x by the quotients of the bounds of z and y."""
    yl = st.lo[y]
    yh = st.hi[y]
    zl = st.lo[z]
    zh = st.hi[z]
    if yl > 0 and zl >= 0:
        return set_lo(st, x, -(-zl // yh)) and set_hi(st, x, zh // yl)
    if yl <= 0 <= yh:
        if zl <= 0 <= zh:
            return True
        # If the product is not 0, neither factor is 0.
        if yl == 0:
            if not set_lo(st, y, 1):
                return False
            yl = st.lo[y]
        if yh == 0:
            if not set_hi(st, y, -1):
                return False
            yh = st.hi[y]
        if yl < 0 < yh:
            most = max(abs(zl), abs(zh))
            return set_lo(st, x, -most) and set_hi(st, x, most)
    low = min(min(-(-zl // yl), -(-zl // yh)), min(-(-zh // yl), -(-zh // yh)))
    high = max(max(zl // yl, zl // yh), max(zh // yl, zh // yh))
    return set_lo(st, x, low) and set_hi(st, x, high)


@compilable
def keep_divisors(st: State, x: int, y: int, product: int) -> bool:
    """Keep the values of a bitset variable x that divide a product, not 0, with a cofactor within y."""
    value = st.lo[x]
    last = st.hi[x]
    step = st.step[x]
    while value <= last:
        if (value == 0 or product % value != 0 or not contains(st, y, product // value)) and not remove(
            st, x, value
        ):
            return False
        value += step
    return True


@compilable
def bound_natural_product(st: State, x: int, y: int, z: int) -> bool:
    """Bounds of x * y == z for x, y >= 0: the common case, without calls that change nothing."""
    lo = st.lo
    hi = st.hi
    xl = lo[x]
    xh = hi[x]
    yl = lo[y]
    yh = hi[y]
    if xl * yl > lo[z] and not set_lo(st, z, xl * yl):
        return False
    if xh * yh < hi[z] and not set_hi(st, z, xh * yh):
        return False
    zl = lo[z]
    zh = hi[z]
    if zh < 0:
        return False
    if yl * xh > zh and not set_hi(st, x, zh // yl):
        return False
    if yh * xl < zl and not set_lo(st, x, -(-zl // yh)):
        return False
    xl = lo[x]
    xh = hi[x]
    if xl * yh > zh and not set_hi(st, y, zh // xl):
        return False
    return xh * yl >= zl or set_lo(st, y, -(-zl // xh))


@compilable
def product(st: State, c: int) -> bool:
    """``x * y == z``."""
    first = st.start[c]
    args = st.args
    lo = st.lo
    hi = st.hi
    x = args[first]
    y = args[first + 1]
    z = args[first + 2]
    xl = lo[x]
    xh = hi[x]
    yl = lo[y]
    yh = hi[y]
    if xl >= 0 and yl >= 0:
        if not bound_natural_product(st, x, y, z):
            return False
    elif not (keep_within_product(st, x, y, z) and bound_factor(st, x, y, z) and bound_factor(st, y, x, z)):
        return False
    if lo[x] == xl and hi[x] == xh and lo[y] == yl and hi[y] == yh:
        st.scalar[SETTLED] = 1
    value = lo[z]
    if value != 0 and value == hi[z] and (xl != xh or yl != yh):
        st.scalar[SETTLED] = 0
        if st.hole[x] >= 0 and lo[x] != hi[x] and not keep_divisors(st, x, y, value):
            return False
        if st.hole[y] >= 0 and lo[y] != hi[y] and not keep_divisors(st, y, x, value):
            return False
    return True
