"""The coefficients of a linear cell, h' = a h + b, taken from its equations, of one state or of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kerneltune.cells.equations import Equations
from kerneltune.cells.graph import SPECIAL, Graph, Node, behind

if TYPE_CHECKING:
    from kerneltune.cells.derivation import Derivation

Kind = Literal["real", "complex", "diagonal", "square"]


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
        return factors_of([self.a])


def factors_of(values: Sequence[Node]) -> frozenset[int]:
    """The gates that values are sums, products or quotients of."""
    found, open_ = set(), [*values]
    while open_:
        node = open_.pop()
        if node.op == "input":
            found.add(int(node.value))
        elif node.op in ("add", "sub", "mul", "neg", "div"):
            open_ += node.args
    return frozenset(found)


@dataclass(frozen=True)
class Links:
    """The step of what a cell carries, s' = A s + b, where that is linear with A and b of inputs and weights.

    Attributes:
        carried: The numbers of the states that a step reads.
        rows: A, a row for each of them.
        b: The rest, likewise.
    """

    carried: tuple[int, ...]
    rows: tuple[tuple[Node, ...], ...]
    b: tuple[Node, ...]

    @property
    def kind(self) -> Kind:
        """A number, a complex number, numbers that do not see each other, or a matrix."""
        if len(self.carried) == 1:
            return "real"
        places = range(len(self.carried))
        if all(_is_zero(self.rows[i][j]) for i in places for j in places if i != j):
            return "diagonal"
        (first, second), *rest = self.rows if len(self.carried) == 2 else ((None, None),)
        return "complex" if rest and rest[0][1] is first and _are_opposite(second, rest[0][0]) else "square"

    @property
    def factor(self) -> str:
        """The struct of `kernels/scan/common/factors.cuh`."""
        count = len(self.carried)
        named = {"diagonal": f"DiagonalFactor<{count}>", "square": f"SquareFactor<{count}>"}
        return named.get(self.kind, f"{self.kind.capitalize()}Factor")

    @property
    def numbers(self) -> tuple[Node, ...]:
        """The numbers of A that the struct has."""
        if self.kind == "complex":
            return self.rows[0][0], self.rows[1][0]
        if self.kind == "diagonal":
            return tuple(row[place] for place, row in enumerate(self.rows))
        return tuple(number for row in self.rows for number in row)


def adds_its_last_array(derivation: Derivation) -> bool:
    """Whether b of a linear cell is the last array as it is, and a reads nothing of that array."""
    if (links := derivation.array_links) is not None:
        a, b = links.numbers, links.b
    elif (found := derivation.coefficients) is not None:
        a, b = (found.a,), (found.b,)
    else:
        return False
    last = derivation.equations.input_arrays[-1]

    def is_of_last(node: Node) -> bool:
        return node.op == "input" and last.first <= node.value < last.first + last.width

    return all(map(is_of_last, b)) and not any(map(is_of_last, behind(a)))


def _is_zero(node: Node) -> bool:
    return node.op == "constant" and node.value == 0.0


def _are_opposite(a: Node | None, b: Node) -> bool:
    return a is not None and ((a.op == "neg" and a.args[0] is b) or (b.op == "neg" and b.args[0] is a))


def coefficients(equations: Equations) -> Coefficients:
    """The coefficients of a cell of one state that is linear in it (`Structure.kind`)."""
    found = links(equations, (0,))
    return Coefficients(found.rows[0][0], found.b[0])


def links(equations: Equations, carried: Sequence[int]) -> Links:
    """The step of some states that is linear in them, and reads no other one."""
    graph = equations.graph
    zero = graph.constant(0.0)
    parts: dict[Node, tuple[Node, ...]] = {}  # the coefficient of each state, and the rest
    for node in behind([equations.after[state] for state in carried]):
        args = [parts[arg] for arg in node.args]
        if node.op == "before":
            ones = (graph.constant(1.0) if state == int(node.value) else zero for state in carried)
            parts[node] = (*ones, zero)
        elif all(_is_free(arg) for arg in args):
            parts[node] = (*(zero for _ in carried), node)
        else:
            parts[node] = _of(graph, node, args)
    found = [parts[equations.after[state]] for state in carried]
    return Links(tuple(carried), tuple(one[:-1] for one in found), tuple(one[-1] for one in found))


def _is_free(parts: tuple[Node, ...]) -> bool:
    """Whether a value has no state in it."""
    return all(map(_is_zero, parts[:-1]))


def _of(graph: Graph, node: Node, args: list[tuple[Node, ...]]) -> tuple[Node, ...]:
    """A value's parts, from those of its operands, of which one or two have states."""
    if node.op in ("add", "sub"):
        joined = _sum if node.op == "add" else _difference
        return tuple(joined(graph, x, y) for x, y in zip(*args, strict=True))
    if node.op == "neg":
        return tuple(_difference(graph, graph.constant(0.0), one) for one in args[0])
    if node.op == "mul":
        parts, (*_, factor) = args if not _is_free(args[0]) else reversed(args)
        return tuple(one if _is_zero(one) else graph.mul(one, factor) for one in parts)
    if node.op == "div":
        parts, (*_, divisor) = args
        return tuple(one if _is_zero(one) else graph.div(one, divisor) for one in parts)
    if node.op == "select":
        (*_, met), *branches = args
        return tuple(
            one if one is other else graph.apply("select", met, one, other)
            for one, other in zip(*branches, strict=True)
        )
    raise AssertionError(f"{node} is not linear in a state")


def _sum(graph: Graph, x: Node, y: Node) -> Node:
    """The sum; x - y where y is the negative of a value."""
    if _is_zero(x) or _is_zero(y):
        return y if _is_zero(x) else x
    if y.op == "neg":
        return graph.sub(x, y.args[0])
    return graph.sub(y, x.args[0]) if x.op == "neg" else graph.add(x, y)


def _difference(graph: Graph, x: Node, y: Node) -> Node:
    """The difference; the negative of y where x is zero."""
    if _is_zero(x) or _is_zero(y):
        return graph.neg(y) if _is_zero(x) and not _is_zero(y) else x
    return _sum(graph, x, graph.neg(y)) if y.op == "neg" else graph.sub(x, y)
