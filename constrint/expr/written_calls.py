"""Global constraints as function calls, written by their arguments' kinds.

``cumulative([x, y], [2, 3], [1, 1], 2)``; where lists of expressions are all that is needed, and one of them,
the brackets are left out: ``all_different(x, y, z)``. Words stand last, and the default is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from constrint.expr import IntExpr, Table
from constrint.expr.global_expr import Field, Function, Relation


def is_plain(fields: tuple[Field, ...]) -> bool:
    """Whether a call may list its expressions without brackets."""
    return fields[0].kind == "exprs" and all(field.kind == "word" for field in fields[1:])


def write_call(write: Callable[[IntExpr], str], expr: Relation | Function) -> str:
    """A global constraint as it is read."""
    definition = expr.definition
    parts = list(zip(definition.fields, expr.parts, strict=True))
    while parts and parts[-1][0].kind == "word" and parts[-1][1] == parts[-1][0].words[0]:
        parts.pop()
    if is_plain(definition.fields) and len(parts) == 1 and parts[0][1]:
        return f"{definition.name}({', '.join(map(write, parts[0][1]))})"
    return f"{definition.name}({', '.join([_written(write, part) for _, part in parts])})"


def write_table(write: Callable[[IntExpr], str], expr: Table) -> str:
    """A table as it is read."""
    return f"table({_written(write, expr.args)}, {_written(write, tuple(sorted(expr.rows)))})"


def _written(write: Callable[[IntExpr], str], part: Any) -> str:
    if isinstance(part, tuple):
        return f"[{', '.join([_written(write, inner) for inner in part])}]"
    return write(part) if isinstance(part, IntExpr) else str(part)
