"""Rows between the members of several variables that equations connect.

A sum such as ``4 * x + y == index``, whose index is looked up, has one member for each pair of values of x
and y. Stated over members, the entries that a fractional x and y may combine are those of their products.
The same holds of variables that are equal under a condition, and of arrays whose entry at an index is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from constrint import propagators as c
from constrint.engine.state_arrays import Box
from constrint.propagators import Propagator
from constrint.relaxation.columns import ONE, Columns, ColumnSum, total
from constrint.settings import RelaxationSettings

Follows = dict[int, set[int]]
Between = Callable[[ColumnSum, "int | None", "int | None"], None]


@dataclass
class EquationLinks:
    """The equations of a root between variables with members.

    Attributes:
        columns: The columns of the relaxation.
        box: The root's domains.
        propagators: The root's constraints.
        encoded: The variables with members.
        encode: Gives a variable members.
        between: Adds a row.
        rules: The settings.
    """

    columns: Columns
    box: Box
    propagators: Sequence[Propagator]
    encoded: set[int]
    encode: Callable[[int], None]
    between: Between
    rules: RelaxationSettings
    _members: int = 0

    def pass_on(self) -> None:
        """Give members to variables that equations connect with those that have some."""
        looked_up = {node.index for node in self.propagators if isinstance(node, c.Element)}
        linked = [
            node for node in self.propagators if isinstance(node, c.LinearEq | c.LinearEqIf | c.Selection)
        ]
        for _ in range(self.rules.linking_rounds):
            before = len(self.encoded)
            for node in linked:
                for v in self._reached(node, looked_up):
                    self._encode(v)
            if len(self.encoded) == before:
                return

    def _reached(self, node: Propagator, looked_up: set[int]) -> Sequence[int]:
        """The variables of a constraint that shall have members."""
        if isinstance(node, c.Selection):
            return node.xs if self._is_fixed(node.z) and node.index in self.encoded else ()
        if isinstance(node, c.LinearEq):
            return [v for _, v in self._open(node)] if self._sum(node, looked_up) is not None else ()
        if isinstance(node, c.LinearEqIf):
            both = self._open(node)
            if len(both) == 2 and any(v in self.encoded for _, v in both):
                return [v for _, v in both]
        return ()

    def _encode(self, v: int) -> None:
        if v in self.encoded or self._is_fixed(v):
            return
        size = len(self.columns.values(v))
        if size <= self.rules.most_linked and self._members + size <= self.rules.most_members:
            self._members += size
            self.encode(v)

    def _is_fixed(self, v: int) -> bool:
        return self.box.lo[v] == self.box.hi[v]

    def _has_members(self, v: int) -> bool:
        return v in self.encoded or self._is_fixed(v)

    def _open(self, node: c.LinearEq | c.LinearEqIf) -> list[tuple[int, int]]:
        return [(a, v) for a, v in node.terms if not self._is_fixed(v)]

    def _sum(self, node: c.LinearEq, looked_up: set[int]) -> tuple[int, int] | None:
        """The term that is looked up, if few values of the others make it."""
        terms = self._open(node)
        if not 2 <= len(terms) <= 3 or len({v for _, v in terms}) < len(terms):
            return None
        whole = next(((a, v) for a, v in terms if v in looked_up and v in self.encoded), None)
        if whole is None:
            return None
        count = prod(len(self.columns.values(v)) for _, v in terms if v != whole[1])
        return whole if count <= self.rules.most_combinations else None

    # Rows

    def state(self) -> None:
        """Add the rows."""
        looked_up = {node.index for node in self.propagators if isinstance(node, c.Element)}
        follows = self._follows()
        implied = self._implied(follows)
        for node in self.propagators:
            if isinstance(node, c.LinearEq):
                whole = self._sum(node, looked_up)
                if whole is not None and all(v in self.encoded for _, v in self._open(node)):
                    self._add(node, whole)
            elif isinstance(node, c.LinearEqIf):
                for x, y in self._equal(node):
                    self._equal_if(node.literal, x, y, implied)
        self._select()
        self._choose(follows)

    def _add(self, node: c.LinearEq, whole: tuple[int, int]) -> None:
        """Each member of a term is the members of the sum that it takes part in."""
        columns, (factor, index) = self.columns, whole
        others = [(a, v) for a, v in self._open(node) if v != index]
        rest = node.bound - sum(a * self.box.lo[v] for a, v in node.terms if self._is_fixed(v))
        parts: list[dict[int, set[int]]] = [{x: set() for x in columns.values(v)} for _, v in others]
        inside = set(columns.values(index))
        for values in product(*parts):
            left = rest - sum(a * x for (a, _), x in zip(others, values, strict=True))
            if left % factor == 0 and left // factor in inside:
                for x, part in zip(values, parts, strict=True):
                    part[x].add(left // factor)
        for (_, v), part in zip(others, parts, strict=True):
            is_unique = sum(map(len, part.values())) == len(set().union(*part.values()))
            for x, reached in part.items():
                made = total((1, columns.equals(index, u)) for u in sorted(reached))
                self.between(made.plus(columns.equals(v, x), -1), 0, 0 if is_unique else None)

    def _equal(self, node: c.LinearEqIf) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """A condition ``x == y + d`` as pairs of values of two variables, both ways round."""
        terms = self._open(node)
        if len(terms) != 2 or not all(v in self.encoded for _, v in terms) or terms[0][1] == terms[1][1]:
            return
        (a, x), (b, y) = terms
        rest = node.bound - sum(k * self.box.lo[v] for k, v in node.terms if self._is_fixed(v))
        for u in self.columns.values(x):
            left = rest - a * u
            yield (x, u), (y, left // b if left % b == 0 else self.box.lo[y] - 1)
        for u in self.columns.values(y):
            left = rest - b * u
            yield (y, u), (x, left // a if left % a == 0 else self.box.lo[x] - 1)

    def _equal_if(
        self, literal: int, x: tuple[int, int], y: tuple[int, int], implied: Callable[[int, int], set[int]]
    ) -> None:
        """``literal and x`` imply y, where both are members; ``literal`` may follow from x."""
        here, there = self.columns.equals(*x), self.columns.equals(*y)
        known = implied(*x)
        if literal ^ 1 in known:
            return
        condition = ONE if literal in known else self.columns.literal(literal)
        self.between(total([(1, here), (1, condition), (-1, there)]), None, 1)

    def _select(self) -> None:
        """Entries at an index have a known value: for indices that differ, each entry is at one of them."""
        apart = _Apart(self.propagators)
        groups: dict[tuple[tuple[int, ...], int], list[list[int]]] = {}
        for node in self.propagators:
            if isinstance(node, c.Selection) and self._is_fixed(node.z) and node.index in self.encoded:
                found = groups.setdefault((node.xs, self.box.lo[node.z]), [])
                for group in found:
                    if all(apart.differ(node.index, v) for v in group):
                        group.append(node.index)
                        break
                else:
                    found.append([node.index])
        for (xs, value), found in groups.items():
            for place, entry in enumerate(xs):
                if not self._has_members(entry):
                    continue
                there = self.columns.equals(entry, value)
                for group in found:
                    here = total((1, self.columns.equals(v, place)) for v in group)
                    self.between(here.plus(there, -1), None, 0)

    def _choose(self, follows: Follows) -> None:
        """Where one literal implies ``z == x`` and its opposite ``z == y``, z has one of both values."""
        equal = {
            node.literal: node
            for node in self.propagators
            if isinstance(node, c.LinearEqIf) and self._offset(node) is not None
        }
        for literal in [literal for literal in follows if literal & 1 == 0]:
            ways = [
                [equal[one] for one in sorted(follows.get(way, ())) if one in equal]
                for way in (literal, literal ^ 1)
            ]
            for one, other in product(*ways):
                for z in {v for _, v in self._open(one)} & {v for _, v in self._open(other)}:
                    if one is not other:
                        self._one_of(z, one, other)

    def _one_of(self, z: int, *ways: c.LinearEqIf) -> None:
        """Each member of z is one of another variable's, by one of some equations."""
        for u in self.columns.values(z):
            members = [(-1, self.columns.equals(z, u))]
            for node in ways:
                (d, x) = self._offset(node, z) or (0, z)
                members.append((1, self.columns.equals(x, u + d)))
            self.between(total(members), 0, None)

    def _offset(self, node: c.LinearEqIf, z: int | None = None) -> tuple[int, int] | None:
        """For a condition ``x == z + d`` on two variables with members: d and x; None for others."""
        terms = self._open(node)
        if len(terms) != 2 or len(node.terms) != 2 or not all(v in self.encoded for _, v in terms):
            return None
        (a, x), (b, y) = terms
        if a != -b or abs(a) != 1 or x == y:
            return None
        return (-a * node.bound, y) if x == z else (a * node.bound, x)

    def _follows(self) -> Follows:
        """The literals that follow from others by binary clauses."""
        follows: Follows = {}
        for node in self.propagators:
            if not isinstance(node, c.Clause):
                continue
            left = [literal for literal in node.literals if not self._is_fixed(literal >> 1)]
            is_true = any(
                self.box.lo[literal >> 1] != (literal & 1)
                for literal in node.literals
                if self._is_fixed(literal >> 1)
            )
            if len(left) == 2 and not is_true:
                one, other = left
                follows.setdefault(one ^ 1, set()).add(other)
                follows.setdefault(other ^ 1, set()).add(one)
        return follows

    def _implied(self, follows: Follows) -> Callable[[int, int], set[int]]:
        """For members, the literals that follow by conditions on the variable and by binary clauses."""
        conditions: dict[int, list[c.LinearEqIf | c.LinearLeIf]] = {}
        for node in self.propagators:
            if isinstance(node, c.LinearEqIf | c.LinearLeIf) and len(node.terms) == 1:
                conditions.setdefault(node.terms[0][1], []).append(node)
        known: dict[tuple[int, int], set[int]] = {}

        def implied(v: int, value: int) -> set[int]:
            if (v, value) not in known:
                found = {
                    node.literal if _holds(node, value) else node.literal ^ 1
                    for node in conditions.get(v, ())
                }
                left = list(found)
                while left:
                    new = follows.get(left.pop(), set()) - found
                    found |= new
                    left += new
                known[v, value] = found
            return known[v, value]

        return implied


def _holds(node: c.LinearEqIf | c.LinearLeIf, value: int) -> bool:
    """Whether a condition on one variable holds at a value."""
    made = node.terms[0][0] * value
    return made == node.bound if isinstance(node, c.LinearEqIf) else made <= node.bound


class _Apart:
    """Which variables differ: by strict order, over several steps, or by `all_different`.

    A variable that is another one plus a constant is compared by that one.
    """

    def __init__(self, propagators: Sequence[Propagator]) -> None:
        self._above: dict[int, set[int]] = {}
        self._known: dict[int, set[int]] = {}
        self._sets: list[set[int]] = []
        self._moved: dict[int, tuple[int, int]] = {}
        for node in propagators:
            if isinstance(node, c.LinearEq) and len(node.terms) == 2:
                (a, x), (b, y) = node.terms
                if a == -b and abs(a) == 1:  # x == y + a * bound
                    self._moved.setdefault(max(x, y), (min(x, y), a * node.bound * (1 if x > y else -1)))
            elif isinstance(node, c.LinearLe) and node.bound < 0 and len(node.terms) == 2:
                (a, x), (b, y) = node.terms
                if a == -b:
                    self._above.setdefault(x if a > 0 else y, set()).add(y if a > 0 else x)
            elif isinstance(node, c.DIFFERENT) and len({(a, b) for a, _, b in node.views}) == 1:
                self._sets.append({v for _, v, _ in node.views})

    def differ(self, x: int, y: int) -> bool:
        """Whether two variables differ in every solution."""
        return self._differ(x, y) or self._differ_moved(x, y)

    def _differ_moved(self, x: int, y: int) -> bool:
        x, d = self._moved.get(x, (x, 0))
        y, e = self._moved.get(y, (y, 0))
        return x != y and d == e and self._differ(x, y)

    def _differ(self, x: int, y: int) -> bool:
        return y in self._after(x) or x in self._after(y) or any(x in one and y in one for one in self._sets)

    def _after(self, x: int) -> set[int]:
        if x not in self._known:
            found: set[int] = set()
            left = [x]
            while left:
                new = self._above.get(left.pop(), set()) - found
                found |= new
                left += new
            self._known[x] = found
        return self._known[x]
