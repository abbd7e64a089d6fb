"""Decimal numbers as they are written in texts, data files and on the command line: exact fractions."""

from __future__ import annotations

import re
from fractions import Fraction

from constrint.errors import ModelError, shown
from constrint.expr import Const
from constrint.expr.rational import Rational, is_fraction, lifted
from constrint.support.limits import Budget, Where

_DECIMAL = re.compile(r"([-+]?(?:[0-9]+(?:_[0-9]+)*\.?[0-9]*|\.[0-9]+))(?:[eE]([-+]?[0-9]{1,9}))?")
_MOST_PLACES = 10_000
"""The greatest exponent that is read: the digits of a number are written out."""


def decimal_number(text: str, budget: Budget, where: Where = "") -> Rational | None:
    """The number that a text is, whose values are floats; None if it is no decimal number.

    Raises:
        ModelError: It has too many digits for Python.
        LimitExceeded: It has more digits than the limit allows.
    """
    found = _DECIMAL.fullmatch(text)
    if found is None:
        return None
    places = abs(int(found[2] or 0))
    budget.digits(len(found[1]) + places, where)
    try:
        if places > _MOST_PLACES:
            raise ValueError
        exact = Fraction(text.replace("_", ""))
    except ValueError:
        raise ModelError(f"{shown(text, 40)} has more digits than can be read") from None
    return Rational(Const(exact.numerator), exact.denominator, True)


def given_fraction(value: object) -> Rational | None:
    """A fraction from Python or a data file; None for another value."""
    if isinstance(value, Rational):
        return value if isinstance(value.numerator, Const) else None
    return lifted(value) if is_fraction(value) else None
