"""The least and the greatest of several numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, overload

from constrint.expr.arithmetic.arguments import arguments, listed
from constrint.expr.arithmetic.base import Bounds, Nary, function
from constrint.expr.base import IntLike, Operands, Summand
from constrint.expr.build import NotWhole
from constrint.expr.ranges import Known, between, joined, total
from constrint.expr.sums import Linear
from constrint.propagators import Maximum, Minimum

if TYPE_CHECKING:
    from constrint.expr.arithmetic.protocols import LoweringProtocol, RangesProtocol
    from constrint.expr.base import IntExpr
    from constrint.expr.rational import Rational


class _Extreme(Nary):
    __slots__ = ()
    is_isotone: ClassVar[bool] = True

    def lower(self, lowering: LoweringProtocol) -> Linear:
        parts: dict[tuple[frozenset[tuple[int, int]], int], Linear] = {}
        for part in lowering.operands(self):
            parts[frozenset(part.terms.items()), part.constant] = part
        if len(parts) == 1:
            return next(iter(parts.values()))
        problem = lowering.problem
        lo, hi = problem.lo, problem.hi
        xs = [problem.of_linear(part) for part in parts.values()]
        low, high = self.bounds(*[(lo[x], hi[x]) for x in xs])
        if type(self) is Max:
            left = sorted({x for x in xs if hi[x] > low or lo[x] == low})
        else:
            left = sorted({x for x in xs if lo[x] < high or hi[x] == high})
        if len(left) == 1:
            return lowering.known(left[0])
        propagator = Maximum if type(self) is Max else Minimum
        key = (self.name, *left)
        inputs = [(x, 1) for x in left]
        return lowering.known(
            problem.function(key, (low, high), inputs, lambda z: propagator(z, tuple(left)))
        )


@function
class Min(_Extreme):
    """The least of one or more expressions."""

    __slots__ = ()
    name: ClassVar[str] = "min"
    sympy_name: ClassVar[str] = "Min"

    @staticmethod
    def value(*operands: int) -> int:
        return min(operands)

    @classmethod
    def column(cls, operands: Sequence[Any], bounds: Sequence[Bounds]) -> Any:
        import numpy as np

        return reduce(np.minimum, operands)

    @classmethod
    def known(cls, ranges: RangesProtocol, *operands: Known) -> Known:
        return _least(operands)


@function
class Max(_Extreme):
    """The greatest of one or more expressions."""

    __slots__ = ()
    name: ClassVar[str] = "max"
    sympy_name: ClassVar[str] = "Max"

    @staticmethod
    def value(*operands: int) -> int:
        return max(operands)

    @classmethod
    def column(cls, operands: Sequence[Any], bounds: Sequence[Bounds]) -> Any:
        import numpy as np

        return reduce(np.maximum, operands)

    @classmethod
    def known(cls, ranges: RangesProtocol, *operands: Known) -> Known:
        return total([(-1, _least([total([(-1, value)]) for value in operands]))])


def _least(values: Sequence[Known]) -> Known:
    found = values[0]
    for value in values[1:]:
        if value.hi <= found.lo:
            found = value
        elif value.lo < found.hi:
            both = joined(found, value)
            found = between(both.lo, min(found.hi, value.hi), both.modulus, both.residue)
    return found


@overload
def min_(*values: IntLike | Operands) -> IntExpr: ...  # type: ignore[overload-overlap] # whole numbers are both
@overload
def min_(*values: Summand | Iterable[Summand]) -> Rational: ...
def min_(*values: object) -> IntExpr | Rational:
    """The least of the arguments, or of one iterable."""
    return _extreme(Min, values, "min_")


@overload
def max_(*values: IntLike | Operands) -> IntExpr: ...  # type: ignore[overload-overlap] # whole numbers are both
@overload
def max_(*values: Summand | Iterable[Summand]) -> Rational: ...
def max_(*values: object) -> IntExpr | Rational:
    """The greatest of the arguments, or of one iterable."""
    return _extreme(Max, values, "max_")


def _extreme(kind: type[Min | Max], values: tuple[Any, ...], name: str) -> IntExpr | Rational:
    parts = listed(values)
    try:
        return kind(arguments(parts, name))
    except NotWhole:
        from constrint.expr.rational import common

        numerators, divided = common(parts)
        return divided(kind(tuple(numerators)))
