"""The lexicographic optimum by tables: the rows that promise most first, in parts that suit numpy."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from time import perf_counter
from typing import Any

import numpy as np

from constrint.branching import Inputs
from constrint.constraints import Node
from constrint.engine.build import Box
from constrint.sweep.operations import Unsuitable
from constrint.sweep.table import Structure, Table

ROWS = 8192  # of a part
FEW_ROWS = 1 << 16  # these take a few milliseconds, whatever they are
OPERATIONS_OF_FREE = 4  # for each variable that nothing defines: so many constraints let few rows live

Goals = Sequence[tuple[int, str]]


class Optimum:
    """The lexicographic optimum over a box and its constraints; raises `Unsuitable` where a limit is reached.

    Among equal optima it is the one with the least values of the variables that nothing defines, in order.

    Attributes:
        values: The value of each variable of the model; None where there is no solution.
        work: Rows looked at, summed over all constraints.
        parts: How many parts they were looked at in.
        improvements: How many times a better row was found.
    """

    def __init__(
        self,
        box: Box,
        nodes: Sequence[Node],
        declared: Sequence[int],
        goals: Goals,
        inputs: Inputs,
        most_work: int,
        deadline: float | None = None,
    ) -> None:
        self.values: dict[int, int] | None = None
        self.work = self.parts = self.improvements = 0
        self._most = most_work
        self._deadline = deadline
        self._structure = Structure(box, nodes, declared, goals, inputs)
        free = [v for v in self._structure.declared if v not in self._structure.defined]
        if not self._is_promising(free):
            raise Unsuitable
        self._goals = [*goals, *[(v, "min") for v in free]]
        self._best: tuple[int, ...] | None = None
        self._winner: list[tuple[int, int]] = []
        with np.errstate(all="ignore"):  # dead rows may divide by zero or overflow
            self._explore(Table(self._structure, [v for v, _ in self._goals]))
            if self._best is not None:
                self.values = self._completed(declared)

    def _is_promising(self, free: Sequence[int]) -> bool:
        """Whether rows are few, or die early because there is much that they must satisfy."""
        structure = self._structure
        return prod([structure.size(v) for v in free]) <= FEW_ROWS or len(
            structure.operations
        ) >= OPERATIONS_OF_FREE * len(free)

    def _explore(self, table: Table) -> None:
        """Find the best row that continues the rows of a table."""
        self.parts += 1
        while True:
            before = table.work
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
            if size > ROWS or self.work + size * table.count > self._most:
                raise Unsuitable
            if self._deadline is not None and perf_counter() > self._deadline:
                raise Unsuitable
            if size * table.count > ROWS:
                self._explore_parts(table, v, ROWS // size)
                return
            table.multiply(v)

    def _explore_parts(self, table: Table, v: int, rows: int) -> None:
        """Go on with the best rows of a table, then with the next best, as long as they may be better."""
        keys = [column if sign > 0 else -column for column, sign in self._known(table) if _is_array(column)]
        order = np.lexsort(keys[::-1]) if keys else np.arange(table.count)
        for first in range(0, table.count, rows):
            part = table.part(order[first : first + rows])
            self._prune(part)
            if part.count:
                part.multiply(v)
                self._explore(part)

    def _known(self, table: Table) -> list[tuple[Any, int]]:
        """The columns of the leading goals that are known, and 1 where less is better, else -1."""
        known = []
        for v, direction in self._goals:
            column = table.at[v]
            if column is None:
                break
            known.append((column, 1 if direction == "min" else -1))
        return known

    def _prune(self, table: Table) -> None:
        """Throw away the rows that cannot be better than the best so far."""
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

    def _take_best(self, table: Table) -> None:
        """Note the best row of a table without open variables; all its rows are better than the last best."""
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
        """The values of all variables, from those that the best row still had."""
        table = Table(self._structure, ())
        for v, value in self._winner:
            table.learn(v, value)
        table.settle()
        return {v: table.at[v] for v in declared}


def _is_array(column: Any) -> bool:
    return isinstance(column, np.ndarray)
