"""The rows of a linear relaxation: what constraints imply of columns in every solution of the root.

Elements, tables, permutations, circuits and counts are stated over members of domains; conditional sums with
the greatest or least value that the sum has in the root's box; extremes, absolute values and products by the
linear inequalities that they imply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from constrint import propagators as c
from constrint.presolve import Root
from constrint.presolve.basis import KnownBasis
from constrint.presolve.cliques import cliques
from constrint.presolve.joint import implied_rows
from constrint.propagators.handlers import Handlers, Rules
from constrint.relaxation.columns import ZERO, Columns, ColumnSum, TooLargeRelaxation, total
from constrint.relaxation.linked import EquationLinks
from constrint.settings import RelaxationSettings
from constrint.support.deadline import check_deadline

if TYPE_CHECKING:
    from constrint.relaxation.start import Start

Terms = dict[int, int]


@dataclass(frozen=True, slots=True)
class LpRow:
    """A row: ``low <= sum of factor * column <= high``.

    Attributes:
        terms: Factor of each column.
        low: The least value, or None.
        high: The greatest value, or None.
    """

    terms: Terms
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Tour:
    """A circuit or routes, for subtour cuts.

    Attributes:
        arcs: By tail and head, 1 if the arc is taken.
        needed: The nodes that are not left out in any solution.
    """

    arcs: dict[tuple[int, int], ColumnSum]
    needed: frozenset[int]


@dataclass(slots=True)
class Relaxation:
    """A relaxation of a root.

    Attributes:
        columns: Its columns.
        rules: The settings.
        rows: Its rows.
        tours: The circuits and routes, for subtour cuts.
        basis: Where its programs begin.
    """

    columns: Columns
    rules: RelaxationSettings
    rows: list[LpRow] = field(default_factory=list)
    tours: list[Tour] = field(default_factory=list)
    basis: KnownBasis = field(default_factory=KnownBasis)

    def start(self) -> Start:
        """Where a program of its columns begins."""
        from constrint.relaxation.start import Start

        keys = zip(self.columns.variable, self.columns.value, strict=True)
        return Start(self.basis, [key if key[0] >= 0 else None for key in keys], self.rules.least_of_basis)

    def is_about(self, v: int) -> bool:
        """Whether some row has a variable that is open."""
        terms = self.columns.of(v).terms
        return any(column in row.terms for row in self.rows for column in terms)


def relaxed(root: Root) -> Relaxation | None:
    """The relaxation of a root; None if it would be too large."""
    made = relaxed_or_reason(root)
    return None if isinstance(made, str) else made


def relaxed_or_reason(root: Root) -> Relaxation | str:
    """The relaxation of a root; a text says by which limit it would be too large."""
    try:
        return _RowCollector(root).relaxation
    except TooLargeRelaxation as limit:
        return f"the relaxation of {len(root.propagators):,} constraints has {limit}"


class _RowCollector:
    """The rows under construction."""

    def __init__(self, root: Root) -> None:
        self._box = root.box
        self._rules = rules = root.settings.relaxation
        self._columns = Columns(root.box, root.propagators, rules.most_columns, rules.most_values)
        self.relaxation = Relaxation(self._columns, rules, basis=root.basis)
        self._encoded: set[int] = set()
        self._tables = 0
        self._known: set[tuple[object, ...]] = set()
        self._entries = 0
        for node in root.propagators:
            for v in _LOOKED_UP[type(node)](node):
                self._encode_variable(v)
        links = EquationLinks(
            self._columns,
            root.box,
            root.propagators,
            self._encoded,
            self._encode_variable,
            self._between,
            rules,
        )
        links.pass_on()
        for node in root.propagators:
            check_deadline()
            _STATED[type(node)](self, node)
        links.state()
        self._exclude(root)
        for terms, low, high in implied_rows(root.propagators, root.box.lo, root.box.hi):
            self._between(self._columns.sum(terms), low, high)

    def _between(self, whole: ColumnSum, low: int | None, high: int | None) -> None:
        """A row, unless the box implies it."""
        low = None if low is None else low - whole.constant
        high = None if high is None else high - whole.constant
        least, most = self._extremes(whole)
        least, most = least - whole.constant, most - whole.constant
        low = None if low is not None and low <= least else low
        high = None if high is not None and high >= most else high
        if low is None and high is None:
            return
        key = (tuple(sorted(whole.terms.items())), low, high)
        if key in self._known:
            return
        self._known.add(key)
        self._entries += len(whole.terms)
        if self._entries > self._rules.most_entries:
            most = self._rules.most_entries
            raise TooLargeRelaxation(f"more than {most:,} factors in its rows (relaxation.most_entries)")
        self.relaxation.rows.append(LpRow(dict(whole.terms), low, high))

    def _extremes(self, whole: ColumnSum) -> tuple[int, int]:
        """The least and the greatest value of a sum in the box."""
        least = most = whole.constant
        box, columns = self._box, self._columns
        for column, a in whole.terms.items():
            low, high = 0, 1
            if columns.value[column] is None:
                v = columns.variable[column]
                low, high = box.lo[v], box.hi[v]
            least += min(a * low, a * high)
            most += max(a * low, a * high)
        return least, most

    def _sum_of_members(self, v: int, values: Iterable[int]) -> ColumnSum:
        """1 where a variable has one of some values."""
        return total((1, self._columns.equals(v, value)) for value in values)

    def _exclude(self, root: Root) -> None:
        """At most one of the literals that binary clauses exclude pairwise is true."""
        pairs = {
            frozenset(literal ^ 1 for literal in node.literals)
            for node in root.propagators
            if isinstance(node, c.Clause) and len(node.literals) == 2
        }
        rules = root.settings.presolve
        if len(pairs) > rules.most_pairs_of_cliques:
            return
        for clique in cliques({pair for pair in pairs if len(pair) == 2}, rules.least_clique):
            self._between(total((1, self._columns.literal(literal)) for literal in clique), None, 1)

    # Members

    def _encode_variable(self, v: int) -> None:
        """A variable has exactly one of its values."""
        columns, box = self._columns, self._box
        if v in self._encoded or box.lo[v] == box.hi[v] or not columns.is_small(v):
            return
        self._encoded.add(v)
        if (box.lo[v], box.hi[v]) == (0, 1):
            return
        weighted = total((value, columns.equals(v, value)) for value in columns.values(v))
        self._between(self._sum_of_members(v, columns.values(v)), 1, 1)
        self._between(weighted.plus(columns.of(v), -1), 0, 0)

    # Constraints

    def _at_least_one(self, node: c.Clause) -> None:
        self._between(total((1, self._columns.literal(literal)) for literal in node.literals), 1, None)

    def _go_round(self, node: c.Circuit) -> None:
        if all(map(self._has_members, node.successors)):
            n = len(node.successors)
            arcs = {
                (i, j): self._columns.equals(v, j)
                for i, v in enumerate(node.successors)
                for j in self._columns.values(v)
                if 0 <= j < n and j != i
            }
            self.relaxation.tours.append(Tour(arcs, frozenset(range(n))))

    def _go_along(self, node: c.Arcs) -> None:
        ends = list(zip(node.tails, node.heads, node.literals, strict=True))
        arcs = {(i, j): self._columns.literal(one) for i, j, one in ends if i != j}
        optional = {i for i, j, one in ends if i == j and self._extremes(self._columns.literal(one))[1] > 0}
        self.relaxation.tours.append(Tour(arcs, frozenset(range(node.count)) - optional))

    def _is_fixed(self, v: int) -> bool:
        return self._box.lo[v] == self._box.hi[v]

    def _has_members(self, v: int) -> bool:
        return v in self._encoded or self._is_fixed(v)

    def _implies(self, literal: ColumnSum, whole: ColumnSum, high: int) -> None:
        """``literal -> whole <= high``."""
        _, most = self._extremes(whole)
        if most > high:
            self._between(whole.plus(literal, most - high), None, most)

    def _at_most_if(self, node: c.LinearLeIf) -> None:
        columns = self._columns
        literal = columns.literal(node.literal)
        if len(node.terms) == 1 and node.terms[0][1] in self._encoded:
            ((a, v),) = node.terms
            below = self._sum_of_members(v, [x for x in columns.values(v) if a * x <= node.bound])
            self._between(below.plus(literal, -1), 0, 0)
            return
        terms = columns.sum(node.terms)
        opposite = ZERO.plus(terms, -1)
        self._implies(literal, terms, node.bound)
        self._implies(ColumnSum({}, 1).plus(literal, -1), opposite, -node.bound - 1)

    def _equal_if(self, node: c.LinearEqIf) -> None:
        columns = self._columns
        literal = columns.literal(node.literal)
        if len(node.terms) == 1 and node.terms[0][1] in self._encoded:
            ((a, v),) = node.terms
            value = node.bound // a if node.bound % a == 0 else None
            here = ZERO if value is None else columns.equals(v, value)
            self._between(literal.plus(here, -1), 0, 0)
            return
        terms = columns.sum(node.terms)
        self._implies(literal, terms, node.bound)
        self._implies(literal, ZERO.plus(terms, -1), -node.bound)

    def _look_up(self, node: c.Element) -> None:
        if not self._has_members(node.index):
            return
        columns = self._columns
        entries = [(-1, columns.of(node.z))]
        for place in columns.values(node.index):
            if 0 <= place < len(node.table):
                entries.append((node.table[place], columns.equals(node.index, place)))
            else:
                self._between(columns.equals(node.index, place), None, 0)
        self._between(total(entries), 0, 0)
        if columns.has_literal(node.z) and columns.is_small(node.z):
            for value in columns.values(node.z):
                places = [p for p in columns.values(node.index) if 0 <= p < len(node.table)]
                here = self._sum_of_members(node.index, [p for p in places if node.table[p] == value])
                self._between(here.plus(columns.equals(node.z, value), -1), 0, 0)

    def _choose(self, node: c.Selection) -> None:
        columns, index, z = self._columns, node.index, self._columns.of(node.z)
        is_binary = self._box.lo[index] >= 0 and self._box.hi[index] <= 1
        if not is_binary and not self._has_members(index):
            return
        for place in columns.values(index):
            here = columns.equals(index, place)
            if not 0 <= place < len(node.xs):
                self._between(here, None, 0)
                continue
            chosen = columns.of(node.xs[place])
            self._implies(here, z.plus(chosen, -1), 0)
            self._implies(here, chosen.plus(z, -1), 0)

    def _differ(self, node: c.AllDifferent | c.AllDifferentBounds | c.AllDifferentDomain) -> None:
        columns, views = self._columns, node.views
        if not all(self._has_members(v) for _, v, _ in views):
            return
        takers: dict[int, list[ColumnSum]] = {}
        for a, v, b in views:
            for x in columns.values(v):
                takers.setdefault(a * x + b, []).append(columns.equals(v, x))
        is_permutation = len(takers) == len(views)
        for members in takers.values():
            self._between(total((1, member) for member in members), 1 if is_permutation else None, 1)

    def _count(self, node: c.Cardinality) -> None:
        columns = self._columns
        if not all(self._has_members(v) for v in node.variables):
            return
        for value, count in zip(node.values, node.counts, strict=True):
            members = [(1, columns.equals(v, value)) for v in node.variables]
            self._between(total([(-1, columns.of(count)), *members]), 0, 0)

    def _mirror(self, node: c.Inverse) -> None:
        columns = self._columns
        if not all(self._has_members(v) for v in node.scope()):
            return
        for i, x in enumerate(node.xs):
            for j, y in enumerate(node.ys):
                self._between(columns.equals(x, j).plus(columns.equals(y, i), -1), 0, 0)

    def _list(self, node: c.Table) -> None:
        """Each member of a domain is in one of the rows that have it: with a column for each row."""
        columns = self._columns
        truth = (self._box.lo[node.literal >> 1], self._box.hi[node.literal >> 1])
        if truth != (1 - (node.literal & 1),) * 2 or len(node.rows) > self._rules.most_rows_of_table:
            return
        if not all(self._has_members(v) for v in node.variables):
            return
        self._tables += 1
        having: dict[tuple[int, int], list[tuple[int, ColumnSum]]] = {}
        for number, row in enumerate(node.rows):
            pairs = set(zip(node.variables, row, strict=True))
            if all(x in columns.values(v) for v, x in pairs):
                taken = columns.free(self._tables, number)
                for pair in pairs:
                    having.setdefault(pair, []).append((-1, taken))
        for v in dict.fromkeys(node.variables):
            for x in columns.values(v):
                self._between(total([(1, columns.equals(v, x)), *having.get((v, x), [])]), 0, 0)


_LOOKED_UP: Handlers[Callable[[Any], Iterable[int]]] = Handlers(
    "members",
    {
        (c.Element, c.Selection): lambda node: [node.index],
        c.Circuit: lambda node: node.successors,
        (c.Cardinality, c.Table): lambda node: node.variables,
        c.Inverse: lambda node: node.scope(),
        c.LinearEqIf: lambda node: [v for _, v in node.terms] if len(node.terms) == 1 else (),
    },
    generic=lambda node: (),
    rest="none",
)
"""The variables that are looked up, counted or permuted, which get their members.

Those that only differ from each other have none: their members would not bound the goal.
"""

_STATED: Rules[_RowCollector, None] = Rules(
    "relaxation",
    {
        c.LinearLe: lambda rows, node: rows._between(rows._columns.sum(node.terms), None, node.bound),
        c.LinearEq: lambda rows, node: rows._between(rows._columns.sum(node.terms), node.bound, node.bound),
        c.LinearLeIf: _RowCollector._at_most_if,
        c.LinearEqIf: _RowCollector._equal_if,
        c.Clause: _RowCollector._at_least_one,
        c.Element: _RowCollector._look_up,
        c.Selection: _RowCollector._choose,
        c.Circuit: _RowCollector._go_round,
        c.Arcs: _RowCollector._go_along,
        c.DIFFERENT: _RowCollector._differ,
        c.Cardinality: _RowCollector._count,
        c.Inverse: _RowCollector._mirror,
        c.Table: _RowCollector._list,
    },
    generic=lambda rows, node: None,
    rest="left out",
)
"""States the rows of a constraint; those of extremes, absolute values and products are `implied_rows`."""
