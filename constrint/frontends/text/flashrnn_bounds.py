"""Upper bounds that alternatives have in common.

Names in FlashRNN's dialect have no declared upper bounds, and search needs them. `x == 3 | x == 5` implies `x
<= 5`, and `x == 2 * y | x == 3 * y` implies `x <= max(2 * y, 3 * y)`. No propagator derives that before it is
known which alternative holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from constrint.expr import And, BoolExpr, Comparison, Const, IntExpr, IntVar, Max, Member, Or, Pow
from constrint.expr.integers import Mul, Sum


def with_bounds(cases: Sequence[BoolExpr]) -> BoolExpr:
    """The disjunction of the cases and the bounds that all of them imply; the variables are positive."""
    if len(cases) == 1:
        return cases[0]
    found = [_above(case) for case in cases]
    bounds: list[BoolExpr] = []
    for variable in found[0] if found else ():
        limits = [one.get(variable) for one in found]
        known = [limit for limit in limits if limit is not None and _has_always_a_value(limit)]
        if len(known) == len(cases):
            bounds.append(Comparison("<=", variable, _greatest(known)))
    either = Or(tuple(cases))
    return And((either, *bounds)) if bounds else either


def _greatest(limits: Sequence[IntExpr]) -> IntExpr:
    constants = [limit.value for limit in limits if isinstance(limit, Const)]
    return Const(max(constants)) if len(constants) == len(limits) else Max(tuple(limits))


def _has_always_a_value(limit: IntExpr) -> bool:
    """Whether no part can be undefined: if one alternative is undefined, another may still hold."""
    if isinstance(limit, Sum):
        return all(_has_always_a_value(part) for _, part in limit.terms)
    if isinstance(limit, Mul):
        return all(map(_has_always_a_value, limit.args))
    if isinstance(limit, Pow):
        bases = isinstance(limit.left, Const | IntVar)
        return bases and (
            isinstance(limit.right, IntVar) or (isinstance(limit.right, Const) and limit.right.value >= 0)
        )
    return isinstance(limit, Const | IntVar)


def _above(case: BoolExpr) -> dict[IntVar, IntExpr]:
    """Upper bounds of some variables that a condition implies."""
    if isinstance(case, And):
        above: dict[IntVar, IntExpr] = {}
        for part in case.args:
            for variable, limit in _above(part).items():
                if variable not in above or isinstance(limit, Const):
                    above[variable] = limit
        return above
    if isinstance(case, Member):
        high = case.domain.hi
        return {} if high is None else dict.fromkeys(_parts(case.arg) or (), Const(high))
    if not isinstance(case, Comparison) or case.operator == "!=":
        return {}
    above = {}
    if case.operator in ("==", "<=", "<"):
        above.update(dict.fromkeys(_parts(case.left) or (), case.right))
    if case.operator in ("==", ">=", ">"):
        above.update(dict.fromkeys(_parts(case.right) or (), case.left))
    return above


def _parts(expr: IntExpr) -> dict[IntVar, None] | None:
    """Variables, in order, that are at most as great as an expression; None if it may be negative."""
    if isinstance(expr, IntVar):
        return {expr: None}
    if isinstance(expr, Const):
        return {} if expr.value >= 0 else None
    if isinstance(expr, Sum):
        parts = [_parts(part) for _, part in expr.terms]
        if expr.constant < 0 or any(a < 0 for a, _ in expr.terms) or any(part is None for part in parts):
            return None
        return _together(part for (a, _), part in zip(expr.terms, parts, strict=True) if a)
    if isinstance(expr, Mul):
        if not all(map(_is_positive, expr.args)):
            return None
        return _together(map(_parts, expr.args))
    if isinstance(expr, Pow):
        base = _parts(expr.left)
        if not _is_positive(expr.left) or not isinstance(expr.right, Const):
            return None
        return base if expr.right.value > 0 else {}
    return None


def _together(parts: Iterable[dict[IntVar, None] | None]) -> dict[IntVar, None]:
    return {variable: None for part in parts for variable in part or ()}


def _is_positive(expr: IntExpr) -> bool:
    if isinstance(expr, Pow):
        return _is_positive(expr.left) and isinstance(expr.right, Const)
    return isinstance(expr, IntVar) or (isinstance(expr, Const) and expr.value > 0)
