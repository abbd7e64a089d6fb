"""A problem as a coloured structure: variables and values as vertices, constraints as unordered facts.

A vertex is a variable, or a value of variables that are only compared with each other, so that their values
are names (`ColouredStructure.groups`). A constraint is its kind and a multiset of items; an item is a tag and
some vertices, such as a coefficient and a variable. Two constraints with equal keys are equivalent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeAlias

from constrint import propagators as c
from constrint.engine.state_arrays import Box
from constrint.propagators.handlers import Rules

Item: TypeAlias = "tuple[Hashable, tuple[int, ...]]"
Fact: TypeAlias = "tuple[Hashable, list[Item]]"


class ColouredStructure:
    """Vertices and facts of the constraints over a box.

    Attributes:
        facts: Kind and items of each constraint.
        at: Numbers of the facts that name a vertex.
        values: Value of each vertex that stands for one, with the group of its variables.
        groups: For each group of variables whose values are names, these variables.
        start: First colour of each vertex.
    """

    def __init__(self, box: Box, propagators: Sequence[c.Propagator], goal: tuple[int, str] | None) -> None:
        self._box = box
        self._goal = goal
        self._count = len(box.lo)
        self.groups: dict[int, list[int]] = {}
        self.values: dict[int, tuple[int, int]] = {}
        self._vertex: dict[tuple[int, int], int] = {}
        self._group: dict[int, int] = {}
        self._find_groups(propagators)
        self.facts: list[Fact] = []
        for number, node in enumerate(propagators):
            self.facts.append(self._fact(number, node))
        self._state_domains()
        self.at: dict[int, list[int]] = {}
        for number, (_, items) in enumerate(self.facts):
            for vertex in {v for _, vertices in items for v in vertices}:
                self.at.setdefault(vertex, []).append(number)
        self.start: dict[int, Hashable] = {}
        for v in self.at:
            if v in self.values:
                self.start[v] = "value"
            elif v in self._group:
                self.start[v] = "named"
            else:
                own = box.values[v]
                self.start[v] = (box.lo[v], box.hi[v], box.step[v], own, goal is not None and v == goal[0])

    # Variables whose values are names

    def _find_groups(self, propagators: Sequence[c.Propagator]) -> None:
        lo, hi = self._box.lo, self._box.hi
        ceilings = ceilings_of(propagators, self._goal)
        parts = [self._comparing(node, ceilings) for node in propagators]
        named = {v for compared, _ in parts for v in compared if lo[v] < hi[v]}
        if self._goal is not None:
            named.discard(self._goal[0])
        left = [part for part in parts if part[0] or not named.isdisjoint(part[1])]
        is_over = not named
        while not is_over:
            is_over = True
            for compared, others in left:
                wrong = [v for v in others if v in named]
                if any(v not in named and lo[v] < hi[v] for v in compared):
                    wrong += [v for v in compared if v in named]
                if wrong:
                    named.difference_update(wrong)
                    is_over = False
        parent = {v: v for v in named}

        def top(v: int) -> int:
            while parent[v] != v:
                parent[v] = parent[parent[v]]
                v = parent[v]
            return v

        for compared, _ in left:
            together = [v for v in compared if v in named]
            for v in together[1:]:
                first, second = sorted((top(together[0]), top(v)))
                parent[second] = first
        for v in sorted(named):
            self.groups.setdefault(top(v), []).append(v)
            self._group[v] = top(v)

    def _comparing(self, node: c.Propagator, ceilings: set[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The variables that a constraint only compares with each other, and its other variables."""
        if isinstance(node, c.DIFFERENT) and all((a, b) == (1, 0) for a, _, b in node.views):
            return tuple(v for _, v, _ in node.views), ()
        if isinstance(node, c.LinearNe) and _is_difference(node.terms, node.bound):
            return tuple(v for _, v in node.terms), ()
        if isinstance(node, c.LinearEqIf):
            if _is_difference(node.terms, node.bound):
                return tuple(v for _, v in node.terms), (node.literal >> 1,)
            if len(node.terms) == 1 and node.terms[0][0] == 1:
                return (node.terms[0][1],), (node.literal >> 1,)
        if isinstance(node, c.Cardinality):
            return node.variables, node.counts
        if isinstance(node, c.Maximum) and node.z in ceilings:
            return node.xs, (node.z,)
        if isinstance(node, c.LinearLe) and any(_is_below(node, z) for z in ceilings):
            return tuple(v for _, v in node.terms if v not in ceilings), ()
        return (), node.scope()

    def _value(self, v: int, value: int) -> int:
        """The vertex of a value of a variable whose values are names."""
        key = self._group[v], value
        vertex = self._vertex.get(key)
        if vertex is None:
            vertex = self._vertex[key] = self._count + len(self._vertex)
            self.values[vertex] = key[0], value
        return vertex

    def _state_domains(self) -> None:
        """A fact for the domain of each variable whose values are names."""
        box = self._box
        for members in self.groups.values():
            for v in members:
                own = box.values[v] or range(box.lo[v], box.hi[v] + 1, box.step[v])
                items: list[Item] = [("of", (v,))]
                items += [("value", (self._value(v, value),)) for value in own]
                self.facts.append(("domain", items))

    # Facts

    def _fact(self, number: int, node: c.Propagator) -> Fact:
        made = _MADE.get(type(node))
        if made is None:  # it is like none but itself
            return (type(node).__name__, number), [self._item(i, v) for i, v in enumerate(node.scope())]
        return made(self, node)

    def _item(self, tag: Hashable, *vertices: int) -> Item:
        """An item; fixed variables are part of its tag."""
        lo, hi = self._box.lo, self._box.hi
        if not [v for v in vertices if v < self._count and lo[v] == hi[v]]:
            return tag, vertices
        fixed = tuple(lo[v] if v < self._count and lo[v] == hi[v] else None for v in vertices)
        return (tag, fixed), tuple(v for v, value in zip(vertices, fixed, strict=True) if value is None)

    def _sum(self, node: c.LinearEq | c.LinearLe | c.LinearNe) -> Fact:
        kind = type(node).__name__
        if isinstance(node, c.LinearNe | c.LinearEq) and _is_difference(node.terms, node.bound):
            return kind, self._compared(kind, [v for _, v in node.terms])
        return (kind, node.bound), [self._item(a, v) for a, v in node.terms]

    def _sum_if(self, node: c.LinearLeIf | c.LinearEqIf) -> Fact:
        kind = type(node).__name__
        literal = self._item(("literal", node.literal & 1), node.literal >> 1)
        if isinstance(node, c.LinearEqIf):
            if _is_difference(node.terms, node.bound):
                return kind, [literal, *self._compared(kind, [v for _, v in node.terms])]
            if len(node.terms) == 1 and node.terms[0][1] in self._group and node.terms[0][0] == 1:
                x = node.terms[0][1]
                value = self._item("value", self._value(x, node.bound))
                return (kind, "value"), [literal, self._item(1, x), value]
        return (kind, node.bound), [literal, *[self._item(a, v) for a, v in node.terms]]

    def _compared(self, tag: Hashable, variables: Sequence[int]) -> list[Item]:
        """Variables compared with each other; a fixed one is its value's name where values are names."""
        lo, hi = self._box.lo, self._box.hi
        named = next((v for v in variables if v in self._group), None)
        if named is None:
            return [self._item(tag, v) for v in variables]
        return [
            self._item("value", self._value(named, lo[v])) if lo[v] == hi[v] else self._item(tag, v)
            for v in variables
        ]

    def _different(self, node: c.AllDifferent | c.AllDifferentBounds | c.AllDifferentDomain) -> Fact:
        if all((a, b) == (1, 0) for a, _, b in node.views):
            return "different", self._compared("x", [v for _, v, _ in node.views])
        return "different", [self._item((a, b), v) for a, v, b in node.views]

    def _clause(self, node: c.Clause) -> Fact:
        return "clause", [self._item(literal & 1, literal >> 1) for literal in node.literals]

    def _tasks(self, node: c.NoOverlap) -> Fact:
        tasks = zip(node.starts, node.durations, strict=True)
        return "tasks", [self._item("task", s, d) for s, d in tasks]

    def _shared(self, node: c.Cumulative) -> Fact:
        tasks = zip(node.starts, node.durations, node.demands, strict=True)
        return "shared", [self._item("all", node.capacity), *[self._item("task", *task) for task in tasks]]

    def _product(self, node: c.Product) -> Fact:
        return "product", [self._item("x", node.x), self._item("x", node.y), self._item("z", node.z)]

    def _extreme(self, node: c.Maximum | c.Minimum) -> Fact:
        return type(node).__name__, [self._item("z", node.z), *[self._item("x", x) for x in node.xs]]

    def _cardinality(self, node: c.Cardinality) -> Fact:
        pairs = list(zip(node.values, node.counts, strict=True))
        named = next((x for x in node.variables if x in self._group), None)
        kind = ("count", node.closed)
        if named is None:
            return kind, [
                *[self._item("x", x) for x in node.variables],
                *[self._item(("count", value), count) for value, count in pairs],
            ]
        return kind, [
            *self._compared("x", node.variables),
            *[self._item("count", self._value(named, value), count) for value, count in pairs],
        ]


def ceilings_of(propagators: Sequence[c.Propagator], goal: tuple[int, str] | None) -> set[int]:
    """The goal, where it is to be small and only stands above others: names are then as few as needed.

    Of solutions that differ in names alone, a best one is then left; those that are worse may all be lost.
    """
    if goal is None or goal[1] != "min":
        return set()
    (z, _) = goal
    for node in propagators:
        if z not in node.scope():
            continue
        if isinstance(node, c.Maximum) and node.z == z and z not in node.xs:
            continue
        if not (isinstance(node, c.LinearLe) and _is_below(node, z)):
            return set()
    return {z}


def key_of(fact: Fact, moved: Mapping[int, int] | None = None) -> Hashable:
    """The key of a fact with some vertices replaced by others."""
    kind, items = fact
    if moved:
        get = moved.get
        items = [(tag, tuple([get(v, v) for v in vertices])) for tag, vertices in items]
    return kind, frozenset(Counter(items).items())


def _is_difference(terms: Sequence[tuple[int, int]], bound: int) -> bool:
    """Whether a sum is ``x - y``, compared with 0."""
    return bound == 0 and len(terms) == 2 and terms[0][0] == -terms[1][0] and terms[0][1] != terms[1][1]


def _is_below(node: c.LinearLe, z: int) -> bool:
    """Whether a constraint is ``x <= z``."""
    return _is_difference(node.terms, node.bound) and (-1, z) in node.terms


_MADE: Rules[ColouredStructure, Fact] = Rules(
    "symmetries",
    {
        (c.LinearEq, c.LinearLe, c.LinearNe): ColouredStructure._sum,
        (c.LinearLeIf, c.LinearEqIf): ColouredStructure._sum_if,
        c.Clause: ColouredStructure._clause,
        c.DIFFERENT: ColouredStructure._different,
        c.NoOverlap: ColouredStructure._tasks,
        c.Cumulative: ColouredStructure._shared,
        c.Product: ColouredStructure._product,
        (c.Maximum, c.Minimum): ColouredStructure._extreme,
        c.Cardinality: ColouredStructure._cardinality,
    },
    rest="like none but itself",
)
