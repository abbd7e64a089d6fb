"""Functions of variables, and the constraints that are conditions on their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from constrint.local_search.annealed_layout import (
    ARGUMENT,
    COUNTED,
    EQUAL,
    FACTOR,
    HIGHEST,
    HIT,
    LOWEST,
    NOT_ABOVE,
    NUMBER,
    OF_ARGUMENTS,
    PRODUCT,
    SIZE,
    SUM,
    UNLIMITED,
)


@dataclass(frozen=True, slots=True)
class AnnealedTerm:
    """A variable that changes the total of a function; the kinds are those of `annealed_layout`."""

    v: int
    kind: int = FACTOR
    a: int = 1
    b: int = 0


@dataclass(slots=True)
class AnnealedFunction:
    """A function that computes a variable, or a value that some constraint is a condition on.

    Attributes:
        kind: Its kind, as in `annealed_layout`.
        terms: The terms of its total, or its arguments in order.
        constant: What is added to its total.
        is_opposite: Whether its value is 1 minus what its kind says.
        out: The variable that it computes; one is made where it is negative.
        low: The lower end of its value; above `high`, the value differs from it.
        high: The upper end.
        parts: The numbers of a `NUMBER`.
        least: Of a `COUNTED` function, the least value that is counted.
        width: The number of values that are counted.
    """

    kind: int
    terms: Sequence[AnnealedTerm]
    constant: int = 0
    is_opposite: bool = False
    out: int = -1
    low: int = -UNLIMITED
    high: int = UNLIMITED
    parts: Sequence[int] = field(default=())
    least: int = 0
    width: int = 0

    def total(self, values: Sequence[int]) -> int:
        """Its total."""
        found = self.constant
        seen: dict[int, int] = {}
        for term in self.terms:
            x = values[term.v]
            if term.kind == FACTOR:
                found += term.a * x
            elif term.kind == HIT:
                found += term.a * (x == term.b)
            elif term.kind == COUNTED:
                before = seen.get(term.a * x + term.b, 0)
                found += before
                seen[term.a * x + term.b] = before + 1
        return found

    def value(self, values: Sequence[int]) -> int:
        """Its value."""
        if self.kind in OF_ARGUMENTS:
            given = [values[term.v] for term in self.terms]
            if self.kind == HIGHEST:
                return max(given)
            if self.kind == LOWEST:
                return min(given)
            if self.kind == PRODUCT:
                return given[0] * given[1]
            return given[1 + min(max(given[0], 0), len(given) - 2)]
        total = self.total(values)
        if self.kind == SUM:
            return total
        if self.kind == NUMBER:
            return self.parts[min(max(total, 0), len(self.parts) - 1)]
        if self.kind == SIZE:
            return abs(total)
        return int((total <= 0 if self.kind == NOT_ABOVE else total == 0) != self.is_opposite)

    def excess(self, x: int) -> int:
        """By how much its ends are violated if this is its value."""
        if self.low > self.high:
            return int(x == self.low)
        return max(self.low - x, x - self.high, 0)

    def reach(self, size: Sequence[int]) -> tuple[int, int]:
        """Bounds of the absolute values of its total and of its value.

        Args:
            size: A bound of that of each variable.
        """
        total = abs(self.constant)
        for term in self.terms:
            if term.kind == COUNTED:
                total += len(self.terms)
            else:
                total += abs(term.a) * size[term.v] if term.kind == FACTOR else abs(term.a)
        if self.kind in (NOT_ABOVE, EQUAL):
            return total, 1
        if self.kind == NUMBER:
            return total, max(map(abs, self.parts))
        given = [size[term.v] for term in self.terms]
        if self.kind == PRODUCT:
            return 0, given[0] * given[1]
        if self.kind in OF_ARGUMENTS:
            return 0, max(given)
        return total, total


def arguments(variables: Sequence[int]) -> list[AnnealedTerm]:
    """Variables as arguments."""
    return [AnnealedTerm(v, ARGUMENT) for v in variables]
