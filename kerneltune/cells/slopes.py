"""Derivatives of single operations by their operands, from the operation's value where that is enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from kerneltune.cells.graph import Graph, Node


@dataclass(frozen=True)
class Factor:
    """A factor of a gradient.

    Attributes:
        kind: `times` a value; `if` or `unless` a condition is met, else 0; or `negated`.
        node: The value or the condition.
    """

    kind: Literal["times", "if", "unless", "negated"]
    node: Node | None = None


Factors = tuple[Factor, ...]
Rule = Callable[[Graph, Node], list[Factors]]
NEGATED = Factor("negated")


def slopes(graph: Graph, node: Node) -> list[Factors]:
    """For each operand, the factors by which the gradient by the node becomes the one by the operand."""
    return _RULES[node.op](graph, node)


def _times(*nodes: Node) -> Factors:
    return tuple(Factor("times", node) for node in nodes)


def _mul(_: Graph, node: Node) -> list[Factors]:
    a, b = node.args
    return [_times(b), _times(a)]


def _div(graph: Graph, node: Node) -> list[Factors]:
    reciprocal = graph.div(graph.constant(1.0), node.args[1])
    return [_times(reciprocal), (*_times(reciprocal, node), NEGATED)]


def _of_value(op: str) -> Rule:
    """A slope that the operation's value gives."""
    return lambda graph, node: [_times(graph.apply(op, node))]


def _of_operand(op: str) -> Rule:
    return lambda graph, node: [_times(graph.apply(op, node.args[0]))]


def _softplus(graph: Graph, node: Node) -> list[Factors]:
    """The sigmoid of the operand; that of -y is 1 - sigmoid(y), where sigmoid(y) is computed anyway."""
    (x,) = node.args
    opposite = graph.known("sigmoid", x.args[0]) if x.op == "neg" else None
    if opposite is None:
        return [_times(graph.apply("sigmoid", x))]
    return [_times(graph.sub(graph.constant(1.0), opposite))]


def _exp(_: Graph, node: Node) -> list[Factors]:
    return [_times(node)]


def _log(graph: Graph, node: Node) -> list[Factors]:
    return [_times(graph.div(graph.constant(1.0), node.args[0]))]


def _sqrt(graph: Graph, node: Node) -> list[Factors]:
    return [_times(graph.div(graph.constant(0.5), node))]


def _erf(graph: Graph, node: Node) -> list[Factors]:
    x = node.args[0]
    bell = graph.apply("exp", graph.neg(graph.mul(x, x)))
    return [_times(graph.mul(bell, graph.constant(2.0 / math.sqrt(math.pi))))]


def _relu(graph: Graph, node: Node) -> list[Factors]:
    return [(Factor("unless", graph.apply("not_above_zero", node)),)]


def _min(graph: Graph, node: Node) -> list[Factors]:
    a, b = node.args
    met = graph.apply("at_least", b, a)
    return [(Factor("if", met),), (Factor("unless", met),)]


def _max(graph: Graph, node: Node) -> list[Factors]:
    a, b = node.args
    met = graph.apply("at_least", a, b)
    return [(Factor("if", met),), (Factor("unless", met),)]


def _select(_: Graph, node: Node) -> list[Factors]:
    met = node.args[0]
    return [(), (Factor("if", met),), (Factor("unless", met),)]


def _surrogate(_: Graph, node: Node) -> list[Factors]:
    return [(), _times(node.args[2]), ()]


_RULES: dict[str, Rule] = {
    "add": lambda graph, node: [(), ()],
    "sub": lambda graph, node: [(), (NEGATED,)],
    "neg": lambda graph, node: [(NEGATED,)],
    "mul": _mul,
    "div": _div,
    "tanh": _of_value("tanh_slope"),
    "sigmoid": _of_value("sigmoid_slope"),
    "softplus": _softplus,
    "exp": _exp,
    "log": _log,
    "sqrt": _sqrt,
    "erf": _erf,
    "abs": _of_operand("sign"),
    "relu": _relu,
    "max": _max,
    "min": _min,
    "select": _select,
    "surrogate": _surrogate,
}
DIFFERENTIATED = {"surrogate": (1,), "select": (1, 2)}
"""The operands that gradients reach, where not all."""
