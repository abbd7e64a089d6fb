"""Pareto fronts by listing: the goals of all solutions of a model, compared in numpy."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from constrint.diagrams.evaluate import Frame, Parts
from constrint.diagrams.layers import EdgeBudget, TooLargeDiagram, planning
from constrint.diagrams.planner import plan_model
from constrint.diagrams.terms import INT64, OBJECT, Array, Term, Unsupported
from constrint.diagrams.translate import Translator
from constrint.errors import LimitError
from constrint.expr import definedness
from constrint.modelling.ownership import check_variables
from constrint.solutions.solutionset import SolutionSet
from constrint.support.deadline import Deadline

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations
    from constrint.modelling.objectives import Goal

MOST_ROWS = 1 << 22  # most solutions that are listed
CHUNK = 1 << 17
MOST_COMPARED = 1 << 31  # most pairs of points that are compared
# Most work for the diagram; beyond it, the front is found by search.
ESTIMATE = 1e8
EDGES = 5_000_000
ROWS = 50_000_000


def planned_front(
    model: Declarations, goals: Sequence[Goal], deadline: float | None
) -> list[dict[str, int]] | None:
    """One solution for each Pareto optimum, as values of all variables; in no particular order.

    None if there are too many solutions, or if the planner cannot list them, for example before the deadline.
    """
    check_variables(model, [expr for expr, _ in goals])
    try:
        with planning(Deadline(None if deadline is None else 0.0, deadline)):
            return _planned(model, goals, deadline)
    except (Unsupported, TooLargeDiagram, LimitError, OverflowError):
        return None


def _planned(
    model: Declarations, goals: Sequence[Goal], deadline: float | None
) -> list[dict[str, int]] | None:
    defined = model.copy()
    for expr, _ in goals:
        defined.add(*definedness(expr))  # a solution in which a goal is undefined does not count
    planner = plan_model(defined)
    built = planner.build(EdgeBudget(EDGES, ROWS, deadline, ESTIMATE))
    if planner.terms is None or not (built or not model.variables):
        return []
    solutions = SolutionSet(list(model.variables), [part.diagram for part in built])
    if solutions.size > MOST_ROWS or not model.variables:
        return None
    numbers = {name: i for i, name in enumerate(model.variables)}
    translator = Translator(planner.terms, numbers)
    terms = [translator.term(expr) for expr, _ in goals]
    if any(term.dtype == OBJECT for term in terms):
        return None
    signs = [1 if direction == "max" else -1 for _, direction in goals]
    return _best(solutions, _Points(terms, signs, Parts(planner.terms)), deadline)


class _Points:
    """The goals of solutions as points; more is better."""

    def __init__(self, terms: Sequence[Term], signs: Sequence[int], parts: Parts) -> None:
        self._terms = terms
        self._signs = signs
        self._parts = parts

    def of(self, columns: Sequence[Array]) -> Array:
        """A row for each solution with the values of the goals, negated for goals that are minimised."""
        own = self._parts.terms
        kept = {own.var(v): column.astype(INT64) for v, column in enumerate(columns)}
        bound = (1 << len(columns)) - 1
        frame = Frame(self._parts, 0, bound, {}, None)
        for term, column in kept.items():
            frame.put(term, column)
        rows = len(columns[0])
        values = [
            np.broadcast_to(np.asarray(frame.value(term)).astype(INT64) * sign, rows)
            for term, sign in zip(self._terms, self._signs, strict=True)
        ]
        return np.stack(values, axis=1)


def _best(solutions: SolutionSet, points: _Points, deadline: float | None) -> list[dict[str, int]]:
    found: Array | None = None
    values: Array | None = None
    budget = [MOST_COMPARED]
    for columns in solutions.iter_columns(CHUNK):
        table = np.stack([columns[name].astype(INT64) for name in solutions.names], axis=1)
        fresh = points.of([columns[name] for name in solutions.names])
        if found is not None and values is not None:
            fresh, table = np.concatenate([found, fresh]), np.concatenate([values, table])
        chosen = undominated(fresh, budget, deadline)
        found, values = fresh[chosen], table[chosen]
    assert values is not None
    return [dict(zip(solutions.names, row, strict=True)) for row in values.tolist()]


def undominated(points: Array, budget: list[int], deadline: float | None = None) -> Array:
    """The rows that no other row dominates; of equal rows, the first.

    Args:
        points: A row for each point; more is better.
        budget: The remaining comparisons, as a list of one number.
        deadline: By `perf_counter`.

    Raises:
        TooLarge: The budget or the deadline is exceeded.
    """
    # In descending lexicographic order, no row is dominated by a later one.
    order = np.lexsort([np.arange(len(points)), *[-column for column in points.T[::-1]]])
    left = points[order]
    chosen = []
    while len(order):
        budget[0] -= left.size
        if budget[0] < 0 or (deadline is not None and perf_counter() > deadline):
            raise TooLargeDiagram("there are too many Pareto optima to compare")
        chosen.append(order[0])
        beaten = (left <= left[0]).all(axis=1)
        order, left = order[~beaten], left[~beaten]
    return np.array(chosen, dtype=np.int64)
