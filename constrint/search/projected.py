"""Enumeration of some of the variables: each combination of their values once, with one solution that has it.

The search decides the projected variables only. Each of its leaves fixes them; a second search, of the root
with these values, finds a solution or proves that there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from constrint.expr import IntExpr
from constrint.modelling.chosen import chosen_variables
from constrint.preparing.checks import Assignment
from constrint.search.solver import Solver
from constrint.search.warm_start import restricted

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations
    from constrint.preparing.prepared import Prepared


def projection_of(model: Declarations, variables: Iterable[Any] | None) -> list[IntExpr] | None:
    """The variables of the model that are named, each once; None for all."""
    if variables is None:
        return None
    return [*chosen_variables(model, variables, "solutions are projected to variables")]


def projected(prepared: Prepared, variables: Iterable[IntExpr] | None) -> Prepared:
    """The prepared model with only these variables to be decided, and to be read from a solution."""
    if variables is None:
        return prepared
    part = copy(prepared)
    part.variables = {variable: prepared.variables[variable] for variable in variables}
    return part


def solutions(solver: Solver, prepared: Prepared, part: Prepared) -> Iterator[tuple[Assignment, Assignment]]:
    """The solutions of a prepared model: the values of the variables that `part` decides, and all values."""
    root = prepared.root
    if root is None:
        return
    run = solver.run(part, root, is_every=True)
    inner = Solver(solver.model, replace(solver.options, sharing=None, learn="auto", on_solution=None))
    inner.started = solver.started
    while (found := run.next(checked=part is prepared)) is not None:
        solver.total = run.statistics()
        whole: Assignment | None = found
        if part is not prepared:
            left = restricted(root, {part.variables[variable]: value for variable, value in found.items()})
            whole = None if left is None else inner.first(prepared, left, None)
        if whole is not None:
            yield found, whole
