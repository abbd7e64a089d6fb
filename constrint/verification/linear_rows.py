"""Bounds by linear constraints: one row by itself, and all rows over one sum together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import Any, TypeAlias

from constrint.verification.bounds import Atom, Bounds, Contradiction, literal_atom, opposite

Terms: TypeAlias = Sequence[Sequence[int]]
"""Pairs of a factor and a variable."""
Arguments: TypeAlias = dict[str, Any]


def least(bounds: Bounds, terms: Terms) -> int:
    """The least value of a sum."""
    return sum(a * (bounds.low[v] if a > 0 else bounds.high[v]) for a, v in terms)


def negative(terms: Terms) -> list[tuple[int, int]]:
    """The sum times -1."""
    return [(-a, v) for a, v in terms]


def at_most(bounds: Bounds, terms: Terms, bound: int, condition: Atom | None = None) -> None:
    """Interval reasoning on ``condition -> sum <= bound``."""
    if condition is not None and bounds.is_false(condition):
        return
    low = least(bounds, terms)
    if condition is not None and not bounds.is_true(condition):
        if low > bound:
            bounds.assume(opposite(condition))
        return
    if low > bound:
        raise Contradiction
    for a, v in terms:
        rest = bound - (low - a * (bounds.low[v] if a > 0 else bounds.high[v]))
        if a > 0:
            bounds.at_most(v, rest // a)
        elif a < 0:
            bounds.at_least(v, -(rest // -a))


def different(bounds: Bounds, terms: Terms, bound: int, condition: Atom | None = None) -> None:
    """``condition -> sum != bound``, once one variable at most is open."""
    if condition is not None and bounds.is_false(condition):
        return
    is_open = sorted({v for _, v in terms if not bounds.is_fixed(v)})
    if len(is_open) > 1:
        return
    rest = bound - sum(a * bounds.low[v] for a, v in terms if v not in is_open)
    if not is_open:
        if rest == 0 and condition is None:
            raise Contradiction
        if rest == 0 and condition is not None:
            bounds.assume(opposite(condition))
        return
    if condition is not None and not bounds.is_true(condition):
        return
    v = is_open[0]
    factor = sum(a for a, u in terms if u == v)
    if factor * bounds.low[v] == rest:
        bounds.at_least(v, bounds.low[v] + 1)
    if factor * bounds.high[v] == rest:
        bounds.at_most(v, bounds.high[v] - 1)


def by_row(bounds: Bounds, name: str, arguments: Arguments) -> None:
    """The bounds that one linear constraint gives."""
    terms, bound = arguments["terms"], arguments["bound"]
    if name == "LinearNe":
        different(bounds, terms, bound)
        return
    yes = literal_atom(arguments["literal"]) if "literal" in arguments else None
    at_most(bounds, terms, bound, yes)
    if name in ("LinearEq", "LinearEqIf"):
        at_most(bounds, negative(terms), -bound, yes)
    if name == "LinearEqIf" and yes is not None:
        different(bounds, terms, bound, opposite(yes))
    if name == "LinearLeIf" and yes is not None:
        at_most(bounds, negative(terms), -bound - 1, opposite(yes))


def normal(terms: Terms) -> tuple[tuple[tuple[int, int], ...], int]:
    """The terms in lowest form, each variable once, in order, the first factor positive; and the divisor."""
    factors: dict[int, int] = {}
    for a, v in terms:
        factors[v] = factors.get(v, 0) + a
    merged = sorted((v, a) for v, a in factors.items() if a)
    if not merged:
        return (), 1
    divisor = gcd(*[a for _, a in merged]) * (1 if merged[0][1] > 0 else -1)
    return tuple((a // divisor, v) for v, a in merged), divisor


@dataclass(slots=True)
class RowsOfSum:
    """All constraints over one sum; together they decide their literals.

    Attributes:
        terms: The sum.
        rows: (literal or None, least or None, greatest or None): where the literal is true, the sum lies
            between.
        equations: (literal, value): the literal is true exactly where the sum is the value.
    """

    terms: tuple[tuple[int, int], ...]
    rows: list[tuple[Atom | None, int | None, int | None]] = field(default_factory=list)
    equations: list[tuple[Atom, int]] = field(default_factory=list)

    def add(self, name: str, arguments: Arguments, divisor: int) -> None:
        """Add a constraint whose terms are the sum times the divisor."""
        bound = arguments["bound"]
        literal = literal_atom(arguments["literal"]) if "literal" in arguments else None
        if name in ("LinearLe", "LinearLeIf"):
            self._side(literal, bound, divisor)
            if literal is not None:
                self._side(opposite(literal), -bound - 1, -divisor)
        elif bound % divisor == 0:
            value = bound // divisor
            if name == "LinearEq":
                self.rows.append((None, value, value))
            elif literal is not None:
                self.equations.append((literal, value))

    def _side(self, literal: Atom | None, bound: int, divisor: int) -> None:
        """``divisor * sum <= bound`` where the literal is true."""
        if divisor > 0:
            self.rows.append((literal, None, bound // divisor))
        else:
            self.rows.append((literal, -(bound // -divisor), None))

    def bound(self, bounds: Bounds) -> None:
        """The interval of the sum, and the literals that it decides."""
        low, high = least(bounds, self.terms), -least(bounds, negative(self.terms))
        for literal, lower, upper in self.rows:
            if literal is None or bounds.is_true(literal):
                low = low if lower is None else max(low, lower)
                high = high if upper is None else min(high, upper)
        for literal, value in self.equations:
            if bounds.is_true(literal):
                low, high = max(low, value), min(high, value)
        if low > high:
            raise Contradiction
        for literal, lower, upper in self.rows:
            if literal is not None and (
                (lower is not None and lower > high) or (upper is not None and upper < low)
            ):
                bounds.assume(opposite(literal))
        for literal, value in self.equations:
            if not low <= value <= high:
                bounds.assume(opposite(literal))
            elif low == high:
                bounds.assume(literal)
        at_most(bounds, self.terms, high)
        at_most(bounds, negative(self.terms), -low)
