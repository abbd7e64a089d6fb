"""The columns of a linear relaxation: variables, and members "v == value" of domains, as 0/1 columns.

A member with a literal in the model uses that literal's column. Other members get columns without a variable;
their bounds at a node of the search follow from the domain of v.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from constrint.engine.state_arrays import Box
from constrint.propagators import LinearEqIf, Propagator
from constrint.settings import DEFAULT


class TooLargeRelaxation(Exception):  # noqa: N818 - an answer, not a fault
    """The relaxation would have more columns or entries than its limit."""


@dataclass(frozen=True, slots=True)
class ColumnSum:
    """A sum of columns and a constant.

    Attributes:
        terms: Factor of each column.
        constant: The constant.
    """

    terms: Mapping[int, int]
    constant: int = 0

    def plus(self, other: ColumnSum, factor: int = 1) -> ColumnSum:
        """This sum plus a multiple of another one."""
        return total(((1, self), (factor, other)))


ZERO, ONE = ColumnSum({}), ColumnSum({}, 1)


def total(parts: Iterable[tuple[int, ColumnSum]]) -> ColumnSum:
    """The sum of parts, each times its factor."""
    terms: dict[int, int] = {}
    constant = 0
    for factor, part in parts:
        constant += factor * part.constant
        for column, a in part.terms.items():
            terms[column] = terms.get(column, 0) + factor * a
    return ColumnSum({column: a for column, a in terms.items() if a}, constant)


class Columns:
    """The columns of one relaxation.

    Attributes:
        variable: For each column, its variable, or the variable whose member it stands for; negative for a
            row of a table.
        value: For each column, the member's value, or None for the variable itself.
        literals: The literal of ``v == value`` by (v, value), for those that the model has.
    """

    def __init__(
        self,
        box: Box,
        propagators: Sequence[Propagator],
        most: int,
        most_values: int = DEFAULT.relaxation.most_values,
    ) -> None:
        self.box = box
        self.variable: list[int] = []
        self.value: list[int | None] = []
        self._most = most
        self._most_values = most_values
        self._column: dict[tuple[int, int | None], int] = {}
        self.literals: dict[tuple[int, int], int] = {}
        for node in propagators:
            if isinstance(node, LinearEqIf) and len(node.terms) == 1 and node.bound % node.terms[0][0] == 0:
                ((a, x),) = node.terms
                self.literals.setdefault((x, node.bound // a), node.literal)

    def _new(self, v: int, value: int | None) -> int:
        column = self._column.get((v, value))
        if column is None:
            if len(self.variable) >= self._most:
                raise TooLargeRelaxation(f"more than {self._most:,} columns (relaxation.most_columns)")
            column = self._column[v, value] = len(self.variable)
            self.variable.append(v)
            self.value.append(value)
        return column

    def free(self, table: int, row: int) -> ColumnSum:
        """The 0/1 column for taking a row of a table; it belongs to no variable."""
        return ColumnSum({self._new(-table, row): 1})

    def of(self, v: int) -> ColumnSum:
        """The column of a variable, as a sum."""
        lo, hi = self.box.lo[v], self.box.hi[v]
        return ColumnSum({}, lo) if lo == hi else ColumnSum({self._new(v, None): 1})

    def literal(self, literal: int) -> ColumnSum:
        """A literal as a sum: 1 if it is true."""
        positive = self.of(literal >> 1)
        return ONE.plus(positive, -1) if literal & 1 else positive

    def sum(self, terms: Sequence[tuple[int, int]]) -> ColumnSum:
        """A linear sum of variables as a sum of columns."""
        factors: dict[int, int] = {}
        constant = 0
        lo, hi = self.box.lo, self.box.hi
        for a, v in terms:
            if lo[v] == hi[v]:
                constant += a * lo[v]
            else:
                column = self._new(v, None)
                factors[column] = factors.get(column, 0) + a
        return ColumnSum({column: a for column, a in factors.items() if a}, constant)

    def values(self, v: int) -> Sequence[int]:
        """The members of a variable's root domain."""
        box = self.box
        return box.values[v] or range(box.lo[v], box.hi[v] + 1, box.step[v])

    def is_small(self, v: int) -> bool:
        """Whether a variable has few enough values for members."""
        return len(self.values(v)) <= self._most_values

    def equals(self, v: int, value: int) -> ColumnSum:
        """1 if a variable has a value, else 0."""
        box = self.box
        if value not in self.values(v):
            return ZERO
        if box.lo[v] == box.hi[v]:
            return ONE
        if (box.lo[v], box.hi[v], box.step[v]) == (0, 1, 1):
            return self.of(v) if value else ONE.plus(self.of(v), -1)
        literal = self.literals.get((v, value))
        return ColumnSum({self._new(v, value): 1}) if literal is None else self.literal(literal)

    def has_literal(self, v: int) -> bool:
        """Whether the model has a literal for some member of a variable."""
        return any((v, value) in self.literals for value in self.values(v))
