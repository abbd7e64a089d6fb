"""Variable values at an LP optimum, and how well they agree with others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from constrint.relaxation.columns import Columns


class Point:
    """An optimum of a relaxation."""

    def __init__(self, columns: Columns, optimum: Sequence[float]) -> None:
        """Read an optimum.

        Args:
            columns: The columns of the relaxation.
            optimum: The value of each column. A column is a variable, or one that is 1 where a variable has
                a value; columns of neither (`variable` is negative) are not read.
        """
        self._plain: dict[int, float] = {}
        self._members: Mapping[int, dict[int, float]] = defaultdict(dict)
        for v, value, x in zip(columns.variable, columns.value, optimum, strict=True):
            if v >= 0 and value is None:
                self._plain[v] = float(x)
            elif v >= 0 and value is not None:
                self._members[v][value] = float(x)
        for (v, value), literal in columns.literals.items():
            positive = self._plain.get(literal >> 1)
            if positive is not None:
                self._members[v][value] = 1 - positive if literal & 1 else positive

    def value(self, v: int) -> int | None:
        """The value of greatest weight, or the nearest integer, of a variable; None if the LP lacks it."""
        members = self._members.get(v)
        if members:
            value = max(members, key=members.__getitem__)
            if 2 * members[value] >= 1 or v not in self._plain:
                return value
        x = self._plain.get(v)
        return None if x is None else round(x)

    def agreement(self, v: int, value: int) -> float | None:
        """The weight of a value of a variable, between 0 and 1; None if the LP lacks it."""
        members = self._members.get(v)
        if members and value in members:
            return min(1.0, max(0.0, members[value]))
        x = self._plain.get(v)
        if x is not None:
            return max(0.0, 1 - abs(x - value))
        return max(0.0, 1 - sum(members.values())) if members else None
