"""Decomposition of constraints for the learning search, so that its explanations name few bounds.

A constraint with its own propagation function is explained by the bounds of all its variables, and cannot
explain holes. Parts explain much better:

- no_overlap and rectangles become a disjunction for each pair; so do tasks of a cumulative that exclude each
  other. A cumulative that is not all constants has a sum for each start as well.
- all_different becomes a disequality for each pair, in addition to a stronger propagator;
- disequalities between small domains become clauses over literals ``x == value``; so do tables, elements of
  constants, inverse permutations and counts of values;
- an extreme or an absolute value is also compared with each of its arguments, in addition to its propagator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from constrint.engine.build import Box
from constrint.learning.normal import is_known
from constrint.lowering.variables import FALSE, TRUE
from constrint.presolve import Root
from constrint.propagators import (
    Absolute,
    AllDifferent,
    AllDifferentBounds,
    AllDifferentDomain,
    Cardinality,
    Circuit,
    Clause,
    Cumulative,
    Element,
    Inverse,
    LinearEq,
    LinearEqIf,
    LinearLe,
    LinearLeIf,
    LinearNe,
    Maximum,
    Minimum,
    NoOverlap,
    NoOverlapOptional,
    Pairs,
    Propagator,
    Rectangles,
    Selection,
    Subcircuit,
    Table,
)
from constrint.support.deadline import NEVER, Deadline

MOST_PAIRS = 5000  # constraints with more pairs are not decomposed
MOST_VALUES = 100  # most values of a variable that get a literal each
MOST_CELLS = 20_000  # tables with more cells are not decomposed
MOST_CLAUSES = 100_000  # most clauses made from disequalities


class Decomposition:
    """The constraints and the box of a root after decomposition; raises `Stopped`.

    Attributes:
        root: The root.
        equalities: The new variables that stand for ``x == value``.
    """

    def __init__(self, root: Root, deadline: Deadline = NEVER) -> None:
        box = self._box = root.box
        self._lo, self._hi = list(box.lo), list(box.hi)
        self._nodes: list[Propagator] = []
        self._clauses = 0
        self._literals: dict[tuple[int, int], int] = {}
        self._ends: dict[tuple[int, int], int] = {}
        self.equalities: list[int] = []
        for node in root.nodes:
            if isinstance(node, LinearEqIf) and len(node.terms) == 1 and node.bound % node.terms[0][0] == 0:
                ((a, x),) = node.terms
                self._literals.setdefault((x, node.bound // a), node.literal)
        for node in root.nodes:
            deadline.check()
            self._add(node)
        new = len(self._lo) - len(box.lo)
        wider = Box(self._lo, self._hi, [*box.step, *[1] * new], [*box.values, *[None] * new])
        self.root = replace(root, box=wider, nodes=self._nodes)

    def _add(self, node: Propagator) -> None:
        if isinstance(node, LinearNe):
            self._differ_by_values(node)
            return
        pairs = len(node.scope()) * (len(node.scope()) - 1) // 2
        if isinstance(node, NoOverlap) and pairs <= MOST_PAIRS:
            self._order(node.starts, node.durations)
            if len(node.starts) > 2 and all(self._lo[d] == self._hi[d] for d in node.durations):
                one = TRUE >> 1  # the constant 1: a resource with one task at a time, for windows
                self._nodes.append(Cumulative(node.starts, node.durations, (one,) * len(node.starts), one))
            return
        if isinstance(node, NoOverlapOptional) and pairs <= MOST_PAIRS:
            self._order_present(node)
            return
        if isinstance(node, AllDifferent | AllDifferentBounds | AllDifferentDomain) and pairs <= MOST_PAIRS:
            for (a, x, b), (c, y, d) in combinations(node.views, 2):
                self._differ_by_values(LinearNe(*self._sum(((a, x), (-c, y)), d - b)))
            if isinstance(node, AllDifferent):
                self._place_all(node)
                return
        if isinstance(node, Maximum | Minimum):
            sign = 1 if isinstance(node, Maximum) else -1
            self._nodes += [LinearLe(*self._sum(((sign, x), (-sign, node.z)))) for x in node.xs]
        if isinstance(node, Absolute):
            self._nodes += [LinearLe(*self._sum(((sign, node.x), (-1, node.z)))) for sign in (1, -1)]
        if isinstance(node, Element) and self._is_small(node.index):
            self._look_up(node)
            return
        if isinstance(node, Selection) and self._is_small(node.index):
            self._select(node)
        if isinstance(node, Table) and node.literal == TRUE and self._is_short(node):
            self._choose_row(node)
            return
        if isinstance(node, Inverse) and pairs <= MOST_PAIRS and all(map(self._is_small, node.scope())):
            self._mirror(node)
            return
        if isinstance(node, Cardinality) and all(map(self._is_small, node.variables)):
            self._count(node)
            return
        if isinstance(node, Cumulative) and is_known(node, self._box):
            self._order_excluding(node)  # in addition to its own propagator
        elif isinstance(node, Cumulative) and self._is_shareable(node):
            self._share(node)  # in addition to its propagator, which sums energy over windows
        if isinstance(node, Rectangles) and pairs <= MOST_PAIRS:
            self._separate(node)
            return
        if isinstance(node, Pairs):
            self._multiply(node)
            return
        if isinstance(node, Circuit | Subcircuit) and all(map(self._is_small, node.successors)):
            for v in node.successors:
                for value in self._values(v):
                    self.equals(v, value)
        self._nodes.append(node)

    def _literal(self) -> int:
        """A new literal, of a new 0/1 variable."""
        self._lo.append(0)
        self._hi.append(1)
        return 2 * (len(self._lo) - 1)

    def _sum(
        self, terms: Sequence[tuple[int, int]], limit: int = 0
    ) -> tuple[tuple[tuple[int, int], ...], int]:
        """Terms and limit of a sum, with fixed variables in the limit and each variable once."""
        factors: dict[int, int] = {}
        for a, v in terms:
            if self._lo[v] == self._hi[v]:
                limit -= a * self._lo[v]
            else:
                factors[v] = factors.get(v, 0) + a
        return tuple((a, v) for v, a in factors.items() if a), limit

    def _multiply(self, node: Pairs) -> None:
        """A literal for each product of truth values, and the sum of these."""
        terms = []
        for a, x, y in node.terms:
            if self._lo[x] == self._hi[x] or self._lo[y] == self._hi[y]:
                x, y = (x, y) if self._lo[x] == self._hi[x] else (y, x)
                if self._lo[x]:
                    terms.append((a, y))
            else:
                both = self._literal()
                self._nodes += [Clause((both ^ 1, 2 * x)), Clause((both ^ 1, 2 * y))]
                self._nodes.append(Clause((both, 2 * x + 1, 2 * y + 1)))
                terms.append((a, both >> 1))
        if node.low == node.high:
            self._nodes.append(LinearEq(*self._sum(terms, node.high)))
        else:
            self._nodes.append(LinearLe(*self._sum(terms, node.high)))
            self._nodes.append(LinearLe(*self._sum([(-a, v) for a, v in terms], -node.low)))

    # Tasks

    def _is_shareable(self, node: Cumulative) -> bool:
        known = all(0 <= self._lo[r] == self._hi[r] for r in node.demands)
        return known and len(node.starts) ** 2 <= MOST_PAIRS

    def _share(self, node: Cumulative) -> None:
        """When a task starts, it and the running tasks fit the capacity.

        The decomposition by tasks of Schutt, Feydy, Stuckey and Wallace, "Why cumulative decomposition is not
        as bad as it sounds", CP 2009.
        """
        self._nodes += [LinearLe(((-1, v),), 0) for v in (*node.durations, node.capacity)]
        demands = [self._lo[r] for r in node.demands]
        tasks = [task for task in zip(node.starts, node.durations, demands, strict=True) if task[2]]
        lasts = [self._at_most_literal(((-1, d),), -1) for _, d, _ in tasks]
        for j, (t, _, demand) in enumerate(tasks):
            terms = [(demand, lasts[j] >> 1), (-1, node.capacity)]
            for i, (s, d, other) in enumerate(tasks):
                if i != j:
                    under_way = self._literal()
                    begun, over = self._at_most_literal(((1, s), (-1, t)), 0), self._ends_before(s, d, t)
                    self._nodes.append(Clause((under_way, begun ^ 1, over)))
                    terms.append((other, under_way >> 1))
            self._nodes.append(LinearLe(*self._sum(terms)))
        for (i, (s, d, one)), (j, (t, e, other)) in combinations(enumerate(tasks), 2):
            if one + other > self._hi[node.capacity]:
                orders = self._ends_before(s, d, t), self._ends_before(t, e, s)
                self._nodes.append(Clause((*orders, lasts[i] ^ 1, lasts[j] ^ 1)))

    def _order_excluding(self, node: Cumulative) -> None:
        """Of two tasks that together demand more than the capacity, one ends before the other starts."""
        capacity = self._lo[node.capacity]
        columns = zip(node.starts, node.durations, node.demands, strict=True)
        tasks = [task for task in columns if self._lo[task[1]] > 0 and self._lo[task[2]] > 0]
        if len(tasks) ** 2 > MOST_PAIRS:
            return
        for (s, d, one), (t, e, other) in combinations(tasks, 2):
            if self._lo[one] + self._lo[other] > capacity and not (
                self._is_before(s, d, t) or self._is_before(t, e, s)
            ):
                self._nodes.append(Clause((self._ends_before(s, d, t), self._ends_before(t, e, s))))

    def _is_before(self, s: int, d: int, t: int) -> bool:
        """Whether ``s + d <= t`` holds for all values in the box."""
        return self._hi[s] + self._hi[d] <= self._lo[t]

    def _at_most_literal(self, terms: Sequence[tuple[int, int]], limit: int) -> int:
        """The literal of ``sum <= limit``."""
        literal = self._literal()
        self._nodes.append(LinearLeIf(literal, *self._sum(terms, limit)))
        return literal

    def _ends_before(self, s: int, d: int, t: int) -> int:
        """The literal of ``s + d <= t``."""
        return self._at_most_literal(((1, s), (1, d), (-1, t)), 0)

    def _order(self, starts: Sequence[int], durations: Sequence[int]) -> None:
        """Of any two tasks one ends before the other starts; durations are non-negative."""
        self._nodes += [LinearLe(((-1, d),), 0) for d in durations]
        for (s, d), (t, e) in combinations(zip(starts, durations, strict=True), 2):
            self._nodes.append(Clause((self._ends_before(s, d, t), self._ends_before(t, e, s))))

    def _order_present(self, node: NoOverlapOptional) -> None:
        """Of any two tasks one is absent, or ends before the other starts; present ones last 0 or more."""
        tasks = list(zip(node.starts, node.durations, node.literals, strict=True))
        for _, d, literal in tasks:
            if self._lo[d] < 0:
                self._nodes.append(Clause((literal ^ 1, self._at_most_literal(((-1, d),), 0))))
        for (s, d, one), (t, e, other) in combinations(tasks, 2):
            orders = self._ends_before(s, d, t), self._ends_before(t, e, s)
            self._nodes.append(Clause((one ^ 1, other ^ 1, *orders)))

    def _separate(self, node: Rectangles) -> None:
        """Of any two rectangles one lies left of, right of, above or below the other.

        Sides are non-negative.
        """
        self._nodes += [LinearLe(((-1, side),), 0) for side in (*node.widths, *node.heights)]
        boxes = list(zip(node.xs, node.widths, node.ys, node.heights, strict=True))
        for (x, w, y, h), (u, v, z, k) in combinations(boxes, 2):
            beside = self._ends_before(x, w, u), self._ends_before(u, v, x)
            self._nodes.append(Clause((*beside, self._ends_before(y, h, z), self._ends_before(z, k, y))))

    # Values

    def _values(self, v: int) -> Sequence[int]:
        return self._box.values[v] or range(self._lo[v], self._hi[v] + 1, self._box.step[v])

    def _is_small(self, v: int) -> bool:
        return (self._hi[v] - self._lo[v]) // self._box.step[v] < MOST_VALUES

    def _is_short(self, node: Table) -> bool:
        return len(node.rows) * len(node.variables) <= MOST_CELLS and all(map(self._is_small, node.variables))

    def equals(self, v: int, value: int) -> int:
        """The literal of ``v == value``."""
        if value not in self._values(v):
            return FALSE
        if self._lo[v] == self._hi[v]:
            return TRUE
        if self._lo[v] == 0 and self._hi[v] == 1:
            return 2 * v + 1 - value
        literal = self._literals.get((v, value))
        if literal is None:
            literal = self._literals[v, value] = self._literal()
            self.equalities.append(literal >> 1)
            self._nodes.append(LinearEqIf(literal, ((1, v),), value))
        return literal

    def _differ_by_values(self, node: LinearNe) -> None:
        """A disequality of two variables with few values: a clause for each value that both can have."""
        if len(node.terms) == 2 and all(abs(a) == 1 and self._is_small(v) for a, v in node.terms):
            (a, x), (c, y) = node.terms
            met = [(value, (node.bound - a * value) * c) for value in self._values(x)]
            if self._clauses + len(met) <= MOST_CLAUSES and x != y:
                self._clauses += len(met)
                for value, other in met:
                    literals = self.equals(x, value), self.equals(y, other)
                    if FALSE not in literals:
                        self._nodes.append(Clause((literals[0] ^ 1, literals[1] ^ 1)))
                return
        self._nodes.append(node)

    def _at_least(self, v: int, value: int) -> int:
        """The literal of ``v >= value``."""
        if value <= self._lo[v]:
            return TRUE
        if value > self._hi[v]:
            return FALSE
        if self._lo[v] == 0 and self._hi[v] == 1:
            return 2 * v
        literal = self._ends.get((v, value))
        if literal is None:
            literal = self._ends[v, value] = self._at_most_literal(((-1, v),), -value)
        return literal

    def _place_all(self, node: AllDifferent) -> None:
        """Where there are as many values as variables, each value has a variable."""
        variables = [v for _, v, _ in node.views]
        if any((a, b) != (1, 0) for a, _, b in node.views) or not all(map(self._is_small, variables)):
            return
        values = set().union(*map(self._values, variables))
        if len(values) == len(variables):
            for value in sorted(values):
                self._nodes.append(Clause(tuple(self.equals(v, value) for v in variables)))

    def _look_up(self, node: Element) -> None:
        """Each place fixes the result, and a value of the result needs a place that has it.

        The values of the result are pairs of bounds, so its least value follows from the places that are
        excluded, each by a literal of its own.
        """
        z = node.z
        places: dict[int, list[int]] = {}
        values = set(self._values(z))
        for place in self._values(node.index):
            here = self.equals(node.index, place)
            if not 0 <= place < len(node.table) or node.table[place] not in values:
                self._nodes.append(Clause((here ^ 1,)))
                continue
            entry = node.table[place]
            places.setdefault(entry, []).append(here)
            self._nodes.append(Clause((here ^ 1, self._at_least(z, entry))))
            self._nodes.append(Clause((here ^ 1, self._at_least(z, entry + 1) ^ 1)))
        for first, last in self._runs(z, places):
            below, above = self._at_least(z, first) ^ 1, self._at_least(z, last + 1)
            self._nodes.append(Clause((below, above, *places.get(first, ()))))

    def _runs(self, z: int, places: Mapping[int, Sequence[int]]) -> Iterator[tuple[int, int]]:
        """The values of a result, one by one, and those without a place in runs."""
        first = self._lo[z]
        for entry in sorted(places):
            if first < entry:
                yield first, entry - 1
            yield entry, entry
            first = entry + 1
        if first <= self._hi[z]:
            yield first, self._hi[z]

    def _select(self, node: Selection) -> None:
        """If the index is a place, the result is at most and at least its entry."""
        for place in self._values(node.index):
            if 0 <= place < len(node.xs):
                here = self.equals(node.index, place) ^ 1
                for sign in (1, -1):
                    literal = self._at_most_literal(((sign, node.xs[place]), (-sign, node.z)), 0)
                    self._nodes.append(Clause((here, literal)))

    def _mirror(self, node: Inverse) -> None:
        """``xs[i] == j`` if ``ys[j] == i``; both are permutations of places."""
        n = len(node.xs)
        for v in node.scope():
            for value in self._values(v):
                if not 0 <= value < n:
                    self._nodes.append(Clause((self.equals(v, value) ^ 1,)))
        for i, x in enumerate(node.xs):
            for j, y in enumerate(node.ys):
                one, other = self.equals(x, j), self.equals(y, i)
                self._nodes += [Clause((one ^ 1, other)), Clause((one, other ^ 1))]

    def _count(self, node: Cardinality) -> None:
        """Sums of literals equal the counts."""
        for value, count in zip(node.values, node.counts, strict=True):
            literals = [self.equals(v, value) for v in node.variables]
            terms = [(-1 if literal & 1 else 1, literal >> 1) for literal in literals]
            negated = sum(literal & 1 for literal in literals)
            self._nodes.append(LinearEq(*self._sum([*terms, (-1, count)], -negated)))
        if node.closed:
            for v in node.variables:
                self._nodes.append(Clause(tuple(self.equals(v, value) for value in node.values)))

    def _choose_row(self, node: Table) -> None:
        """A literal for each row: one of them is true, and every value needs a true row that has it."""
        chosen: dict[tuple[int, int], list[int]] = {}
        rows: list[int] = []
        for row in node.rows:
            values = list(zip(node.variables, row, strict=True))
            if all(value in self._values(v) for v, value in values) and len(set(values)) == len(dict(values)):
                literal = self._literal()
                rows.append(literal)
                for v, value in dict(values).items():
                    chosen.setdefault((v, value), []).append(literal)
                    self._nodes.append(Clause((literal ^ 1, self.equals(v, value))))
        self._nodes.append(Clause(tuple(rows)))
        for v in set(node.variables):
            for value in self._values(v):
                self._nodes.append(Clause((self.equals(v, value) ^ 1, *chosen.get((v, value), ()))))
