"""Arguments of the public functions: several operands, or one iterable of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from constrint.errors import ModelError
from constrint.expr.base import IntExpr, IntLike
from constrint.expr.build import as_expr


def listed(values: tuple[IntLike | Iterable[IntLike], ...]) -> tuple[Any, ...]:
    """The arguments; if there is a single iterable, its members."""
    if len(values) != 1 or isinstance(values[0], IntExpr) or not isinstance(values[0], Iterable):
        return values
    return tuple(flat(values[0]))


def flat(values: Any) -> Iterable[Any]:
    """The elements of an iterable; those of arrays and lists in it, too, along all axes."""
    from constrint.expr.array_operators import Elementwise

    if isinstance(values, Elementwise):
        return values.flat
    if isinstance(values, IntExpr) or not isinstance(values, Iterable):
        raise ModelError(f"a list of expressions is needed here, not {values!r}: write such as [x, y]")
    found: list[Any] = []
    for value in values:
        if isinstance(value, (IntExpr, int)):
            found.append(value)
        elif isinstance(value, (list, tuple, Elementwise)) or getattr(value, "shape", ()) != ():
            found += flat(value)
        else:
            found.append(value)
    return found


def arguments(values: tuple[IntLike | Iterable[IntLike], ...], function: str) -> tuple[IntExpr, ...]:
    """One or more operands."""
    values = listed(values)
    if not values:
        raise ModelError(f"{function} needs at least one argument")
    return tuple(as_expr(value) for value in values)
