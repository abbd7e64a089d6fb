"""Bit operations: `&`, `|` and `^` of integers, as Python has them, where negative numbers begin with ones.

Shifts and the complement are no functions of their own: ``x >> k`` is ``x // 2**k``, ``x << k`` is
``x * 2**k``, and ``~x`` is ``-x - 1``.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from constrint.errors import ModelError
from constrint.expr.arithmetic.base import Binary, Bounds, function
from constrint.expr.arithmetic.division import FloorDiv, Mod
from constrint.expr.arithmetic.power import LARGEST_POWER_BITS, Pow
from constrint.expr.base import BoolExpr, IntExpr, IntLike
from constrint.expr.build import as_expr, linear, product
from constrint.expr.conditions import And, Comparison, Iff, Not, Or
from constrint.expr.integers import Const
from constrint.expr.sums import Linear
from constrint.support.arguments import integer

if TYPE_CHECKING:
    from constrint.expr.arithmetic.protocols import LoweringProtocol

MOST_BITS = 62  # of numbers that are taken apart: the sum of more bits does not fit int64


class _Bits(Binary):
    """An operation on each pair of bits."""

    __slots__ = ()

    @classmethod
    def bit(cls, left: BoolExpr, right: BoolExpr) -> BoolExpr:
        """The bit for two bits."""
        raise NotImplementedError

    @classmethod
    def masked(cls, value: IntExpr, constant: int) -> IntExpr:
        """The same number by other functions, for a constant operand."""
        raise NotImplementedError

    @classmethod
    def depth(cls, *operands: Bounds) -> int:
        """How many bits of the value depend on more than the operands' signs."""
        return max([length(bounds) for bounds in operands])

    def lower(self, lowering: LoweringProtocol) -> Linear:
        left, right = lowering.operands(self)
        if not (left.terms or right.terms):
            return Linear({}, self.value(left.constant, right.constant))
        for value, other in ((self.left, right), (self.right, left)):
            if not other.terms:
                return lowering.sum_of(lowering.kept(self.masked(value, other.constant)))
        depth = self.depth(*[lowering.problem.bounds(operand) for operand in (left, right)])
        if depth > MOST_BITS:
            raise ModelError(
                f"`{self}` may have more than {MOST_BITS} bits: give its variables nearer bounds, or take "
                "the last bits of both, such as `x.bits(32) & y.bits(32)`"
            )
        return lowering.sum_of(lowering.kept(self.by_bits(depth)))

    def by_bits(self, depth: int) -> IntExpr:
        """The sum of the bits, for operands of which so many bits differ from their signs."""
        low = [_bits(operand, depth) for operand in (self.left, self.right)]
        signs = [Comparison("<", operand, Const(0)) for operand in (self.left, self.right)]
        terms: list[tuple[int, IntExpr]] = [
            (1 << place, self.bit(*pair)) for place, pair in enumerate(zip(*low, strict=True))
        ]
        return linear([*terms, (-1 << depth, self.bit(*signs))])

    @classmethod
    def column(cls, operands: Sequence[Any], bounds: Sequence[Bounds]) -> Any:
        return cls.value(*operands)  # numpy's operators are Python's


def length(bounds: Bounds) -> int:
    """How many bits numbers between bounds have beside the sign."""
    return max([(~bound if bound < 0 else bound).bit_length() for bound in bounds])


def _bits(value: IntExpr, count: int) -> list[BoolExpr]:
    """The conditions that the last bits of a number are 1, from the last one on."""
    bits: list[BoolExpr] = []
    for _ in range(count):
        half = FloorDiv(value, Const(2))
        bits.append(Comparison("==", linear([(1, value), (-2, half)]), Const(1)))
        value = half
    return bits


@function
class BitAnd(_Bits):
    """``left & right``: the bits that both have."""

    __slots__ = ()
    name: ClassVar[str] = "bit_and"
    value = staticmethod(operator.and_)

    @classmethod
    def bounds(cls, *operands: Bounds) -> Bounds:
        (low, high), (other_low, other_high) = operands
        lo = -1 << length((low, other_low)) if low < 0 and other_low < 0 else 0
        if low >= 0 or other_low >= 0:
            return lo, min([bounds[1] for bounds in operands if bounds[0] >= 0])
        return lo, min(high, other_high) if high < 0 and other_high < 0 else max(high, other_high)

    @classmethod
    def depth(cls, *operands: Bounds) -> int:
        """How many bits depend on more than signs: those of the shortest operand that is never negative."""
        return min(
            [length(bounds) for bounds in operands if bounds[0] >= 0], default=super().depth(*operands)
        )

    @classmethod
    def bit(cls, left: BoolExpr, right: BoolExpr) -> BoolExpr:
        """The bit for two bits."""
        return And((left, right))

    @classmethod
    def masked(cls, value: IntExpr, constant: int) -> IntExpr:
        """A remainder for each run of ones in the mask."""
        if constant < 0:
            return linear([(1, value), (-1, cls.masked(value, ~constant))])
        terms: list[tuple[int, IntExpr]] = [(0, value)]
        start = 0
        while constant >> start:
            rest = constant >> start
            start += (rest & -rest).bit_length() - 1
            ones = (~(constant >> start) & (constant >> start) + 1).bit_length() - 1
            shifted = value if start == 0 else FloorDiv(value, Const(1 << start))
            terms.append((1 << start, Mod(shifted, Const(1 << ones))))
            start += ones
        return linear(terms)


@function
class BitOr(_Bits):
    """``left | right``: the bits that one has or both."""

    __slots__ = ()
    name: ClassVar[str] = "bit_or"
    value = staticmethod(operator.or_)

    @classmethod
    def bounds(cls, *operands: Bounds) -> Bounds:
        lo, hi = BitAnd.bounds(*[(~high, ~low) for low, high in operands])
        return ~hi, ~lo

    @classmethod
    def bit(cls, left: BoolExpr, right: BoolExpr) -> BoolExpr:
        """The bit for two bits."""
        return Or((left, right))

    @classmethod
    def masked(cls, value: IntExpr, constant: int) -> IntExpr:
        """The sum, less the bits that both have."""
        return linear([(1, value), (-1, BitAnd.masked(value, constant))], constant)


@function
class BitXor(_Bits):
    """``left ^ right``: the bits that one has and not the other."""

    __slots__ = ()
    name: ClassVar[str] = "bit_xor"
    value = staticmethod(operator.xor)

    @classmethod
    def bounds(cls, *operands: Bounds) -> Bounds:
        most = (1 << cls.depth(*operands)) - 1
        signs = [(low < 0, high < 0) for low, high in operands]
        if all(first == last for first, last in signs):
            return (0, most) if signs[0] == signs[1] else (~most, -1)
        return ~most, most

    @classmethod
    def bit(cls, left: BoolExpr, right: BoolExpr) -> BoolExpr:
        """The bit for two bits."""
        return Not(Iff(left, right))

    @classmethod
    def masked(cls, value: IntExpr, constant: int) -> IntExpr:
        """The sum, less twice the bits that both have."""
        return linear([(1, value), (-2, BitAnd.masked(value, constant))], constant)


_OPERATORS: dict[str, type[_Bits]] = {"&": BitAnd, "|": BitOr, "^": BitXor}


def joined(symbol: str, left: IntLike, right: IntLike) -> IntExpr:
    """``left symbol right`` for numbers; raises `ModelError` where one of them is a condition."""
    return _OPERATORS[symbol](_number(symbol, left, right), _number(symbol, right, left))


def shifted(symbol: str, value: IntLike, count: IntLike) -> IntExpr:
    """``value >> count`` or ``value << count``; undefined for a negative count."""
    number, places = _number(symbol, value, count), _number(symbol, count, value)
    if isinstance(places, Const):
        if not 0 <= places.value <= LARGEST_POWER_BITS:
            raise ModelError(
                f"`{value} {symbol} {count}`: the count is at least 0 and not longer than a number"
            )
        factor: IntExpr = Const(1 << places.value)
    else:
        factor = Pow(Const(2), places)
    return FloorDiv(number, factor) if symbol == ">>" else product(number, factor)


def last_bits(value: IntExpr, count: int) -> IntExpr:
    """The last bits of a number, as a number that is at least 0."""
    places = integer(count, "the number of bits")
    if not 0 <= places <= LARGEST_POWER_BITS:
        raise ModelError(f"`({value}).bits({count})`: the number of bits is at least 0, such as 8 or 32")
    return Mod(value, Const(1 << places))


def _number(symbol: str, value: object, other: object) -> IntExpr:
    if not isinstance(value, BoolExpr | bool):
        return as_expr(value)
    if symbol in ("<<", ">>"):
        raise ModelError(
            f"`{value}` is a condition, and `{symbol}` shifts numbers: write `({value}) + 0` for 0 or 1. "
            "That a condition a has b as a consequence, write `a.implies(b)`"
        )
    raise ModelError(
        f"`{other}` is a number and `{value}` a condition: `&`, `|`, `^` take two conditions or two numbers. "
        "They bind more tightly than comparisons: write `(x == 1) & (y == 2)`, with brackets; the condition "
        "as a number, 0 or 1, is `condition + 0`"
    )


def bit_and(left: IntLike, right: IntLike) -> IntExpr:
    """``left & right``: the bits that both integers have; negative ones begin with ones without end."""
    return joined("&", left, right)


def bit_or(left: IntLike, right: IntLike) -> IntExpr:
    """``left | right``: the bits that one integer has or both."""
    return joined("|", left, right)


def bit_xor(left: IntLike, right: IntLike) -> IntExpr:
    """``left ^ right``: the bits that one integer has and not the other."""
    return joined("^", left, right)
