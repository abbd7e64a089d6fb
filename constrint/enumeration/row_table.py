"""Rows of values of all variables: columns that are computed, tested, and multiplied by open variables.

A table starts with the variables that are fixed at the root. A constraint computes the column of its last
open variable if it determines it; a constraint without open variables drops rows. When nothing more follows,
the rows are multiplied by the values of an open variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from math import sqrt
from operator import or_
from typing import Any

import numpy as np

from constrint.engine.state_arrays import Box
from constrint.enumeration.operation import LIMIT, Column, Operation, Unsuitable, ValueBounds
from constrint.enumeration.operations import operations
from constrint.preparing.branching import Inputs, dependents
from constrint.propagators import Propagator
from constrint.settings import DEFAULT, EnumerationSettings


class NotCopied:
    """Placeholder for a column that still belongs to other rows; any operation on it fails."""


NOT_COPIED = NotCopied()


class TableStructure:
    """The constant data of a search by tables.

    Attributes:
        box: The domains.
        rules: The settings.
        operations: The operations of the constraints.
        users: For each variable, the operations in which it occurs.
        declared: The open variables of the model, and goals, that have constraints.
        settled: The values of open variables without constraints.
        defined: Those open variables that a constraint defines by others.
        weights: For each of them, a lower weight to multiply by it earlier: few values, many dependents.
    """

    def __init__(
        self,
        box: Box,
        propagators: Sequence[Propagator],
        declared: Iterable[int],
        goals: Sequence[tuple[int, str]],
        inputs: Inputs,
        rules: EnumerationSettings = DEFAULT.enumeration,
    ) -> None:
        self.box = box
        self.rules = rules
        self.operations: list[Operation] = operations(propagators, ValueBounds(box.lo, box.hi))
        self.users: list[list[int]] = [[] for _ in box.lo]
        for number, operation in enumerate(self.operations):
            for v in operation.scope:
                self.users[v].append(number)
        # A variable without constraints has its best value in every optimum.
        first = dict(reversed([*goals]))
        self.settled: dict[int, int] = {}
        self.declared: list[int] = []
        for v in dict.fromkeys([*declared, *[v for v, _ in goals]]):
            if box.lo[v] < box.hi[v]:
                if self.users[v]:
                    self.declared.append(v)
                else:
                    self.settled[v] = box.hi[v] if first.get(v) == "max" else box.lo[v]
        self.defined = self._defined(inputs)
        self.weights: dict[int, float] = {}
        reached = dependents(len(box.lo), propagators, inputs)
        for v in self.declared:
            weight = sqrt(self.size(v)) / (1 + reached[v]) ** 2
            self.weights[v] = weight * rules.weight_of_defined if v in self.defined else weight

    def free(self) -> list[int]:
        """The variables of the model that are left where each constraint defines one of its variables.

        An equation over many variables defines each of them by the others, but only one of them at a time.
        """
        taken: set[int] = set()
        left = []
        for v in self.declared:
            defining = None
            if v in self.defined:
                for number in self.users[v]:
                    how = self.operations[number].outputs.get(v)
                    if number not in taken and how is not None and how[1]:
                        defining = number
                        break
            if defining is None:
                left.append(v)
            else:
                taken.add(defining)
        return left

    def _defined(self, inputs: Inputs) -> set[int]:
        """The open variables, other than functions, that some constraint defines by others."""
        reached: dict[int, int] = {}
        for z in sorted(inputs):
            bits = 0
            for v, _ in inputs[z]:
                bits |= 1 << v | reached.get(v, 0)
            reached[z] = bits
        behind: dict[int, int] = {}  # for each operation, what the functions in it depend on
        found = set()
        for v in self.declared:
            for number in self.users[v]:
                operation = self.operations[number]
                how = operation.outputs.get(v)
                if how is not None and how[1]:
                    if number not in behind:
                        behind[number] = reduce(or_, [reached.get(w, 0) for w in operation.scope])
                    if not behind[number] >> v & 1:
                        found.add(v)
                        break
        return found

    def size(self, v: int) -> int:
        """Number of values of a variable."""
        return self.box.size(v)

    def values(self, v: int) -> Any:
        """The values of a variable, as a column."""
        box = self.box
        values = box.values[v]
        if values is None:
            # `np.arange` would compute large numbers in floating point.
            return box.lo[v] + box.step[v] * np.arange(self.size(v), dtype=np.int64)
        return np.array(values, dtype=np.int64)


class RowTable:
    """Rows over one structure.

    Attributes:
        at: The column of each variable; None if it is open, NOT_COPIED if `column` must copy it first.
        count: Number of rows.
        work: Rows evaluated so far, summed over all operations.
        most: The most work; operations that go row by row raise `Unsuitable` before they exceed it.
    """

    def __init__(self, structure: TableStructure, kept: Iterable[int]) -> None:
        box = structure.box
        self.structure = structure
        self.at: list[Column] = [lo if lo == hi else None for lo, hi in zip(box.lo, box.hi, strict=True)]
        for v, value in structure.settled.items():
            self.at[v] = value
        self.count = 1
        self.work = 0
        self.most = LIMIT
        self._open: list[int] = []
        self._done = [False] * len(structure.operations)
        self._uses = [len(users) for users in structure.users]
        self._live: list[int] = []
        self._lazy: dict[int, tuple[Any, int]] = {}
        self._origins: dict[int, Any] = {}
        self._tests: list[int] = []
        self._solves: list[int] = []
        self._pending: Column = None
        for v in kept:
            self._uses[v] += 1
        at = self.at
        for number, operation in enumerate(structure.operations):
            self._open.append(sum([at[v] is None for v in operation.scope]))
            self._note(number)

    def part(self, rows: Any) -> RowTable:
        """A table of the rows with these numbers; the table must be settled."""
        other = object.__new__(RowTable)
        other.structure = self.structure
        self._copy_all()
        other.at = self.at.copy()
        other.count = len(rows)
        other._live, other._lazy, other._origins = self._live.copy(), {}, {}
        other._leave(rows)
        other.work, other.most = 0, self.most
        other._open, other._done, other._uses = self._open.copy(), self._done.copy(), self._uses.copy()
        other._tests, other._solves, other._pending = [], [], None
        return other

    @property
    def width(self) -> int:
        """The number of columns that are kept."""
        return len(self._live)

    def row(self, number: int) -> list[tuple[int, int]]:
        """The values of a row in the remaining columns."""
        return [(v, int(self.column(v)[number])) for v in self._live]

    def column(self, v: int) -> Column:
        """The column of a variable."""
        if v in self._lazy:
            base, frame = self._lazy.pop(v)
            self.at[v] = base.take(self._origins[frame])
        return self.at[v]

    def _copy_all(self) -> None:
        for v in list(self._lazy):
            self.column(v)
        self._origins = {}

    def _leave(self, origin: object) -> None:
        """Mark all columns for copying on demand, from the rows with the given numbers."""
        frame = len(self._origins)
        for v in self._live:
            if v not in self._lazy:
                self._lazy[v] = self.at[v], frame
                self.at[v] = NOT_COPIED
        self._origins[frame] = origin

    def _note(self, number: int) -> None:
        """Queue an operation that can run."""
        unknown = self._open[number]
        if unknown == 0:
            self._tests.append(number)
        elif unknown == 1 and self.structure.operations[number].outputs:
            self._solves.append(number)

    def next(self) -> int | None:
        """The open variable to multiply by next: of low weight, and with constraints that it soon decides."""
        best = None
        best_score = 0.0
        users = self.structure.users
        at, opened = self.at, self._open
        for v, weight in self.structure.weights.items():
            if at[v] is None:
                promise = 1.0
                for number in users[v]:
                    promise += 1 / opened[number] ** 2
                score = weight / promise
                if best is None or score < best_score:
                    best, best_score = v, score
        if best is None:
            for v, column in enumerate(at):
                if column is None and users[v]:
                    return v
        return best

    def multiply(self, v: int, values: Any) -> None:
        """Combine every row with every one of these values of an open variable."""
        size, rules = len(values), self.structure.rules
        column = np.tile(values, self.count) if self.count > 1 else values
        if self.count * size < rules.lazy_rows:
            self._copy_all()
            for w in self._live:
                self.at[w] = self.at[w].repeat(size)
        elif self._live:
            if len(self._origins) >= rules.most_origins:
                self._copy_all()
            self._origins = {frame: origin.repeat(size) for frame, origin in self._origins.items()}
            self._leave(np.arange(self.count).repeat(size))
        else:  # no remaining column needs older rows
            self._origins = {}
        self.count *= size
        self._uses[v] += 1  # the answer needs it
        self.learn(v, column)

    def learn(self, v: int, column: Column) -> None:
        """Set the column, or the value, of an open variable."""
        self.at[v] = column
        if isinstance(column, np.ndarray):
            self._live.append(v)
        for number in self.structure.users[v]:
            self._open[number] -= 1
            if not self._done[number]:
                self._note(number)

    def settle(self) -> None:
        """Run all operations that can run."""
        done, call = self._done, self.structure.rules.call
        while self.count:
            if self._tests:
                number = self._tests.pop()
                if not done[number]:
                    operation = self.structure.operations[number]
                    if operation.cost > 1:
                        self.compress()
                        if self.work + self.count * operation.cost > self.most:
                            raise Unsuitable
                    self.work += call + self.count * operation.cost
                    self._need(operation)
                    mask = operation.test(self.at)
                    self._finish(number)
                    self.keep(mask)
            elif self._solves:
                number = self._solves.pop()
                if not done[number] and self._open[number] == 1:
                    self._solve(number)
            else:
                break
        self.compress()

    def _solve(self, number: int) -> None:
        operation = self.structure.operations[number]
        v = next(v for v in operation.scope if self.at[v] is None)
        how = operation.outputs.get(v)
        if how is None:
            return
        solve, exact = how
        if operation.cost > 1:
            self.compress()
        self.work += self.structure.rules.call + self.count * operation.cost
        self._need(operation)
        column = solve(self.at)
        self._done[number] = exact
        self.learn(v, column)
        self._keep_domain(v)
        if exact:
            self._finish(number)

    def _need(self, operation: Operation) -> None:
        """Make sure that the columns of an operation are copied."""
        if self._lazy:
            for v in operation.scope:
                if v in self._lazy:
                    self.column(v)

    def _finish(self, number: int) -> None:
        self._done[number] = True
        uses = self._uses
        for v in self.structure.operations[number].scope:
            uses[v] -= 1

    def _keep_domain(self, v: int) -> None:
        """Keep the rows in which a computed column is in the domain."""
        column = self.at[v]
        box = self.structure.box
        lo, hi, step, values = box.lo[v], box.hi[v], box.step[v], box.values[v]
        if not isinstance(column, np.ndarray):
            inside = lo <= column <= hi and (column - lo) % step == 0
            self.keep(bool(inside and (values is None or column in values)))
            return
        if column.min() < lo or column.max() > hi:
            self.keep((column >= lo) & (column <= hi))
            if not self.count:
                return
            column = self.at[v]
        if values is not None:
            if hi - lo < self.structure.rules.widest_lookup:
                inside = np.zeros(hi - lo + 1, dtype=bool)
                inside[np.array(values, dtype=np.int64) - lo] = True
                self.keep(inside.take(column - lo, mode="clip"))
            else:
                self.keep(np.isin(column, np.array(values, dtype=np.int64)))
        elif step != 1:
            self.keep((column - lo) % step == 0)

    def keep(self, mask: Column) -> None:
        """Keep the rows of a mask; True or False keep all or none."""
        if not isinstance(mask, np.ndarray):
            if not mask:
                self.count = 0
            return
        if self._pending is not None:
            mask = mask & self._pending
        left = int(np.count_nonzero(mask))
        if left == len(mask):
            return
        self._pending = mask
        if left <= self.structure.rules.kept * len(mask):
            self.compress()

    def compress(self) -> None:
        """Drop dead rows, and columns that nothing needs."""
        mask = self._pending
        if mask is None or not self.count:
            return
        self._pending = None
        rows = mask.nonzero()[0]
        self.count = len(rows)
        uses, at = self._uses, self.at
        for frame, origin in self._origins.items():
            self._origins[frame] = origin.take(rows)
        live = []
        for v in self._live:
            if uses[v] == 0:
                at[v] = 0  # unused from now on, but known
                self._lazy.pop(v, None)
                continue
            live.append(v)
            if v not in self._lazy:
                at[v] = at[v].take(rows)
        self._live = live
