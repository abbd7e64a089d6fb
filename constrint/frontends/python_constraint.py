"""Models as problems of python-constraint (the package python-constraint2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import constraint

from constrint.errors import ModelError
from constrint.expr import BoolVar, IntExpr, IntVar
from constrint.expr.domain import BINARY
from constrint.expr.evaluation import SharedValues, is_light
from constrint.expr.global_expr import Relation
from constrint.modelling.declarations import Declarations
from constrint.modelling.soft import sole_goal

MOST_VALUES = 10_000_000
"""The most values that all domains may have together: python-constraint lists them."""


def to_python_constraint(model: Declarations) -> Any:
    """A model as a `constraint.Problem` with the same names of variables.

    Each constraint is a function that evaluates it exactly.

    Raises:
        ModelError: A domain is infinite, or the model has a goal, which python-constraint lacks.
    """
    if sole_goal(model, "python-constraint")[0] is not None:
        raise ModelError(
            "python-constraint has no goals: copy the model, and clear its goals and preferences"
        )
    problem = constraint.Problem()
    size = 0
    for name, variable in model.variables.items():
        domain = variable.domain if isinstance(variable, IntVar) else BINARY
        size += domain.size if domain.size is not None else MOST_VALUES + 1
        if size > MOST_VALUES:
            raise ModelError(f"python-constraint lists all values, and '{name}' has too many: bound it")
        if domain.is_empty:
            raise ModelError(f"python-constraint refuses the empty domain of '{name}'")
        problem.addVariable(name, list(domain))
    for one in model.constraints:
        used = list(one.expr.variables())
        names = [variable.name for variable in used]
        if not used:
            # A constraint without variables holds for all values of the first variable, or for none.
            holds = bool(one.expr.evaluate(SharedValues({})))
            problem.addConstraint(lambda *_, holds=holds: holds, [next(iter(model.variables))])
        elif _is_plain_different(one.expr, used):
            problem.addConstraint(constraint.AllDifferentConstraint(), names)
        else:
            problem.addConstraint(_function(one.expr, used), names)
    return problem


def _is_plain_different(expr: IntExpr, used: list[IntVar | BoolVar]) -> bool:
    """Whether a condition is all-different of variables, each once."""
    if not isinstance(expr, Relation) or expr.definition.name != "all_different":
        return False
    children = expr.children
    return len(children) == len(used) and all(isinstance(child, IntVar) for child in children)


def _function(expr: IntExpr, used: list[IntVar | BoolVar]) -> Callable[..., bool]:
    light = is_light(expr)

    def holds(*values: int) -> bool:
        assignment = dict(zip(used, values, strict=True))
        return bool(expr.evaluate(assignment if light else SharedValues(assignment)))

    return holds
