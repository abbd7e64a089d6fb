"""Linear sums over numbered variables: what integer expressions are lowered to."""

from __future__ import annotations

from math import gcd


class Linear:
    """``constant + sum(coefficient * variable)``; no coefficient is 0. Never changed, as terms are shared."""

    __slots__ = ("constant", "terms")

    def __init__(self, terms: dict[int, int], constant: int) -> None:
        self.terms = terms
        self.constant = constant

    def scaled(self, factor: int) -> Linear:
        """This times a factor."""
        if factor == 1:
            return self
        if factor == 0:
            return Linear({}, 0)
        return Linear({v: a * factor for v, a in self.terms.items()}, self.constant * factor)

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """This plus factor times another."""
        if not other.terms:
            return Linear(self.terms, self.constant + factor * other.constant)
        terms = dict(self.terms)
        for v, a in other.terms.items():
            total = terms.get(v, 0) + factor * a
            if total:
                terms[v] = total
            else:
                terms.pop(v, None)
        return Linear(terms, self.constant + factor * other.constant)

    def content(self) -> int:
        """The greatest common divisor of coefficients and constant, with the sign of the first term."""
        common = gcd(self.constant, *self.terms.values())
        first = next(iter(self.terms.values()), 1)
        return common if first > 0 else -common

    def divided(self, factor: int) -> Linear:
        """This divided by a divisor of its content."""
        if factor == 1:
            return self
        return Linear({v: a // factor for v, a in self.terms.items()}, self.constant // factor)
