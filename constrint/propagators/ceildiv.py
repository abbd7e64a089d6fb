"""Division rounded up, for non-negative arguments: q == ceil(x / y) with x >= 0 and y >= 1."""

from __future__ import annotations

from collections.abc import Sequence

from constrint.store.domains import set_hi, set_lo
from constrint.store.propagator import Propagator, magnitude
from constrint.store.state import BOUNDS, SETTLED, State, compilable
from constrint.support.record import record

CEILDIV = 17


@record()
class CeilDiv(Propagator):
    """``x >= 0 and y >= 1 and q == -(-x // y)``."""

    x: int
    y: int
    q: int
    kind = CEILDIV
    wakes = BOUNDS

    def scope(self) -> tuple[int, ...]:
        return (self.x, self.y, self.q)

    def holds(self, values: Sequence[int]) -> bool:
        x, y = values[self.x], values[self.y]
        return x >= 0 and y >= 1 and -(-x // y) == values[self.q]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        x, y, q = (magnitude(lo, hi, v) for v in self.scope())
        return x + y * (q + 1) + 2


@compilable
def ceildiv(st: State, c: int) -> bool:
    """Propagate ``q == ceil(x / y)``, which is (q - 1) y < x <= q y."""
    first = st.start[c]
    x = st.args[first]
    y = st.args[first + 1]
    q = st.args[first + 2]
    xl = st.lo[x]
    xh = st.hi[x]
    yl = st.lo[y]
    yh = st.hi[y]
    if not (set_lo(st, x, 0) and set_lo(st, y, 1)):
        return False
    if not (set_lo(st, q, -(-st.lo[x] // st.hi[y])) and set_hi(st, q, -(-st.hi[x] // st.lo[y]))):
        return False
    ql = st.lo[q]
    qh = st.hi[q]
    if not set_hi(st, x, qh * st.hi[y]):
        return False
    if ql > 0 and not set_lo(st, x, (ql - 1) * st.lo[y] + 1):
        return False
    if qh > 0 and not set_lo(st, y, -(-st.lo[x] // qh)):
        return False
    if ql > 1 and not set_hi(st, y, (st.hi[x] - 1) // (ql - 1)):
        return False
    if st.lo[x] == xl and st.hi[x] == xh and st.lo[y] == yl and st.hi[y] == yh:
        st.scalar[SETTLED] = 1
    return True
