"""Arguments of the public functions: several operands, or one iterable of them."""

from __future__ import annotations

from collections.abc import Iterable
from types import GeneratorType
from typing import Any

from constrint.errors import ModelError, shown
from constrint.expr.base import IntExpr, IntLike, Operands
from constrint.expr.build import as_expr
from constrint.expr.integers import IntVar, Mul

_PLAIN = (list, tuple, GeneratorType)  # known to be iterable: checks by protocol cost a microsecond
MOST_CHARACTERS = 60  # characters of a value in a message
_SINGLE = {int, IntVar, Mul}  # the usual elements; they need no closer look


def listed(values: tuple[object, ...]) -> tuple[Any, ...]:
    """The arguments; if there is a single iterable, its members."""
    if len(values) != 1:
        return values
    (only,) = values
    if type(only) not in _PLAIN and (isinstance(only, IntExpr) or not isinstance(only, Iterable)):
        return values
    return tuple(flat(only))


def flat(values: Any) -> Iterable[Any]:
    """The elements of an iterable; those of arrays in it, too, along all axes.

    Raises:
        ModelError: A list stands in it: as a pair, an arc or a row it has a meaning that would be lost.
    """
    if type(values) not in _PLAIN:
        if _is_own_array(values):
            return tuple(values.flat)
        values = of_frame(values)
        if isinstance(values, IntExpr) or not isinstance(values, Iterable):
            raise ModelError(f"a list of expressions is needed here, not {values!r}: write such as [x, y]")
    elements = list(values)
    if _SINGLE.issuperset(map(type, elements)):
        return elements
    found: list[Any] = []
    for value in elements:
        if isinstance(value, (IntExpr, int)):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            written = shown(repr(value), MOST_CHARACTERS)
            raise ModelError(
                f"a list of expressions is needed here, and {written} in it is a list: "
                "write one list, as [x for row in rows for x in row]"
            )
        elif _is_array(value):
            found += flat(value)
        else:
            found.append(value)
    return found


def of_frame(value: Any) -> Any:
    """The numpy array of a series or a data frame, which iterates over names; other values as they are."""
    return value.to_numpy() if hasattr(value, "to_numpy") and hasattr(value, "shape") else value


def _is_own_array(value: object) -> bool:
    from constrint.expr.array_operators import Elementwise

    return isinstance(value, Elementwise)


def _is_array(value: object) -> bool:
    return getattr(value, "shape", ()) != () or _is_own_array(value)


def arguments(values: tuple[IntLike | Operands, ...], function: str) -> tuple[IntExpr, ...]:
    """One or more operands."""
    values = listed(values)
    if not values:
        raise ModelError(f"{function} needs at least one argument")
    return tuple(as_expr(value) for value in values)
