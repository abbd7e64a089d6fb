"""Dependencies: the variables that the constraints of a root compute, and those left to decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

from constrint import propagators as c
from constrint.engine.state_arrays import Box
from constrint.presolve import Root
from constrint.propagators import Propagator
from constrint.support.deadline import check_deadline

Inputs: TypeAlias = Mapping[int, tuple[tuple[int, int], ...]]
"""For each variable that computes a function, the variables and the signs of that, as lowering notes them."""


class Dependencies:
    """An order of a root's variables in which constraints compute some of them from those before.

    Args:
        root: The root.
        inputs: What each function is a function of, as lowering notes it.
        goal: The objective's variable.

    Attributes:
        box: The domains.
        rules: The settings.
        nodes: The constraints.
        inputs: As given.
        defined: The place of the constraint that computes each variable, in the order in which they follow.
        decided: The variables that none computes.
    """

    def __init__(self, root: Root, inputs: Inputs, goal: int | None) -> None:
        self.box: Box = root.box
        self.rules = root.settings.local_search
        self.nodes: Sequence[Propagator] = root.propagators
        self.inputs = inputs
        self.defined = dict[int, int]()
        self._unknown = {v for v in inputs if not self.is_fixed(v)}
        if goal is not None and not self.is_fixed(goal):
            self._unknown.add(goal)
        self._find_totals()
        self._order()
        count = range(len(self.box.lo))
        self.decided = [v for v in count if v not in self.defined and not self.is_fixed(v)]

    def is_fixed(self, v: int) -> bool:
        """Whether a variable has one value."""
        return self.box.lo[v] == self.box.hi[v]

    def _find_totals(self) -> None:
        """Let equations compute variables that may have any value of the sum of the others."""
        lo, hi = self.box.lo, self.box.hi
        kept = {v for node in self.nodes if isinstance(node, _HOLDERS) for v in node.scope()}
        for node in self.nodes:
            if not isinstance(node, c.LinearEq) or self._computes_input(node):
                continue
            widths = {v: abs(a) * (hi[v] - lo[v]) for a, v in node.terms}
            a, v = max(node.terms, key=lambda term: widths[term[1]])
            low = node.bound - sum(max(b * lo[w], b * hi[w]) for b, w in node.terms if w != v)
            high = node.bound - sum(min(b * lo[w], b * hi[w]) for b, w in node.terms if w != v)
            ends = sorted((a * lo[v], a * hi[v]))
            is_plain = abs(a) == 1 and self.box.values[v] is None and self.box.step[v] == 1
            if is_plain and v not in kept and widths[v] > 1 and ends[0] <= low and high <= ends[1]:
                self._unknown.add(v)

    def _computes_input(self, node: c.LinearEq) -> bool:
        """Whether an equation is what lowering made for a function, or computes a total already."""
        scope = {v for _, v in node.terms}
        for v in self._unknown.intersection(scope):
            given = self.inputs.get(v)
            if given is None or scope.issuperset(w for w, _ in given):
                return True
        return False

    def _order(self) -> None:
        """Choose what each constraint computes, so that nothing depends on itself."""
        nodes = self.nodes
        holders: dict[int, list[int]] = {}
        open_of = [0] * len(nodes)
        for i, node in enumerate(nodes):
            check_deadline()
            for v in self._unknown.intersection(node.scope()):
                holders.setdefault(v, []).append(i)
                open_of[i] += 1
        ready = [i for i, number in enumerate(open_of) if number == 1]
        left = sorted(self._unknown, reverse=True)
        unknown = set(self._unknown)
        while True:
            while ready:
                i = ready.pop()
                if open_of[i] != 1 or type(nodes[i]) not in _OUTPUTS:
                    continue
                (v,) = unknown.intersection(nodes[i].scope())
                if not _OUTPUTS[type(nodes[i])](self, nodes[i], v):
                    continue
                self.defined[v] = i
                self._know(v, unknown, holders, open_of, ready)
            while left and left[-1] not in unknown:
                left.pop()
            if not left:
                return
            check_deadline()
            self._know(left.pop(), unknown, holders, open_of, ready)

    @staticmethod
    def _know(
        v: int, unknown: set[int], holders: dict[int, list[int]], open_of: list[int], ready: list[int]
    ) -> None:
        unknown.discard(v)
        for i in holders.get(v, ()):
            open_of[i] -= 1
            if open_of[i] == 1:
                ready.append(i)

    def _of_sum(self, node: c.LinearEq, v: int) -> bool:
        return sum(w == v for _, w in node.terms) == 1 and any(w == v and abs(a) == 1 for a, w in node.terms)

    def _of_condition(self, node: c.LinearLeIf | c.LinearEqIf, v: int) -> bool:
        return node.literal >> 1 == v and all(w != v for _, w in node.terms)

    def _of_result(self, node: c.Element | c.Selection | c.Product | c.Absolute, v: int) -> bool:
        return node.z == v and sum(w == v for w in node.scope()) == 1

    def _of_extreme(self, node: c.Maximum | c.Minimum, v: int) -> bool:
        return node.z == v and v not in node.xs

    def _of_clause(self, node: c.Clause, v: int) -> bool:
        """Whether a clause is the long one of those by which `v` is a conjunction or disjunction."""
        others = {literal >> 1 for literal in node.literals if literal >> 1 != v}
        given = {w for w, _ in self.inputs.get(v, ()) if not self.is_fixed(w)}
        return len(others) > 1 and others == given and len(node.literals) == len(others) + 1

    def _of_table(self, node: c.Table, v: int) -> bool:
        if not self.is_true(node.literal) or sum(w == v for w in node.variables) != 1:
            return False
        at = node.variables.index(v)
        others = [w for w in node.variables if w != v]
        if len(others) != len(node.variables) - 1 or self.cells(others) > self.rules.most_numbers:
            return False
        keys = [(*row[:at], *row[at + 1 :]) for row in node.rows]
        return len(set(keys)) == len(keys)

    def is_true(self, literal: int) -> bool:
        """Whether a literal is true at the root."""
        v = literal >> 1
        return self.is_fixed(v) and self.box.lo[v] == 1 - (literal & 1)

    def cells(self, variables: Sequence[int]) -> int:
        """The number of combinations of values within the bounds of variables."""
        return prod(self.box.hi[v] - self.box.lo[v] + 1 for v in variables)


_OUTPUTS: dict[type[Propagator], Callable[[Dependencies, Any, int], bool]] = {
    c.LinearEq: Dependencies._of_sum,
    c.LinearLeIf: Dependencies._of_condition,
    c.LinearEqIf: Dependencies._of_condition,
    c.Element: Dependencies._of_result,
    c.Selection: Dependencies._of_result,
    c.Product: Dependencies._of_result,
    c.Absolute: Dependencies._of_result,
    c.Maximum: Dependencies._of_extreme,
    c.Minimum: Dependencies._of_extreme,
    c.Clause: Dependencies._of_clause,
    c.Table: Dependencies._of_table,
}
"""Whether a constraint can compute a variable."""

_HOLDERS = (*c.DIFFERENT, c.Cardinality)
