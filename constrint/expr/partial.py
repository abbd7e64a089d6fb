"""Definedness: the conditions under which integer expressions are defined."""

from __future__ import annotations

from constrint.expr.arithmetic.choices import IfThenElse
from constrint.expr.base import BoolExpr, IntExpr
from constrint.expr.conditions import Implies, Or


def definedness(expr: IntExpr, known: dict[int, tuple[BoolExpr, ...]] | None = None) -> tuple[BoolExpr, ...]:
    """Conditions whose conjunction holds exactly if an expression is defined; empty if it always is.

    A part inside a nested condition adds nothing: that condition is false if the part is undefined. In an
    if-then-else, only the chosen branch need be defined.

    Args:
        expr: The expression.
        known: The conditions found so far, by identity of the expression.

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
