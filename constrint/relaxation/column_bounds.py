"""The bounds of columns at a node of the search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from constrint.relaxation.columns import Columns
from constrint.store.state import BITS, State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


class ColumnBounds:
    """Reads the bounds of all columns from the engine's domains.

    Attributes:
        variable: The variable of each column, 0 where it has none.
        value: The value of each member.
        is_plain: Whether a column is a variable itself.
        is_member: Whether it stands for a value of one.
    """

    def __init__(self, columns: Columns, state: State) -> None:
        values = columns.value
        self.is_plain = np.array([x is None for x in values], bool)
        self._free = np.array([v < 0 for v in columns.variable], bool)
        self.variable: Ints = np.array([max(0, v) for v in columns.variable], np.int64)
        self.value: Ints = np.array([0 if x is None else x for x in values], np.int64)
        self.is_member = ~self.is_plain & ~self._free
        members = np.flatnonzero(self.is_member)
        self._members = members
        v = self.variable[members]
        hole, base = np.asarray(state.hole, np.int64)[v], np.asarray(state.base, np.int64)[v]
        step = np.asarray(state.step, np.int64)[v]
        has_holes = hole >= 0
        self._holed = members[has_holes]
        bit = ((self.value[members] - base) // step)[has_holes]
        self._word, self._bit = hole[has_holes] + bit // BITS, bit % BITS

    def read(self, state: State) -> tuple[Ints, Ints]:
        """The least and the greatest value of each column."""
        lo = np.asarray(state.lo, np.int64)[self.variable]
        hi = np.asarray(state.hi, np.int64)[self.variable]
        lower = np.where(self.is_plain, lo, 0)
        upper = np.where(self.is_plain, hi, 1)
        members = self._members
        value = self.value[members]
        inside = (lo[members] <= value) & (value <= hi[members])
        upper[members] = inside
        lower[members] = inside & (lo[members] == hi[members])
        if len(self._holed):
            words = np.asarray(state.words, np.int64)
            upper[self._holed] &= (words[self._word] >> self._bit) & 1
        return lower, upper
