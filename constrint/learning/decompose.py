"""Decomposition of constraints for the learning search, so that its explanations name few bounds.

A constraint with its own propagation function is explained by the bounds of all its variables, and cannot
explain holes. Parts explain much better:

- no_overlap and rectangles become a disjunction for each pair; so do tasks of a cumulative that exclude each
  other. A cumulative that is not all constants has a sum for each start as well.
- all_different becomes a sum of literals for each value, or a disequality for each pair where it is short, in
  addition to a stronger propagator;
- disequalities between small domains become clauses over literals ``x == value``; so do tables, elements of
  constants, inverse permutations and counts of values;
- products of truth values become clauses, and long sums sums of partial sums;
- an extreme or an absolute value is also compared with each of its arguments, in addition to its propagator.

A constraint is dropped for its parts only where the parts alone imply it:

- A *literal of a value* is tied to its variable by ``literal <-> v == value``, a constraint of its own that
  stays. The one exception are comparisons of functions of two variables (`pairs.Functions`): their literals
  are tied to literals of values of the arguments. Functions form no circle, so by induction along the
  arguments every literal of a value is determined by its variable.
- Dropped are disequalities, tables, elements, inverses, counts, products of truth values, long sums, short
  all-different constraints, no_overlap and rectangles: over determined literals, their parts have exactly the
  solutions of the constraint. All others keep their propagators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

from constrint import propagators as c
from constrint.engine.state_arrays import Box
from constrint.learning.pairs import PairFunctions
from constrint.learning.tasks import is_known
from constrint.learning.values import ValueParts
from constrint.lowering.variables import TRUE
from constrint.presolve import Root
from constrint.propagators.handlers import Rules
from constrint.support.deadline import NEVER, Deadline


class Decomposition(ValueParts):
    """The constraints and the box of a root after decomposition; raises `Stopped`.

    Attributes:
        root: The root.
    """

    def __init__(self, root: Root, deadline: Deadline = NEVER) -> None:
        super().__init__(root)
        self._apart: set[tuple[tuple[int, int, int], ...]] = set()
        self._tours = [
            set(node.successors) for node in root.propagators if isinstance(node, c.Circuit | c.Subcircuit)
        ]
        self._functions = PairFunctions(root, partial(self._has_at_most, self._rules.most_paired))
        for node in root.propagators:
            deadline.check()
            if not _PARTS[type(node)](self, node):
                self._parts.append(node)
        box, new = root.box, len(self._lo) - len(root.box.lo)
        wider = Box(self._lo, self._hi, [*box.step, *[1] * new], [*box.values, *[None] * new])
        self.root = replace(root, box=wider, propagators=self._parts)

    def _compare(self, node: c.LinearEqIf | c.LinearLeIf) -> bool:
        function = self._functions.of(node)
        return function is not None and self._join(node, function)

    def _differ(self, node: c.AllDifferent | c.AllDifferentBounds | c.AllDifferentDomain) -> bool:
        if not self._has_few_pairs(node):
            return False
        if node.views not in self._apart:  # a permutation is stated twice, for two propagators
            self._apart.add(node.views)
            if {v for _, v, _ in node.views} in self._tours or not self._hold_once(node.views):
                for (a, x, b), (e, y, d) in combinations(node.views, 2):
                    self._differ_by_values(c.LinearNe(*self._sum(((a, x), (-e, y)), d - b)))
        if isinstance(node, c.AllDifferent):
            self._place_all(node)
            return True
        if any((a, b) != (1, node.views[0][2]) for a, _, b in node.views):
            return False
        one, starts = TRUE >> 1, tuple(v for _, v, _ in node.views)
        self._parts.append(c.Cumulative(starts, (one,) * len(starts), (one,) * len(starts), one))
        return True

    def _bound_extreme(self, node: c.Maximum | c.Minimum) -> bool:
        sign = 1 if isinstance(node, c.Maximum) else -1
        self._parts += [c.LinearLe(*self._sum(((sign, x), (-sign, node.z)))) for x in node.xs]
        return False

    def _bound_absolute(self, node: c.Absolute) -> bool:
        self._parts += [c.LinearLe(*self._sum(((sign, node.x), (-1, node.z)))) for sign in (1, -1)]
        return False

    def _name_arcs(self, node: c.Circuit | c.Subcircuit) -> bool:
        if all(map(self._is_small, node.successors)):
            for v in node.successors:
                for value in self._values(v):
                    self.equals(v, value)
        return False

    def _multiply(self, node: c.Pairs) -> bool:
        """A literal for each product of truth values, and the sum of these."""
        terms = []
        for a, x, y in node.terms:
            if self._lo[x] == self._hi[x] or self._lo[y] == self._hi[y]:
                x, y = (x, y) if self._lo[x] == self._hi[x] else (y, x)
                if self._lo[x]:
                    terms.append((a, y))
            else:
                both = self._literal()
                self._parts += [c.Clause((both ^ 1, 2 * x)), c.Clause((both ^ 1, 2 * y))]
                self._parts.append(c.Clause((both, 2 * x + 1, 2 * y + 1)))
                terms.append((a, both >> 1))
        if node.low == node.high:
            self._parts.append(c.LinearEq(*self._sum(terms, node.high)))
        else:
            self._parts.append(c.LinearLe(*self._sum(terms, node.high)))
            self._parts.append(c.LinearLe(*self._sum([(-a, v) for a, v in terms], -node.low)))
        return True

    def _split(self, node: c.LinearEq | c.LinearLe) -> bool:
        """A long sum by partial sums of 0/1 terms with similar factors."""
        if len(node.terms) <= self._rules.most_terms:
            return False
        terms, bound = self._sum(node.terms, node.bound)
        is_narrow = [self._hi[v] - self._lo[v] <= 1 for _, v in terms]
        total = [term for term, narrow in zip(terms, is_narrow, strict=True) if not narrow]
        rest = [term for term, narrow in zip(terms, is_narrow, strict=True) if narrow]
        rest.sort(key=lambda term: (-abs(term[0]), term[1]))
        size = self._rules.block
        for at in range(0, len(rest), size):
            block = rest[at : at + size]
            ends = [sorted((a * self._lo[v], a * self._hi[v])) for a, v in block]
            self._lo.append(sum(low for low, _ in ends))
            self._hi.append(sum(high for _, high in ends))
            part = len(self._lo) - 1
            self._parts.append(c.LinearEq((*block, (-1, part)), 0))
            total.append((1, part))
        self._parts.append(type(node)(tuple(total), bound))
        return True

    def _both(self, node: c.Product) -> bool:
        """A product of truth values by clauses; False where its variables are not 0/1."""
        x, y, z = node.scope()
        if any((self._lo[v], self._hi[v]) != (0, 1) for v in (x, y, z)):
            return False
        self._parts += [c.Clause((2 * z + 1, 2 * x)), c.Clause((2 * z + 1, 2 * y))]
        self._parts.append(c.Clause((2 * z, 2 * x + 1, 2 * y + 1)))
        return True

    # Tasks

    def _divide(self, node: c.Cumulative) -> bool:
        """Parts in addition to its propagator, which sums energy over windows."""
        if is_known(node, self._box):
            self._order_excluding(node)
        elif len(node.starts) ** 2 <= self._rules.most_pairs and all(
            0 <= self._lo[r] == self._hi[r] for r in node.demands
        ):
            self._share(node)
        return False

    def _share(self, node: c.Cumulative) -> None:
        """When a task starts, it and the running tasks fit the capacity.

        The decomposition by tasks of Schutt, Feydy, Stuckey and Wallace, "Why cumulative decomposition is not
        as bad as it sounds", CP 2009.
        """
        self._parts += [c.LinearLe(((-1, v),), 0) for v in (*node.durations, node.capacity)]
        demands = [self._lo[r] for r in node.demands]
        tasks = [task for task in zip(node.starts, node.durations, demands, strict=True) if task[2]]
        lasts = [self._at_most_literal(((-1, d),), -1) for _, d, _ in tasks]
        for j, (t, _, demand) in enumerate(tasks):
            running = [(demand, lasts[j])]
            for i, (s, d, other) in enumerate(tasks):
                if i != j:
                    under_way = self._literal()
                    begun, over = self._at_most_literal(((1, s), (-1, t)), 0), self._ends_before(s, d, t)
                    self._parts.append(c.Clause((under_way, begun ^ 1, over)))
                    running.append((other, under_way))
            self._parts.append(c.LinearLe(*self._sum_with(running, [(-1, node.capacity)], 0)))
        for (i, (s, d, one)), (j, (t, e, other)) in combinations(enumerate(tasks), 2):
            if one + other > self._hi[node.capacity]:
                orders = self._ends_before(s, d, t), self._ends_before(t, e, s)
                self._parts.append(c.Clause((*orders, lasts[i] ^ 1, lasts[j] ^ 1)))

    def _order_excluding(self, node: c.Cumulative) -> None:
        """Of two tasks that together demand more than the capacity, one ends before the other starts."""
        capacity = self._lo[node.capacity]
        columns = zip(node.starts, node.durations, node.demands, strict=True)
        tasks = [task for task in columns if self._lo[task[1]] > 0 and self._lo[task[2]] > 0]
        if len(tasks) ** 2 > self._rules.most_pairs:
            return
        for (s, d, one), (t, e, other) in combinations(tasks, 2):
            if self._lo[one] + self._lo[other] > capacity and not (
                self._is_before(s, d, t) or self._is_before(t, e, s)
            ):
                self._parts.append(c.Clause((self._ends_before(s, d, t), self._ends_before(t, e, s))))

    def _is_before(self, s: int, d: int, t: int) -> bool:
        """Whether ``s + d <= t`` holds for all values in the box."""
        return self._hi[s] + self._hi[d] <= self._lo[t]

    def _ends_before(self, s: int, d: int, t: int) -> int:
        """The literal of ``s + d <= t``."""
        return self._at_most_literal(((1, s), (1, d), (-1, t)), 0)

    def _order(self, node: c.NoOverlap) -> bool:
        """Of any two tasks one ends before the other starts; durations are non-negative."""
        if not self._has_few_pairs(node):
            return False
        self._parts += [c.LinearLe(((-1, d),), 0) for d in node.durations]
        for (s, d), (t, e) in combinations(zip(node.starts, node.durations, strict=True), 2):
            self._require_one(self._ends_before(s, d, t), self._ends_before(t, e, s))
        one = TRUE >> 1
        self._add_resource([(s, d, one) for s, d in zip(node.starts, node.durations, strict=True)])
        return True

    def _order_present(self, node: c.NoOverlapOptional) -> bool:
        """Of any two tasks one is absent, or ends before the other starts; present ones last 0 or more."""
        if not self._has_few_pairs(node):
            return False
        tasks = list(zip(node.starts, node.durations, node.literals, strict=True))
        for _, d, literal in tasks:
            if self._lo[d] < 0:
                self._parts.append(c.Clause((literal ^ 1, self._at_most_literal(((-1, d),), 0))))
        for (s, d, one), (t, e, other) in combinations(tasks, 2):
            orders = self._ends_before(s, d, t), self._ends_before(t, e, s)
            self._parts.append(c.Clause((one ^ 1, other ^ 1, *orders)))
        self._add_resource([(s, d, literal >> 1) for s, d, literal in tasks if not literal & 1])
        return True

    def _add_resource(self, tasks: Sequence[tuple[int, int, int]]) -> None:
        """A resource with one task at a time, for windows; of tasks with a start, duration and demand."""
        if len(tasks) > 2 and all(self._lo[d] >= 0 for _, d, _ in tasks):
            starts, durations, demands = zip(*tasks, strict=True)
            self._parts.append(c.Cumulative(starts, durations, demands, TRUE >> 1))

    def _separate(self, node: c.Rectangles) -> bool:
        """Of any two rectangles one lies left of, right of, above or below the other.

        Sides are non-negative.
        """
        if not self._has_few_pairs(node):
            return False
        self._parts += [c.LinearLe(((-1, side),), 0) for side in (*node.widths, *node.heights)]
        boxes = list(zip(node.xs, node.widths, node.ys, node.heights, strict=True))
        for (x, w, y, h), (u, v, z, k) in combinations(boxes, 2):
            beside = self._ends_before(x, w, u), self._ends_before(u, v, x)
            self._parts.append(c.Clause((*beside, self._ends_before(y, h, z), self._ends_before(z, k, y))))
        return True


_PARTS: Rules[Decomposition, bool] = Rules(
    "parts",
    {
        c.LinearNe: Decomposition._differ_by_values,
        (c.LinearEq, c.LinearLe): Decomposition._split,
        (c.LinearEqIf, c.LinearLeIf): Decomposition._compare,
        c.Product: Decomposition._both,
        c.Pairs: Decomposition._multiply,
        (c.Maximum, c.Minimum): Decomposition._bound_extreme,
        c.Absolute: Decomposition._bound_absolute,
        c.Element: Decomposition._look_up,
        c.Selection: Decomposition._select,
        c.Table: Decomposition._choose_row,
        c.DIFFERENT: Decomposition._differ,
        c.Inverse: Decomposition._mirror,
        c.Cardinality: Decomposition._count,
        (c.Circuit, c.Subcircuit): Decomposition._name_arcs,
        c.NoOverlap: Decomposition._order,
        c.NoOverlapOptional: Decomposition._order_present,
        c.Cumulative: Decomposition._divide,
        c.Rectangles: Decomposition._separate,
    },
    generic=lambda decomposition, node: False,
    rest="whole",
)
"""Makes the parts of a constraint; False where it stays as well."""
