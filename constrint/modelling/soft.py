"""Soft constraints: conditions that may be violated at a cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from constrint.errors import ModelError
from constrint.expr import IntExpr, Not
from constrint.expr.build import FRACTIONS
from constrint.expr.builders import sum_
from constrint.expr.walk import inner_first
from constrint.modelling.objectives import Goal, Units, as_goals
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
    """A soft constraint: its weight, and its violation.

    Attributes:
        weight: What its violation costs.
        violated: The condition that it does not hold, or by how much it does not.
    """

    weight: Weight
    violated: IntExpr | Rational


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
    return sum_(entry.weight * entry.violated for entry in [*model.weights.values()])


def whole_goal(model: Declarations, what: str) -> Goal | None:
    """The goal of a model for a format or tool whose objectives are integers; see `sole_goal`.

    Raises:
        ModelError: There are several, or the one has fractional coefficients.
    """
    goal, unit = sole_goal(model, what)
    if unit is not None and unit.denominator != 1:
        raise ModelError(
            f"{what} has integer objectives only, and the model's has fractional coefficients: multiply it "
            f"by {unit.denominator}"
        )
    return goal


def sole_goal(model: Declarations, what: str) -> tuple[Goal | None, Rational | None]:
    """The goal of a model for a format or tool that has room for one; soft constraints make a goal, too.

    Returns:
        The goal, and, where it has fractional coefficients, the goal as it was written, with its denominator.

    Raises:
        ModelError: There are several.
    """
    known, units = goals_with_violation(model)
    goals = [*known, *model.preferences]
    if len(goals) > 1:
        raise ModelError(
            f"{what} has room for one goal, and the model has several goals, preferences or soft "
            "constraints: keep one, such as a weighted sum"
        )
    if not goals:
        return None, None
    return goals[0], units.get(goals[0][0])


def goals_with_violation(model: Declarations) -> tuple[list[Goal], Units]:
    """The goals of a model with soft constraints: their violation is the first goal, or part of one.

    Returns:
        The goals, and those with fractional coefficients by the integer expressions in their place.
    """
    goals, units = list(model.goals), dict(model.units)
    if model.weights and not is_weighed(model, [expr for expr, _ in [*goals, *model.preferences]]):
        goals = [*as_goals([(model.violation, "min")], units), *goals]
    return goals, units


def is_weighed(model: Declarations, goals: Iterable[IntExpr]) -> bool:
    """Whether a goal has the violation of a soft constraint in it."""
    violated = {id(entry.violated) for entry in model.weights.values()}  # conditions, whose units are whole
    return any(id(part) in violated for part in inner_first(goals))
