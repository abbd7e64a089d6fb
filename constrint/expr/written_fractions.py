"""Fractions as text: decimals where they are exact, quotients elsewhere."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

from constrint.expr.base import IntExpr
from constrint.expr.conditions import Comparison, Member, Scale
from constrint.expr.domain import Domain
from constrint.expr.integers import Const, Sum
from constrint.expr.rational import Rational, in_lowest_terms
from constrint.expr.strengths import PRODUCT, SIGN, SUM
from constrint.expr.written import Writer

MOST_MEMBERS = 10
"""Members of a set that people are shown."""


def decimal_text(value: Fraction) -> str | None:
    """A fraction as a decimal number, exactly; None where that has no end."""
    rest, places = value.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest, count = rest // prime, count + 1
        places = max(places, count)
    if rest != 1:
        return None
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    whole, part = (digits[:-places], digits[-places:]) if places else (digits, "")
    return f"{'-' if value < 0 else ''}{whole}{'.' if part else ''}{part}"


def write_goal(writer: Writer, expr: IntExpr, unit: Rational | None) -> str:
    """The text of an objective: an integer expression, divided by the denominator of its unit.

    One whose values are floats has decimal coefficients, as far as these are exact; one with exact values is
    a quotient.
    """
    if unit is None or unit.denominator == 1:
        return writer.text(expr)
    if unit.is_float:
        text = _with_decimals(writer, expr, unit.denominator)
        if text is not None:
            return text
    return f"{'1.0 * ' if unit.is_float else ''}({writer.text(expr)}) / {unit.denominator}"


def show_fraction(value: Rational) -> str:
    """The text of a fraction for people."""
    from constrint.expr.shown import shortened, shower

    return _side(shower(), shortened(value.numerator), Scale(value.denominator, value.is_float))


def write_comparison(writer: Writer, expr: Comparison) -> str:
    """The text of a comparison of fractions: what its sides were before they were multiplied."""
    assert expr.scale is not None
    left, right = [_side(writer, side, expr.scale) for side in (expr.left, expr.right)]
    return f"{left} {expr.operator} {right}"


def show_member(writer: Writer, arg: IntExpr, expr: Member) -> str:
    """The text of a condition that a fraction is in a set, for people.

    Args:
        writer: Writes the parts.
        arg: The number, which may be cut.
        expr: The condition.
    """
    assert expr.scale is not None
    return f"{_side(writer, arg, expr.scale)} in {show_members(expr.domain, expr.scale)}"


def show_members(domain: Domain, scale: Scale) -> str:
    """The text of a set of fractions, which was multiplied by their denominator."""
    size = scale.denominator
    count = domain.size
    if count is not None and (domain.values is not None or count <= MOST_MEMBERS):
        members = [_number(value, size) for value in islice(domain, MOST_MEMBERS)]
        rest = ", …" if count > MOST_MEMBERS else ""
        return f"{{{', '.join(members)}{rest}}}"
    ends = ["" if end is None else _number(end, size) for end in (domain.lo, domain.hi)]
    step = "" if domain.step == size else f" step {_number(domain.step, size)}"
    return f"{'..'.join(ends)}{step}"


def _number(value: int, denominator: int) -> str:
    """A fraction as a decimal where it is one, else as a quotient."""
    exact = Fraction(value, denominator)
    return decimal_text(exact) or str(exact)


def _side(writer: Writer, expr: IntExpr, scale: Scale) -> str:
    """One side: decimals where these are meant and exact, else a quotient in lowest terms."""
    rest, divisor = in_lowest_terms(expr, scale.denominator)
    if divisor == 1:
        return writer.text(rest, SUM)
    decimals = _with_decimals(writer, expr, scale.denominator) if scale.is_float else None
    if decimals is not None:
        return decimals
    text = writer.text(rest, PRODUCT if type(rest) is Sum else SIGN)  # `a // b / 2` would mix the two
    return f"{'1.0 * ' if scale.is_float else ''}{text} / {divisor}"


def _with_decimals(writer: Writer, expr: IntExpr, denominator: int) -> str | None:
    if type(expr) is Const:
        return decimal_text(Fraction(expr.value, denominator))
    terms, constant = (expr.terms, expr.constant) if type(expr) is Sum else (((1, expr),), 0)
    text = ""
    for coefficient, term in terms:
        size = Fraction(coefficient, denominator)
        number = decimal_text(abs(size))
        if number is None:
            return None
        scaled = (
            writer.text(term, PRODUCT) if number == "1" and text else f"{number} * {writer.text(term, SIGN)}"
        )
        sign = "-" if size < 0 else "+"
        text += f" {sign} {scaled}" if text else f"-{scaled}" if size < 0 else scaled
    if constant:
        number = decimal_text(Fraction(abs(constant), denominator))
        if number is None:
            return None
        text += f" {'-' if constant < 0 else '+'} {number}" if text else number
    return text or None
