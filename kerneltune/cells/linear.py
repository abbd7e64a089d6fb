"""The coefficients of a linear cell, h' = a h + b, taken from its equations."""

from __future__ import annotations

from dataclasses import dataclass

from kerneltune.cells.equations import Equations
from kerneltune.cells.graph import SPECIAL, Graph, Node, behind


@dataclass(frozen=True)
class Coefficients:
    """The step of a cell of one state as h' = a h + b.

    Attributes:
        a: The factor, a value of inputs alone.
        b: The rest, likewise.
    """

    a: Node
    b: Node

    @property
    def computes(self) -> bool:
        """Whether they take special functions, so that they are worth keeping."""
        return any(node.op in SPECIAL for node in behind([self.a, self.b]))

    @property
    def factors(self) -> frozenset[int]:
        """The gates that a is a sum, product or quotient of: a is as large as they are."""
        found, open_ = set(), [self.a]
        while open_:
            node = open_.pop()
            if node.op == "input":
                found.add(int(node.value))
            elif node.op in ("add", "sub", "mul", "neg", "div"):
                open_ += node.args
        return frozenset(found)


def coefficients(equations: Equations) -> Coefficients:
    """The coefficients of a cell of one state that is linear in it (`Structure.kind`)."""
    graph = equations.graph
    (after,) = equations.after
    zero = graph.constant(0.0)
    parts: dict[Node, tuple[Node, Node]] = {}
    for node in behind([after]):
        if node.op == "before":
            parts[node] = graph.constant(1.0), zero
        elif all(parts[arg][0] is zero for arg in node.args):
            parts[node] = zero, node
        else:
            parts[node] = _of(graph, node, [parts[arg] for arg in node.args])
    return Coefficients(*parts[after])


def _of(graph: Graph, node: Node, args: list[tuple[Node, Node]]) -> tuple[Node, Node]:
    """A value as (a, b), from its operands, of which one has a state."""
    zero = graph.constant(0.0)
    if node.op == "add":
        return _sum(graph, args[0][0], args[1][0]), _sum(graph, args[0][1], args[1][1])
    if node.op == "sub":
        return _difference(graph, args[0][0], args[1][0]), _difference(graph, args[0][1], args[1][1])
    if node.op == "neg":
        return graph.neg(args[0][0]), _difference(graph, zero, args[0][1])
    if node.op == "mul":
        (a, b), (_, factor) = args if args[0][0] is not zero else reversed(args)
        return graph.mul(a, factor), zero if b is zero else graph.mul(b, factor)
    if node.op == "div":
        (a, b), (_, divisor) = args
        return graph.div(a, divisor), zero if b is zero else graph.div(b, divisor)
    if node.op == "select":
        (_, met), *branches = args
        first, second = zip(*branches, strict=True)
        return graph.apply("select", met, *first), graph.apply("select", met, *second)
    raise AssertionError(f"{node} is not linear in a state")


def _sum(graph: Graph, x: Node, y: Node) -> Node:
    """The sum; x - y where y is the negative of a value."""
    if y.op == "neg":
        return graph.sub(x, y.args[0])
    return graph.sub(y, x.args[0]) if x.op == "neg" else graph.add(x, y)


def _difference(graph: Graph, x: Node, y: Node) -> Node:
    """The difference; the negative of y where x is zero."""
    if x.op == "constant" and x.value == 0:
        return y if y.op == "constant" and y.value == 0 else graph.neg(y)
    return _sum(graph, x, graph.neg(y)) if y.op == "neg" else graph.sub(x, y)
