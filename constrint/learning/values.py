"""Parts of constraints over values: literals ``v == value``, and the clauses that stand for a constraint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from constrint import propagators as c
from constrint.lowering.variables import FALSE, TRUE
from constrint.presolve import Root

if TYPE_CHECKING:
    from constrint.learning.pairs import PairFunction


class ValueParts:
    """Literals of values and bounds, and the constraints that are decomposed over them.

    Attributes:
        equalities: The new variables that stand for ``x == value``.
        literals: The literal of ``x == value``, by (x, value), where there is one.
    """

    def __init__(self, root: Root) -> None:
        box = self._box = root.box
        self._rules = root.settings.learning
        self._lo, self._hi = list(box.lo), list(box.hi)
        self._parts: list[c.Propagator] = []
        self._clauses = 0
        self.literals: dict[tuple[int, int], int] = {}
        self._ends: dict[tuple[int, int], int] = {}
        self._sums: dict[tuple[tuple[tuple[int, int], ...], int], int] = {}
        self._either: set[frozenset[int]] = set()
        self.equalities: list[int] = []
        for node in root.propagators:
            if isinstance(node, c.LinearEqIf) and len(node.terms) == 1 and node.bound % node.terms[0][0] == 0:
                ((a, x),) = node.terms
                self.literals.setdefault((x, node.bound // a), node.literal)
            elif isinstance(node, c.LinearLeIf):
                self._note_sum(node)
            elif isinstance(node, c.Clause) and len(node.literals) == 2:
                self._either.add(frozenset(node.literals))

    def _note_sum(self, node: c.LinearLeIf) -> None:
        """Record the literals of a sum that is at most a bound, and of the opposite."""
        terms, bound = self._sum(node.terms, node.bound)
        self._sums.setdefault((tuple(sorted(terms)), bound), node.literal)
        turned = tuple(sorted((-a, v) for a, v in terms))
        self._sums.setdefault((turned, -bound - 1), node.literal ^ 1)

    def _require_one(self, one: int, other: int) -> None:
        """Post that one of two literals holds, unless that was written."""
        if frozenset((one, other)) not in self._either:
            self._parts.append(c.Clause((one, other)))

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

    def _sum_with(
        self, literals: Iterable[tuple[int, int]], terms: Iterable[tuple[int, int]], limit: int
    ) -> tuple[tuple[tuple[int, int], ...], int]:
        """Terms and limit, as `_sum`, of a sum of (factor, literal) and (factor, variable)."""
        both = list(terms)
        for a, literal in literals:
            both.append((-a if literal & 1 else a, literal >> 1))
            limit -= a * (literal & 1)
        return self._sum(both, limit)

    def _at_most_literal(self, terms: Sequence[tuple[int, int]], limit: int) -> int:
        """The literal of ``sum <= limit``."""
        summed, bound = self._sum(terms, limit)
        key = tuple(sorted(summed)), bound
        literal = self._sums.get(key)
        if literal is None:
            literal = self._sums[key] = self._literal()
            self._parts.append(c.LinearLeIf(literal, summed, bound))
        return literal

    def _values(self, v: int) -> Sequence[int]:
        return self._box.values[v] or range(self._lo[v], self._hi[v] + 1, self._box.step[v])

    def _has_few_pairs(self, node: c.Propagator) -> bool:
        n = len(node.scope())
        return n * (n - 1) // 2 <= self._rules.most_pairs

    def _is_small(self, v: int) -> bool:
        return self._has_at_most(self._rules.most_values, v)

    def _has_at_most(self, most: int, v: int) -> bool:
        return (self._hi[v] - self._lo[v]) // self._box.step[v] < most

    def _is_short(self, node: c.Table) -> bool:
        rules = self._rules
        are_small = all(self._has_at_most(rules.most_values_of_table, v) for v in node.variables)
        return are_small and len(node.rows) * len(node.variables) <= rules.most_cells

    def equals(self, v: int, value: int) -> int:
        """The literal of ``v == value``."""
        if value not in self._values(v):
            return FALSE
        if self._lo[v] == self._hi[v]:
            return TRUE
        if self._lo[v] == 0 and self._hi[v] == 1:
            return 2 * v + 1 - value
        literal = self.literals.get((v, value))
        if literal is None:
            literal = self.literals[v, value] = self._literal()
            self.equalities.append(literal >> 1)
            self._parts.append(c.LinearEqIf(literal, ((1, v),), value))
        return literal

    def _differ_by_values(self, node: c.LinearNe) -> bool:
        """A disequality of two variables with few values: a clause for each value that both can have."""
        if len(node.terms) == 2 and all(abs(a) == 1 and self._is_small(v) for a, v in node.terms):
            (a, x), (b, y) = node.terms
            met = [(value, (node.bound - a * value) * b) for value in self._values(x)]
            if self._clauses + len(met) <= self._rules.most_clauses and x != y:
                self._clauses += len(met)
                for value, other in met:
                    literals = self.equals(x, value), self.equals(y, other)
                    if FALSE not in literals:
                        self._parts.append(c.Clause((literals[0] ^ 1, literals[1] ^ 1)))
                return True
        self._parts.append(node)
        return True

    def _join(self, node: c.LinearEqIf | c.LinearLeIf, function: PairFunction) -> bool:
        """Clauses for the pairs of values that make a literal true; False where these are too many."""
        a, bound = node.terms[0][0], node.bound
        is_equal = isinstance(node, c.LinearEqIf)
        ours, others = self._values(function.x), self._values(function.y)
        left = self._rules.most_clauses - self._clauses - len(ours) - len(others)
        most = min(self._rules.most_of_value * len(ours), left)
        if most < 0:
            return False
        found = ((u, v, a * function.at(u, v)) for u in ours for v in others)
        held = ((u, v) for u, v, value in found if value == bound or (value < bound and not is_equal))
        pairs = list(islice(held, most + 1))
        if len(pairs) > most:
            return False
        self._clauses += len(pairs) + len(ours) + len(others)
        partners: dict[tuple[int, int], list[int]] = {}
        for u, v in pairs:
            one, other = self.equals(function.x, u), self.equals(function.y, v)
            partners.setdefault((function.x, u), []).append(other)
            partners.setdefault((function.y, v), []).append(one)
            self._parts.append(c.Clause((node.literal, one ^ 1, other ^ 1)))
        for w, values in ((function.x, ours), (function.y, others)):
            for value in values:
                literals = partners.get((w, value), ())
                self._parts.append(c.Clause((node.literal ^ 1, self.equals(w, value) ^ 1, *literals)))
        return True

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

    def _hold_once(self, views: Sequence[tuple[int, int, int]]) -> bool:
        """Each value has one variable at most: sums of literals; False where pairs are better."""
        variables = {v for _, v, _ in views}
        if len(variables) < len(views) or len(views) < self._rules.least_holders:
            return False
        if not all(map(self._is_small, variables)):
            return False
        holders: dict[int, list[int]] = {}
        for a, v, b in views:
            for x in self._values(v):
                holders.setdefault(a * x + b, []).append(self.equals(v, x))
        for value in sorted(holders):
            literals = holders[value]
            if len(literals) > 1:
                self._parts.append(c.LinearLe(*self._sum_with([(1, literal) for literal in literals], (), 1)))
        return True

    def _place_all(self, node: c.AllDifferent) -> None:
        """Where there are as many values as variables, each value has a variable."""
        variables = [v for _, v, _ in node.views]
        if any((a, b) != (1, 0) for a, _, b in node.views) or not all(map(self._is_small, variables)):
            return
        values = set().union(*map(self._values, variables))
        if len(values) == len(variables):
            for value in sorted(values):
                self._parts.append(c.Clause(tuple(self.equals(v, value) for v in variables)))

    def _look_up(self, node: c.Element) -> bool:
        """Each place fixes the result, and a value of the result needs a place that has it.

        The values of the result are pairs of bounds, so its least value follows from the places that are
        excluded, each by a literal of its own.
        """
        if not self._is_small(node.index):
            return False
        z = node.z
        places: dict[int, list[int]] = {}
        values = set(self._values(z))
        for place in self._values(node.index):
            here = self.equals(node.index, place)
            if not 0 <= place < len(node.table) or node.table[place] not in values:
                self._parts.append(c.Clause((here ^ 1,)))
                continue
            entry = node.table[place]
            places.setdefault(entry, []).append(here)
            self._parts.append(c.Clause((here ^ 1, self._at_least(z, entry))))
            self._parts.append(c.Clause((here ^ 1, self._at_least(z, entry + 1) ^ 1)))
        for first, last in self._runs(z, places):
            below, above = self._at_least(z, first) ^ 1, self._at_least(z, last + 1)
            self._parts.append(c.Clause((below, above, *places.get(first, ()))))
        return True

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

    def _select(self, node: c.Selection) -> bool:
        """If the index is a place, the result is its entry: by values if there are few, else by bounds.

        The constraint stays, for its extremes.
        """
        if not self._is_small(node.index):
            return False
        places = [place for place in self._values(node.index) if 0 <= place < len(node.xs)]
        by_values = self._is_small(node.z) and all(self._is_small(node.xs[place]) for place in places)
        cells = sum(len(self._values(node.xs[place])) for place in places) if by_values else 0
        rules = self._rules
        has_room = self._clauses + 2 * cells <= rules.most_clauses and cells <= rules.most_entries
        if by_values and has_room:
            self._clauses += 2 * cells
            for place in places:
                self._are_equal(self.equals(node.index, place) ^ 1, node.xs[place], node.z)
            return False
        for place in places:
            here = self.equals(node.index, place) ^ 1
            for sign in (1, -1):
                literal = self._at_most_literal(((sign, node.xs[place]), (-sign, node.z)), 0)
                self._parts.append(c.Clause((here, literal)))
        return False

    def _are_equal(self, unless: int, x: int, y: int) -> None:
        """Two variables have the same value, or a literal holds."""
        for v, w in ((x, y), (y, x)):
            for value in self._values(v):
                self._parts.append(c.Clause((unless, self.equals(v, value) ^ 1, self.equals(w, value))))

    def _mirror(self, node: c.Inverse) -> bool:
        """``xs[i] == j`` if ``ys[j] == i``; both are permutations of places."""
        if not (self._has_few_pairs(node) and all(map(self._is_small, node.scope()))):
            return False
        n = len(node.xs)
        for v in node.scope():
            for value in self._values(v):
                if not 0 <= value < n:
                    self._parts.append(c.Clause((self.equals(v, value) ^ 1,)))
        for i, x in enumerate(node.xs):
            for j, y in enumerate(node.ys):
                one, other = self.equals(x, j), self.equals(y, i)
                self._parts += [c.Clause((one ^ 1, other)), c.Clause((one, other ^ 1))]
        return True

    def _count(self, node: c.Cardinality) -> bool:
        """Count by sums of literals ``variable == value``; False where a domain is too large for literals."""
        if not all(map(self._is_small, node.variables)):
            return False
        for value, count in zip(node.values, node.counts, strict=True):
            held = [(1, self.equals(v, value)) for v in node.variables]
            self._parts.append(c.LinearEq(*self._sum_with(held, [(-1, count)], 0)))
        if node.closed:
            for v in node.variables:
                self._parts.append(c.Clause(tuple(self.equals(v, value) for value in node.values)))
        return True

    def _support(self, node: c.Table) -> None:
        """Each value of one variable needs one of the other; or excluded pairs, where these are fewer."""
        x, y = node.variables
        rows = set(node.rows)
        ours, others = list(self._values(x)), list(self._values(y))
        allowed = [(a, b) for a in ours for b in others if (a, b) in rows]
        if 2 * len(allowed) <= len(ours) * len(others):
            for v, w, pairs in ((x, y, allowed), (y, x, [(b, a) for a, b in allowed])):
                supports: dict[int, list[int]] = {value: [] for value in self._values(v)}
                for value, other in pairs:
                    supports[value].append(self.equals(w, other))
                for value, literals in supports.items():
                    self._parts.append(c.Clause((self.equals(v, value) ^ 1, *literals)))
        else:
            for a in ours:
                for b in others:
                    if (a, b) not in rows:
                        self._parts.append(c.Clause((self.equals(x, a) ^ 1, self.equals(y, b) ^ 1)))

    def _choose_row(self, node: c.Table) -> bool:
        """A literal for each row: one of them is true, and every value needs a true row that has it.

        Where a variable has another value in each row, its literals are those of the rows.
        """
        if node.literal != TRUE or not self._is_short(node):
            return False
        if len(set(node.variables)) == len(node.variables) == 2:
            self._support(node)
            return True
        chosen: dict[tuple[int, int], list[int]] = {}
        rows: list[int] = []
        key = _key(node)
        for row in node.rows:
            values = list(zip(node.variables, row, strict=True))
            if all(value in self._values(v) for v, value in values) and len(set(values)) == len(dict(values)):
                literal = self._literal() if key is None else self.equals(key, dict(values)[key])
                rows.append(literal)
                for v, value in dict(values).items():
                    chosen.setdefault((v, value), []).append(literal)
                    if v != key:
                        self._parts.append(c.Clause((literal ^ 1, self.equals(v, value))))
        self._parts.append(c.Clause(tuple(rows)))
        for v in set(node.variables):
            for value in self._values(v):
                if v != key or (v, value) not in chosen:
                    self._parts.append(c.Clause((self.equals(v, value) ^ 1, *chosen.get((v, value), ()))))
        return True


def _key(node: c.Table) -> int | None:
    """A variable that has another value in each row of a table; None if there is none."""
    for v, column in zip(node.variables, zip(*node.rows, strict=True), strict=False):
        if len(set(column)) == len(column) and node.variables.count(v) == 1:
            return v
    return None
