"""The exact check of what a search found: the model's own expressions, evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from constrint.errors import InternalError
from constrint.expr import BoolVar, IntExpr
from constrint.expr.evaluation import Values
from constrint.modelling.declarations import Declarations

if TYPE_CHECKING:
    from constrint.preparing.prepared import Plan

Assignment: TypeAlias = dict[IntExpr, int]


def check(plan: Plan, assignment: Assignment) -> None:
    """Evaluate the model's own expressions on a solution, exactly."""
    check_solution(plan.model, assignment)


def check_solution(model: Declarations, assignment: Assignment) -> None:
    """Evaluate a model's expressions on what is said to be a solution, exactly."""
    for variable, value in assignment.items():
        if not isinstance(variable, BoolVar) and value not in variable.domain:  # type: ignore[attr-defined] # keys are variables
            raise InternalError(f"{variable} has no value {value}")
    shared: Values | None = None  # for the expressions that large constraints share
    for constraint in model.constraints:
        if shared is None and not getattr(constraint.expr, "_is_light", True):
            shared = Values(assignment)
        if not constraint.expr.evaluate(assignment if shared is None else shared):
            where = constraint.position or constraint.name or "a constraint"
            raise InternalError(f"a solution violates {where}: please report this model")
