"""Where integer expressions have values: the conditions under which an expression is defined."""

from __future__ import annotations

from constrint.expr.arithmetic.choices import IfThenElse
from constrint.expr.base import BoolExpr, IntExpr
from constrint.expr.conditions import Implies, Or


def definedness(expr: IntExpr, known: dict[int, tuple[BoolExpr, ...]] | None = None) -> tuple[BoolExpr, ...]:
    """Conditions that hold together exactly where an expression has a value; none where it always has one.

    A part that stands under a condition of its own adds nothing: that condition is false where the part is
    undefined. Of a choice, only what is chosen need be defined.

    Args:
        expr: The expression.
        known: The conditions of expressions by identity, as far as they have been found.

    Returns:
        The conditions.
    """
    if isinstance(expr, BoolExpr):
        return ()
    known = {} if known is None else known
    found = known.get(id(expr))
    if found is None:
        own: dict[int, BoolExpr] = {}
        if isinstance(expr, IfThenElse):
            chosen: list[BoolExpr] = []
            chosen += [Implies(expr.condition, need) for need in definedness(expr.then, known)]
            chosen += [Or((expr.condition, need)) for need in definedness(expr.otherwise, known)]
            own.update({id(need): need for need in chosen})
        else:
            for child in expr.children:
                own.update({id(need): need for need in definedness(child, known)})
            own.update({id(need): need for need in expr.needs()})
        found = known[id(expr)] = tuple(own.values())
    return found
