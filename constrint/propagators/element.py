"""element on a table of constants: table[index] == z, with a 0-based index inside the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from constrint.store.domains import contains, remove, set_hi, set_lo
from constrint.store.propagator import Propagator, magnitude
from constrint.store.state import State, compilable
from constrint.support.record import record

ELEMENT = 14


@record()
class Element(Propagator):
    """``0 <= index < len(table) and table[index] == z``."""

    table: tuple[int, ...]
    index: int
    z: int
    kind = ELEMENT
    priority: ClassVar[int] = 2

    def scope(self) -> tuple[int, ...]:
        return (self.index, self.z)

    def holds(self, values: Sequence[int]) -> bool:
        index = values[self.index]
        return 0 <= index < len(self.table) and self.table[index] == values[self.z]

    def encode(self) -> list[int]:
        return [self.index, self.z, *self.table]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        return max([magnitude(lo, hi, self.z), magnitude(lo, hi, self.index), *map(abs, self.table)]) + 1


@compilable
def element(st: State, c: int) -> bool:
    """``table[index] == z``."""
    first = st.start[c]
    args = st.args
    index = args[first]
    z = args[first + 1]
    table = first + 2
    if not (set_lo(st, index, 0) and set_hi(st, index, st.start[c + 1] - table - 1)):
        return False
    value = st.lo[index]
    last = st.hi[index]
    step = st.step[index]
    found = False
    low = 0
    high = 0
    while value <= last:
        if contains(st, index, value):
            entry = args[table + value]
            if not contains(st, z, entry):
                if not remove(st, index, value):
                    return False
            elif found:
                low = min(low, entry)
                high = max(high, entry)
            else:
                found = True
                low = entry
                high = entry
        value += step
    return found and set_lo(st, z, low) and set_hi(st, z, high)
