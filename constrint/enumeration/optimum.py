"""The lexicographic optimum by tables.

The most promising rows first, in parts of a suitable size for numpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from constrint.engine.state_arrays import Box
from constrint.enumeration.operation import Unsuitable
from constrint.enumeration.row_table import RowTable, TableStructure
from constrint.preparing.branching import Inputs
from constrint.propagators import Propagator
from constrint.settings import DEFAULT, EnumerationSettings
from constrint.support.deadline import Stopped, check_deadline

Goals = Sequence[tuple[int, str]]


class Optimum:
    """The lexicographic optimum over a box and its constraints; raises `Unsuitable` at a limit.

    Of equal optima, it is the one with the least values of the free variables, in order.

    Attributes:
        values: The value of each variable of the model; None if there is no solution.
        is_proven: Whether the values are proven optimal; False if the deadline came first, and the values are
            those of the best row so far, or None.
        work: Rows evaluated, summed over all constraints.
        parts: Number of parts.
        improvements: Number of times that a better row was found.
    """

    def __init__(
        self,
        box: Box,
        propagators: Sequence[Propagator],
        declared: Sequence[int],
        goals: Goals,
        inputs: Inputs,
        most_work: int,
        rules: EnumerationSettings = DEFAULT.enumeration,
    ) -> None:
        self._rules = rules
        self.values: dict[int, int] | None = None
        self.work = self.parts = self.improvements = 0
        self._most = most_work
        self._depth = 0
        self.is_proven = True
        self._rows = min(rules.first_rows, rules.most_rows)
        self._structure = TableStructure(box, propagators, declared, goals, inputs, rules)
        self._declared = set(declared)
        free = [v for v in self._structure.declared if v not in self._structure.defined]
        if not self._is_promising():
            raise Unsuitable
        self._goals = [*goals, *[(v, "min") for v in free]]
        self._best: tuple[int, ...] | None = None
        self._winner: list[tuple[int, int]] = []
        with np.errstate(all="ignore"):  # dead rows may divide by zero or overflow
            try:
                self._explore(RowTable(self._structure, [v for v, _ in self._goals]))
            except Stopped:
                self.is_proven = False
            if self._best is not None:
                self.values = self._completed(declared)

    def _is_promising(self) -> bool:
        """Whether there are few rows, or so many constraints that most rows die early."""
        structure, rules = self._structure, self._rules
        free = structure.free()
        is_tight = len(structure.operations) >= rules.operations_of_free * len(free)
        return is_tight or prod([structure.size(v) for v in free]) <= rules.few_rows

    def _explore(self, table: RowTable) -> None:
        """Find the best row that extends the rows of a table."""
        self.parts += 1
        while True:
            before = table.work
            table.most = before + self._most - self.work
            table.settle()
            self.work += table.work - before
            self._prune(table)
            if not table.count:
                return
            v = table.next()
            if v is None:
                self._take_best(table)
                return
            size = self._structure.size(v)
            if size > self._rules.most_rows or self.work + size * table.count > self._most:
                raise Unsuitable
            check_deadline()
            if size * table.count > self._rows:
                self._explore_parts(table, v)
                return
            table.multiply(v, self._structure.values(v))

    def _explore_parts(self, table: RowTable, v: int) -> None:
        """Extend the best rows of a table, then the next best, as long as they may be better."""
        values = self._structure.values(v)
        goal = self._next_goal(table)
        by_value = goal is not None and self._structure.size(goal[0]) <= self._rules.size_of_goal * len(
            values
        )
        if goal is not None and by_value:
            # Rows that are equal so far are distinguished by this variable, value by value.
            v = goal[0]
            values = self._structure.values(v)[:: 1 if goal[1] == "min" else -1]
        order, ends = self._ordered(table)
        start = 0
        for first, end in pairwise([0, *ends]) if by_value else ():
            if (end - first) * len(values) > self._rows:
                self._explore_rows(table, order[start:first], v, values)
                place = 0
                while place < len(values):
                    block = values[place : place + max(1, self._rows // (end - first))]
                    place += len(block)
                    self._explore_part(table, order[first:end], v, block)
                start = end
        self._explore_rows(table, order[start:], v, values)

    def _explore_rows(self, table: RowTable, order: Any, v: int, values: Any) -> None:
        """Extend rows in their order, each with all values."""
        first = 0
        while first < len(order):
            rows = order[first : first + max(1, self._rows // len(values))]
            first += len(rows)
            self._explore_part(table, rows, v, values)

    def _explore_part(self, table: RowTable, rows: Any, v: int, values: Any) -> None:
        self.work += len(rows) * table.width // self._rules.cells_of_row
        part = table.part(rows)
        self._prune(part)
        if part.count:
            part.multiply(v, values)
            self._prune(part)
            self._depth += 1
            if self._depth > self._rules.deepest:
                raise Unsuitable
            self._explore(part)
            self._depth -= 1
            self._rows = min(self._rules.most_rows, 2 * self._rows)

    def _ordered(self, table: RowTable) -> tuple[Any, list[int]]:
        """The rows, best first by the known goals, and the end of each group of equal ones."""
        keys = [column if sign > 0 else -column for column, sign in self._known(table) if _is_array(column)]
        if not keys:
            return np.arange(table.count), [table.count]
        order = np.lexsort(keys[::-1])
        differs = np.zeros(table.count - 1, dtype=bool)
        for key in keys:
            differs |= np.diff(key[order]) != 0
        return order, [*(differs.nonzero()[0] + 1).tolist(), table.count]

    def _next_goal(self, table: RowTable) -> tuple[int, str] | None:
        """The first goal that is not known, if it is a variable of the model."""
        for v, direction in self._goals:
            if table.at[v] is None:
                return (v, direction) if v in self._declared else None
        return None

    def _known(self, table: RowTable) -> list[tuple[Any, int]]:
        """The columns of the leading known goals, each with 1 if less is better, else -1."""
        known = []
        for v, direction in self._goals:
            if table.at[v] is None:
                break
            known.append((table.column(v), 1 if direction == "min" else -1))
        return known

    def _prune(self, table: RowTable) -> None:
        """Drop the rows that cannot improve on the best row so far."""
        if self._best is None or not table.count:
            return
        known = self._known(table)
        better: Any = False
        equal: Any = True
        for (column, sign), best in zip(known, self._best, strict=False):
            value = column if sign > 0 else -column
            better = better | (equal & (value < best))
            equal = equal & (value == best)
        table.keep(better if len(known) == len(self._goals) else better | equal)
        table.compress()

    def _take_best(self, table: RowTable) -> None:
        """Record the best row of a table without open variables; all its rows improve on the last best."""
        rows = np.arange(table.count)
        best = []
        for column, sign in self._known(table):
            if not _is_array(column):
                best.append(sign * column)
                continue
            values = sign * column[rows]
            least = values.min()
            best.append(int(least))
            if len(rows) > 1:
                rows = rows[values == least]
        self._best = tuple(best)
        self._winner = table.row(int(rows[0]))
        self.improvements += 1

    def _completed(self, declared: Sequence[int]) -> dict[int, int]:
        """The values of all variables, completed from those that the best row still had."""
        table = RowTable(self._structure, ())
        for v, value in self._winner:
            table.learn(v, value)
        table.settle()
        return {v: table.at[v] for v in declared}


def _is_array(column: object) -> bool:
    return isinstance(column, np.ndarray)
