"""Sums and conditions, for which Python has no operator or not the right one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

from constrint.errors import ModelError
from constrint.expr import (
    And,
    BoolExpr,
    Divides,
    Iff,
    IntExpr,
    IntLike,
    Operands,
    Or,
    Table,
    as_bool,
    as_expr,
    linear,
    placed,
)
from constrint.expr.arithmetic.arguments import flat, listed
from constrint.expr.base import Summand
from constrint.expr.build import NotWhole
from constrint.expr.domain import Domain
from constrint.expr.enumerated import EnumExpr, Valued
from constrint.support.arguments import integer_list

if TYPE_CHECKING:
    from constrint.expr.rational import Rational


@overload
def sum_(*values: IntLike | Operands) -> IntExpr: ...  # type: ignore[overload-overlap] # nothing at all is 0


@overload
def sum_(*values: Summand | Iterable[Summand]) -> Rational: ...


def sum_(*values: object) -> IntExpr | Rational:
    """The sum of the arguments, or of one iterable; an empty iterable gives 0."""
    values = listed(values)
    try:
        return linear([(1, value if isinstance(value, IntExpr) else as_expr(value)) for value in values])
    except NotWhole:
        from constrint.expr.rational import total

        return total(values)


def divides(divisor: IntLike, dividend: IntLike) -> BoolExpr:
    """The condition that the divisor divides the dividend; 0 divides only 0."""
    return placed(Divides(as_expr(divisor), as_expr(dividend)))


def member(value: Valued, values: Iterable[Hashable] | Domain) -> BoolExpr:
    """The condition that the value is one of these."""
    if isinstance(value, EnumExpr):
        return value.is_in(values)
    if type(value).__name__ == "Rational":
        return value.is_in(values)  # type: ignore[union-attr, arg-type, return-value] # its own numbers
    return as_expr(value).is_in(values)  # type: ignore[arg-type] # it refuses other values


def table(values: Operands, rows: Iterable[Sequence[int]]) -> BoolExpr:
    """The condition that the values, taken together, are one of the rows; write `~table(…)` for none."""
    args = tuple(as_expr(value) for value in flat(values))
    integers: Any = rows
    if getattr(getattr(rows, "dtype", None), "kind", "") in ("i", "u"):
        listed = frozenset(map(tuple, integers.tolist()))  # numpy's list has Python's integers only
    else:
        listed = frozenset(tuple(integer_list(row, "the entries of a row")) for row in rows)
    if not args:
        raise ModelError("table needs at least one expression")
    for row in listed:
        if len(row) != len(args):
            from constrint.support.long_numbers import counted

            raise ModelError(
                f"the row {row} has {counted(len(row), 'entry')} for "
                f"{counted(len(args), 'expression')}: give one each"
            )
    return placed(Table(args, listed))


def implies(left: object, right: object) -> BoolExpr:
    """The condition that `right` holds wherever `left` does."""
    return as_bool(left).implies(as_bool(right))


def iff(left: object, right: object) -> BoolExpr:
    """The condition that both hold, or neither."""
    return placed(Iff(as_bool(left), as_bool(right)))


def all_of(conditions: Iterable[object]) -> BoolExpr:
    """The condition that all hold; true for none."""
    return placed(And(tuple(as_bool(condition) for condition in flat(conditions))))


def any_of(conditions: Iterable[object]) -> BoolExpr:
    """The condition that at least one holds; false for none."""
    return placed(Or(tuple(as_bool(condition) for condition in flat(conditions))))
