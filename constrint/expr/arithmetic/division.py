"""Division: quotients rounded down, up and towards 0, and their remainders."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import TYPE_CHECKING, Any, ClassVar

from constrint.errors import Undefined
from constrint.expr.arithmetic.base import Binary, Bounds, function
from constrint.expr.base import IntLike
from constrint.expr.build import as_expr
from constrint.expr.ranges import Known, affine, between, fixed, total
from constrint.expr.sums import Linear
from constrint.propagators import CeilDiv, DivMod

if TYPE_CHECKING:
    from constrint.expr.arithmetic.protocols import LoweringProtocol, ProblemProtocol, RangesProtocol
    from constrint.expr.base import IntExpr


@function
class FloorDiv(Binary):
    """``left // right``, rounded down; undefined for a zero divisor."""

    __slots__ = ()
    name: ClassVar[str] = "floordiv"
    symbol: ClassVar[str] = "//"
    infix: ClassVar[bool] = True
    requires: ClassVar[dict[int, str]] = {1: "!="}

    @staticmethod
    def value(left: int, right: int) -> int:
        if right == 0:
            raise Undefined("division by zero")
        return left // right

    @classmethod
    def bounds(cls, *operands: Bounds) -> Bounds:
        (lo, hi), divisor = operands
        corners = [x // d for x in (lo, hi) for d in _outermost(*divisor)] or [0]
        return min(corners), max(corners)

    def lower(self, lowering: LoweringProtocol) -> Linear:
        dividend, divisor = lowering.operands(self)
        if divisor.terms:
            return _quotient(lowering, dividend, divisor)
        return _quotient_by_constant(lowering, dividend, divisor.constant)

    @classmethod
    def same_as(cls, *operands: Bounds) -> int | None:
        return 0 if operands[1] == (1, 1) else None

    @classmethod
    def column(cls, operands: Sequence[Any], bounds: Sequence[Bounds]) -> Any:
        return operands[0] // operands[1]

    @classmethod
    def known(cls, ranges: RangesProtocol, *operands: Known) -> Known:
        a, b = operands
        if b.is_fixed and a.slope is not None and not a.is_fixed:
            if a.slope % b.lo == 0:
                places = (a.lo - a.start) // a.slope, (a.hi - a.start) // a.slope
                return affine(a.slope // b.lo, a.start // b.lo, places)
            ranges.wanted(a, b.lo)
        return between(*cls.bounds((a.lo, a.hi), (b.lo, b.hi)))


@function
class Mod(Binary):
    """``left % right``, with the sign of the divisor; undefined for a zero divisor."""

    __slots__ = ()
    name: ClassVar[str] = "mod"
    symbol: ClassVar[str] = "%"
    infix: ClassVar[bool] = True
    requires: ClassVar[dict[int, str]] = {1: "!="}
    sympy_name: ClassVar[str] = "Mod"

    @staticmethod
    def value(left: int, right: int) -> int:
        if right == 0:
            raise Undefined("remainder of a division by zero")
        return left % right

    @classmethod
    def bounds(cls, *operands: Bounds) -> Bounds:
        left, right = operands
        lo, hi = min(0, right[0] + 1), max(0, right[1] - 1)
        if left[0] >= 0 and right[0] >= 0:
            hi = min(hi, left[1])
        return lo, hi

    def lower(self, lowering: LoweringProtocol) -> Linear:
        dividend, divisor = lowering.operands(self)
        if divisor.terms:
            return lowering.known(_division(lowering.problem, dividend, divisor)[1])
        modulus = divisor.constant
        rest = Linear({v: a for v, a in dividend.terms.items() if a % modulus}, dividend.constant % modulus)
        if not rest.terms:
            return rest
        return lowering.known(_division(lowering.problem, rest, divisor)[1])

    @classmethod
    def column(cls, operands: Sequence[Any], bounds: Sequence[Bounds]) -> Any:
        import numpy as np

        left, right = operands
        dtype = np.result_type(left, right)
        if dtype.kind == "i" and bounds[0][0] >= 0 and bounds[1][0] >= 0:
            return np.fmod(left, right)  # the same as % here, without the test of signs
        return left % right

    @classmethod
    def known(cls, ranges: RangesProtocol, *operands: Known) -> Known:
        a, b = operands
        if b.is_fixed:
            m = b.lo
            if a.modulus % m == 0:
                return fixed(a.residue % m)
            if a.lo // m == a.hi // m:
                return total([(1, a)], -m * (a.lo // m))
            ranges.wanted(a, m)
            return between(min(0, m + 1), max(0, m - 1), gcd(a.modulus, m), a.residue)
        if (a.lo >= 0 and a.hi < b.lo) or (b.hi < a.lo and a.hi <= 0):
            return a
        ends = _outermost(b.lo, b.hi)
        return between(min(0, min(ends) + 1), max(0, max(ends) - 1))


def _outermost(lo: int, hi: int) -> list[int]:
    """The outermost divisors between two bounds, with those next to 0."""
    ends = [d for d in (lo, hi) if d != 0]
    if lo <= 0 < hi:
        ends.append(1)
    if lo < 0 <= hi:
        ends.append(-1)
    return ends


def _division(problem: ProblemProtocol, dividend: Linear, divisor: Linear) -> tuple[int, int]:
    """The variables that equal quotient and remainder; the divisor becomes different from 0."""
    x, y = problem.of_linear(dividend), problem.of_linear(divisor)
    known = problem.shared(("quotient", x, y)), problem.shared(("remainder", x, y))
    if known[0] is not None and known[1] is not None:
        return known[0], known[1]
    problem.remove_value(y, 0)
    lo, hi = problem.lo[y], problem.hi[y]
    most = max(abs(problem.lo[x]), abs(problem.hi[x]))
    quotients = [-most, most]
    if lo > 0 or hi < 0:
        quotients = [a // b for a in (problem.lo[x], problem.hi[x]) for b in (lo, hi)]
    inputs = (x, problem.sign(y)), (y, -problem.sign(x) if lo > 0 else 0)
    q = problem.function(("quotient", x, y), (min(quotients), max(quotients)), inputs, None)
    r = problem.function(
        ("remainder", x, y),
        (min(lo + 1, 0), max(hi - 1, 0)),
        ((x, 0), (y, 0)),
        lambda r: DivMod(x, y, q, r),
    )
    return q, r


def _quotient(lowering: LoweringProtocol, dividend: Linear, divisor: Linear) -> Linear:
    if dividend.terms:
        common = gcd(dividend.content(), divisor.content())
        dividend, divisor = dividend.divided(common), divisor.divided(common)
    problem = lowering.problem
    if problem.bounds(dividend)[1] <= 0 and problem.bounds(divisor)[0] >= 1:
        return lowering.known(_rounded_up(problem, dividend.scaled(-1), divisor)).scaled(-1)
    return lowering.known(_division(problem, dividend, divisor)[0])


def _rounded_up(problem: ProblemProtocol, dividend: Linear, divisor: Linear) -> int:
    """The variable that equals the quotient rounded up, for a dividend of at least 0 and a divisor of 1."""
    x, y = problem.of_linear(dividend), problem.of_linear(divisor)
    known = problem.shared(("ceildiv", x, y))
    if known is not None:
        return known
    # The variable of a sum may be older than what its terms were narrowed to since.
    problem.keep_between(x, 0, problem.huge)
    problem.keep_between(y, 1, problem.huge)
    lo, hi = problem.lo, problem.hi
    bounds = -(-lo[x] // hi[y]), -(-hi[x] // lo[y])
    return problem.function(("ceildiv", x, y), bounds, ((x, 1), (y, -1)), lambda q: CeilDiv(x, y, q))


def _quotient_by_constant(lowering: LoweringProtocol, dividend: Linear, divisor: int) -> Linear:
    if divisor < 0:
        return _quotient_by_constant(lowering, dividend.scaled(-1), -divisor)
    common = gcd(divisor, dividend.constant, *dividend.terms.values())
    dividend, divisor = dividend.divided(common), divisor // common
    whole = Linear(
        {v: a // divisor for v, a in dividend.terms.items() if a % divisor == 0},
        dividend.constant // divisor,
    )
    rest = dividend.plus(whole, -divisor)
    if not rest.terms:
        return whole
    if next(iter(rest.terms.values())) < 0:
        # -((-a) // d) rounds up, and so does (a + d - 1) // d: one form for both is shared.
        return whole.plus(_fraction(lowering, Linear({}, divisor - 1).plus(rest, -1), divisor), -1)
    return whole.plus(_fraction(lowering, rest, divisor))


def _fraction(lowering: LoweringProtocol, dividend: Linear, divisor: int) -> Linear:
    whole, constant = divmod(dividend.constant, divisor)
    rest = Linear(dividend.terms, constant)
    low, high = lowering.problem.bounds(rest)
    if low // divisor == high // divisor:
        return Linear({}, whole + low // divisor)
    return Linear({lowering.conditions.quotient(rest, divisor): 1}, whole)


def ceildiv(dividend: IntLike, divisor: IntLike) -> IntExpr:
    """The quotient rounded up: ``-((-dividend) // divisor)``."""
    return -((-as_expr(dividend)) // divisor)
