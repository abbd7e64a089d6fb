"""Decimal numbers as exact fractions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from math import lcm

from constrint.support.limits import Budget, Where

INFINITE = Fraction(10**20)
"""Bounds from here on mean no bound, as every reader of these formats has it."""
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")
_INFINITY = re.compile(r"([+-]?)inf(?:inity)?", re.IGNORECASE)


def decimal(text: str, budget: Budget, where: Where) -> Fraction | None:
    """The exact value of a decimal number; None for any other text."""
    match = _DECIMAL.fullmatch(text)
    if match is None:
        return None
    budget.digits(text, where)
    if match[1] is not None:
        budget.digits(len(text) + abs(int(match[1][:9])), where)
    try:
        return Fraction(text)
    except ValueError:  # longer than Python reads, where there is no limit of digits
        budget.digits(10**9, where)
        return None


def bound(text: str, budget: Budget, where: Where) -> Fraction | None:
    """A decimal number or infinity; None for any other text."""
    match = _INFINITY.fullmatch(text)
    if match is not None:
        return -INFINITE if match[1] == "-" else INFINITE
    return decimal(text, budget, where)


def common_denominator(numbers: Iterable[Fraction]) -> int:
    """The least positive integer by which all numbers become integers."""
    return lcm(*[number.denominator for number in numbers])
