"""Tables: literal <-> the values of some variables, taken together, are one of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from constrint.constraints.base import Node, Watch, literal_holds, magnitude, watch_all
from constrint.engine.state import BITS, FIXED, State, kernel
from constrint.engine.store import contains, literal_value, remove, set_hi, set_literal, set_lo

TABLE = 19
WIDEST_MARKED = 4096 // BITS + 2  # words that mark the values of a variable with a bitset


@dataclass(frozen=True, slots=True)
class Table(Node):
    """``literal <-> (value of each variable) in rows``."""

    literal: int
    variables: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    kind = TABLE
    priority: ClassVar[int] = 2

    def scope(self) -> tuple[int, ...]:
        return (self.literal >> 1, *self.variables)

    def holds(self, values: Sequence[int]) -> bool:
        found = tuple([values[v] for v in self.variables])
        return literal_holds(self.literal, values) == (found in self.rows)

    def encode(self) -> list[int]:
        # literal, arity, rows; the variables; room for the live rows and for marks; the rows
        room = [0] * (len(self.rows) + WIDEST_MARKED)
        head = [self.literal, len(self.variables), len(self.rows), *self.variables]
        return head + room + [entry for row in self.rows for entry in row]

    def watches(self) -> list[Watch]:
        return [(self.literal >> 1, FIXED), *watch_all(*self.variables)]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        # The marks take 62 bits.
        entries = [abs(entry) for row in self.rows for entry in row]
        return max([0, *(magnitude(lo, hi, v) for v in self.variables), *entries]) + 1


@kernel
def list_live_rows(st: State, first: int) -> int:
    """Write the places of the rows that the domains allow into their room; returns how many they are."""
    args = st.args
    arity = args[first + 1]
    count = args[first + 2]
    variables = first + 3
    live = variables + arity
    row = live + count + WIDEST_MARKED
    found = 0
    for _ in range(count):
        possible = True
        for i in range(arity):
            if not contains(st, args[variables + i], args[row + i]):
                possible = False
                break
        if possible:
            args[live + found] = row
            found += 1
        row += arity
    return found


@kernel
def keep_column(st: State, v: int, column: int, live: int, found: int, marks: int) -> bool:
    """Leave the values of one variable that a live row has."""
    args = st.args
    low = args[args[live] + column]
    high = low
    for k in range(1, found):
        entry = args[args[live + k] + column]
        low = min(low, entry)
        high = max(high, entry)
    if not (set_lo(st, v, low) and set_hi(st, v, high)):
        return False
    if st.hole[v] < 0 or st.lo[v] == st.hi[v]:
        return True
    step = st.step[v]
    low = st.lo[v]
    high = st.hi[v]
    for word in range((high - low) // step // BITS + 1):
        args[marks + word] = 0
    for k in range(found):
        entry = args[args[live + k] + column]
        if low <= entry <= high:
            bit = (entry - low) // step
            args[marks + bit // BITS] |= 1 << (bit % BITS)
    for bit in range(1, (high - low) // step):
        if (args[marks + bit // BITS] >> (bit % BITS)) & 1 == 0 and not remove(st, v, low + bit * step):
            return False
    return True


@kernel
def forbid_rows(st: State, first: int, found: int) -> bool:
    """Propagate that no live row is taken: acts once one variable at most is open."""
    args = st.args
    arity = args[first + 1]
    variables = first + 3
    live = variables + arity
    open_column = -1
    for i in range(arity):
        v = args[variables + i]
        if st.lo[v] != st.hi[v]:
            if open_column >= 0 and args[variables + open_column] != v:
                return True
            open_column = i
    if open_column < 0:
        return found == 0
    v = args[variables + open_column]
    for k in range(found):
        row = args[live + k]
        value = args[row + open_column]
        same = True
        for i in range(arity):
            if args[variables + i] == v and args[row + i] != value:
                same = False
        if same and not remove(st, v, value):
            return False
    return True


@kernel
def table(st: State, c: int) -> bool:
    """``literal <-> (value of each variable) in rows``."""
    first = st.start[c]
    args = st.args
    literal = args[first]
    arity = args[first + 1]
    variables = first + 3
    live = variables + arity
    found = list_live_rows(st, first)
    value = literal_value(st, literal)
    if value == 0:
        return forbid_rows(st, first, found)
    if found == 0:
        return value < 0 and set_literal(st, literal ^ 1)
    marks = live + args[first + 2]
    are_fixed = True
    for i in range(arity):
        v = args[variables + i]
        if value == 1 and not keep_column(st, v, i, live, found, marks):
            return False
        if st.lo[v] != st.hi[v]:
            are_fixed = False
    return not are_fixed or set_literal(st, literal)
