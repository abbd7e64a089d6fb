"""HTML of models, results and conflicts for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from constrint.expr import BoolVar
from constrint.expr.written import write_expression

if TYPE_CHECKING:
    from constrint.modelling.conflict import Conflict
    from constrint.modelling.declarations import Declarations
    from constrint.modelling.result import Result

MOST_ROWS = 100


def model_html(model: Declarations) -> str:
    """HTML of a model: its variables, definitions, constraints and goals."""
    from constrint.modelling.conflict import shown

    variables = [
        (variable.name, "bool" if isinstance(variable, BoolVar) else f"in {variable.domain}")
        for variable in model.variables.values()
    ]
    rows = [*variables, *[(name, f":= {write_expression(expr)}") for name, expr in model.lets.items()]]
    constraints = [
        (constraint.name or "", ("assumed: " if constraint.assumed else "") + shown(constraint))
        for constraint in model.constraints
    ]
    goals = [
        ("maximize" if way == "max" else "minimize", write_expression(expr)) for expr, way in model.goals
    ]
    goals += [(f"prefer {way}", write_expression(expr)) for expr, way in model.preferences]
    parts = [_table(("name", "meaning"), rows), _table(("constraint", ""), constraints)]
    return _titled(repr(model), "".join(parts) + _table(("goal", ""), goals))


def result_html(result: Result) -> str:
    """HTML of a result: its status, objective and values, or its conflict."""
    title = result.status.value
    if result.objective is not None:
        title += f", objective {result.objective}"
    if result.conflict is not None:
        return _titled(title, conflict_html(result.conflict))
    tasks = [
        (name, *(("absent", "", "") if when is None else map(str, when)))
        for name, when in result.intervals.items()
    ]
    values = _table(("name", "value"), [(name, str(v)) for name, v in result.values.items()])
    return _titled(title, _table(("interval", "start", "size", "end"), tasks) + values)


def conflict_html(conflict: Conflict) -> str:
    """HTML of a conflict: the guilty constraints with their places."""
    from constrint.modelling.conflict import shown

    heading = str(conflict).partition("\n")[0]
    rows = [
        (
            "" if constraint.position is None else str(constraint.position),
            constraint.name or "",
            ("assumed: " if constraint.assumed else "") + shown(constraint),
        )
        for constraint in conflict.constraints
    ]
    return _titled(heading, _table(("place", "name", "constraint"), rows))


def _titled(title: str, body: str) -> str:
    return f"<div><strong>{escape(title)}</strong>{body}</div>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    listed = list(rows)
    if not listed:
        return ""
    lines = [_row("th", head), *[_row("td", row) for row in listed[:MOST_ROWS]]]
    if len(listed) > MOST_ROWS:
        lines.append(_row("td", [f"… and {len(listed) - MOST_ROWS} more"]))
    return f"<table>{''.join(lines)}</table>"


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
