"""Reified short table: literal <-> the tuple of some variables' values matches one of the rows.

An entry of a row is a value, or None: any value. Domain consistent by simple tabular reduction, as for
`table`, with short supports (Jefferson and Nightingale, "Extending simple tabular reduction with short
supports", IJCAI 2013): a live row that is open in a column supports all its values. Where no row may match, a
row of which one entry is left undecided removes that value. O(live rows times columns) a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from constrint.propagators.table import WIDEST_MARKED
from constrint.store.domains import contains, literal_value, remove, set_hi, set_literal, set_lo, set_word
from constrint.store.propagator import Propagator, Watch, literal_holds, magnitude, watch_all
from constrint.store.state import BITS, FIXED, State, compilable
from constrint.support.record import record

SHORT_TABLE = 33


def matches(found: Sequence[int], row: Sequence[int | None]) -> bool:
    """Whether values match a row."""
    return all(entry is None or entry == value for value, entry in zip(found, row, strict=True))


@record()
class ShortTable(Propagator):
    """``literal <-> (value of each variable)`` matches one of the rows; None matches every value."""

    literal: int
    variables: tuple[int, ...]
    rows: tuple[tuple[int | None, ...], ...]
    kind = SHORT_TABLE
    priority: ClassVar[int] = 2
    trailed: ClassVar[int] = 1  # number of dead rows

    def scope(self) -> tuple[int, ...]:
        return (self.literal >> 1, *self.variables)

    def holds(self, values: Sequence[int]) -> bool:
        found = [values[v] for v in self.variables]
        return literal_holds(self.literal, values) == any(matches(found, row) for row in self.rows)

    def encode(self) -> list[int]:
        # literal, arity, number of rows; variables; order of the rows, live ones first; scratch marks; for
        # each entry whether it is a value, and the value
        head = [self.literal, len(self.variables), len(self.rows), *self.variables, *range(len(self.rows))]
        entries = [
            part for row in self.rows for entry in row for part in (int(entry is not None), entry or 0)
        ]
        return head + [0] * WIDEST_MARKED + entries

    def watches(self) -> list[Watch]:
        return [(self.literal >> 1, FIXED), *watch_all(*self.variables)]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        # The marks take 62 bits.
        entries = [abs(entry) for row in self.rows for entry in row if entry is not None]
        return max([0, *(magnitude(lo, hi, v) for v in self.variables), *entries]) + 1


@compilable
def keep_live_short_rows(st: State, first: int, word: int) -> int:
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
        row = rows + 2 * number * arity
        possible = True
        for i in range(arity):
            if args[row + 2 * i] == 1 and not contains(st, args[variables + i], args[row + 2 * i + 1]):
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
def keep_short_column(st: State, first: int, column: int, found: int) -> bool:
    """Keep the values of one variable that a live row supports."""
    args = st.args
    arity = args[first + 1]
    v = args[first + 3 + column]
    live = first + 3 + arity
    marks = live + args[first + 2]
    entries = marks + WIDEST_MARKED + 2 * column
    low = args[entries + 2 * args[live] * arity + 1]
    high = low
    for k in range(found):
        entry = entries + 2 * args[live + k] * arity
        if args[entry] == 0:
            return True
        low = min(low, args[entry + 1])
        high = max(high, args[entry + 1])
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
        value = args[entries + 2 * args[live + k] * arity + 1]
        if low <= value <= high:
            bit = (value - low) // step
            args[marks + bit // BITS] |= 1 << (bit % BITS)
    for bit in range(1, (high - low) // step):
        if (args[marks + bit // BITS] >> (bit % BITS)) & 1 == 0 and not remove(st, v, low + bit * step):
            return False
    return True


@compilable
def open_entries(st: State, first: int, row: int) -> int:
    """The undecided column of a row: -1 if the row matches, or the column if exactly one is undecided.

    -2 if it is more, or if the row is excluded.
    """
    args = st.args
    arity = args[first + 1]
    variables = first + 3
    found = -1
    for i in range(arity):
        v = args[variables + i]
        if args[row + 2 * i] == 0:
            continue
        if not contains(st, v, args[row + 2 * i + 1]):
            return -2
        if st.lo[v] == st.hi[v]:
            continue
        if found < 0:
            found = i
        elif args[variables + found] != v or args[row + 2 * found + 1] != args[row + 2 * i + 1]:
            return -2
    return found


@compilable
def refuse_short_rows(st: State, first: int, found: int) -> bool:
    """Propagate that no live row matches."""
    args = st.args
    arity = args[first + 1]
    live = first + 3 + arity
    rows = live + args[first + 2] + WIDEST_MARKED
    for k in range(found):
        row = rows + 2 * args[live + k] * arity
        column = open_entries(st, first, row)
        if column == -1:  # the row matches whatever is decided
            return False
        # If one column alone is open, its entry would make the row match.
        if column >= 0 and not remove(st, args[first + 3 + column], args[row + 2 * column + 1]):
            return False
    return True


@compilable
def short_table(st: State, c: int) -> bool:
    """``literal <-> (value of each variable)`` matches one of the rows."""
    first = st.start[c]
    args = st.args
    literal = args[first]
    arity = args[first + 1]
    found = keep_live_short_rows(st, first, args[st.start[c + 1] - 1])
    value = literal_value(st, literal)
    if value == 0:
        return refuse_short_rows(st, first, found)
    if found == 0:
        return value < 0 and set_literal(st, literal ^ 1)
    if value == 1:
        for i in range(arity):  # noqa: SIM110 - what is compiled has loops only
            if not keep_short_column(st, first, i, found):
                return False
        return True
    live = first + 3 + arity
    rows = live + args[first + 2] + WIDEST_MARKED
    for k in range(found):
        if open_entries(st, first, rows + 2 * args[live + k] * arity) == -1:
            return set_literal(st, literal)
    return True
