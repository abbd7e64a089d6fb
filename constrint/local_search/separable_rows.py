"""Constraints as rows of functions of one variable each; what has no such form is left out.

A literal of ``x == value`` or ``x <= bound`` is such a function of x: it is substituted out. So is a variable
that occurs in one row only, with a factor of 1 or -1: its range widens the row's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from constrint import propagators as c
from constrint.engine.state_arrays import Box
from constrint.local_search.layout import UNLIMITED, WIDTH
from constrint.local_search.unary_functions import (
    LiteralMeaning,
    RowSlacks,
    SeparableRow,
    Slack,
    UnaryFunction,
)
from constrint.presolve import Root
from constrint.propagators import Propagator
from constrint.propagators.handlers import Rules
from constrint.support.deadline import check_deadline

SAFE_SUM = 1 << 31  # rows with greater sums are left out: scores fit into 64 bits


class SeparableRows:
    """The rows of a root.

    Args:
        root: The root.
        goal: The objective's variable. Sums that bound it with another factor than 1 or -1 follow from the
            others: they have no rows, so that it can be taken out.

    Attributes:
        rows: The rows.
        rules: The settings.
        meanings: The 0/1 variables that are functions of another variable.
        slacks: Variables that were taken out, by row.
        left_out: Number of constraints without rows.
    """

    def __init__(self, root: Root, goal: int | None = None) -> None:
        self.box: Box = root.box
        self.rules = root.settings.local_search
        self._goal = goal
        self.rows: list[SeparableRow] = []
        self.meanings: dict[int, LiteralMeaning] = {}
        self.slacks: list[RowSlacks] = []
        self.left_out = 0
        self._entries = 0
        named = [self._name(node) for node in root.propagators]
        kept = {v for v, one in self.meanings.items() if one.x not in self.meanings}
        self.meanings = {v: self.meanings[v] for v in kept}
        for v, node in zip(named, root.propagators, strict=True):
            check_deadline()
            if v not in kept and not self._add(node):
                self.left_out += 1
        self._take_out_slacks()

    @property
    def is_small(self) -> bool:
        """Whether there are few enough entries."""
        return self._entries <= self.rules.most_entries

    def _has_room(self, entries: int) -> bool:
        """Whether a constraint's entries may be made; where they would be too many, there are."""
        most = self.rules.most_entries
        if self._entries + entries > most:
            self._entries = most + 1
        return self.is_small

    def _width(self, v: int) -> int:
        """A bound of the number of a domain's values."""
        return len(self.box.values[v] or ()) or (self.box.hi[v] - self.box.lo[v]) // self.box.step[v] + 1

    # Literals

    def _name(self, node: Propagator) -> int | None:
        """The variable whose meaning a constraint states; the constraint then needs no row."""
        if not isinstance(node, c.LinearEqIf | c.LinearLeIf) or len(node.terms) != 1:
            return None
        ((a, x),) = node.terms
        v, is_opposite = node.literal >> 1, bool(node.literal & 1)
        if v == x or v in self.meanings or self._is_fixed(v) or self._is_fixed(x):
            return None
        if isinstance(node, c.LinearEqIf):
            if node.bound % a:
                return None
            self.meanings[v] = LiteralMeaning(x, True, node.bound // a, is_opposite)
        elif a > 0:
            self.meanings[v] = LiteralMeaning(x, False, node.bound // a, is_opposite)
        else:  # x >= -(bound // -a)
            self.meanings[v] = LiteralMeaning(x, False, -(node.bound // -a) - 1, not is_opposite)
        return v

    def _is_fixed(self, v: int) -> bool:
        return self.box.lo[v] == self.box.hi[v]

    # Terms

    def _term(self, row: SeparableRow, a: int, v: int) -> None:
        """Add a multiple of a variable."""
        if self._is_fixed(v):
            row.constant += a * self.box.lo[v]
            return
        meaning = self.meanings.get(v)
        if meaning is None:
            row.functions.setdefault(v, UnaryFunction()).factor += a
            return
        function = row.functions.setdefault(meaning.x, UnaryFunction())
        if meaning.is_opposite:
            row.constant += a
            a = -a
        if meaning.is_value:
            function.values[meaning.bound] = function.values.get(meaning.bound, 0) + a
        else:
            function.thresholds.append((meaning.bound, a))

    def _literal(self, row: SeparableRow, a: int, literal: int) -> None:
        """Add a multiple of a literal's truth."""
        if literal & 1:
            row.constant += a
            a = -a
        self._term(row, a, literal >> 1)

    def _equals(self, row: SeparableRow, a: int, v: int, value: int) -> None:
        """Add a number where a variable has a value."""
        if self._is_fixed(v):
            row.constant += a * (self.box.lo[v] == value)
        elif v in self.meanings:
            if value in (0, 1):
                self._literal(row, a, 2 * v + 1 - value)
        elif self.box.lo[v] <= value <= self.box.hi[v]:
            numbers = row.functions.setdefault(v, UnaryFunction()).values
            numbers[value] = numbers.get(value, 0) + a

    def _sum(self, terms: Iterable[tuple[int, int]], sign: int = 1) -> SeparableRow:
        """A row for the sum of (factor, variable) terms, times the sign; it is not added yet."""
        row = SeparableRow()
        for a, v in terms:
            self._term(row, sign * a, v)
        return row

    def _put(self, row: SeparableRow, low: int | None, high: int | None) -> bool:
        """Add a row between ends; False if it cannot be."""
        box = self.box
        size = sum(one.size(box.lo[v], box.hi[v]) for v, one in row.functions.items())
        if size + abs(row.constant) + abs(low or 0) + abs(high or 0) > SAFE_SUM:
            return False
        if row.functions:
            row.reach = 2 * size + abs(row.constant) + abs(low or 0) + abs(high or 0)
            row.low = -UNLIMITED if low is None else low - row.constant
            row.high = UNLIMITED if high is None else high - row.constant
            self._entries += sum(1 + len(f.values) + len(f.thresholds) for f in row.functions.values())
            self.rows.append(row)
        return True

    def _put_apart(self, row: SeparableRow, value: int) -> bool:
        """Add a row whose sum differs from a value."""
        if not self._put(row, value, value):
            return False
        row.high = row.low - 1
        return True

    def _take_out_slacks(self) -> None:
        """Take out variables that occur once."""
        count = [0] * len(self.box.lo)
        for row in self.rows:
            for v in row.functions:
                count[v] += 1
        for row in self.rows:
            check_deadline()
            taken: list[Slack] = []
            for v, one in list(row.functions.items()):
                if count[v] > 1 or abs(one.factor) != 1 or one.values or one.thresholds:
                    continue
                if row.low > row.high or len(row.functions) == 1 or not self._is_range(v):
                    continue
                del row.functions[v]
                taken.append(Slack(v, one.factor, row.low, row.high))
                ends = (one.factor * self.box.lo[v], one.factor * self.box.hi[v])
                row.low = row.low - max(ends) if row.low > -UNLIMITED else row.low
                row.high = row.high - min(ends) if row.high < UNLIMITED else row.high
            if taken:
                self.slacks.append(RowSlacks(row.functions, taken))

    def _is_range(self, v: int) -> bool:
        return not self.box.values[v] and self.box.step[v] == 1

    # Constraints

    def _add(self, node: Propagator) -> bool:
        """Add a constraint's rows; False if it has none, or if they are weaker than it.

        The methods by kind of constraint, which `_RULES` lists, return the same.
        """
        if not self.is_small:
            return False
        return _RULES[type(node)](self, node)

    def _linear(self, node: c.LinearLe | c.LinearEq | c.LinearNe) -> bool:
        if isinstance(node, c.LinearLe) and any(v == self._goal and abs(a) > 1 for a, v in node.terms):
            return True
        row = self._sum(node.terms)
        if isinstance(node, c.LinearNe):
            return self._put_apart(row, node.bound)
        return self._put(row, node.bound if isinstance(node, c.LinearEq) else None, node.bound)

    def _extremes(self, terms: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """The least and the greatest sum of (factor, variable) terms over the box."""
        lo, hi = self.box.lo, self.box.hi
        ends = [(a * lo[v], a * hi[v]) for a, v in terms]
        return sum(map(min, ends)), sum(map(max, ends))

    def _at_most_if(self, node: c.LinearLeIf) -> bool:
        """Rows of `literal <-> sum <= bound`; factors of the literal relax the other case (big M)."""
        least, most = self._extremes(node.terms)
        is_complete = True
        if most > node.bound:
            row = self._sum(node.terms)
            self._literal(row, most - node.bound, node.literal)
            is_complete = self._put(row, None, most)
        if least <= node.bound:
            row = self._sum(node.terms)
            self._literal(row, node.bound + 1 - least, node.literal)
            is_complete = self._put(row, node.bound + 1, None) and is_complete
        return is_complete

    def _equal_if(self, node: c.LinearEqIf) -> bool:
        """Rows of `literal <-> sum == bound`; factors of the literal relax the other case (big M).

        Two rows keep the sum at most and at least the bound if the literal is true; one keeps the sum apart
        from the bound if it is false.
        """
        is_complete = True
        for sign in (1, -1):
            least, most = self._extremes([(sign * a, v) for a, v in node.terms])
            bound = sign * node.bound
            if most > bound:
                row = self._sum(node.terms, sign)
                self._literal(row, most - bound, node.literal)
                is_complete = self._put(row, None, most) and is_complete
            if sign > 0:
                row = self._sum(node.terms)
                self._literal(row, max(0, bound - least) + 1, node.literal)
                is_complete = self._put_apart(row, bound) and is_complete
        return is_complete

    def _clause(self, node: c.Clause) -> bool:
        row = SeparableRow()
        for literal in node.literals:
            self._literal(row, 1, literal)
        return self._put(row, 1, None)

    def _differ(self, node: c.AllDifferent | c.AllDifferentBounds | c.AllDifferentDomain) -> bool:
        """A row for each value: at most one view has it; exactly one if values are as many as views."""
        box = self.box
        if any(box.hi[v] - box.lo[v] >= WIDTH for _, v, _ in node.views):
            return False
        if not self._has_room(2 * sum(self._width(v) for _, v, _ in node.views)):
            return False
        holders: dict[int, SeparableRow] = {}
        for a, v, b in node.views:
            for x in box.values[v] or range(box.lo[v], box.hi[v] + 1, box.step[v]):
                self._equals(holders.setdefault(a * x + b, SeparableRow()), 1, v, x)
        is_permutation = len(holders) == len(node.views)
        is_complete = True
        for row in holders.values():
            is_complete = self._put(row, 1 if is_permutation else None, 1) and is_complete
        return is_complete

    def _count(self, node: c.Cardinality) -> bool:
        if not self._has_room(2 * sum(min(self._width(v), len(node.values)) for v in node.variables)):
            return False
        is_complete = not node.closed
        for value, count in zip(node.values, node.counts, strict=True):
            row = self._sum([(-1, count)])
            for v in node.variables:
                self._equals(row, 1, v, value)
            is_complete = self._put(row, 0, 0) and is_complete
        return is_complete

    def _look_up(self, node: c.Element) -> bool:
        index = node.index
        least, most = self.box.lo[index], self.box.hi[index]
        if most - least >= WIDTH or self._is_fixed(index):
            return False
        row = self._sum([(-1, node.z)])
        for place in range(max(0, least), min(most, len(node.table) - 1) + 1):
            self._equals(row, node.table[place], index, place)
        return self._put(row, 0, 0)

    def _absolute(self, node: c.Absolute) -> bool:
        least, most = self.box.lo[node.x], self.box.hi[node.x]
        if most - least >= WIDTH or node.x in self.meanings:
            return False
        row = self._sum([(-1, node.z)])
        for x in range(least, most + 1):
            self._equals(row, abs(x), node.x, x)
        return self._put(row, 0, 0)

    def _extreme(self, node: c.Maximum | c.Minimum) -> bool:
        """Rows by which z bounds each x; none says that some x equals z, so they are weaker."""
        sign = 1 if isinstance(node, c.Maximum) else -1
        for x in node.xs:
            self._put(self._sum([(1, x), (-1, node.z)], sign), None, 0)
        return False


_RULES: Rules[SeparableRows, bool] = Rules(
    "local search",
    {
        (c.LinearLe, c.LinearEq, c.LinearNe): SeparableRows._linear,
        c.LinearLeIf: SeparableRows._at_most_if,
        c.LinearEqIf: SeparableRows._equal_if,
        c.Clause: SeparableRows._clause,
        c.DIFFERENT: SeparableRows._differ,
        c.Cardinality: SeparableRows._count,
        c.Element: SeparableRows._look_up,
        c.Absolute: SeparableRows._absolute,
        (c.Maximum, c.Minimum): SeparableRows._extreme,
    },
    generic=lambda rows, node: False,
    rest="left out",
)
