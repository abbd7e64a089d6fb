"""Objectives: pairs of an expression and a direction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Literal, ParamSpec, TypeAlias, TypeVar

from constrint.errors import ModelError
from constrint.expr import IntExpr, IntLike, as_expr

Direction: TypeAlias = Literal["max", "min"]
Goal: TypeAlias = tuple[IntExpr, Direction]

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


def in_written_order(call: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """The call with `minimize=` and `maximize=` as one list of goals, in the order of writing."""

    @wraps(call)
    def ordered(*args: Arguments.args, **named: Arguments.kwargs) -> Answer:
        both = [name for name in named if name in ("minimize", "maximize")]
        if len(both) == 2:
            goals: list[Goal] = []
            for name in both:
                goals += goals_of(named.pop(name), "min" if name == "minimize" else "max")  # type: ignore[arg-type] # the callee's types hold
            named["minimize"] = goals
        return call(*args, **named)

    return ordered


def as_goals(goals: Iterable[tuple[IntLike, Direction]]) -> list[Goal]:
    """Check (expression, direction) pairs; raises `ModelError` for anything else."""
    checked: list[Goal] = []
    for goal in goals:
        if not isinstance(goal, tuple | list) or len(goal) != 2:
            raise ModelError(f'a goal is a pair (expression, "max") or (expression, "min"), not {goal!r}')
        expr, direction = goal
        if direction not in ("max", "min"):
            raise ModelError(f'the direction of a goal is "max" or "min", not {direction!r}')
        checked.append((as_expr(expr), direction))
    return checked


def goals_of(goals: IntLike | Sequence[IntLike | Goal] | None, direction: Direction) -> list[Goal]:
    """The pairs for an argument of `solve`; expressions without a direction get `direction`."""
    if goals is None:
        return []
    if isinstance(goals, str) or not isinstance(goals, Sequence):
        return [(as_expr(goals), direction)]
    return as_goals([goal if isinstance(goal, tuple) else (as_expr(goal), direction) for goal in goals])
