"""Tables: `element_2d`, with two indices, and `table`, whose rows may have gaps."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

from constrint.errors import ModelError, Undefined
from constrint.expr import (
    And,
    BoolExpr,
    Comparison,
    Const,
    Element,
    IntExpr,
    IntLike,
    Or,
    Selection,
    builders,
    inside,
    linear,
    placed,
)
from constrint.expr.arithmetic.arguments import of_frame
from constrint.expr.base import Summand
from constrint.expr.build import NotWhole
from constrint.expr.domain import Domain
from constrint.expr.enumerated import EnumExpr, Valued, coded_rows, position
from constrint.expr.global_arguments import expressions, function
from constrint.expr.global_expr import Definition, Field, Relation, is_of_expressions
from constrint.globals.posting import keep_in_range, variables_of
from constrint.lowering.problem import TRUE, Linear
from constrint.propagators import ShortTable, Table
from constrint.propagators.short_table import matches
from constrint.support.arguments import integer
from constrint.support.deadline import watched

if TYPE_CHECKING:
    from constrint.expr.rational import Rational
    from constrint.lowering.conditions import Lowering

__all__ = ["element_2d", "table"]

Rows = tuple[tuple[int, ...], ...]
Matrix = Rows | tuple[tuple[IntExpr, ...], ...]
Patterns = tuple[tuple[int | None, ...], ...]


def _meaning(rows: Rows, row: int, column: int) -> int:
    if not (0 <= row < len(rows) and 0 <= column < len(rows[0])):
        raise Undefined("index out of range")
    return rows[row][column]


def _decomposed(rows: Matrix, row: IntExpr, column: IntExpr) -> IntExpr:
    # The column goes through a table of its own, so an index outside is undefined like a row outside.
    width = len(rows[0])
    inside = Element(tuple(range(width)), column)
    flat: tuple[Any, ...] = tuple([entry for line in rows for entry in line])
    place = linear([(width, row), (1, inside)])
    return Selection(flat, place) if is_of_expressions(rows) else Element(flat, place)


def _sum(lowering: Lowering, rows: Matrix, row: IntExpr, column: IntExpr) -> Linear:
    """The entry as a linear sum, for the definition of `element_2d`.

    Of constants, it is a variable that a table of (row, column, entry) connects with both indices. Of
    expressions, it is what the decomposition selects.
    """
    if is_of_expressions(rows):
        return lowering.sum_of(lowering.kept(_decomposed(rows, row, column)))
    entries: Any = rows  # constants
    problem = lowering.problem
    i, j = (
        problem.of_linear(lowering.index(lowering.sum_of(expr), count))
        for expr, count in ((row, len(rows)), (column, len(rows[0])))
    )
    keep_in_range(lowering, [i], len(rows))
    keep_in_range(lowering, [j], len(rows[0]))
    listed = [
        (r, c, entries[r][c])
        for r in watched(range(problem.lo[i], problem.hi[i] + 1))
        for c in range(problem.lo[j], problem.hi[j] + 1)
        if i != j or r == c  # one variable may be both indices
    ]
    z = problem.declare(Domain.of_values([entry for _, _, entry in listed]))
    problem.define(z, ((i, 0), (j, 0)))
    problem.propagators.append(Table(TRUE, (i, j, z), tuple(listed)))
    return Linear({z: 1}, 0) if not problem.is_fixed(z) else Linear({}, problem.lo[z])


def _needs(rows: Matrix, row: IntExpr, column: IntExpr) -> tuple[BoolExpr, ...]:
    return (*inside(row, len(rows) - 1), *inside(column, len(rows[0]) - 1))


def _check(rows: Matrix, row: IntExpr, column: IntExpr) -> None:
    if len({len(line) for line in rows}) != 1 or not rows[0]:
        raise ModelError("element_2d needs rows of one length, and at least one column")


ELEMENT_2D = Definition(
    "element_2d",
    (Field("rows", "matrix"), Field("row", "expr"), Field("column", "expr")),
    _meaning,
    _decomposed,
    _sum,
    _check,
    is_number=True,
    needs=_needs,
)


def _short_meaning(values: tuple[int, ...], rows: Patterns) -> bool:
    return any(matches(values, row) for row in rows)


def _short_decomposed(args: tuple[IntExpr, ...], rows: Patterns) -> BoolExpr:
    """A disjunction of rows, each a conjunction of equalities."""
    return Or(
        tuple(
            [
                And(tuple([Comparison("==", args[i], Const(x)) for i, x in enumerate(row) if x is not None]))
                for row in watched(rows)
            ]
        )
    )


def _row_variables(lowering: Lowering, args: tuple[IntExpr, ...], rows: Patterns) -> tuple[int, ...]:
    for row in watched(rows):
        for entry in row:
            if entry is not None:
                lowering.check(entry)
    return variables_of(lowering, args)


def _short_literal(lowering: Lowering, target: int | None, args: tuple[IntExpr, ...], rows: Patterns) -> int:
    variables = _row_variables(lowering, args, rows)
    key = ("short table", variables, rows)
    literal, is_new = lowering.conditions.defined(key, target, [(v, 0) for v in variables])
    if is_new:
        lowering.problem.propagators.append(ShortTable(literal, variables, tuple(dict.fromkeys(rows))))
    return literal


def _post_short(lowering: Lowering, args: tuple[IntExpr, ...], rows: Patterns) -> None:
    variables = _row_variables(lowering, args, rows)
    lowering.problem.propagators.append(ShortTable(TRUE, variables, tuple(dict.fromkeys(rows))))


def _check_short(args: tuple[IntExpr, ...], rows: Patterns) -> None:
    for row in rows:
        if len(row) != len(args):
            from constrint.support.long_numbers import counted

            entries, values = counted(len(row), "entry"), counted(len(args), "value")
            raise ModelError(f"table: the row {row} has {entries} for {values}")


SHORT_TABLE = Definition(
    "short_table",
    (Field("values", "exprs"), Field("rows", "patterns", may_be_empty=True)),
    _short_meaning,
    _short_decomposed,
    _post_short,
    _check_short,
    _short_literal,
)


def table(values: Iterable[Valued], rows: Iterable[Sequence[Hashable]]) -> BoolExpr:
    """The condition that the values, taken together, are one of the rows; write ``~table(…)`` for none.

    Domain consistent if no variable occurs twice: O(rows times columns). Negated, it removes the last value
    that a row leaves open.

    Args:
        values: The expressions.
        rows: Constants, one for each expression, labels for enumerations; None or "*" stands for any value.
            A numpy array or a data frame is one too; the columns of a frame that are named as the values, or
            as the labels of an array of them, may have another order.
    """
    if hasattr(rows, "columns"):  # a frame, which may have the names of the values
        from constrint.expr.alignment import by_column

        rows = by_column(values, rows)
    values, rows = coded_rows(values, of_frame(rows))
    if getattr(getattr(rows, "dtype", None), "kind", "") in ("i", "u"):
        return builders.table(values, rows)  # type: ignore[arg-type]  # an array of integers
    listed = [row if isinstance(row, str) else list(row) for row in rows]
    if not any(_is_any(entry) for row in listed for entry in row):
        return builders.table(values, listed)  # type: ignore[arg-type]  # it checks the entries
    args = expressions(values, "values")
    what = "the entries of a row"
    patterns = tuple(
        [tuple([None if _is_any(entry) else integer(entry, what) for entry in row]) for row in listed]
    )
    return placed(Relation(SHORT_TABLE, SHORT_TABLE.checked((args, patterns))))


def _is_any(entry: object) -> bool:
    return entry is None or (isinstance(entry, str) and entry == "*")


@overload
def element_2d(rows: Iterable[Iterable[IntLike]], row: Valued, column: Valued) -> IntExpr: ...  # type: ignore[overload-overlap] # whole numbers are both
@overload
def element_2d(rows: Iterable[Iterable[Summand]], row: Valued, column: Valued) -> Rational: ...
def element_2d(rows: Iterable[Iterable[Summand]], row: Valued, column: Valued) -> IntExpr | Rational:
    """``rows[row][column]`` with 0-based indices; an index outside is undefined, so it is no solution.

    Of constants, it is a table of (row, column, entry): domain consistent, O(rows times columns). Of
    expressions, it is an `element` of all of them, whose place is computed from row and column. The entries
    may be fractions.

    Args:
        rows: Lists of constants, expressions or fractions of equal length, or a two-dimensional array.
        row: Number of the row.
        column: Number of the column.
    """
    if not hasattr(rows, "__len__"):
        rows = [list(line) for line in rows]
    if isinstance(row, EnumExpr) or isinstance(column, EnumExpr):
        if hasattr(rows, "to_numpy"):
            from constrint.expr.arrays import array

            rows = array(rows)
        labels = getattr(rows, "labels", None) or (None, None)
        listed = [list(line) for line in rows]
        row = position(row, labels[0], len(listed))
        column = position(column, labels[1], len(listed[0]) if listed else 0)
        rows = listed
    try:
        return function(ELEMENT_2D, rows, row, column)
    except NotWhole:
        return _of_fractions([list(line) for line in rows], row, column)


def _of_fractions(rows: Sequence[Sequence[object]], row: Valued, column: Valued) -> Rational:
    """The entry of rows with fractions."""
    from constrint.expr.rational import common

    entries, divided = common([entry for line in rows for entry in line])
    numerators = iter(entries)
    return divided(function(ELEMENT_2D, [[next(numerators) for _ in line] for line in rows], row, column))
