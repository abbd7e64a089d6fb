"""Separable rows, and variables that are substituted out of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from constrint.engine.state_arrays import Box
from constrint.local_search.layout import UNLIMITED


@dataclass(slots=True)
class UnaryFunction:
    """A function of a variable x: ``factor * x``, and numbers for values, and for all up to a threshold."""

    factor: int = 0
    values: dict[int, int] = field(default_factory=dict)
    thresholds: list[tuple[int, int]] = field(default_factory=list)

    def at(self, x: int) -> int:
        """Its value."""
        steps = sum(number for threshold, number in self.thresholds if x <= threshold)
        return self.factor * x + self.values.get(x, 0) + steps

    def size(self, least: int, most: int) -> int:
        """A bound of its absolute value."""
        ends = abs(self.factor) * max(abs(least), abs(most))
        return ends + sum(map(abs, self.values.values())) + sum(abs(number) for _, number in self.thresholds)


@dataclass(slots=True)
class SeparableRow:
    """A row: functions by variable, and ends; `low > high` says that the sum differs from `low`.

    Attributes:
        functions: The functions.
        constant: A constant added to their sum; it is moved into the ends once the row has them.
        low: The lower end.
        high: The upper end.
        reach: A bound of its violation.
    """

    functions: dict[int, UnaryFunction] = field(default_factory=dict)
    constant: int = 0
    low: int = -UNLIMITED
    high: int = UNLIMITED
    reach: int = 1


@dataclass(frozen=True, slots=True)
class LiteralMeaning:
    """A 0/1 variable that is equivalent to ``x == bound`` or ``x <= bound``, or to the opposite."""

    x: int
    is_value: bool
    bound: int
    is_opposite: bool

    def value(self, x: int) -> int:
        """Its value where the variable has a value."""
        holds = x == self.bound if self.is_value else x <= self.bound
        return int(holds != self.is_opposite)


@dataclass(frozen=True, slots=True)
class Slack:
    """A variable that a row decides, as it occurs nowhere else.

    Attributes:
        v: The variable.
        factor: Its factor there, 1 or -1.
        low: The lower end of the row with it, and without those that were taken out before.
        high: The upper end.
    """

    v: int
    factor: int
    low: int
    high: int

    def value(self, total: int, least: int, most: int) -> int:
        """The least value of a range with which the row holds, if there is one, by the sum of the others."""
        ends = (self.low - total, self.high - total)
        low, high = ends if self.factor > 0 else (-ends[1], -ends[0])
        return min(max(least, low), most, max(high, least))


@dataclass(frozen=True, slots=True)
class RowSlacks:
    """The variables that were taken out of one row.

    Attributes:
        others: The functions that stay in the row.
        taken: The variables, in the order in which they were taken out.
    """

    others: dict[int, UnaryFunction]
    taken: list[Slack]

    def put(self, found: list[int], box: Box) -> None:
        """Give the variables their values, by those of the others."""
        total = sum(function.at(found[v]) for v, function in self.others.items())
        for slack in reversed(self.taken):
            v = slack.v
            found[v] = slack.value(total, box.lo[v], box.hi[v])
            total += slack.factor * found[v]
