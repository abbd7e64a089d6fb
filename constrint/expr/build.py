"""Building nodes: converting operands, flattening sums and products, noting source positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

from constrint.errors import ModelError
from constrint.expr.base import BoolExpr, IntExpr
from constrint.expr.conditions import And, BoolConst, Comparison, Iff, Or
from constrint.expr.domain import Label
from constrint.expr.integers import Const, Mul, Sum
from constrint.expr.position import caller

if TYPE_CHECKING:
    from constrint.expr.rational import Rational

FRACTIONS = ("Rational", "Fraction", "Decimal", "float16", "float32")
"""The types of operands that `rational` computes with, beside floats; it is imported for them only."""


class NotWhole(ModelError):  # noqa: N818 - operators catch it
    """An operand that is a number, or the value of an expression, but not an integer."""


LONG_SUM = 8  # sums of at least this many terms are extended without copying


def as_expr(value: object) -> IntExpr:
    """The expression for an operand: an expression itself, or a constant for an integer."""
    if isinstance(value, IntExpr):
        return value
    if type(value) is int:  # the usual case, much cheaper than a protocol check
        return Const(value)
    if isinstance(value, float) or type(value).__name__ in FRACTIONS:
        raise NotWhole(
            f"{value!r} is not an integer: numbers that are not whole stand in sums, multiples, "
            "comparisons and objectives, and nowhere else; round an expression by `math.floor`, `math.ceil` "
            "or `round`"
        )
    if isinstance(value, SupportsIndex):
        return Const(value if isinstance(value, Label) else value.__index__())
    raise ModelError(_no_expression(value))


def _no_expression(value: object) -> str:
    from constrint.expr.enumerated import EnumExpr, not_a_number

    if isinstance(value, EnumExpr):
        return not_a_number(value)
    return f"{value!r} is not an integer expression: use integers and constrint expressions only"


def lifted(value: object) -> Rational:
    """A number or an expression as a fraction; see `rational`, which is imported where it is needed."""
    from constrint.expr import rational

    return rational.lifted(value)


def no_division(dividend: object, divisor: object) -> str:
    """Why `/` is refused, and what to write instead."""
    above, below = _in_brackets(dividend), _in_brackets(divisor)
    if isinstance(divisor, IntExpr):
        exact = "for an exact quotient in a comparison, multiply the other side by the divisor"
    elif type(divisor) is int and divisor:
        factor = f"Fraction({1 if divisor > 0 else -1}, {abs(divisor)})"
        exact = f"for an exact fraction write `{factor} * {above}`"
    else:
        exact = "for an exact fraction multiply by a `Fraction`"
    return (
        f"`/` does not give an integer: `{above} // {below}` rounds down, `ceildiv({dividend}, {divisor})` "
        f"rounds up; {exact}"
    )


def _in_brackets(operand: object) -> str:
    """The text of an operand for a place beside another operator."""
    if not isinstance(operand, IntExpr):
        return repr(operand)
    from constrint.expr.shown import shortened, shower
    from constrint.expr.strengths import ATOM

    return shower().text(shortened(operand), ATOM)


def is_array(value: object) -> bool:
    """Whether an operand is an array with axes, whose own operators make an array of expressions."""
    return getattr(value, "shape", ()) != ()


def with_other(
    function: Callable[[Any, Any], Any], expr: IntExpr, other: object, is_turned: bool = False
) -> IntExpr | Rational:
    """An operator with an operand that is neither an expression nor an int: an array, a fraction."""
    if is_array(other):
        return NotImplemented  # type: ignore[no-any-return] # as operators do
    own: IntExpr | Rational = expr
    try:
        operand: IntExpr | Rational = as_expr(other)
    except NotWhole:
        own, operand = lifted(expr), lifted(other)
    found: IntExpr | Rational = function(operand, own) if is_turned else function(own, operand)
    return found


def may_join(value: object) -> bool:
    """Whether `&`, `|`, `^` join an operand to a condition here; an array does so by its own operators.

    Raises `ModelError` for a number: it is half of a comparison, as in ``x == 1 & (y == 2)``.
    """
    if is_array(value):
        return False
    if not isinstance(value, bool) and isinstance(value, SupportsIndex):
        raise ModelError(
            f"`{value}` is a number, and `&`, `|`, `^` take conditions: compare it, such as `… != 0`. They "
            "bind more tightly than comparisons: write `(x == 1) & (y == 2)`, with brackets"
        )
    return True


def as_bool(value: object) -> BoolExpr:
    """The condition for an operand; 0, 1, False and True are accepted as constants."""
    if isinstance(value, BoolExpr):
        return value
    if isinstance(value, int) and value in (0, 1):
        return BoolConst(bool(value))
    if isinstance(value, IntExpr):
        raise ModelError("a number is not a condition: compare the expression, such as `… != 0`")
    raise ModelError(f"{value!r} is not a condition: use comparisons of expressions")


def placed(node: BoolExpr) -> BoolExpr:
    """Note the place in the user's code that builds a condition; returns the condition."""
    object.__setattr__(node, "_where", caller())
    return node


def compare(operator: str, left: IntExpr, right: object) -> BoolExpr:
    """A comparison; == between two conditions is equivalence."""
    node: BoolExpr
    if operator == "==" and isinstance(left, BoolExpr) and isinstance(right, (BoolExpr, bool)):
        node = Iff(left, as_bool(right))
    else:
        try:
            node = Comparison(operator, left, as_expr(right))
        except NotWhole:
            from constrint.expr.rational import compared

            return compared(operator, left, right)
    object.__setattr__(node, "_where", caller())
    return node


def flat(kind: type[And] | type[Or], *parts: BoolExpr) -> tuple[BoolExpr, ...]:
    """The parts of a conjunction or disjunction, with nested ones of the same kind flattened."""
    flat: list[BoolExpr] = []
    for part in parts:
        merged = isinstance(part, kind) and (
            len(part.args) <= FEW_TERMS or len(flat) + len(part.args) <= MOST_FLAT
        )
        flat.extend(part.args if merged else (part,))  # type: ignore[attr-defined]  # what is merged is a junction
    return tuple(flat)


MOST_FLAT = 1000
"""The most terms or factors to which nested sums and products are merged; longer ones stay nested."""
MOST_FACTORS = 64
FEW_TERMS = 8
"""Sums and products of at most this many terms are always merged."""


def linear(terms: Sequence[tuple[int, IntExpr]], constant: int = 0) -> IntExpr:
    """``constant + sum(coefficient * expression)``, with nested sums and constants merged."""
    if len(terms) == 2 and constant == 0 and type(terms[0][1]) is Sum and terms[0][0] == 1:
        longer = _extended(terms[0][1], *terms[1])
        if longer is not None:
            return longer
    flat: list[tuple[int, IntExpr]] = []
    for coefficient, term in terms:
        if type(term) is Const:
            constant += coefficient * term.value
        elif type(term) is Sum:
            inner = term.terms
            if len(inner) > FEW_TERMS and len(flat) + len(inner) > MOST_FLAT:
                flat.append((coefficient, term))
                continue
            constant += coefficient * term.constant
            flat.extend(inner if coefficient == 1 else [(coefficient * a, part) for a, part in inner])
        else:
            flat.append((coefficient, term))
    if len(flat) > FEW_TERMS:
        flat = _merged(flat)
    if not flat:
        return Const(constant)
    if constant == 0 and len(flat) == 1 and flat[0][0] == 1 and not isinstance(flat[0][1], BoolExpr):
        return flat[0][1]
    return Sum(tuple(flat), constant)


def total(left: IntExpr, right: IntExpr, sign: int = 1) -> IntExpr:
    """``left + sign * right``, as `linear` gives it: short sums, the usual case, by a shorter way."""
    if type(left) is Sum:
        if left.count >= FEW_TERMS:
            return linear([(1, left), (sign, right)])
        terms, constant = left.terms, left.constant
    elif type(left) is Const:
        terms, constant = (), left.value
    else:
        terms, constant = ((1, left),), 0
    if type(right) is Sum:
        if right.count >= FEW_TERMS:
            return linear([(1, left), (sign, right)])
        terms += right.terms if sign == 1 else tuple([(-a, part) for a, part in right.terms])
        constant += sign * right.constant
    elif type(right) is Const:
        constant += sign * right.value
    else:
        terms += ((sign, right),)
    if len(terms) > FEW_TERMS or (constant == 0 and len(terms) == 1) or not terms:
        return linear([(1, left), (sign, right)])
    return Sum(terms, constant)


def _extended(left: Sum, coefficient: int, right: IntExpr) -> Sum | None:
    """A long sum plus another term, without copying the sum; None for a short sum."""
    if left.count < LONG_SUM:
        return None
    if type(right) is Const:
        return left.extended([], left.constant + coefficient * right.value)
    if type(right) is Sum and (right.count <= FEW_TERMS or left.count + right.count <= MOST_FLAT):
        terms = [(coefficient * inner, part) for inner, part in right.terms]
        return left.extended(terms, left.constant + coefficient * right.constant)
    return left.extended([(coefficient, right)], left.constant)


def _merged(terms: list[tuple[int, IntExpr]]) -> list[tuple[int, IntExpr]]:
    """The same sum with each expression once; coefficients that become 0 stay."""
    factors: dict[int, int] = {}
    for factor, term in terms:
        factors[id(term)] = factors.get(id(term), 0) + factor
    if len(factors) == len(terms):
        return terms
    parts = {id(term): term for _, term in terms}
    return [(factor, parts[key]) for key, factor in factors.items()]


def scaled(expr: IntExpr, factor: int) -> IntExpr:
    """An expression times a constant."""
    if factor == 1 or type(expr) is Sum or type(expr) is Const:
        return linear([(factor, expr)])
    return Sum(((factor, expr),), 0)


def product(left: IntExpr, right: IntExpr) -> IntExpr:
    """A product, with nested ones flattened and constant factors as coefficients."""
    if type(left) is Const:
        left, right = right, left
    if type(right) is Const:
        return scaled(left, right.value)
    if type(left) is not Mul and type(right) is not Mul:
        return Mul((left, right))
    first = left.args if type(left) is Mul else (left,)
    second = right.args if type(right) is Mul else (right,)
    if len(first) + len(second) > MOST_FACTORS:
        return Mul((left, right))
    return Mul(first + second)
