"""Enumeration of some of the variables: each combination of their values once, with one solution that has it.

The search decides the projected variables only. Each of its leaves fixes them; a second search, of the root
with these values, finds a solution or proves that there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from constrint.errors import ModelError
from constrint.expr import IntExpr
from constrint.modelling.symbols import EnumVar, SetVar
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
    named = [variables] if isinstance(variables, str | IntExpr) else variables
    chosen: dict[IntExpr, None] = {}
    for one in named:
        if isinstance(one, str):
            one = model.symbols.get(one, one)
        name = one if isinstance(one, str) else getattr(one, "name", None)
        known = model.variables.get(name) if isinstance(name, str) else None
        if isinstance(one, EnumVar | SetVar) and model.symbols.get(one.name) is one:
            chosen.update(dict.fromkeys(one.variables))
        elif known is not None and (known is one or isinstance(one, str)):
            chosen[known] = None
        elif isinstance(one, Iterable) and not isinstance(one, str):
            chosen.update(dict.fromkeys(projection_of(model, one) or ()))
        else:
            raise ModelError(
                f"{one!r} is not a variable of this model: solutions are projected to variables, so "
                "declare one that equals the expression"
            )
    return list(chosen)


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
