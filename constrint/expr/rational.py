"""Sums with fractional coefficients: what `0.5 * x` builds.

A float is read as the decimal number that Python prints for it: 0.1 is 1/10, as it is written, and not the
binary fraction beside it. Everything is exact: comparisons become conditions on integers, which know their
denominator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from math import gcd, isfinite, lcm
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, SupportsFloat, TypeAlias, TypeVar

from constrint.errors import ModelError, Position
from constrint.expr import build
from constrint.expr.arithmetic.division import FloorDiv, ceildiv
from constrint.expr.arithmetic.truncation import truncdiv
from constrint.expr.base import Assignment, BoolExpr, IntExpr
from constrint.expr.build import as_expr
from constrint.expr.conditions import BoolVar, Comparison, Member, Scale
from constrint.expr.domain import Domain
from constrint.expr.integers import Const, IntVar, Sum
from constrint.support.arguments import integer, with_other_names
from constrint.support.record import public_names

Coefficient: TypeAlias = float | Fraction | Decimal
Number: TypeAlias = int | float | Fraction
Fractional: TypeAlias = "Rational | Coefficient"


def is_fraction(value: object) -> bool:
    """Whether a value is a float, numpy's included, a Fraction or a Decimal."""
    return isinstance(value, float | Fraction | Decimal) or type(value).__name__ in ("float16", "float32")


def fraction_of(value: Any) -> Fraction:
    """The exact value of a number; of a float, the decimal number that Python prints for it."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, Decimal):
        is_finite = value.is_finite()
    else:
        is_finite = isfinite(value)
    if not is_finite:
        raise ModelError(f"{value} is not a number to compute with: a coefficient or bound must be finite")
    if isinstance(value, float):
        return Fraction(float.__repr__(value))
    return Fraction(str(value) if isinstance(value, SupportsFloat) else value)


Made = TypeVar("Made")
Comparing: TypeAlias = "Callable[[Rational, object], BoolExpr]"


def _comparison(symbol: str) -> Comparing:
    return _leaving_arrays(lambda self, other: compared(symbol, self, other))


def _leaving_arrays(rule: Callable[[Rational, object], Made]) -> Callable[[Rational, object], Made]:
    """An operator that leaves arrays to their own operators."""

    @wraps(rule)
    def operator(self: Rational, other: object) -> Made:
        return NotImplemented if build.is_array(other) else rule(self, other)

    return operator


def _integers_only(rule: str) -> Callable[..., NoReturn]:
    """An operator or method that fractions do not have."""

    def refuse(self: Rational, *operands: object) -> NoReturn:
        raise ModelError(
            f"{rule}, and `{self}` is a fraction: round it first, by `math.floor`, `math.ceil` or `round`, "
            "which give integer expressions, or multiply it by its denominator"
        )

    return refuse


_refuse_bits = _integers_only("`bits` gives the last bits of an integer")


def _constant(value: object) -> Fraction:
    return fraction_of(value) if is_fraction(value) else Fraction(integer(value, "each of values"))


@with_other_names
class Rational:
    """An expression divided by an integer; made by a product, sum or quotient with a float or Fraction.

    It stands in sums, multiples, comparisons, `abs` and objectives; `math.floor`, `math.ceil`, `math.trunc`
    and `round` make integer expressions of it. Its value is a float, or a Fraction if it was made of
    Fractions or Decimals only.

    Attributes:
        numerator: The expression.
        denominator: The integer, at least 1.
        is_float: Whether its values are floats.
    """

    __slots__ = ("denominator", "is_float", "numerator")
    _internal = ("in_units",)
    __dir__ = public_names

    def __init__(self, numerator: IntExpr, denominator: int, is_float: bool) -> None:
        self.numerator = numerator
        self.denominator = denominator
        self.is_float = is_float

    def evaluate(self, assignment: Assignment) -> float | Fraction:
        """The value under an assignment of the variables; raises `Undefined` if there is none."""
        return self.in_units(self.numerator.evaluate(assignment))

    def in_units(self, numerator: int) -> float | Fraction:
        """The value for a value of the numerator."""
        exact = Fraction(numerator, self.denominator)
        try:
            return float(exact) if self.is_float else exact
        except OverflowError:  # beyond the range of floats
            return exact

    @_leaving_arrays
    def __add__(self, other: object) -> Rational:
        return _sum(self, lifted(other), 1)

    __radd__ = __add__

    @_leaving_arrays
    def __sub__(self, other: object) -> Rational:
        return _sum(self, lifted(other), -1)

    def __rsub__(self, other: object) -> Rational:
        return _sum(lifted(other), self, -1)

    def __neg__(self) -> Rational:
        return _times(self, Fraction(-1))

    def __pos__(self) -> Rational:
        return self

    @_leaving_arrays
    def __mul__(self, other: object) -> Rational:
        right = lifted(other)
        numerator = build.product(self.numerator, right.numerator)
        return Rational(numerator, self.denominator * right.denominator, self.is_float or right.is_float)

    __rmul__ = __mul__

    @_leaving_arrays
    def __truediv__(self, other: object) -> Rational:
        right = lifted(other)
        if not isinstance(right.numerator, Const):
            raise ModelError("`/` divides by a constant only: multiply the other side by the divisor instead")
        if right.numerator.value == 0:
            raise ModelError("division by 0: the divisor is a constant that is not 0")
        return _times(self, Fraction(right.denominator, right.numerator.value), right.is_float)

    __floordiv__ = __rfloordiv__ = _integers_only("`//` is an operator of integers")
    __mod__ = __rmod__ = _integers_only("`%` is an operator of integers")
    __divmod__ = __rdivmod__ = _integers_only("`divmod` divides integers")
    __rpow__ = _integers_only("`**` is an operator of integers")
    __and__ = __rand__ = _integers_only("`&` is an operator of integers and conditions")
    __or__ = __ror__ = _integers_only("`|` is an operator of integers and conditions")
    __xor__ = __rxor__ = _integers_only("`^` is an operator of integers and conditions")
    __lshift__ = __rlshift__ = _integers_only("`<<` is an operator of integers")
    __rshift__ = __rrshift__ = _integers_only("`>>` is an operator of integers")
    __invert__ = _integers_only("`~` is an operator of integers and conditions")

    def __pow__(self, exponent: object, modulus: object = None) -> Rational:
        if modulus is not None:
            raise ModelError(f"`pow` with a modulus is one of integers: round `{self}` first")
        if type(exponent) is not int or exponent < 0:
            raise ModelError(f"`**` of a fraction takes a constant exponent of at least 0, not {exponent!r}")
        return Rational(self.numerator**exponent, self.denominator**exponent, self.is_float)

    def __array_ufunc__(self, ufunc: object, method: str, *inputs: object, **options: object) -> Any:
        from constrint.expr.array_functions import ufunc_of

        return ufunc_of(ufunc, method, inputs, options)

    def __array_function__(self, function: object, types: object, args: Any, options: Any) -> Any:
        from constrint.expr.array_functions import function_of

        return function_of(function, args, options)

    def bits(self, count: int) -> NoReturn:
        """Refused: the last bits are those of an integer."""
        _refuse_bits(self, count)

    def __rtruediv__(self, other: object) -> NoReturn:
        raise ModelError("`/` divides by a constant only: multiply the other side by the divisor instead")

    def __abs__(self) -> Rational:
        return Rational(abs(self.numerator), self.denominator, self.is_float)

    def __floor__(self) -> IntExpr:
        return FloorDiv(self.numerator, Const(self.denominator))

    def __ceil__(self) -> IntExpr:
        return ceildiv(self.numerator, self.denominator)

    def __trunc__(self) -> IntExpr:
        return truncdiv(self.numerator, self.denominator)

    def __round__(self, digits: object = None) -> IntExpr:
        """The nearest integer; of two, the even one, as Python has it."""
        if digits is not None:
            raise ModelError("`round` of an expression gives an integer: leave the number of digits out")
        doubled, step = 2 * self.numerator + self.denominator, 2 * self.denominator
        up = doubled // step
        return up - ((doubled % step == 0) & (up % 2 == 1))

    def _no_number(self) -> NoReturn:
        raise ModelError(
            f"`{self}` has no value while the model is being built: after solving, `result[{self}]` is its "
            "value. As an expression, `math.floor`, `math.ceil` and `round` make it an integer"
        )

    __int__ = __float__ = __complex__ = _no_number
    if not TYPE_CHECKING:  # which takes it for an integer
        __index__ = _no_number

    def is_in(self, values: Iterable[Number | Decimal] | Domain) -> BoolExpr:
        """The condition that the value is one of these integers and fractions."""
        if isinstance(values, Domain) and values.values is None:
            lo, hi = [None if end is None else end * self.denominator for end in (values.lo, values.hi)]
            domain = Domain.of_range(lo, hi, values.step * self.denominator)
        else:
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise ModelError(f"values must be a list of numbers, not {values!r}: write such as [0.5, 1]")
            scaled = [_constant(value) * self.denominator for value in values]
            domain = Domain.of_values([int(one) for one in scaled if one.denominator == 1])
        scale = Scale(self.denominator, self.is_float) if self.denominator > 1 else None
        return build.placed(Member(self.numerator, domain, scale))

    @property
    def children(self) -> tuple[IntExpr, ...]:
        """The numerator."""
        return (self.numerator,)

    @property
    def position(self) -> Position | None:
        """The place of the numerator in the user's source; None if unknown."""
        return self.numerator.position

    def variables(self) -> Iterator[IntVar | BoolVar]:
        """The variables that occur, each once, in order of appearance."""
        return self.numerator.variables()

    __lt__ = _comparison("<")
    __le__ = _comparison("<=")
    __gt__ = _comparison(">")
    __ge__ = _comparison(">=")
    __eq__: ClassVar[Comparing] = _comparison("==")  # type: ignore[assignment] # it builds a condition
    __ne__: ClassVar[Comparing] = _comparison("!=")  # type: ignore[assignment] # it builds a condition
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return self.numerator.__bool__()  # raises the error about truth values

    def __repr__(self) -> str:
        from constrint.expr.written_fractions import show_fraction

        return show_fraction(self)

    def _repr_latex_(self) -> str:
        from constrint.expr.latex import latex_fraction

        return f"${latex_fraction(self.numerator, self.denominator)}$"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


def lifted(value: object) -> Rational:
    """A number or an expression as a fraction."""
    if isinstance(value, Rational):
        return value
    if is_fraction(value):
        exact = fraction_of(value)
        return Rational(Const(exact.numerator), exact.denominator, not isinstance(value, Fraction | Decimal))
    return Rational(as_expr(value), 1, False)


def _sum(left: Rational, right: Rational, sign: int) -> Rational:
    whole = lcm(left.denominator, right.denominator)
    terms = [
        (whole // left.denominator, left.numerator),
        (sign * (whole // right.denominator), right.numerator),
    ]
    return Rational(build.linear(terms), whole, left.is_float or right.is_float)


def _times(value: Rational, factor: Fraction, is_float: bool = False) -> Rational:
    numerator = build.linear([(factor.numerator, value.numerator)])
    return Rational(numerator, value.denominator * factor.denominator, value.is_float or is_float)


def compared(operator: str, left: object, right: object) -> BoolExpr:
    """A comparison of fractions, as one of integers that knows by what its sides were multiplied."""
    one, other = lifted(left), lifted(right)
    whole = lcm(one.denominator, other.denominator)
    sides = [
        side.numerator
        if side.denominator == whole
        else build.linear([(whole // side.denominator, side.numerator)])
        for side in (one, other)
    ]
    common = gcd(whole, *[content(side) for side in sides])
    first, second = [divided(side, common) for side in sides]
    if common == whole:
        return build.compare(operator, first, second)
    return build.placed(Comparison(operator, first, second, Scale(whole // common, _has_float(one, other))))


def _has_float(*values: Rational) -> bool:
    return any(value.is_float for value in values)


def content(expr: IntExpr) -> int:
    """An integer by which an expression can be divided: the common divisor of its coefficients."""
    if type(expr) is Const:
        return abs(expr.value)
    return gcd(expr.constant, *[factor for factor, _ in expr.terms]) if type(expr) is Sum else 1


def in_lowest_terms(expr: IntExpr, denominator: int) -> tuple[IntExpr, int]:
    """A numerator and its denominator without the divisor that they share."""
    common = gcd(denominator, content(expr))
    return divided(expr, common), denominator // common


def divided(expr: IntExpr, divisor: int) -> IntExpr:
    """An expression divided by a divisor of its `content`."""
    if divisor == 1:
        return expr
    if type(expr) is Sum:
        return build.linear([(a // divisor, part) for a, part in expr.terms], expr.constant // divisor)
    return Const(expr.value // divisor) if type(expr) is Const else expr


def common(values: Iterable[object]) -> tuple[list[IntExpr], Callable[[IntExpr], Rational]]:
    """Numbers and expressions with one denominator: their numerators, and what makes a fraction of one."""
    parts = [lifted(value) for value in values]
    whole = lcm(*[part.denominator for part in parts])
    numerators = [build.linear([(whole // part.denominator, part.numerator)]) for part in parts]
    is_float = any(part.is_float for part in parts)
    return numerators, lambda numerator: Rational(numerator, whole, is_float)


def total(values: Iterable[object]) -> Rational:
    """The sum of numbers and expressions."""
    parts = [lifted(value) for value in values]
    whole = lcm(*[part.denominator for part in parts])
    terms = [(whole // part.denominator, part.numerator) for part in parts]
    return Rational(build.linear(terms), whole, any(part.is_float for part in parts))
