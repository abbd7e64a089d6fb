"""What to optimise: pairs of an expression and a direction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from constrint.errors import ModelError
from constrint.expr import IntExpr, IntLike, as_expr

Direction: TypeAlias = Literal["max", "min"]
Goal: TypeAlias = tuple[IntExpr, Direction]


def as_goals(goals: Iterable[tuple[IntLike, Direction]]) -> list[Goal]:
    """Check (expression, direction) pairs."""
    checked: list[Goal] = []
    for expr, direction in goals:
        if direction not in ("max", "min"):
            raise ModelError(f'the direction of a goal is "max" or "min", not {direction!r}')
        checked.append((as_expr(expr), direction))
    return checked


def goals_of(goals: IntLike | Sequence[Goal] | None, direction: Direction) -> list[Goal]:
    """The pairs that one argument of `solve` stands for."""
    if goals is None:
        return []
    return as_goals(goals) if isinstance(goals, Sequence) else [(as_expr(goals), direction)]
