"""The graph of a cell's values. Equal values are one node; nodes stand after what they are computed from."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

LEAVES = ("total", "input", "product", "before", "weight", "constant", "seed")
"""Operations without operands. Of a gate, `total` is W x + R h + b, `input` W x and `product` R h + b;
`before` is a state before the step, `seed` the gradient by a state after it."""
COMMUTATIVE = ("add", "mul")
COMPARISONS = ("at_least", "greater")
CONDITIONS = (*COMPARISONS, "not_above_zero")
SPECIAL = ("div", "tanh", "sigmoid", "exp", "log", "sqrt", "softplus", "erf")
"""Operations that take a special-function instruction."""


@dataclass(frozen=True, eq=False)
class Node:
    """A value.

    Attributes:
        index: Its place in the graph.
        op: The operation.
        args: The operands.
        value: Of a constant its number, of another leaf the number of the gate, state or weight.
    """

    index: int
    op: str
    args: tuple[Node, ...] = ()
    value: float = 0

    def __repr__(self) -> str:
        inside = ", ".join(f"#{arg.index}" for arg in self.args) if self.args else f"{self.value:g}"
        return f"#{self.index} = {self.op}({inside})"


class Graph:
    """Nodes in an order in which they can be computed.

    Attributes:
        factors_first: Whether factors are multiplied with each other before the known gradient is, as
            in scans, where they are computed while it is waited for.
    """

    def __init__(self) -> None:
        self.factors_first = False
        self.nodes: list[Node] = []
        self._known: dict[tuple[object, ...], Node] = {}
        self._lateness: list[int] = []

    def constant(self, value: float) -> Node:
        """A number."""
        return self._made("constant", (), float(value))

    def leaf(self, kind: str, number: int) -> Node:
        """A gate's sum or part, a state before the step, a weight or a known gradient."""
        return self._made(kind, (), number)

    def add(self, a: Node, b: Node) -> Node:
        """The sum of two values."""
        if _is(a, 0.0) or _is(b, 0.0):
            return b if _is(a, 0.0) else a
        return self._of_numbers("add", a, b) or self._made("add", (a, b))

    def sub(self, a: Node, b: Node) -> Node:
        """The difference of two values."""
        if _is(b, 0.0):
            return a
        return self._of_numbers("sub", a, b) or self._made("sub", (a, b))

    def mul(self, a: Node, b: Node) -> Node:
        """The product of two values."""
        if _is(a, 1.0) or _is(b, 1.0):
            return b if _is(a, 1.0) else a
        if _is(a, -1.0) or _is(b, -1.0):
            return self.neg(b if _is(a, -1.0) else a)
        return self._of_numbers("mul", a, b) or self._made("mul", (a, b))

    def div(self, a: Node, b: Node) -> Node:
        """The quotient of two values; by a number it is a product."""
        if b.op == "constant" and b.value != 0.0:
            return self.mul(a, self.constant(1.0 / b.value))
        return self._made("div", (a, b))

    def neg(self, a: Node) -> Node:
        """The value with the other sign."""
        if a.op == "neg":
            return a.args[0]
        return self.constant(-a.value) if a.op == "constant" else self._made("neg", (a,))

    def apply(self, op: str, *args: Node) -> Node:
        """The value of any other operation."""
        return self._made(op, args)

    def power(self, base: Node, exponent: int) -> Node:
        """An integer power, by repeated squaring."""
        if exponent < 0:
            return self.div(self.constant(1.0), self.power(base, -exponent))
        result, square = self.constant(1.0), base
        while exponent:
            if exponent % 2:
                result = self.mul(result, square)
            exponent //= 2
            if exponent:
                square = self.mul(square, square)
        return result

    def known(self, op: str, *args: Node) -> Node | None:
        """The value of an operation without a number, if it is in the graph."""
        return self._known.get(self._key(op, args, 0))

    def lateness(self, node: Node) -> int:
        """How many operations a value is behind the known gradients; 0 if it is one, or without them."""
        late = self._lateness
        for one in self.nodes[len(late) :]:
            behind_seed = [late[arg.index] for arg in one.args if late[arg.index] or arg.op == "seed"]
            late.append(max(behind_seed) + (one.op != "neg") if behind_seed else 0)
        return late[node.index]

    def _of_numbers(self, op: str, a: Node, b: Node) -> Node | None:
        if a.op != "constant" or b.op != "constant":
            return None
        value = {"add": a.value + b.value, "sub": a.value - b.value, "mul": a.value * b.value}[op]
        return self.constant(value) if math.isfinite(value) else None

    def _made(self, op: str, args: tuple[Node, ...], value: float = 0) -> Node:
        key = self._key(op, args, value)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Node(len(self.nodes), op, args, value)
            self.nodes.append(found)
        return found

    @staticmethod
    def _key(op: str, args: tuple[Node, ...], value: float) -> tuple[object, ...]:
        operands = [arg.index for arg in args]
        return (op, *(sorted(operands) if op in COMMUTATIVE else operands), math.copysign(1.0, value), value)


def _is(node: Node, value: float) -> bool:
    return node.op == "constant" and node.value == value


def behind(results: Iterable[Node], known: Iterable[Node] = ()) -> list[Node]:
    """The values behind results, themselves included, in order; what is known is not taken apart."""
    given = set(known)
    found: set[Node] = set()
    open_nodes = list(results)
    while open_nodes:
        node = open_nodes.pop()
        if node not in found:
            found.add(node)
            if node not in given:
                open_nodes += node.args
    return sorted(found, key=lambda node: node.index)
