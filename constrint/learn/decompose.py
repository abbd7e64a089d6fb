"""Constraints that the learning search takes apart, so that its explanations name few bounds.

A constraint that keeps its own kernel is explained by the bounds of all its variables. For two kinds the
parts explain much better: tasks on one machine become a disjunction for each pair, and variables that all
differ also become a disequality for each pair, beside the kernel where that is stronger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from constrint.constraints import (
    AllDifferent,
    AllDifferentBounds,
    AllDifferentDomain,
    Clause,
    LinearLe,
    LinearLeIf,
    LinearNe,
    Node,
    NoOverlap,
)
from constrint.engine.build import Box
from constrint.presolve import Root

MOST_PARTS = 5000  # a constraint that has more pairs stays as it is


class Decomposition:
    """The nodes and the box of a root in which such constraints are taken apart."""

    def __init__(self, root: Root) -> None:
        box = root.box
        self._lo, self._hi = list(box.lo), list(box.hi)
        self._nodes: list[Node] = []
        for node in root.nodes:
            self._add(node)
        new = len(self._lo) - len(box.lo)
        wider = Box(self._lo, self._hi, [*box.step, *[1] * new], [*box.values, *[None] * new])
        self.root = replace(root, box=wider, nodes=self._nodes)

    def _add(self, node: Node) -> None:
        scope = node.scope()
        is_small = len(scope) * (len(scope) - 1) // 2 <= MOST_PARTS
        if isinstance(node, NoOverlap) and is_small:
            self._take_apart(node)
            return
        if isinstance(node, (AllDifferent, AllDifferentBounds, AllDifferentDomain)) and is_small:
            self._differ(node.views)
            if isinstance(node, AllDifferent):
                return
        self._nodes.append(node)

    def _literal(self) -> int:
        """The literal of a new 0/1 variable."""
        self._lo.append(0)
        self._hi.append(1)
        return 2 * (len(self._lo) - 1)

    def _take_apart(self, node: NoOverlap) -> None:
        """Of any two tasks one ends before the other starts; durations are not negative."""
        tasks = list(zip(node.starts, node.durations, strict=True))
        for _, d in tasks:
            self._nodes.append(LinearLe(((-1, d),), 0))
        for (s, d), (t, e) in combinations(tasks, 2):
            first, second = self._literal(), self._literal()
            self._nodes.append(LinearLeIf(first, *self._sum(((1, s), (1, d), (-1, t)))))
            self._nodes.append(LinearLeIf(second, *self._sum(((1, t), (1, e), (-1, s)))))
            self._nodes.append(Clause((first, second)))

    def _sum(self, terms: Sequence[tuple[int, int]]) -> tuple[tuple[tuple[int, int], ...], int]:
        """Terms and limit of ``sum <= 0``, with what is fixed in the limit and each variable once."""
        limit = 0
        factors: dict[int, int] = {}
        for a, v in terms:
            if self._lo[v] == self._hi[v]:
                limit -= a * self._lo[v]
            else:
                factors[v] = factors.get(v, 0) + a
        return tuple((a, v) for v, a in factors.items() if a), limit

    def _differ(self, views: Sequence[tuple[int, int, int]]) -> None:
        """No two views are equal."""
        for (a, x, b), (c, y, d) in combinations(views, 2):
            self._nodes.append(LinearNe(((a, x), (-c, y)), d - b))
