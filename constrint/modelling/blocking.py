"""Blocking clauses: the condition that excludes a solution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from constrint.errors import ModelError
from constrint.expr import BoolExpr, BoolVar, Comparison, IntVar, Not, Or, as_expr
from constrint.modelling.chosen import chosen_variables
from constrint.modelling.result import Result

if TYPE_CHECKING:
    from constrint.modelling.chosen import Chosen
    from constrint.modelling.declarations import Declarations


def blocking(
    model: Declarations, solution: Result | Mapping[str, object], names: Chosen | Iterable[Chosen] | None
) -> BoolExpr:
    """The condition that at least one of the variables differs from a solution."""
    values = solution.numbers if isinstance(solution, Result) else _numbers(model, solution)
    if isinstance(solution, Result) and not solution:
        raise ModelError(f"there is nothing to block: the status is {solution.status.value}")
    if names is not None:
        chosen = [one.name for one in chosen_variables(model, names, "solutions differ in variables")]
    else:  # variables declared after the solution was found are ignored
        chosen = [name for name in model.variables if name in values]
    missing = [name for name in chosen if name not in values]
    if missing:
        raise ModelError(f"the solution has no value for {', '.join(missing)}")
    unknown = [name for name in values if name not in model.variables and name not in model.lets]
    if unknown:
        raise ModelError(f"no variable is named {', '.join(map(repr, unknown))}")
    return Or(tuple(_differs(model.variables[name], values[name]) for name in chosen))


def _numbers(model: Declarations, solution: Mapping[str, object]) -> dict[str, Any]:
    """The values of a solution with the numbers that enumerations and sets stand on."""
    values: dict[str, Any] = {}
    for name, value in solution.items():
        symbol = model.symbols.get(name)
        values |= {name: value} if symbol is None else symbol.numbers(value)
    return values


def _differs(variable: IntVar | BoolVar, value: int) -> BoolExpr:
    if isinstance(variable, BoolVar) and value in (0, 1):
        return Not(variable) if value else variable
    return Comparison("!=", variable, as_expr(value))
