"""diffn: no two rectangles in the plane overlap.

If only one of the four relative positions of a pair is left, it is enforced. That is as strong as the
disjunction of the four for each pair (the base level of Beldiceanu and Carlsson, CP 2001). O(n^2) a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from constrint.store.domains import set_hi, set_lo
from constrint.store.propagator import Propagator, magnitude
from constrint.store.state import BOUNDS, State, compilable
from constrint.support.record import record

RECTANGLES = 29


@record()
class Rectangles(Propagator):
    """No side is negative; of any two rectangles, one lies left of, right of, above or below the other."""

    xs: tuple[int, ...]
    ys: tuple[int, ...]
    widths: tuple[int, ...]
    heights: tuple[int, ...]
    kind = RECTANGLES
    wakes = BOUNDS
    priority: ClassVar[int] = 2

    def scope(self) -> tuple[int, ...]:
        return (*self.xs, *self.ys, *self.widths, *self.heights)

    def holds(self, values: Sequence[int]) -> bool:
        columns = ([values[v] for v in group] for group in (self.xs, self.ys, self.widths, self.heights))
        boxes = list(zip(*columns, strict=True))
        return all(w >= 0 and h >= 0 for _, _, w, h in boxes) and all(
            a[0] + a[2] <= b[0] or b[0] + b[2] <= a[0] or a[1] + a[3] <= b[1] or b[1] + b[3] <= a[1]
            for i, a in enumerate(boxes)
            for b in boxes[:i]
        )

    def encode(self) -> list[int]:
        return [len(self.xs), *self.scope()]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        return 4 * max(magnitude(lo, hi, v) for v in self.scope()) + 4


@compilable
def can_precede(st: State, x: int, size: int, y: int) -> bool:
    """Whether x + size <= y can hold."""
    return st.lo[x] + st.lo[size] <= st.hi[y]


@compilable
def precede(st: State, x: int, size: int, y: int) -> bool:
    """Propagate x + size <= y."""
    return (
        set_lo(st, y, st.lo[x] + st.lo[size])
        and set_hi(st, x, st.hi[y] - st.lo[size])
        and set_hi(st, size, st.hi[y] - st.lo[x])
    )


@compilable
def part_pair(st: State, first: int, i: int, j: int) -> bool:
    """Propagate that two rectangles do not overlap."""
    args = st.args
    n = args[first]
    ways = 0
    way = 0
    for axis in range(2):
        at = first + 1 + axis * n
        for turn in range(2):
            a = i if turn == 0 else j
            b = j if turn == 0 else i
            if can_precede(st, args[at + a], args[at + 2 * n + a], args[at + b]):
                ways += 1
                way = 2 * axis + turn
                if ways > 1:
                    return True
    if ways == 0:
        return False
    at = first + 1 + way // 2 * n
    a = i if way % 2 == 0 else j
    b = j if way % 2 == 0 else i
    return precede(st, args[at + a], args[at + 2 * n + a], args[at + b])


@compilable
def rectangles(st: State, c: int) -> bool:
    """No two rectangles overlap."""
    first = st.start[c]
    args = st.args
    n = args[first]
    for i in range(first + 1 + 2 * n, first + 1 + 4 * n):
        if not set_lo(st, args[i], 0):
            return False
    for i in range(n):
        for j in range(i):
            if not part_pair(st, first, i, j):
                return False
    return True
