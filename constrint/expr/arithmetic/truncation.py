"""Division that rounds towards 0, as in C, Java and MiniZinc; its remainder has the sign of the dividend."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from constrint.errors import Undefined
from constrint.expr.arithmetic.absolute import Abs
from constrint.expr.arithmetic.base import Binary, Bounds, function
from constrint.expr.arithmetic.choices import IfThenElse
from constrint.expr.arithmetic.division import FloorDiv, Mod
from constrint.expr.base import BoolExpr, IntLike
from constrint.expr.build import as_expr, linear
from constrint.expr.conditions import Comparison, Iff, Not
from constrint.expr.integers import Const
from constrint.expr.partial import definedness

if TYPE_CHECKING:
    from constrint.expr.base import IntExpr


@function
class TruncatedDiv(Binary):
    """The quotient rounded towards 0; undefined for a zero divisor."""

    __slots__ = ()
    name: ClassVar[str] = "truncdiv"
    requires: ClassVar[dict[int, str]] = {1: "!="}

    @staticmethod
    def value(left: int, right: int) -> int:
        if right == 0:
            raise Undefined("division by zero")
        size = abs(left) // abs(right)
        return size if (left < 0) == (right < 0) else -size

    @classmethod
    def bounds(cls, *operands: Bounds) -> Bounds:
        (lo, hi), divisor = operands
        most = max(-lo, hi)
        return (0 if lo >= 0 and divisor[0] >= 0 else -most), most

    def decomposed(self) -> IntExpr:
        left, right = self.left, self.right
        is_negative = Not(Iff(_below_zero(left), _below_zero(right)))
        return _signed(is_negative, FloorDiv(Abs(left), Abs(right)))


@function
class TruncatedMod(Binary):
    """The remainder of the quotient rounded towards 0; undefined for a zero divisor."""

    __slots__ = ()
    name: ClassVar[str] = "truncmod"
    requires: ClassVar[dict[int, str]] = {1: "!="}

    @staticmethod
    def value(left: int, right: int) -> int:
        if right == 0:
            raise Undefined("remainder of a division by zero")
        size = abs(left) % abs(right)
        return -size if left < 0 else size

    @classmethod
    def bounds(cls, *operands: Bounds) -> Bounds:
        (lo, hi), divisor = operands
        most = max(-divisor[0], divisor[1]) - 1
        return -max(0, min(most, -lo)), max(0, min(most, hi))

    def decomposed(self) -> IntExpr:
        return _signed(_below_zero(self.left), Mod(Abs(self.left), Abs(self.right)))


def _below_zero(expr: IntExpr) -> BoolExpr:
    return Comparison("<", expr, Const(0))


def _signed(is_negative: BoolExpr, size: IntExpr) -> IntExpr:
    """A number, negated where a condition holds; the first term ensures that it is defined either way."""
    signed = IfThenElse(is_negative, linear([(-1, size)]), size)
    return linear([(0, size), (1, signed)]) if definedness(size) else signed


def truncdiv(dividend: IntLike, divisor: IntLike) -> IntExpr:
    """The quotient rounded towards 0; undefined for a zero divisor."""
    return TruncatedDiv(as_expr(dividend), as_expr(divisor))


def truncmod(dividend: IntLike, divisor: IntLike) -> IntExpr:
    """The remainder of the quotient rounded towards 0, with the sign of the dividend."""
    return TruncatedMod(as_expr(dividend), as_expr(divisor))
