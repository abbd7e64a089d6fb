"""Bounds by circuits and routes: chains that may not close, nodes that are not reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeAlias

from constrint.verification.bounds import Atom, Bounds, Contradiction, literal_atom, opposite

Literals: TypeAlias = Mapping[tuple[int, int], Atom]
"""The atom of ``v == value``."""


def literals(constraints: Iterable[tuple[str, Any]]) -> Literals:
    """The literals that stand for a value of a variable."""
    found: dict[tuple[int, int], Atom] = {}
    for name, given in constraints:
        if name == "LinearEqIf" and len(given["terms"]) == 1:
            ((a, v),) = given["terms"]
            if given["bound"] % a == 0:
                found.setdefault((v, given["bound"] // a), literal_atom(given["literal"]))
    return found


class OpenArcs(Protocol):
    """A graph whose arcs are still open, taken or excluded.

    Attributes:
        count: The number of nodes.
        may_leave_out: Whether an arc from a node to itself leaves it out.
        depot: The node where all routes begin and end; None for a circuit.
    """

    count: int
    may_leave_out: bool
    depot: int | None

    def is_out(self, tail: int, head: int) -> bool:
        """Whether an arc is excluded."""

    def exclude(self, tail: int, head: int) -> None:
        """Exclude an arc; raises `Contradiction` where it is taken."""


class ArcsOfSuccessors:
    """The graph of `circuit` and `subcircuit`, of which the arcs are values of successors."""

    def __init__(
        self, bounds: Bounds, successors: list[int], known: Literals, *, may_leave_out: bool
    ) -> None:
        self.count = len(successors)
        self.may_leave_out = may_leave_out
        self.depot: int | None = None
        self._bounds, self._successors, self._known = bounds, successors, known

    def is_out(self, tail: int, head: int) -> bool:
        """Whether the successor of the tail cannot be the head."""
        key = self._successors[tail], head
        return not self._bounds.may_be(*key) or (
            key in self._known and self._bounds.is_false(self._known[key])
        )

    def exclude(self, tail: int, head: int) -> None:
        """Take the head from the successors of the tail, where a literal stands for that."""
        if self.is_out(tail, head):
            return
        v = self._successors[tail]
        if self._bounds.low[v] == self._bounds.high[v]:
            raise Contradiction
        if (v, head) in self._known:
            self._bounds.assume(opposite(self._known[v, head]))


class ArcsOfLiterals:
    """The graph of arcs with literals."""

    def __init__(self, bounds: Bounds, arguments: Mapping[str, Any]) -> None:
        self.count = arguments["count"]
        self.may_leave_out = True
        self.depot: int | None = arguments["depot"] if arguments["depot"] >= 0 else None
        self._bounds = bounds
        ends = zip(arguments["tails"], arguments["heads"], arguments["literals"], strict=True)
        self._atoms = {(tail, head): literal_atom(one) for tail, head, one in ends}

    def is_out(self, tail: int, head: int) -> bool:
        """Whether there is no such arc, or its literal is false."""
        atom = self._atoms.get((tail, head))
        return atom is None or self._bounds.is_false(atom)

    def exclude(self, tail: int, head: int) -> None:
        """Make the literal of an arc false."""
        if not self.is_out(tail, head):
            self._bounds.assume(opposite(self._atoms[tail, head]))


def go_round(graph: OpenArcs) -> None:
    """Exclude the arcs that close a chain too early; raises `Contradiction` where a node is not reached."""
    nodes = range(graph.count)
    after = {}
    for i in nodes:
        possible = [j for j in nodes if not graph.is_out(i, j)]
        if not possible and i != graph.depot:
            raise Contradiction
        if len(possible) == 1 and graph.depot not in (i, possible[0]):
            after[i] = possible[0]
    needed = [i for i in nodes if not graph.may_leave_out or i == graph.depot or graph.is_out(i, i)]
    for start in nodes:
        chain = [start]
        while chain[-1] in after and after[chain[-1]] not in chain:
            chain.append(after[chain[-1]])
        off = set(needed) - set(chain)
        if off and (len(chain) > 1 or not graph.may_leave_out):
            graph.exclude(chain[-1], start)
        if graph.may_leave_out and len(chain) > 1 and after.get(chain[-1]) == start:
            for i in set(nodes) - set(chain):
                for j in set(nodes) - {i}:
                    graph.exclude(i, j)
    for forward in (True, False):
        reached = needed[:1]
        for i in reached:
            reached += [
                j
                for j in nodes
                if j not in reached and not (graph.is_out(i, j) if forward else graph.is_out(j, i))
            ]
        if not set(needed) <= set(reached):
            raise Contradiction
