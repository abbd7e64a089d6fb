"""Values of a graph as arrays: of numpy here, of any other library with its own operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kerneltune.cells.graph import Node, behind

Operations: TypeAlias = Mapping[str, Callable[..., Any]]
_erf = np.frompyfunc(math.erf, 1, 1)


def _sigmoid(x: Any) -> Any:
    return 0.5 * (1.0 + np.tanh(0.5 * x))  # by tanh, so that large arguments do not overflow


OPERATORS: Operations = {
    "not_above_zero": lambda x: x <= 0.0,
    "tanh_slope": lambda y: 1.0 - y * y,
    "sigmoid_slope": lambda y: y * (1.0 - y),
}
"""Operations that Python's operators give for the arrays of every library."""

NUMPY: Operations = {
    **OPERATORS,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "tanh": np.tanh,
    "sigmoid": _sigmoid,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "softplus": lambda x: np.logaddexp(0.0, x),
    "erf": lambda x: np.asarray(_erf(x), np.float64),
    "abs": np.abs,
    "sign": np.sign,
    "relu": lambda x: np.maximum(x, 0.0),
    "max": np.maximum,
    "min": np.minimum,
    "at_least": np.greater_equal,
    "greater": np.greater,
    "select": np.where,
    "surrogate": lambda value, _argument, _slope: value,
}
"""The meaning of each operation."""


def computed(
    results: Iterable[Node],
    known: Mapping[Node, object],
    operations: Operations = NUMPY,
    order: Sequence[Node] | None = None,
) -> dict[Node, Any]:
    """All values behind some results.

    Args:
        results: The results.
        known: Values that are given: the leaves, and others that need not be computed.
        operations: The meaning of each operation.
        order: `behind(results, known)`, if it is at hand.
    """
    found = dict(known)
    for node in behind(results, list(known)) if order is None else order:
        if node not in found:
            found[node] = (
                node.value if node.op == "constant" else operations[node.op](*(found[a] for a in node.args))
            )
    return found


class Gates(NamedTuple):
    """The parts of the gates in a step of a layer, each `[B, H, D]`; empty if no step reads them.

    Attributes:
        input: W x.
        product: R h + b.
        total: Their sum.
    """

    input: Sequence[Any]
    product: Sequence[Any]
    total: Sequence[Any]


def leaf_value(
    node: Node, gates: Gates, states: Any, weights: Any, constant: Callable[[float], Any]
) -> object:
    """The value of a leaf in a step of a layer, as an array of any library.

    Args:
        node: The leaf; not a seed.
        gates: The gates.
        states: The states before the step, each `[B, H, D]`.
        weights: The weights of the units, `[H, P, D]`; None for a cell without.
        constant: Makes a number an array of the library.
    """
    number = int(node.value)
    if node.op == "weight":
        return weights[:, number]
    if node.op == "constant":
        return constant(node.value)
    if node.op == "before":
        return states[number]
    part: Sequence[Any] = getattr(gates, node.op)
    return part[number]
