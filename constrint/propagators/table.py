"""Reified table: literal <-> the tuple of some variables' values is one of the rows.

Domain consistent by simple tabular reduction (Ullmann 2007; Lecoutre, "STR2", Constraints 2011). The live
rows are the first of a list; dead rows are swapped behind them, and backtracking restores how many are live.
O(live rows times columns) a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from constrint.store.domains import contains, literal_value, remove, set_hi, set_literal, set_lo, set_word
from constrint.store.propagator import Propagator, Watch, literal_holds, magnitude, watch_all
from constrint.store.state import BITS, FIXED, State, compilable
from constrint.support.record import record

TABLE = 19
WIDEST_MARKED = 4096 // BITS + 2  # words of the widest bitset whose values are marked


@record()
class Table(Propagator):
    """``literal <-> (value of each variable) in rows``."""

    literal: int
    variables: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    kind = TABLE
    priority: ClassVar[int] = 2
    trailed: ClassVar[int] = 1  # number of dead rows

    def scope(self) -> tuple[int, ...]:
        return (self.literal >> 1, *self.variables)

    def holds(self, values: Sequence[int]) -> bool:
        found = tuple([values[v] for v in self.variables])
        return literal_holds(self.literal, values) == (found in self.rows)

    def encode(self) -> list[int]:
        # literal, arity, number of rows; variables; order of the rows, live ones first; scratch marks; the
        # rows
        head = [self.literal, len(self.variables), len(self.rows), *self.variables, *range(len(self.rows))]
        return head + [0] * WIDEST_MARKED + [entry for row in self.rows for entry in row]

    def watches(self) -> list[Watch]:
        return [(self.literal >> 1, FIXED), *watch_all(*self.variables)]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        # The marks take 62 bits.
        entries = [abs(entry) for row in self.rows for entry in row]
        return max([0, *(magnitude(lo, hi, v) for v in self.variables), *entries]) + 1


@compilable
def keep_live_rows(st: State, first: int, word: int) -> int:
    """Swap the rows that the domains exclude behind the live ones; returns the number of live rows."""
    args = st.args
    arity = args[first + 1]
    count = args[first + 2]
    variables = first + 3
    live = variables + arity
    rows = live + count + WIDEST_MARKED
    before = count - st.words[word]
    found = before
    k = 0
    while k < found:
        number = args[live + k]
        row = rows + number * arity
        possible = True
        for i in range(arity):
            if not contains(st, args[variables + i], args[row + i]):
                possible = False
                break
        if possible:
            k += 1
        else:
            found -= 1
            args[live + k] = args[live + found]
            args[live + found] = number
    if found != before:
        set_word(st, word, count - found)
    return found


@compilable
def keep_column(st: State, first: int, column: int, found: int) -> bool:
    """Keep the values of one variable that occur in a live row."""
    args = st.args
    arity = args[first + 1]
    v = args[first + 3 + column]
    live = first + 3 + arity
    marks = live + args[first + 2]
    entries = marks + WIDEST_MARKED + column
    low = args[entries + args[live] * arity]
    high = low
    for k in range(1, found):
        entry = args[entries + args[live + k] * arity]
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
        entry = args[entries + args[live + k] * arity]
        if low <= entry <= high:
            bit = (entry - low) // step
            args[marks + bit // BITS] |= 1 << (bit % BITS)
    for bit in range(1, (high - low) // step):
        if (args[marks + bit // BITS] >> (bit % BITS)) & 1 == 0 and not remove(st, v, low + bit * step):
            return False
    return True


@compilable
def forbid_rows(st: State, first: int, found: int) -> bool:
    """Propagate that no live row is taken; acts when at most one variable is open."""
    args = st.args
    arity = args[first + 1]
    variables = first + 3
    live = variables + arity
    rows = live + args[first + 2] + WIDEST_MARKED
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
        row = rows + args[live + k] * arity
        value = args[row + open_column]
        same = True
        for i in range(arity):
            if args[variables + i] == v and args[row + i] != value:
                same = False
        if same and not remove(st, v, value):
            return False
    return True


@compilable
def table(st: State, c: int) -> bool:
    """``literal <-> (value of each variable) in rows``."""
    first = st.start[c]
    args = st.args
    literal = args[first]
    arity = args[first + 1]
    found = keep_live_rows(st, first, args[st.start[c + 1] - 1])
    value = literal_value(st, literal)
    if value == 0:
        return forbid_rows(st, first, found)
    if found == 0:
        return value < 0 and set_literal(st, literal ^ 1)
    are_fixed = True
    for i in range(arity):
        v = args[first + 3 + i]
        if value == 1 and not keep_column(st, first, i, found):
            return False
        if st.lo[v] != st.hi[v]:
            are_fixed = False
    return not are_fixed or set_literal(st, literal)
