"""The absolute value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast, overload

from constrint.expr.arithmetic.base import Bounds, Unary, function
from constrint.expr.base import IntLike
from constrint.expr.build import NotWhole, as_expr
from constrint.expr.ranges import Known, between, joined, total
from constrint.expr.sums import Linear
from constrint.propagators import Absolute

if TYPE_CHECKING:
    from constrint.expr.arithmetic.protocols import LoweringProtocol, RangesProtocol
    from constrint.expr.base import IntExpr
    from constrint.expr.rational import Coefficient, Rational


@function
class Abs(Unary):
    """The absolute value."""

    __slots__ = ()
    name: ClassVar[str] = "abs"
    sympy_name: ClassVar[str] = "Abs"

    value = staticmethod(abs)

    @classmethod
    def bounds(cls, *operands: Bounds) -> Bounds:
        ((lo, hi),) = operands
        return max(lo, -hi, 0), max(-lo, hi)

    def lower(self, lowering: LoweringProtocol) -> Linear:
        problem = lowering.problem
        (arg,) = lowering.operands(self)
        low, high = problem.bounds(arg)
        if low >= 0:
            return arg
        if high <= 0:
            return arg.scaled(-1)
        if next(iter(arg.terms.values())) < 0:
            arg = arg.scaled(-1)
        x = problem.of_linear(arg)
        bounds = self.bounds((problem.lo[x], problem.hi[x]))
        z = problem.function(("absolute", x), bounds, ((x, problem.sign(x)),), lambda z: Absolute(x, z))
        return lowering.known(z)

    @classmethod
    def same_as(cls, *operands: Bounds) -> int | None:
        return 0 if operands[0][0] >= 0 else None

    @classmethod
    def column(cls, operands: Sequence[Any], bounds: Sequence[Bounds]) -> Any:
        return abs(operands[0])

    @classmethod
    def known(cls, ranges: RangesProtocol, *operands: Known) -> Known:
        (value,) = operands
        if value.lo >= 0:
            return value
        opposite = total([(-1, value)])
        if value.hi <= 0:
            return opposite
        known = joined(value, opposite)
        return between(0, max(-value.lo, value.hi), known.modulus, known.residue)


@overload
def abs_(value: IntLike) -> IntExpr: ...
@overload
def abs_(value: Rational | Coefficient) -> Rational: ...
def abs_(value: IntLike | Rational | Coefficient) -> IntExpr | Rational:
    """The absolute value."""
    try:
        return Abs(as_expr(cast(IntLike, value)))
    except NotWhole:
        from constrint.expr.rational import lifted

        return abs(lifted(value))
