"""The integer square root."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from constrint.errors import Undefined
from constrint.expr.arithmetic.base import Unary, function
from constrint.expr.base import IntLike
from constrint.expr.build import as_expr

if TYPE_CHECKING:
    from constrint.expr.base import BoolExpr, IntExpr


@function
class Isqrt(Unary):
    """The integer square root, rounded down; undefined for a negative number."""

    __slots__ = ()
    name: ClassVar[str] = "isqrt"
    requires: ClassVar[dict[int, str]] = {0: ">="}
    is_isotone: ClassVar[bool] = True

    @staticmethod
    def value(x: int) -> int:
        if x < 0:
            raise Undefined("square root of a negative number")
        return math.isqrt(x)

    @classmethod
    def relation(cls, result: IntExpr, *operands: IntExpr) -> Iterable[BoolExpr]:
        (x,) = operands
        return result >= 0, result * result <= x, x < (result + 1) * (result + 1)


def isqrt(value: IntLike) -> IntExpr:
    """The greatest integer whose square is at most the value; undefined for a negative value."""
    return Isqrt(as_expr(value))
