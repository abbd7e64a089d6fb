"""Reordering the variables of diagrams by exchanging neighbouring layers.

Nothing is listed: an exchange visits the paths through two layers only. This is the exchange of neighbouring
variables of Rudell, "Dynamic variable ordering for ordered binary decision diagrams" (1993), for layers of
values instead of bits. The size in the new order is unknown in advance: a budget limits it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from constrint.diagrams.diagram import Diagram, Layer
from constrint.diagrams.layers import EdgeBudget
from constrint.diagrams.merge import equal_nodes, merged
from constrint.diagrams.terms import Array


def reordered(diagram: Diagram, order: Sequence[int], budget: EdgeBudget) -> Diagram:
    """The same solutions with the variables in another order; raises `TooLargeDiagram` beyond the budget."""
    if tuple(order) == diagram.variables:
        return diagram
    variables = list(diagram.variables)
    layers = list(merged(diagram).layers)
    for place, variable in enumerate(order):
        for k in range(variables.index(variable), place, -1):
            layers[k - 1], layers[k] = _exchanged(layers[k - 1], layers[k], budget)
            variables[k - 1], variables[k] = variables[k], variables[k - 1]
    return Diagram.of_layers(variables, layers)


def _exchanged(upper: Layer, lower: Layer, budget: EdgeBudget) -> tuple[Layer, Layer]:
    """Two neighbouring layers in the other order."""
    degree = np.diff(lower.first)[upper.target]
    rows = int(degree.sum(dtype=np.int64))
    budget.spend(0, rows)
    below = _edges_below(lower, upper.target, degree)
    source = np.repeat(upper.sources(), degree)
    values, codes = np.unique(lower.value, return_inverse=True)
    key = source * len(values) + codes[below]
    # Rows are sorted by node, upper and lower value; sorting stably by node and lower value keeps upper
    # values ascending.
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
    middle = Layer(np.append(starts, rows), np.repeat(upper.value, degree)[order], lower.target[below[order]])
    ids, kept = equal_nodes(middle)
    budget.spend(len(kept.value), 0)
    first = np.searchsorted(key[starts] // len(values), np.arange(upper.nodes + 1))
    return Layer(first, values[key[starts] % len(values)], ids), kept


def _edges_below(lower: Layer, targets: Array, degree: Array) -> Array:
    """The edges of each of some nodes of a layer, one after the other."""
    ends = np.cumsum(degree, dtype=np.int64)
    return np.asarray(np.arange(int(ends[-1])) + np.repeat(lower.first[targets] - (ends - degree), degree))


def projected(diagram: Diagram, variables: Sequence[int], budget: EdgeBudget) -> Diagram:
    """The distinct values of some variables, in the diagram's order; raises `TooLargeDiagram` over budget."""
    kept = [v for v in diagram.variables if v in variables]
    moved = reordered(diagram, [*kept, *[v for v in diagram.variables if v not in variables]], budget)
    layers = list(moved.layers[: len(kept)])
    last = layers[-1]
    layers[-1] = Layer(last.first, last.value, np.zeros(len(last.target), dtype=np.int32))
    return merged(Diagram.of_layers(kept, layers))
