"""Writing global constraints as function calls, by the kinds of their arguments.

For example ``cumulative([x, y], [2, 3], [1, 1], 2)``. If the only argument is one list of expressions, its
brackets are left out: ``all_different(x, y, z)``. Words come last, and the default word is left out.
"""

from __future__ import annotations

from collections.abc import Callable

from constrint.expr import IntExpr, Table
from constrint.expr.global_expr import Field, Function, Relation

ANY = "_"
"""How an entry of a row that matches every value is written."""


def is_plain(fields: tuple[Field, ...]) -> bool:
    """Whether a call may list its expressions without brackets."""
    return fields[0].kind == "exprs" and all(field.kind == "word" for field in fields[1:])


def write_call(write: Callable[[IntExpr], str], expr: Relation | Function) -> str:
    """The text of a global constraint."""
    definition = expr.definition
    parts = list(zip(definition.fields, expr.parts, strict=True))
    while parts and parts[-1][0].kind == "word" and parts[-1][1] == parts[-1][0].words[0]:
        parts.pop()
    if is_plain(definition.fields) and len(parts) == 1 and parts[0][1]:
        return f"{definition.name}({', '.join(map(write, parts[0][1]))})"
    return f"{definition.name}({', '.join([_written(write, part) for _, part in parts])})"


def write_table(write: Callable[[IntExpr], str], expr: Table) -> str:
    """The text of a table."""
    return f"table({_written(write, expr.args)}, {_written(write, tuple(sorted(expr.rows)))})"


def _written(write: Callable[[IntExpr], str], part: object) -> str:
    if isinstance(part, tuple):
        return f"[{', '.join([_written(write, inner) for inner in part])}]"
    if part is None:
        return ANY
    return write(part) if isinstance(part, IntExpr) else str(part)
