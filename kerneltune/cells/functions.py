"""The functions of the language: how each is built from a graph's operations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from kerneltune.cells.graph import Graph, Node


@dataclass(frozen=True)
class Function:
    """A function of the language.

    Attributes:
        least: The least number of arguments.
        most: The most.
        build: Its value in a graph.
        flat: Whether its derivative is 0 wherever there is one, so that an equation must give a slope.
    """

    least: int
    most: int
    build: Callable[..., Node]
    flat: bool = False


def _operation(op: str) -> Callable[..., Node]:
    return lambda graph, *args: graph.apply(op, *args)


def _folded(op: str) -> Callable[..., Node]:
    def build(graph: Graph, first: Node, *others: Node) -> Node:
        for other in others:
            first = graph.apply(op, first, other)
        return first

    return build


def _clip(graph: Graph, x: Node, least: Node, most: Node) -> Node:
    return graph.apply("min", graph.apply("max", x, least), most)


def _silu(graph: Graph, x: Node) -> Node:
    return graph.mul(x, graph.apply("sigmoid", x))


def _gelu(graph: Graph, x: Node) -> Node:
    """The exact one: x times the normal distribution's function."""
    scaled = graph.mul(x, graph.constant(math.sqrt(0.5)))
    share = graph.add(graph.mul(graph.apply("erf", scaled), graph.constant(0.5)), graph.constant(0.5))
    return graph.mul(x, share)


FUNCTIONS: dict[str, Function] = {
    **{name: Function(1, 1, _operation(name)) for name in ("sigmoid", "tanh", "relu", "exp", "log")},
    **{name: Function(1, 1, _operation(name)) for name in ("softplus", "abs", "sqrt")},
    "sign": Function(1, 1, _operation("sign"), flat=True),
    "gelu": Function(1, 1, _gelu),
    "silu": Function(1, 1, _silu),
    "min": Function(2, 8, _folded("min")),
    "max": Function(2, 8, _folded("max")),
    "clip": Function(3, 3, _clip),
    "where": Function(3, 3, _operation("where")),
}
"""`where` takes a comparison first."""
