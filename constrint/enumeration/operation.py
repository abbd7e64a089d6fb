"""Operations: constraints, or parts of them, over columns of values.

A column is an int64 array with a value for each row, or one integer for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from constrint import propagators as c

Column: TypeAlias = Any  # an int64 array or an int; masks are bool arrays or bools
Columns: TypeAlias = "list[Column]"
Test: TypeAlias = Callable[[Columns], Column]
Solve: TypeAlias = Callable[[Columns], Column]
Outputs: TypeAlias = dict[int, tuple[Solve, bool]]

COST_OF_ROW = 50  # of a constraint that is evaluated row by row
COST_OF_TASK = 250  # for each variable of a constraint on tasks, which compares them with each other
LIMIT = 1 << 62  # what int64 holds with room to spare


class Unsuitable(Exception):  # noqa: N818 - a limit, not a fault
    """Tables are not the way to solve this."""


class Operation:
    """A constraint, or a part of one, over columns.

    Attributes:
        scope: The variables, each once.
        test: The rows that satisfy it.
        outputs: For each variable that it can compute from the others: how, and whether every row for which
            that gives a value of the domain satisfies it.
        cost: Cost of a row, relative to a row of a numpy operation.
    """

    __slots__ = ("cost", "outputs", "scope", "test")

    def __init__(self, scope: Sequence[int], test: Test, outputs: Outputs, cost: int = 1) -> None:
        self.scope = tuple(dict.fromkeys(scope))
        self.test = test
        self.outputs = outputs
        self.cost = cost


class ValueBounds:
    """Bounds by variable, and what they imply."""

    __slots__ = ("hi", "lo")

    def __init__(self, lo: Sequence[int], hi: Sequence[int]) -> None:
        self.lo = lo
        self.hi = hi

    def excludes_zero(self, v: int) -> bool:
        """Whether 0 is not among the values."""
        return self.lo[v] > 0 or self.hi[v] < 0

    def magnitude(self, v: int) -> int:
        """The greatest absolute value."""
        return max(-self.lo[v], self.hi[v])


def literal(at: Columns, which: int) -> Column:
    """Where a literal is true."""
    return at[which >> 1] != which & 1


def total(at: Columns, terms: Sequence[tuple[int, int]]) -> Column:
    """The value of a linear sum."""
    result: Column = 0
    for a, v in terms:
        result = result + (at[v] if a == 1 else a * at[v])
    return result


def reified(which: int, truth: Test, scope: Sequence[int], cost: int = 1) -> Operation:
    """``literal <-> truth``."""
    negated = which & 1

    def solve(at: Columns) -> Column:
        found = truth(at)
        if isinstance(found, np.ndarray):
            return (found ^ bool(negated)).astype(np.int64)
        return int(bool(found) != bool(negated))

    outputs: Outputs = {which >> 1: (solve, True)} if which >> 1 not in scope else {}
    return Operation((which >> 1, *scope), lambda at: literal(at, which) == truth(at), outputs, cost)


def rows_of(at: Columns, variables: Sequence[int]) -> list[tuple[int, ...]]:
    """The values of some variables, row by row."""
    columns = [at[v] for v in variables]
    count = max([len(column) for column in columns if isinstance(column, np.ndarray)], default=1)
    lists = [column.tolist() if isinstance(column, np.ndarray) else [column] * count for column in columns]
    return list(zip(*lists, strict=True))


def row_by_row(node: c.Propagator) -> Operation:
    """Any constraint, by its definition."""
    scope = tuple(dict.fromkeys(node.scope()))
    values = [0] * (max(scope, default=-1) + 1)

    def holds(row: tuple[int, ...]) -> bool:
        for v, value in zip(scope, row, strict=True):
            values[v] = value
        return node.holds(values)

    def test(at: Columns) -> Column:
        found = [holds(row) for row in rows_of(at, scope)]
        return np.array(found) if any(isinstance(at[v], np.ndarray) for v in scope) else found[0]

    is_on_tasks = isinstance(node, c.Cumulative | c.NoOverlap | c.Rectangles)
    return Operation(scope, test, {}, COST_OF_TASK * len(scope) if is_on_tasks else COST_OF_ROW)
