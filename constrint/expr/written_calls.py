"""Writing global constraints as function calls, by the kinds of their arguments.

For example ``cumulative([x, y], [2, 3], [1, 1], 2)``. If the only argument is one list of expressions, its
brackets are left out: ``all_different(x, y, z)``. Words come last, and the default word is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from constrint.expr import Const, IntExpr, Table
from constrint.expr.enumerated import labels_of
from constrint.expr.global_expr import Field, Function, Relation

Labels: TypeAlias = "tuple[object, ...]"
Constant: TypeAlias = Callable[[int, "Labels | None"], str]
ANY = "_"
"""How an entry of a row that matches every value is written."""


def is_plain(fields: tuple[Field, ...]) -> bool:
    """Whether a call may list its expressions without brackets."""
    return fields[0].kind == "exprs" and all(field.kind == "word" for field in fields[1:])


def write_call(
    write: Callable[[IntExpr], str], expr: Relation | Function, constant: Constant | None = None
) -> str:
    """The text of a global constraint.

    Args:
        write: Writes an expression.
        expr: The constraint.
        constant: Writes a constant that is the number of one of these labels.
    """
    definition = expr.definition
    parts = list(zip(definition.fields, expr.parts, strict=True))
    while parts and parts[-1][0].kind == "word" and parts[-1][1] == parts[-1][0].words[0]:
        parts.pop()
    if is_plain(definition.fields) and len(parts) == 1 and parts[0][1]:
        return f"{definition.name}({', '.join(map(write, parts[0][1]))})"
    texts = []
    for field, part in parts:
        if constant is not None and field.name in _COLUMNS:
            texts.append(write_rows(part, _COLUMNS[field.name](parts[0][1]), constant))
        elif constant is not None and field.name in definition.labels.split():
            alike = [one for other, one in parts if other.name in definition.labels.split()]
            texts.append(_written(write, part, constant, common_labels(alike)))
        else:
            texts.append(_written(write, part))
    return f"{definition.name}({', '.join(texts)})"


def write_table(write: Callable[[IntExpr], str], expr: Table, constant: Constant) -> str:
    """The text of a table; arguments as for `write_call`."""
    rows = write_rows(sorted(expr.rows), _of_each(expr.args), constant)
    return f"table({_written(write, expr.args)}, {rows})"


def write_rows(
    rows: Iterable[Sequence[int | None]], columns: Sequence[Labels | None], constant: Constant
) -> str:
    """Rows of constants, with labels in the columns of enumerations."""
    texts = [
        [
            ANY if one is None else constant(one, columns[place]) if place < len(columns) else str(one)
            for place, one in enumerate(row)
        ]
        for row in rows
    ]
    lists = [f"[{', '.join(row)}]" for row in texts]
    return f"[{', '.join(lists)}]"


def _of_each(args: Sequence[IntExpr]) -> list[Labels | None]:
    return [labels_of(arg) for arg in args]


_COLUMNS: dict[str, Callable[[Sequence[IntExpr]], list[Labels | None]]] = {
    "rows": _of_each,  # of a table
    "transitions": lambda args: [None, common_labels(args)],
}
"""The labels in the columns of rows, by the name of their field, from the first argument."""


def common_labels(parts: Sequence[object]) -> Labels | None:
    """The labels of the expressions among arguments, where all have the same."""
    listed = [one for part in parts for one in (part if isinstance(part, tuple) else (part,))]
    found = {labels_of(one) for one in listed if isinstance(one, IntExpr) and type(one) is not Const}
    return found.pop() if len(found) == 1 else None


def _written(
    write: Callable[[IntExpr], str],
    part: object,
    constant: Constant | None = None,
    labels: Labels | None = None,
) -> str:
    if isinstance(part, tuple):
        return f"[{', '.join([_written(write, inner, constant, labels) for inner in part])}]"
    if part is None:
        return ANY
    if labels is not None and constant is not None:
        number = part.value if type(part) is Const else part
        if isinstance(number, int):
            return constant(number, labels)
    return write(part) if isinstance(part, IntExpr) else str(part)
