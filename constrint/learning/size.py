"""Estimates: the parts that `decompose` makes of a constraint, and the cost of a propagation by branching."""

from __future__ import annotations

from collections.abc import Sequence

from constrint.engine.state_arrays import Box
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
    Selection,
    Subcircuit,
    Table,
)
from constrint.settings import LearningSettings

# A propagation as cheap as that of a clause looks at so many cells of a table, or variables of these kinds.
CELLS_OF_UNIT, VARIABLES_OF_UNIT, DEAREST = 50, 6, 40.0
WIDE = (
    AllDifferent,
    AllDifferentBounds,
    Cardinality,
    Circuit,
    Cumulative,
    Inverse,
    NoOverlap,
    NoOverlapOptional,
    Rectangles,
    Selection,
    Subcircuit,
)
DISJUNCTION = 3  # a clause and two conditional sums


def parts(node: Propagator, box: Box, rules: LearningSettings) -> int:
    """The number of clauses and sums, and of cells of long ones.

    All-different counts as if by pairs: where it abounds, branching is good for longer.
    """
    scope = [v for v in node.scope() if box.lo[v] < box.hi[v]]
    n = len(scope)
    if isinstance(node, AllDifferent | AllDifferentBounds | AllDifferentDomain):
        return n * (n - 1) // 2 * _values(scope, box, rules)
    if isinstance(node, NoOverlap | NoOverlapOptional | Rectangles):
        tasks = len(node.xs) if isinstance(node, Rectangles) else len(node.starts)
        return DISJUNCTION * tasks * (tasks - 1) // 2
    if isinstance(node, Cumulative):
        known = all(box.lo[v] == box.hi[v] for v in (*node.durations, *node.demands, node.capacity))
        return (1 if known else 4) * DISJUNCTION * len(node.starts) ** 2 // 2
    if isinstance(node, Table):
        return len(node.rows) * (1 if n == 2 else n)
    if isinstance(node, Element | Cardinality | Inverse | Circuit | Subcircuit):
        return n * _values(scope, box, rules)
    return n


def cost(propagators: Sequence[Propagator]) -> float:
    """The mean cost of a propagation of the engine, in propagations of a short sum or clause.

    Each variable of a constraint wakes it.
    """
    total = woken = 0.0
    for node in propagators:
        scope = len(node.scope())
        if isinstance(node, Table):
            price = 1 + len(node.rows) * scope / CELLS_OF_UNIT
        elif isinstance(node, AllDifferentDomain):
            price = 1 + scope
        elif isinstance(node, WIDE):
            price = 1 + scope / VARIABLES_OF_UNIT
        else:
            price = 1.0
        total += scope * min(price, DEAREST)
        woken += scope
    return total / woken if woken else 1.0


def _values(scope: list[int], box: Box, rules: LearningSettings) -> int:
    """The mean number of values."""
    total = 0
    for v in scope:
        listed = box.values[v]
        total += (box.hi[v] - box.lo[v]) // box.step[v] + 1 if listed is None else len(listed)
    return min(rules.most_values, total // max(1, len(scope)))
