"""Powers with exponents that are not negative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from constrint.errors import ModelError, Undefined, shown_number
from constrint.expr.arithmetic.base import Binary, Bounds, function
from constrint.expr.evaluation import MOST_VALUE_BITS, WIDE_VALUE
from constrint.expr.ranges import Known, Unsupported, between, fixed
from constrint.expr.sums import Linear

if TYPE_CHECKING:
    from constrint.expr.arithmetic.protocols import LoweringProtocol, RangesProtocol

LARGEST_POWER_BITS = 1_000_000
MOST_POWER_BITS = 4096  # larger powers are left to search
MOST_KNOWN_BITS = 1 << 14


@function
class Pow(Binary):
    """``left ** right``; undefined for a negative exponent; 0 ** 0 is 1."""

    __slots__ = ()
    name: ClassVar[str] = "pow"
    symbol: ClassVar[str] = "**"
    infix: ClassVar[bool] = True
    requires: ClassVar[dict[int, str]] = {1: ">="}

    @staticmethod
    def value(left: int, right: int) -> int:
        if right < 0:
            raise Undefined("negative exponent")
        if (right > 64 or abs(left) > WIDE_VALUE) and right * (abs(left).bit_length() - 1) > MOST_VALUE_BITS:
            raise ModelError(f"{shown_number(left)} ** {shown_number(right)} is too large to compute")
        power: int = left**right
        return power

    @classmethod
    def bounds(cls, *operands: Bounds) -> Bounds:
        (lo, hi), (_, exponent) = operands
        if exponent < 0:
            return 0, 0
        most = max(-lo, hi)
        if most > 1 and most.bit_length() * exponent > MOST_POWER_BITS:
            raise Unsupported("a power of more than a thousand digits")
        greatest: int = max(1, most**exponent)
        return (0 if lo >= 0 else -greatest), greatest

    def lower(self, lowering: LoweringProtocol) -> Linear:
        base, exponent = lowering.operands(self)
        if not exponent.terms:
            n = exponent.constant
            if not base.terms:
                if abs(base.constant) > 1 and n * base.constant.bit_length() > LARGEST_POWER_BITS:
                    raise ModelError(f"{base.constant} ** {n} is too large to compute")
                return Linear({}, base.constant**n)
            if n <= 1:
                return base if n else Linear({}, 1)
        problem = lowering.problem
        return lowering.known(problem.power(problem.of_linear(base), problem.of_linear(exponent)))

    @classmethod
    def same_as(cls, *operands: Bounds) -> int | None:
        return 0 if operands[1] == (1, 1) else None

    @classmethod
    def column(cls, operands: Sequence[Any], bounds: Sequence[Bounds]) -> Any:
        import numpy as np

        dtype = np.result_type(*operands)
        return np.power(np.asarray(operands[0], dtype=dtype), np.asarray(operands[1], dtype=dtype))

    @classmethod
    def known(cls, ranges: RangesProtocol, *operands: Known) -> Known:
        base, exponent = operands
        if max(abs(base.lo), abs(base.hi)).bit_length() * exponent.hi > MOST_KNOWN_BITS:
            raise Unsupported("a power that is too long")
        if not exponent.is_fixed:
            if base.lo < 1:
                raise Unsupported("a power with an open exponent")
            return between(base.lo ** max(0, exponent.lo), base.hi**exponent.hi)
        n = exponent.lo
        if n == 0:
            return fixed(1)
        if n == 1:
            return base
        ends = [base.lo**n, base.hi**n, *([0] if base.lo < 0 < base.hi else [])]
        modulus = 0 if base.is_fixed else base.modulus
        return between(min(ends), max(ends), modulus, base.residue**n)
