"""Whether the variables of expressions belong to a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from constrint.errors import ModelError
from constrint.expr import BoolVar, IntExpr, IntVar
from constrint.expr.walk import inner_first

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations


def foreign(variable: object) -> ModelError:
    """The error for a variable that is not of the model in which it is used."""
    name = getattr(variable, "name", variable)
    kind = "bool_var" if isinstance(variable, BoolVar) else "int_var"
    return ModelError(f"'{name}' belongs to another model: declare it in this one with {kind}")


def check_variables(model: Declarations, more: Iterable[IntExpr] = ()) -> None:
    """Raise `ModelError` if an expression of a model, or one of more expressions, has another's variables.

    Readers that know variables by their names alone would take a model's own variable in place of another
    model's of the same name.
    """
    own = model.variables
    exprs: list[IntExpr] = [constraint.expr for constraint in model.constraints]
    exprs += [expr for expr, _ in [*model.goals, *model.preferences]]
    for node in inner_first([*exprs, *model.lets.values(), *more]):
        if isinstance(node, IntVar | BoolVar) and own.get(node.name) is not node:
            raise foreign(node)
