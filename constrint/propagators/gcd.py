"""Greatest common divisor and least common multiple of two integers; never negative."""

from __future__ import annotations

import math
from collections.abc import Sequence

from constrint.store.domains import fix, greatest_common_divisor, remove, set_class, set_hi, set_lo
from constrint.store.propagator import Propagator, magnitude
from constrint.store.state import State, compilable
from constrint.support.record import record

GCD = 15
LCM = 16


@record()
class _PairPropagator(Propagator):
    x: int
    y: int
    z: int

    def scope(self) -> tuple[int, ...]:
        return (self.x, self.y, self.z)

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        x, y, z = (magnitude(lo, hi, v) for v in self.scope())
        # Bounds the combination of a stride (at most the width of a domain) with a divisor: z divides x and
        # y, or x and y divide z.
        most = max(x, y)
        return max(x * y, (2 * most + z + 1) * (z + 1), (2 * z + most + 1) * (most + 1)) + most + z + 2


class Gcd(_PairPropagator):
    """``z == gcd(x, y)``; gcd(0, 0) is 0."""

    __slots__ = ()
    kind = GCD

    def holds(self, values: Sequence[int]) -> bool:
        return math.gcd(values[self.x], values[self.y]) == values[self.z]


class Lcm(_PairPropagator):
    """``z == lcm(x, y)``; 0 where x or y is 0."""

    __slots__ = ()
    kind = LCM

    def holds(self, values: Sequence[int]) -> bool:
        return math.lcm(values[self.x], values[self.y]) == values[self.z]


@compilable
def excludes_zero(st: State, v: int) -> bool:
    """Whether 0 is outside the bounds of v."""
    return st.lo[v] > 0 or st.hi[v] < 0


@compilable
def gcd(st: State, c: int) -> bool:
    """Bound z by the arguments, and compute it when they are fixed; if z is fixed, it divides x and y."""
    first = st.start[c]
    x = st.args[first]
    y = st.args[first + 1]
    z = st.args[first + 2]
    xl = st.lo[x]
    xh = st.hi[x]
    yl = st.lo[y]
    yh = st.hi[y]
    if xl == xh and yl == yh:
        return fix(st, z, greatest_common_divisor(xl, yl))
    most_x = max(abs(xl), abs(xh))
    most_y = max(abs(yl), abs(yh))
    nonzero_x = excludes_zero(st, x)
    nonzero_y = excludes_zero(st, y)
    if not set_lo(st, z, 1 if nonzero_x or nonzero_y else 0):
        return False
    most = max(most_x, most_y)
    if nonzero_x:
        most = min(most, most_x)
    if nonzero_y:
        most = min(most, most_y)
    if not set_hi(st, z, most):
        return False
    divisor = st.lo[z]
    return (
        divisor < 2 or divisor != st.hi[z] or (set_class(st, x, divisor, 0) and set_class(st, y, divisor, 0))
    )


@compilable
def keep_divisors(st: State, v: int, multiple: int) -> bool:
    """Keep the divisors of a multiple that is not 0; without a bitset, bound the variable by them."""
    if not (set_lo(st, v, -multiple) and set_hi(st, v, multiple)):
        return False
    value = st.lo[v]
    last = st.hi[v]
    step = st.step[v]
    if st.hole[v] < 0:
        return value != last or (value != 0 and multiple % value == 0)
    while value <= last:
        if (value == 0 or multiple % value != 0) and not remove(st, v, value):
            return False
        value += step
    return True


@compilable
def lcm(st: State, c: int) -> bool:
    """Bound z by the arguments; compute it when they are fixed."""
    first = st.start[c]
    x = st.args[first]
    y = st.args[first + 1]
    z = st.args[first + 2]
    xl = st.lo[x]
    xh = st.hi[x]
    yl = st.lo[y]
    yh = st.hi[y]
    if xl == xh and yl == yh:
        if xl == 0 or yl == 0:
            return fix(st, z, 0)
        return fix(st, z, abs(xl // greatest_common_divisor(xl, yl) * yl))
    least = 0
    if excludes_zero(st, x) and excludes_zero(st, y):
        least = max(min(abs(xl), abs(xh)), min(abs(yl), abs(yh)))
    if not (set_lo(st, z, least) and set_hi(st, z, max(abs(xl), abs(xh)) * max(abs(yl), abs(yh)))):
        return False
    if xl == xh and abs(xl) > 1 and not set_class(st, z, abs(xl), 0):
        return False
    if yl == yh and abs(yl) > 1 and not set_class(st, z, abs(yl), 0):
        return False
    multiple = st.lo[z]
    most = st.hi[z]
    if multiple == 0:
        return True
    if multiple != most:
        return set_lo(st, x, -most) and set_hi(st, x, most) and set_lo(st, y, -most) and set_hi(st, y, most)
    # The multiple is known and not 0, so both arguments divide it.
    return keep_divisors(st, x, multiple) and keep_divisors(st, y, multiple)
