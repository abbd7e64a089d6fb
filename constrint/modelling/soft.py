"""Soft constraints: conditions that may be violated at a cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from constrint.errors import ModelError
from constrint.expr import IntExpr, Not
from constrint.expr.build import FRACTIONS
from constrint.expr.builders import sum_
from constrint.expr.walk import inner_first
from constrint.modelling.objectives import Goal, as_goals
from constrint.support.arguments import integer
from constrint.support.record import record

if TYPE_CHECKING:
    from fractions import Fraction

    from constrint.expr.rational import Rational
    from constrint.modelling.constraints import Constraint
    from constrint.modelling.declarations import Declarations

Weight: TypeAlias = "int | float | Fraction"


@record(eq=False)
class Soft:
    """What makes a constraint soft.

    Attributes:
        weight: What its violation costs.
        violated: The condition that it does not hold, or by how much it does not.
    """

    weight: Weight
    violated: IntExpr


def soft(constraint: Constraint, weight: Any) -> Soft:
    """The entry of a soft constraint; raises `ModelError` unless the weight is a number above 0."""
    if isinstance(weight, float) or type(weight).__name__ in FRACTIONS[1:]:
        from constrint.expr.rational import fraction_of

        is_positive = fraction_of(weight) > 0
    else:
        weight = integer(weight, "the weight of a constraint")
        is_positive = weight > 0
    if not is_positive:
        raise ModelError(
            f"the weight of a constraint is {weight}: give a number above 0, or leave the constraint out"
        )
    return Soft(weight, Not(constraint.expr))


def violation(model: Declarations) -> IntExpr | Rational:
    """The total weight of the violated soft constraints."""
    return sum_(entry.weight * entry.violated for entry in model.weights.values())


def sole_goal(model: Declarations, what: str) -> Goal | None:
    """The goal of a model for a format or tool that has room for one; soft constraints make a goal, too.

    Raises:
        ModelError: There are several.
    """
    goals = [*goals_with_violation(model), *model.preferences]
    if len(goals) > 1:
        raise ModelError(
            f"{what} has room for one goal, and the model has several goals, preferences or soft "
            "constraints: keep one, such as a weighted sum"
        )
    return goals[0] if goals else None


def goals_with_violation(model: Declarations) -> list[Goal]:
    """The goals of a model that say all: the violation of soft constraints is the first, or stands in one."""
    goals = list(model.goals)
    if model.weights and not is_weighed(model, [expr for expr, _ in [*goals, *model.preferences]]):
        return [*as_goals([(model.violation, "min")]), *goals]
    return goals


def is_weighed(model: Declarations, goals: Iterable[IntExpr]) -> bool:
    """Whether a goal has the violation of a soft constraint in it."""
    violated = {id(entry.violated) for entry in model.weights.values()}
    return any(id(part) in violated for part in inner_first(goals))
