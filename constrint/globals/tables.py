"""Tables with two indices: `element_2d`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from constrint.errors import ModelError, Undefined
from constrint.expr import BoolExpr, Element, IntExpr, IntLike, as_expr, inside, linear
from constrint.expr.domain import Domain
from constrint.expr.global_arguments import rows_of
from constrint.expr.global_expr import Definition, Field, Function
from constrint.globals.posting import keep_in_range
from constrint.lowering.problem import TRUE, Linear
from constrint.propagators import Table
from constrint.support.deadline import watched

if TYPE_CHECKING:
    from constrint.lowering.conditions import Lowering

Rows = tuple[tuple[int, ...], ...]


def _meaning(rows: Rows, row: int, column: int) -> int:
    if not (0 <= row < len(rows) and 0 <= column < len(rows[0])):
        raise Undefined("index out of range")
    return rows[row][column]


def _decomposed(rows: Rows, row: IntExpr, column: IntExpr) -> IntExpr:
    # The column goes through a table of its own, so an index outside is undefined like a row outside.
    width = len(rows[0])
    inside = Element(tuple(range(width)), column)
    return Element(tuple([entry for line in rows for entry in line]), linear([(width, row), (1, inside)]))


def _sum(lowering: Lowering, rows: Rows, row: IntExpr, column: IntExpr) -> Linear:
    """A variable that equals the entry, by a table of (row, column, entry)."""
    problem = lowering.problem
    i, j = (
        problem.of_linear(lowering.index(lowering.sum_of(expr), count))
        for expr, count in ((row, len(rows)), (column, len(rows[0])))
    )
    keep_in_range(lowering, [i], len(rows))
    keep_in_range(lowering, [j], len(rows[0]))
    entries = [
        (r, c, rows[r][c])
        for r in watched(range(problem.lo[i], problem.hi[i] + 1))
        for c in range(problem.lo[j], problem.hi[j] + 1)
        if i != j or r == c
    ]
    z = problem.declare(Domain.of_values([entry for _, _, entry in entries]))
    problem.define(z, ((i, 0), (j, 0)))
    problem.nodes.append(Table(TRUE, (i, j, z), tuple(entries)))
    return Linear({z: 1}, 0) if not problem.is_fixed(z) else Linear({}, problem.lo[z])


def _needs(rows: Rows, row: IntExpr, column: IntExpr) -> tuple[BoolExpr, ...]:
    return (*inside(row, len(rows) - 1), *inside(column, len(rows[0]) - 1))


def _check(rows: Rows, row: IntExpr, column: IntExpr) -> None:
    if len({len(line) for line in rows}) != 1 or not rows[0]:
        raise ModelError("element_2d needs rows of one length, and at least one column")


ELEMENT_2D = Definition(
    "element_2d",
    (Field("rows", "rows"), Field("row", "expr"), Field("column", "expr")),
    _meaning,
    _decomposed,
    _sum,
    _check,
    is_number=True,
    needs=_needs,
)


def element_2d(rows: Iterable[Iterable[int]], row: IntLike, column: IntLike) -> IntExpr:
    """``rows[row][column]`` with 0-based indices; an index outside is undefined, so it is no solution.

    A table of (row, column, entry): domain consistent, O(rows times columns).

    Args:
        rows: Lists of constants of equal length, or a two-dimensional numpy array.
        row: Number of the row.
        column: Number of the column.
    """
    parts = (rows_of(rows, "rows"), as_expr(row), as_expr(column))
    return Function(ELEMENT_2D, ELEMENT_2D.checked(parts))
