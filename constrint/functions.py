"""Functions that build expressions, for what Python has no operator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from constrint.domain import Domain
from constrint.errors import ModelError
from constrint.expr import (
    Abs,
    And,
    BoolExpr,
    Divides,
    Element,
    Gcd,
    Iff,
    IntExpr,
    IntLike,
    Lcm,
    Max,
    Min,
    Or,
    _placed,
    as_bool,
    as_expr,
    linear,
)


def _arguments(values: tuple[IntLike | Iterable[IntLike], ...], function: str) -> tuple[IntExpr, ...]:
    if len(values) == 1 and not isinstance(values[0], IntExpr) and isinstance(values[0], Iterable):
        values = tuple(values[0])
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
    if len(values) == 1 and not isinstance(values[0], IntExpr) and isinstance(values[0], Iterable):
        values = tuple(values[0])
    return linear([(1, as_expr(value)) for value in values])


def abs_(value: IntLike) -> IntExpr:
    """The absolute value."""
    return Abs(as_expr(value))


def ceildiv(dividend: IntLike, divisor: IntLike) -> IntExpr:
    """The quotient rounded up: ``-((-dividend) // divisor)``."""
    return -((-as_expr(dividend)) // divisor)


def divides(divisor: IntLike, dividend: IntLike) -> BoolExpr:
    """The condition that the divisor divides the dividend; 0 divides only 0."""
    return _placed(Divides(as_expr(divisor), as_expr(dividend)))


def member(value: IntLike, values: Iterable[int] | Domain) -> BoolExpr:
    """The condition that the value is one of these."""
    return as_expr(value).is_in(values)


def element(values: Sequence[int], index: IntLike) -> IntExpr:
    """``values[index]`` for a table of constants; an index outside it makes the assignment no solution."""
    return Element(tuple(value.__index__() for value in values), as_expr(index))


def implies(left: object, right: object) -> BoolExpr:
    """The condition that `right` holds wherever `left` does."""
    return as_bool(left).implies(as_bool(right))


def iff(left: object, right: object) -> BoolExpr:
    """The condition that both hold, or neither."""
    return _placed(Iff(as_bool(left), as_bool(right)))


def all_of(conditions: Iterable[object]) -> BoolExpr:
    """The condition that all hold; true for none."""
    return _placed(And(tuple(as_bool(condition) for condition in conditions)))


def any_of(conditions: Iterable[object]) -> BoolExpr:
    """The condition that at least one holds; false for none."""
    return _placed(Or(tuple(as_bool(condition) for condition in conditions)))


def all_different(*values: IntLike | Iterable[IntLike]) -> BoolExpr:
    """The condition that no two of the arguments (or of one iterable) are equal."""
    args = _arguments(values, "all_different")
    return _placed(And(tuple(a != b for i, a in enumerate(args) for b in args[:i])))
