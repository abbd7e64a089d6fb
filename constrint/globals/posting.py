"""Helpers for the lowering of global constraints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from constrint.expr import BoolExpr, IntExpr
from constrint.lowering.problem import Infeasible
from constrint.propagators.all_different import View

if TYPE_CHECKING:
    from constrint.lowering.conditions import Lowering


def view_of(lowering: Lowering, expr: IntExpr) -> View:
    """An expression as a multiple of a variable plus a constant."""
    problem = lowering.problem
    known = lowering.variables.get(expr)
    if known is not None and problem.lo[known] < problem.hi[known]:
        return 1, known, 0
    total = lowering.sum_of(expr)
    if not total.terms:
        return 1, problem.constant(total.constant), 0
    if len(total.terms) == 1:
        ((v, a),) = total.terms.items()
        return a, v, total.constant
    return 1, problem.of_linear(total), 0


def variables_of(lowering: Lowering, exprs: Iterable[IntExpr]) -> tuple[int, ...]:
    """A variable for each expression."""
    return tuple([lowering.variable_of(expr) for expr in exprs])


def hull_of(lowering: Lowering, views: Iterable[View]) -> tuple[int, int]:
    """The least and the greatest value of any of some views."""
    lo, hi = lowering.problem.lo, lowering.problem.hi
    ends = [a * x + b for a, v, b in views for x in (lo[v], hi[v])]
    return min(ends), max(ends)


def keep_in_range(lowering: Lowering, variables: Iterable[int], count: int) -> None:
    """Restrict variables to the values 0 … count - 1."""
    for v in variables:
        lowering.problem.keep_between(v, 0, count - 1)


def require_all(lowering: Lowering, conditions: Iterable[BoolExpr]) -> None:
    """Post conditions that the lowering itself has built."""
    for condition in conditions:
        lowering.require(lowering.kept(condition))


def need(holds: bool) -> None:
    """Report that there is no solution if a constraint on constants does not hold."""
    if not holds:
        raise Infeasible
