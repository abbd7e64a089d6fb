"""Estimate of the parts that `decompose` makes of a constraint: the cost of building a learning search."""

from __future__ import annotations

from constrint.engine.build import Box
from constrint.learning.decompose import MOST_VALUES
from constrint.propagators import (
    AllDifferent,
    AllDifferentBounds,
    AllDifferentDomain,
    Cardinality,
    Circuit,
    Cumulative,
    Element,
    Inverse,
    NoOverlap,
    NoOverlapOptional,
    Propagator,
    Rectangles,
    Subcircuit,
    Table,
)

DISJUNCTION = 3  # a clause and two conditional sums


def parts(node: Propagator, box: Box) -> int:
    """The number of clauses and sums, and of cells of long ones."""
    scope = [v for v in node.scope() if box.lo[v] < box.hi[v]]
    n = len(scope)
    if isinstance(node, AllDifferent | AllDifferentBounds | AllDifferentDomain):
        return n * (n - 1) // 2 * _values(scope, box)
    if isinstance(node, NoOverlap | NoOverlapOptional | Rectangles):
        tasks = len(node.xs) if isinstance(node, Rectangles) else len(node.starts)
        return DISJUNCTION * tasks * (tasks - 1) // 2
    if isinstance(node, Cumulative):
        known = all(box.lo[v] == box.hi[v] for v in (*node.durations, *node.demands, node.capacity))
        return (1 if known else 4) * DISJUNCTION * len(node.starts) ** 2 // 2
    if isinstance(node, Table):
        return len(node.rows) * n
    if isinstance(node, Element | Cardinality | Inverse | Circuit | Subcircuit):
        return n * _values(scope, box)
    return n


def _values(scope: list[int], box: Box) -> int:
    """The mean number of values."""
    total = 0
    for v in scope:
        listed = box.values[v]
        total += (box.hi[v] - box.lo[v]) // box.step[v] + 1 if listed is None else len(listed)
    return min(MOST_VALUES, total // max(1, len(scope)))
