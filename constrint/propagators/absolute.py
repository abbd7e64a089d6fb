"""Absolute value: z == abs(x)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from constrint.store.domains import set_hi, set_lo
from constrint.store.propagator import Propagator
from constrint.store.state import BOUNDS, State, compilable
from constrint.support.record import record

ABSOLUTE = 11


@record()
class Absolute(Propagator):
    """``z == abs(x)``."""

    x: int
    z: int
    kind = ABSOLUTE
    wakes = BOUNDS
    priority: ClassVar[int] = 0

    def scope(self) -> tuple[int, ...]:
        return (self.x, self.z)

    def holds(self, values: Sequence[int]) -> bool:
        return abs(values[self.x]) == values[self.z]


@compilable
def absolute(st: State, c: int) -> bool:
    """``z == abs(x)``."""
    first = st.start[c]
    x = st.args[first]
    z = st.args[first + 1]
    zh = st.hi[z]
    if not (set_lo(st, x, -zh) and set_hi(st, x, zh)):
        return False
    xl = st.lo[x]
    xh = st.hi[x]
    least = xl if xl > 0 else (-xh if xh < 0 else 0)
    if not (set_lo(st, z, least) and set_hi(st, z, max(-xl, xh))):
        return False
    zl = st.lo[z]
    if zl > 0:
        if st.lo[x] > -zl and not set_lo(st, x, zl):
            return False
        if st.hi[x] < zl and not set_hi(st, x, -zl):
            return False
    return True
