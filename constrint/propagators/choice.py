"""if-then-else: z is x if a literal is true, else y."""

from __future__ import annotations

from collections.abc import Sequence

from constrint.store.domains import literal_value, set_hi, set_literal, set_lo
from constrint.store.propagator import Node, Watch, literal_holds, magnitude, watch_all
from constrint.store.state import FIXED, State, kernel
from constrint.support.record import record

CHOICE = 18


@record()
class Choice(Node):
    """``z == (x if literal else y)``."""

    literal: int
    x: int
    y: int
    z: int
    kind = CHOICE

    def scope(self) -> tuple[int, ...]:
        return (self.literal >> 1, self.x, self.y, self.z)

    def holds(self, values: Sequence[int]) -> bool:
        return values[self.x if literal_holds(self.literal, values) else self.y] == values[self.z]

    def encode(self) -> list[int]:
        return [self.literal, self.x, self.y, self.z]

    def watches(self) -> list[Watch]:
        return [(self.literal >> 1, FIXED), *watch_all(self.x, self.y, self.z)]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        return max(magnitude(lo, hi, v) for v in (self.x, self.y, self.z)) + 1


@kernel
def force_same(st: State, x: int, z: int) -> bool:
    """Intersect the bounds of two variables."""
    return (
        set_lo(st, z, st.lo[x])
        and set_hi(st, z, st.hi[x])
        and set_lo(st, x, st.lo[z])
        and set_hi(st, x, st.hi[z])
    )


@kernel
def choice(st: State, c: int) -> bool:
    """``z == (x if literal else y)``."""
    first = st.start[c]
    literal = st.args[first]
    x = st.args[first + 1]
    y = st.args[first + 2]
    z = st.args[first + 3]
    value = literal_value(st, literal)
    if value < 0:
        if st.lo[x] > st.hi[z] or st.hi[x] < st.lo[z]:
            if not set_literal(st, literal ^ 1):
                return False
            value = 0
        elif st.lo[y] > st.hi[z] or st.hi[y] < st.lo[z]:
            if not set_literal(st, literal):
                return False
            value = 1
    if value == 1:
        return force_same(st, x, z)
    if value == 0:
        return force_same(st, y, z)
    return set_lo(st, z, min(st.lo[x], st.lo[y])) and set_hi(st, z, max(st.hi[x], st.hi[y]))
