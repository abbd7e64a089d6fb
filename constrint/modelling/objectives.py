"""Objectives: pairs of an expression and a direction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeAlias, TypeVar, Union

from constrint.errors import ModelError
from constrint.expr import Const, IntExpr, IntLike, Sum, as_expr
from constrint.expr.arrays import ExprArray
from constrint.expr.build import NotWhole, lifted

if TYPE_CHECKING:
    from constrint.expr.rational import Coefficient, Rational

Direction: TypeAlias = Literal["max", "min"]
Goal: TypeAlias = tuple[IntExpr, Direction]
Target: TypeAlias = Union[IntLike, "Rational", "Coefficient"]
"""A target of an objective: an integer expression, or one with fractional coefficients."""
Targets: TypeAlias = Target | ExprArray | Sequence[Target | tuple[Target, Direction]]
"""An objective: a target, or several, each with a direction of its own or the call's."""
Units: TypeAlias = "dict[IntExpr, Rational]"
"""For the integer expression of a fractional goal or definition, the fraction as it was written."""
WrittenGoal: TypeAlias = "tuple[IntExpr | Rational, Direction]"
"""A goal as it was written."""
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def in_written_order(call: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """The call with `minimize=` and `maximize=` as one list of goals, in the order of writing."""

    @wraps(call)
    def ordered(*args: Arguments.args, **named: Arguments.kwargs) -> Answer:
        both = [name for name in named if name in ("minimize", "maximize") and named[name] is not None]
        if len(both) == 2:
            goals: list[Any] = []
            for name in both:
                goals += _listed(named.pop(name), "min" if name == "minimize" else "max")
            named["minimize"] = goals
        return call(*args, **named)

    return ordered


def as_goals(goals: Iterable[tuple[Target, Direction]], units: Units | None = None) -> list[Goal]:
    """Check (expression, direction) pairs; raises `ModelError` for anything else.

    Args:
        goals: The pairs.
        units: Takes the goals that have fractional coefficients, by the integer expressions in their place.
    """
    checked: list[Goal] = []
    if not isinstance(goals, Iterable):
        raise ModelError(f'goals are a list of pairs (expression, "max" | "min"), not {goals!r}')
    for goal in goals:
        if not isinstance(goal, tuple | list) or len(goal) != 2:
            raise ModelError(f'a goal is a pair (expression, "max") or (expression, "min"), not {goal!r}')
        expr, direction = goal
        if direction not in ("max", "min"):
            raise ModelError(f'the direction of a goal is "max" or "min", not {direction!r}')
        checked.append((whole(expr, units), direction))
    return checked


def whole(target: Target, units: Units | None) -> IntExpr:
    """The integer expression that stands for a goal or definition."""
    try:
        return as_expr(target)
    except NotWhole:
        written = lifted(target)
        numerator = own_sum(written.numerator)
        if units is not None:
            units[numerator] = written
        return numerator


def as_written(goals: Iterable[Goal], units: Units) -> list[WrittenGoal]:
    """The goals as they were written, with their fractions."""
    return [(units.get(expr, expr), direction) for expr, direction in goals]


def own_sum(expr: IntExpr) -> IntExpr:
    """An equal expression that is a new object: the units of a goal belong to it alone."""
    if isinstance(expr, Const):
        return Const(expr.value)
    return Sum(expr.terms, expr.constant) if isinstance(expr, Sum) else Sum(((1, expr),), 0)


def is_list(goals: Targets | None) -> bool:
    """Whether an argument is a list of goals that is not empty."""
    if isinstance(goals, ExprArray):
        return goals.size > 0
    return isinstance(goals, Sequence) and not isinstance(goals, str) and len(goals) > 0


def goals_of(goals: Targets | None, direction: Direction, units: Units) -> list[Goal]:
    """The pairs for an argument of `solve`; expressions without a direction get `direction`."""
    return [] if goals is None else as_goals(_listed(goals, direction), units)


def _listed(goals: object, direction: Direction) -> list[Any]:
    if goals is None:
        return []
    if isinstance(goals, ExprArray):
        goals = list(goals.flat)
    if isinstance(goals, str) or not isinstance(goals, Sequence):
        return [(goals, direction)]
    return [goal if isinstance(goal, tuple) else (goal, direction) for goal in goals]
