"""HTML of models, results and conflicts for notebooks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from constrint.errors import shown_number
from constrint.expr import BoolVar
from constrint.expr.shown import show, show_domain
from constrint.modelling.model_text import show_goal
from constrint.support.html import grid_html, table_html

if TYPE_CHECKING:
    from constrint.modelling.conflict import Conflict
    from constrint.modelling.declarations import Declarations
    from constrint.modelling.intervals import Interval
    from constrint.modelling.objectives import WrittenGoal
    from constrint.modelling.result import Result

MOST_ROWS = 100
_ELEMENT = re.compile(r"(.+)\[(-?\d+)(?:,(-?\d+))?\]")


def model_html(model: Declarations) -> str:
    """HTML of a model: its variables, definitions, constraints and goals."""
    from constrint.modelling.conflict import labelled

    variables = [
        (variable.name, "bool" if isinstance(variable, BoolVar) else f"in {show_domain(variable.domain)}")
        for variable in islice(model.variables.values(), MOST_ROWS)
    ]
    lets = [(name, f":= {show_goal(model, expr)}") for name, expr in islice(model.lets.items(), MOST_ROWS)]
    constraints = [
        (label, labelled(constraint))
        for label, group in (("", model.constraints), ("off", model.disabled))
        for constraint in group[:MOST_ROWS]
    ]
    goals = [
        ("maximize" if way == "max" else "minimize", show_goal(model, expr)) for expr, way in model.goals
    ]
    goals += [(f"prefer {way}", show(expr)) for expr, way in model.preferences]
    parts = [
        _table(("variable", "values"), variables, len(model.variables)),
        _table(("name", "meaning"), lets, len(model.lets)),
        _table(("", "constraint"), constraints, len(model.constraints) + len(model.disabled)),
        _table(("goal", ""), goals, len(goals)),
    ]
    return _titled(repr(model), "".join(parts))


def result_html(result: Result) -> str:
    """HTML of a result: its status, objective and values, or its conflict; arrays as grids."""
    title = result.status.value
    if result.objective is not None:
        objective = result.objective
        numbers = objective if isinstance(objective, tuple) else (objective,)
        title += f", objective {', '.join(map(shown_number, numbers))}"
    if result.conflict is not None:
        return _titled(title, conflict_html(result.conflict))
    tasks = [
        (name, *(("absent", "", "") if when is None else map(shown_number, when)))
        for name, when in result.intervals.items()
    ]
    schedule = _table(("interval", "start", "size", "end"), tasks, len(tasks))
    return _titled(title, schedule + values_html(result.values))


def values_html(values: Mapping[str, int]) -> str:
    """HTML of values by name: a table, and a grid for each array of one or two axes."""
    rest: list[tuple[str, str]] = []
    arrays: dict[str, dict[tuple[int, int], str]] = {}
    for name, value in islice(values.items(), MOST_ROWS * MOST_ROWS):
        element = _ELEMENT.fullmatch(name)
        if element is None:
            rest.append((name, shown_number(value)))
        else:
            first, second = int(element[2]), element[3]
            place = (0, first) if second is None else (first, int(second))
            arrays.setdefault(element[1], {})[place] = shown_number(value)
    grids = []
    for name, cells in arrays.items():
        rows, columns = ([*dict.fromkeys(axis)] for axis in zip(*sorted(cells), strict=True))
        grid = [[cells.get((i, j), "") for j in sorted(columns)] for i in rows]
        grids.append(f"<p>{escape(name)}</p>{grid_html(grid)}")
    return _table(("name", "value"), rest[:MOST_ROWS], len(rest)) + "".join(grids)


def interval_html(interval: Interval) -> str:
    """HTML of an interval: its parts."""
    parts = [("start", interval.start), ("size", interval.size), ("end", interval.end)]
    rows = [(name, show(expr)) for name, expr in parts]
    rows += [("presence", show(interval.presence))] if interval.is_optional else []
    if interval.breaks:
        rows.append(("breaks", ", ".join([f"{begin} to {end}" for begin, end in interval.breaks])))
    return _titled(f"interval {interval.name}", _table(("part", ""), rows, len(rows)))


def front_html(goals: Sequence[WrittenGoal], results: Sequence[Result], complete: bool, kind: str) -> str:
    """HTML of Pareto optima, or another kind of solutions: a row for each, the goals before the values."""
    names = list(results[0].values) if results else []
    head = [f"{way} {expr}" for expr, way in goals] + names
    rows = []
    for result in results[:MOST_ROWS]:
        objective = result.objective if isinstance(result.objective, tuple) else (result.objective,)
        numbers = [*objective, *[result.values.get(name) for name in names]]
        rows.append(["" if number is None else shown_number(number) for number in numbers])
    title = f"{len(results)} {kind}" + ("" if complete else ", incomplete")
    return _titled(title, _table(head, rows, len(results)))


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
    return _titled(heading, _table(("place", "name", "constraint"), rows[:MOST_ROWS], len(rows)))


def _titled(title: str, body: str) -> str:
    return f"<div><strong>{escape(title)}</strong>{body}</div>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], count: int) -> str:
    """A table of the first rows of so many; empty for none."""
    listed = list(rows)
    if not listed:
        return ""
    if count > len(listed):
        listed.append([f"… and {count - len(listed):,} more"])
    return table_html(head, listed)
