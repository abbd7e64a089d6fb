"""Maximum and minimum: z == max(x1, …, xn) and z == min(x1, …, xn)."""

from __future__ import annotations

from collections.abc import Sequence

from constrint.store.domains import set_hi, set_lo
from constrint.store.propagator import Propagator
from constrint.store.state import BOUNDS, SETTLED, State, compilable
from constrint.support.record import record

MAXIMUM = 9
MINIMUM = 10


@record()
class _ExtremePropagator(Propagator):
    z: int
    xs: tuple[int, ...]
    wakes = BOUNDS

    def scope(self) -> tuple[int, ...]:
        return (self.z, *self.xs)


class Maximum(_ExtremePropagator):
    """``z == max(xs)``."""

    __slots__ = ()
    kind = MAXIMUM

    def holds(self, values: Sequence[int]) -> bool:
        return values[self.z] == max(values[x] for x in self.xs)


class Minimum(_ExtremePropagator):
    """``z == min(xs)``."""

    __slots__ = ()
    kind = MINIMUM

    def holds(self, values: Sequence[int]) -> bool:
        return values[self.z] == min(values[x] for x in self.xs)


@compilable
def maximum(st: State, c: int) -> bool:
    """``z == max(xs)``."""
    first = st.start[c]
    last = st.start[c + 1]
    args = st.args
    z = args[first]
    zh = st.hi[z]
    low = st.lo[args[first + 1]]
    high = st.hi[args[first + 1]]
    for i in range(first + 1, last):
        x = args[i]
        if st.hi[x] > zh and not set_hi(st, x, zh):
            return False
        low = max(low, st.lo[x])
        high = max(high, st.hi[x])
    if not (set_lo(st, z, low) and set_hi(st, z, high)):
        return False
    if st.hi[z] >= high:  # otherwise z has a stride and stopped below: the arguments must follow
        st.scalar[SETTLED] = 1
    zl = st.lo[z]
    reaching = -1
    for i in range(first + 1, last):
        if st.hi[args[i]] >= zl:
            if reaching >= 0:
                return True
            reaching = args[i]
    if reaching < 0 or not set_lo(st, reaching, zl):
        return False
    if st.lo[reaching] > zl:
        st.scalar[SETTLED] = 0
    return True


@compilable
def minimum(st: State, c: int) -> bool:
    """``z == min(xs)``."""
    first = st.start[c]
    last = st.start[c + 1]
    args = st.args
    z = args[first]
    zl = st.lo[z]
    low = st.lo[args[first + 1]]
    high = st.hi[args[first + 1]]
    for i in range(first + 1, last):
        x = args[i]
        if st.lo[x] < zl and not set_lo(st, x, zl):
            return False
        low = min(low, st.lo[x])
        high = min(high, st.hi[x])
    if not (set_lo(st, z, low) and set_hi(st, z, high)):
        return False
    if st.lo[z] <= low:  # otherwise z has a stride and stopped above: the arguments must follow
        st.scalar[SETTLED] = 1
    zh = st.hi[z]
    reaching = -1
    for i in range(first + 1, last):
        if st.lo[args[i]] <= zh:
            if reaching >= 0:
                return True
            reaching = args[i]
    if reaching < 0 or not set_hi(st, reaching, zh):
        return False
    if st.hi[reaching] < zh:
        st.scalar[SETTLED] = 0
    return True
