"""Estimates: the parts that `decompose` makes of a constraint, and the mean cost of its propagation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from constrint import propagators as c
from constrint.engine.state_arrays import Box
from constrint.propagators.handlers import Handlers
from constrint.settings import LearningSettings

# A propagation as cheap as that of a clause reads so many cells of a table, or variables of these kinds.
CELLS_OF_UNIT, VARIABLES_OF_UNIT, DEAREST = 50, 6, 40.0
DISJUNCTION = 3  # a clause and two conditional sums


def parts(node: c.Propagator, box: Box, rules: LearningSettings) -> int:
    """The number of clauses and sums, and of cells of long ones.

    All-different counts as if by pairs: where it abounds, branching is good for longer.
    """
    scope = [v for v in node.scope() if box.lo[v] < box.hi[v]]
    return _PARTS[type(node)](node, scope, box, rules)


def _disjunctions(tasks: Sequence[int]) -> int:
    return DISJUNCTION * len(tasks) * (len(tasks) - 1) // 2


def _shared(node: c.Cumulative, scope: list[int], box: Box, rules: LearningSettings) -> int:
    known = all(box.lo[v] == box.hi[v] for v in (*node.durations, *node.demands, node.capacity))
    return (1 if known else 4) * DISJUNCTION * len(node.starts) ** 2 // 2


def cost(propagators: Sequence[c.Propagator]) -> float:
    """The mean cost of a propagation of the engine, in propagations of a short sum or clause.

    Each variable of a constraint wakes it.
    """
    total = woken = 0.0
    for node in propagators:
        scope = len(node.scope())
        total += scope * min(_PRICES[type(node)](node, scope), DEAREST)
        woken += scope
    return total / woken if woken else 1.0


def _values(scope: list[int], box: Box, rules: LearningSettings) -> int:
    """The mean number of values."""
    total = 0
    for v in scope:
        listed = box.values[v]
        total += (box.hi[v] - box.lo[v]) // box.step[v] + 1 if listed is None else len(listed)
    return min(rules.most_values, total // max(1, len(scope)))


_PARTS: Handlers[Callable[[Any, list[int], Box, LearningSettings], int]] = Handlers(
    "number of parts",
    {
        c.DIFFERENT: lambda _, scope, *rest: len(scope) * (len(scope) - 1) // 2 * _values(scope, *rest),
        (c.NoOverlap, c.NoOverlapOptional): lambda node, *_: _disjunctions(node.starts),
        c.Rectangles: lambda node, *_: _disjunctions(node.xs),
        c.Cumulative: _shared,
        c.Table: lambda node, scope, *_: len(node.rows) * (1 if len(scope) == 2 else len(scope)),
        (c.Element, c.Cardinality, c.Inverse, c.Circuit, c.Subcircuit): lambda _, scope, *rest: (
            len(scope) * _values(scope, *rest)
        ),
    },
    generic=lambda node, scope, *_: len(scope),
)

_PRICES: Handlers[Callable[[Any, int], float]] = Handlers(
    "cost by branching",
    {
        c.Table: lambda node, scope: 1 + len(node.rows) * scope / CELLS_OF_UNIT,
        c.AllDifferentDomain: lambda node, scope: 1 + scope,
        (
            c.AllDifferent,
            c.AllDifferentBounds,
            c.Arcs,
            c.Cardinality,
            c.Circuit,
            c.Cumulative,
            c.Inverse,
            c.NoOverlap,
            c.NoOverlapOptional,
            c.Rectangles,
            c.Selection,
            c.Subcircuit,
        ): lambda node, scope: 1 + scope / VARIABLES_OF_UNIT,
    },
    generic=lambda node, scope: 1.0,
)
