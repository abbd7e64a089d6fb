"""The greatest common divisor and the least common multiple."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar

from constrint.expr.arithmetic.arguments import arguments
from constrint.expr.arithmetic.base import Bounds, Nary, function
from constrint.expr.base import IntLike, Operands
from constrint.expr.evaluation import bounded
from constrint.expr.ranges import Known, between, fixed
from constrint.expr.sums import Linear
from constrint.propagators import Gcd as GcdOfTwo
from constrint.propagators import Lcm as LcmOfTwo

if TYPE_CHECKING:
    from constrint.expr.arithmetic.protocols import LoweringProtocol, RangesProtocol
    from constrint.expr.base import IntExpr


class _Divisors(Nary):
    __slots__ = ()
    propagator: ClassVar[type[GcdOfTwo] | type[LcmOfTwo]]
    neutral: ClassVar[int]
    absorbing: ClassVar[int]

    def lower(self, lowering: LoweringProtocol) -> Linear:
        problem = lowering.problem
        parts = lowering.operands(self)
        constants = [part.constant for part in parts if not part.terms]
        known = self.value(*constants) if constants else self.neutral
        if constants and known == self.absorbing:
            return Linear({}, known)
        variables = list(dict.fromkeys(problem.of_linear(part) for part in parts if part.terms))
        if not variables:
            return Linear({}, known)
        # With the neutral number a single variable gives its absolute value.
        if len(variables) == 1 or known != self.neutral:
            variables.append(problem.constant(known))
        return lowering.known(reduce(lambda x, y: self._of_two(lowering, x, y), variables))

    def _of_two(self, lowering: LoweringProtocol, x: int, y: int) -> int:
        problem = lowering.problem
        bounds = self.bounds(*[(problem.lo[v], problem.hi[v]) for v in (x, y)])
        key = (self.name, min(x, y), max(x, y))
        return problem.function(key, bounds, ((x, 0), (y, 0)), lambda z: self.propagator(x, y, z))


@function
class Gcd(_Divisors):
    """The greatest common divisor, never negative; gcd(0, 0) is 0."""

    __slots__ = ()
    name: ClassVar[str] = "gcd"
    propagator: ClassVar[type[GcdOfTwo] | type[LcmOfTwo]] = GcdOfTwo
    neutral: ClassVar[int] = 0
    absorbing: ClassVar[int] = 1

    value = staticmethod(math.gcd)

    @classmethod
    def bounds(cls, *operands: Bounds) -> Bounds:
        return 0, max([max(-lo, hi) for lo, hi in operands])

    @classmethod
    def column(cls, operands: Sequence[Any], bounds: Sequence[Bounds]) -> Any:
        import numpy as np

        return reduce(np.gcd, operands) if len(operands) > 1 else np.abs(operands[0])

    @classmethod
    def known(cls, ranges: RangesProtocol, *operands: Known) -> Known:
        common = math.gcd(*(value.lo for value in operands if value.is_fixed))
        if all(value.is_fixed or (common and value.modulus % common == 0) for value in operands):
            return fixed(math.gcd(common, *(value.residue for value in operands if not value.is_fixed)))
        if common:
            for value in operands:
                ranges.wanted(value, common)
        most = [max(abs(value.lo), abs(value.hi)) for value in operands if value.lo > 0 or value.hi < 0]
        return between(0, min(most) if most else cls.bounds(*[(v.lo, v.hi) for v in operands])[1])


@function
class Lcm(_Divisors):
    """The least common multiple, never negative; 0 where any argument is 0."""

    __slots__ = ()
    name: ClassVar[str] = "lcm"
    grows: ClassVar[bool] = True
    propagator: ClassVar[type[GcdOfTwo] | type[LcmOfTwo]] = LcmOfTwo
    neutral: ClassVar[int] = 1
    absorbing: ClassVar[int] = 0

    @staticmethod
    def value(*operands: int) -> int:
        return reduce(lambda x, y: bounded(math.lcm(x, y)), operands, 1)

    @classmethod
    def bounds(cls, *operands: Bounds) -> Bounds:
        return 0, math.prod([max(1, -lo, hi) for lo, hi in operands])  # those on the way are as great

    @classmethod
    def column(cls, operands: Sequence[Any], bounds: Sequence[Bounds]) -> Any:
        import numpy as np

        if len(operands) == 1:
            return np.abs(operands[0])
        if np.result_type(*operands).kind == "O":
            # numpy's divides by zero where Python's integers are 0.
            return reduce(np.frompyfunc(math.lcm, 2, 1), operands)
        return reduce(np.lcm, operands)


def gcd_(*values: IntLike | Operands) -> IntExpr:
    """The greatest common divisor of the arguments; never negative."""
    return Gcd(arguments(values, "gcd_"))


def lcm_(*values: IntLike | Operands) -> IntExpr:
    """The least common multiple of the arguments; never negative."""
    return Lcm(arguments(values, "lcm_"))
