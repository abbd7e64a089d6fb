"""element on a list of variables: xs[index] == z, with a 0-based index inside the list.

An index is removed if the bounds of its entry and of z are disjoint. z stays within the bounds of the entries
that are left. If one index is left, its entry and z get the same bounds. O(n) a run. Van Hentenryck and
Carillon, "Generality versus specificity: an experience with AI and OR techniques", AAAI 1988.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from constrint.store.domains import contains, remove, set_hi, set_lo
from constrint.store.propagator import Propagator
from constrint.store.state import State, compilable

SELECTION = 18


@dataclass(frozen=True, slots=True)
class Selection(Propagator):
    """``0 <= index < len(xs) and xs[index] == z``."""

    xs: tuple[int, ...]
    index: int
    z: int
    kind = SELECTION
    priority: ClassVar[int] = 1

    def scope(self) -> tuple[int, ...]:
        return (self.index, self.z, *self.xs)

    def holds(self, values: Sequence[int]) -> bool:
        index = values[self.index]
        return 0 <= index < len(self.xs) and values[self.xs[index]] == values[self.z]


@compilable
def may_equal(st: State, x: int, z: int) -> bool:
    """Whether x and z may be equal, judged by their bounds, and by value if one of them is fixed."""
    if st.lo[x] > st.hi[z] or st.hi[x] < st.lo[z]:
        return False
    if st.lo[x] == st.hi[x]:
        return contains(st, z, st.lo[x])
    return st.lo[z] != st.hi[z] or contains(st, x, st.lo[z])


@compilable
def force_same(st: State, x: int, z: int) -> bool:
    """Give two variables the same bounds."""
    return (
        set_lo(st, z, st.lo[x])
        and set_hi(st, z, st.hi[x])
        and set_lo(st, x, st.lo[z])
        and set_hi(st, x, st.hi[z])
    )


@compilable
def selection(st: State, c: int) -> bool:
    """``xs[index] == z``."""
    first = st.start[c]
    args = st.args
    index = args[first]
    z = args[first + 1]
    xs = first + 2
    if not (set_lo(st, index, 0) and set_hi(st, index, st.start[c + 1] - xs - 1)):
        return False
    value = st.lo[index]
    last = st.hi[index]
    step = st.step[index]
    found = False
    low = 0
    high = 0
    while value <= last:
        if contains(st, index, value):
            x = args[xs + value]
            if not may_equal(st, x, z):
                if not remove(st, index, value):
                    return False
            elif found:
                low = min(low, st.lo[x])
                high = max(high, st.hi[x])
            else:
                found = True
                low = st.lo[x]
                high = st.hi[x]
        value += step
    if not (found and set_lo(st, z, low) and set_hi(st, z, high)):
        return False
    return st.lo[index] != st.hi[index] or force_same(st, args[xs + st.lo[index]], z)
