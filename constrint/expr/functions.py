"""Functions that build expressions for which Python has no operator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from constrint.errors import ModelError
from constrint.expr import (
    Abs,
    And,
    BoolExpr,
    Const,
    Divides,
    Element,
    Gcd,
    Iff,
    IfThenElse,
    IntExpr,
    IntLike,
    Lcm,
    Max,
    Min,
    Or,
    Table,
    as_bool,
    as_expr,
    definedness,
    linear,
    placed,
)
from constrint.expr.arrays import ExprArray
from constrint.expr.domain import Domain
from constrint.support.arguments import integer_list


def _listed(values: tuple[IntLike | Iterable[IntLike], ...]) -> tuple[Any, ...]:
    """The arguments; if there is a single iterable, its members."""
    if len(values) != 1 or isinstance(values[0], IntExpr) or not isinstance(values[0], Iterable):
        return values
    return tuple(_flat(values[0]))


def _flat(values: Iterable[Any]) -> Iterable[Any]:
    return values.flat if isinstance(values, ExprArray) else values


def _arguments(values: tuple[IntLike | Iterable[IntLike], ...], function: str) -> tuple[IntExpr, ...]:
    values = _listed(values)
    if not values:
        raise ModelError(f"{function} needs at least one argument")
    return tuple(as_expr(value) for value in values)


def min_(*values: IntLike | Iterable[IntLike]) -> IntExpr:
    """The least of the arguments, or of one iterable."""
    return Min(_arguments(values, "min_"))


def max_(*values: IntLike | Iterable[IntLike]) -> IntExpr:
    """The greatest of the arguments, or of one iterable."""
    return Max(_arguments(values, "max_"))


def gcd_(*values: IntLike | Iterable[IntLike]) -> IntExpr:
    """The greatest common divisor of the arguments; never negative."""
    return Gcd(_arguments(values, "gcd_"))


def lcm_(*values: IntLike | Iterable[IntLike]) -> IntExpr:
    """The least common multiple of the arguments; never negative."""
    return Lcm(_arguments(values, "lcm_"))


def sum_(*values: IntLike | Iterable[IntLike]) -> IntExpr:
    """The sum of the arguments, or of one iterable; an empty iterable gives 0."""
    values = _listed(values)
    return linear([(1, as_expr(value)) for value in values])


def abs_(value: IntLike) -> IntExpr:
    """The absolute value."""
    return Abs(as_expr(value))


def ceildiv(dividend: IntLike, divisor: IntLike) -> IntExpr:
    """The quotient rounded up: ``-((-dividend) // divisor)``."""
    return -((-as_expr(dividend)) // divisor)


def divides(divisor: IntLike, dividend: IntLike) -> BoolExpr:
    """The condition that the divisor divides the dividend; 0 divides only 0."""
    return placed(Divides(as_expr(divisor), as_expr(dividend)))


def member(value: IntLike, values: Iterable[int] | Domain) -> BoolExpr:
    """The condition that the value is one of these."""
    return as_expr(value).is_in(values)


def element(values: Iterable[IntLike], index: IntLike) -> IntExpr:
    """``values[index]``, 0-based; undefined for an index outside.

    The values may be expressions; if one of them is undefined, the element is undefined for every index.
    """
    position = as_expr(index)
    entries = [as_expr(value) for value in _flat(values)]
    if not entries:
        raise ModelError("element needs at least one value: write element([a, b], index)")
    constants = [entry.value for entry in entries if isinstance(entry, Const)]
    if len(constants) == len(entries):
        return Element(tuple(constants), position)
    # The table of the positions themselves is undefined for an index outside.
    inside = Element(tuple(range(len(entries))), position)
    chosen = entries[-1]
    for i in range(len(entries) - 2, -1, -1):
        chosen = IfThenElse(inside == i, entries[i], chosen)
    strict = [(0, entry) for entry in entries if definedness(entry)]
    return linear([*([(0, inside)] if inside.needs() else []), *strict, (1, chosen)])


def if_then_else(condition: object, then: IntLike, otherwise: IntLike) -> IntExpr:
    """`then` if the condition holds, else `otherwise`; the unchosen one need not be defined."""
    return IfThenElse(as_bool(condition), as_expr(then), as_expr(otherwise))


def table(values: Iterable[IntLike], rows: Iterable[Sequence[int]]) -> BoolExpr:
    """The condition that the tuple of values is one of the rows; `~table(…)` excludes rows."""
    args = tuple(as_expr(value) for value in _flat(values))
    integers: Any = rows
    if getattr(getattr(rows, "dtype", None), "kind", "") in ("i", "u"):
        listed = frozenset(map(tuple, integers.tolist()))  # tolist() gives Python integers
    else:
        listed = frozenset(tuple(integer_list(row, "the entries of a row")) for row in rows)
    if not args:
        raise ModelError("table needs at least one expression")
    for row in listed:
        if len(row) != len(args):
            raise ModelError(
                f"the row {row} has {len(row)} entries for {len(args)} expressions: give one each"
            )
    return placed(Table(args, listed))


def implies(left: object, right: object) -> BoolExpr:
    """The condition that `right` holds if `left` does."""
    return as_bool(left).implies(as_bool(right))


def iff(left: object, right: object) -> BoolExpr:
    """The condition that both have the same truth value."""
    return placed(Iff(as_bool(left), as_bool(right)))


def all_of(conditions: Iterable[object]) -> BoolExpr:
    """The conjunction of conditions; true if there are none."""
    return placed(And(tuple(as_bool(condition) for condition in _flat(conditions))))


def any_of(conditions: Iterable[object]) -> BoolExpr:
    """The disjunction of conditions; false if there are none."""
    return placed(Or(tuple(as_bool(condition) for condition in _flat(conditions))))
