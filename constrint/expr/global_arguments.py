"""Global constraints from arguments in Python, which are checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from constrint.errors import ModelError
from constrint.expr import BoolExpr, Const, IntExpr, IntLike, Operands, as_expr, placed
from constrint.expr.arithmetic.arguments import flat, of_frame
from constrint.expr.enumerated import EnumExpr, coded
from constrint.expr.global_expr import Definition, Function, Kind, Part, Relation
from constrint.support.arguments import integer_list


def listed(values: tuple[IntLike | Operands, ...], function: str) -> tuple[IntExpr, ...]:
    """The arguments; if there is a single iterable, its members."""
    if len(values) == 1 and not isinstance(values[0], IntExpr) and isinstance(values[0], Iterable):
        return expressions(values[0], f"the arguments of {function}")
    return expressions(values, f"the arguments of {function}")  # type: ignore[arg-type] # checked by as_expr


def is_list(values: object) -> bool:
    """Whether an argument is a list, an array or another iterable, and no single value."""
    return isinstance(values, Iterable) and not isinstance(values, str | IntExpr | EnumExpr)


def expressions(values: Operands, what: str) -> tuple[IntExpr, ...]:
    """A list of expressions; raises `ModelError` for anything else."""
    if isinstance(values, str | IntExpr) or not isinstance(values, Iterable):
        raise ModelError(f"{what} must be a list of expressions, not {values!r}: write such as [x, y]")
    return tuple([as_expr(value) for value in flat(values)])


def integers(values: Iterable[int], what: str) -> tuple[int, ...]:
    """A list of constants; raises `ModelError` for anything else."""
    return tuple(integer_list(values, what))


def rows_of(rows: Iterable[Iterable[int]], what: str) -> tuple[tuple[int, ...], ...]:
    """A list of lists of constants, or a two-dimensional numpy array; raises `ModelError` otherwise."""
    if isinstance(rows, str) or not isinstance(rows, Iterable):
        raise ModelError(f"{what} must be lists of integers, not {rows!r}: write such as [[1, 2], [3, 4]]")
    return tuple([integers(row, f"each of {what}") for row in of_frame(rows)])


def matrix_of(rows: Iterable[Operands], what: str) -> tuple[tuple[IntExpr, ...] | tuple[int, ...], ...]:
    """Lists of expressions; of integers where all entries are constants. Raises `ModelError` otherwise."""
    if isinstance(rows, str) or not isinstance(rows, Iterable):
        raise ModelError(f"{what} must be lists of expressions, not {rows!r}: write such as [[x, 1], [2, y]]")
    return plain_matrix(tuple([expressions(row, f"each of {what}") for row in of_frame(rows)]))


def plain_matrix(rows: tuple[tuple[IntExpr, ...], ...]) -> tuple[tuple[IntExpr, ...] | tuple[int, ...], ...]:
    """Lists of expressions; of integers where all entries are constants."""
    if all(isinstance(entry, Const) for row in rows for entry in row):
        return tuple([tuple([entry.value for entry in row if isinstance(entry, Const)]) for row in rows])
    return rows


_READ: dict[Kind, Callable[[Any, str], Part]] = {
    "expr": lambda value, what: as_expr(value),
    "exprs": expressions,
    "ints": integers,
    "rows": rows_of,
    "matrix": matrix_of,
}


def _parts(definition: Definition, arguments: tuple[object, ...]) -> tuple[Part, ...]:
    if any(hasattr(one, "to_numpy") for one in arguments):  # a series, which may have labels
        from constrint.expr.alignment import parallel

        arguments = tuple(parallel(arguments))
    given = zip(definition.fields, numbered(definition, arguments), strict=True)
    return definition.checked(tuple([_READ[field.kind](value, field.name) for field, value in given]))


def numbered(definition: Definition, arguments: Sequence[object]) -> Sequence[object]:
    """The arguments of a constraint with numbers in place of enumerations and their labels."""
    if not definition.labels:
        return arguments
    names = definition.labels.split()
    places = [place for place, field in enumerate(definition.fields) if field.name in names]
    parts = coded(*[arguments[place] for place in places], ordered=definition.ordered)
    found = dict(zip(places, parts, strict=True))
    return [found.get(place, part) for place, part in enumerate(arguments)]


def relation(definition: Definition, *arguments: object) -> BoolExpr:
    """The condition on these arguments; raises `ModelError` for arguments of other kinds."""
    return placed(Relation(definition, _parts(definition, arguments)))


def function(definition: Definition, *arguments: Any) -> Function:
    """The number of these arguments; raises `ModelError` for arguments of other kinds."""
    return Function(definition, _parts(definition, arguments))
