"""Arrays of expressions as text and as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constrint.expr.base import IntExpr
from constrint.expr.shown import show
from constrint.support.html import MOST_ACROSS, grid_html

if TYPE_CHECKING:
    from constrint.expr.arrays import ExprArray

MOST_SHOWN = 10
"""Entries that are shown along an axis."""


def array_text(array: ExprArray[Any, Any]) -> str:
    """The elements as nested lists, with ``…`` in the middle of long axes."""
    if 0 in array.shape:
        return f"ExprArray(shape={array.shape})"
    most = MOST_SHOWN if array.ndim < 3 else 4
    return (
        f"ExprArray({_text(array, most, len('ExprArray('))})"
        if array.shape
        else f"ExprArray({array.flat[0]})"
    )


def _text(array: Any, most: int, indent: int) -> str:
    if array.ndim == 0:
        return _shown(array.flat[0])
    parts = list(range(len(array)))
    cut = len(parts) > most
    chosen = [*parts[: most - 2], parts[-1]] if cut else parts
    texts = [_shown(array[i]) if array.ndim == 1 else _text(array[i], most, indent + 1) for i in chosen]
    if cut:
        texts.insert(len(texts) - 1, "…")
    return f"[{(', ' if array.ndim == 1 else ',' + chr(10) + ' ' * (indent + 1)).join(texts)}]"


def _shown(element: object) -> str:
    """The text of an element, which may have fractional coefficients."""
    return show(element) if isinstance(element, IntExpr) else repr(element)


def array_html(array: ExprArray[Any, Any]) -> str | None:
    """A grid of an array of one or two axes; None for others."""
    if array.ndim not in (1, 2):
        return None
    rows = [array] if array.ndim == 1 else [array[i] for i in range(min(len(array), MOST_ACROSS + 1))]
    return grid_html([[_shown(element) for element in row.flat[: MOST_ACROSS + 1]] for row in rows])
