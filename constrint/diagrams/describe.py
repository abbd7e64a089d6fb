"""The planner's choices as text for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from constrint.diagrams.layers import TooLargeDiagram
from constrint.diagrams.terms import Unsupported
from constrint.support.deadline import Deadline
from constrint.support.long_numbers import counted

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations


COUNTING = 5.0
"""Seconds for counting if the solutions cannot be listed."""


@dataclass
class Explanation:
    """The planner's choices with reasons; its text is for people.

    Attributes:
        lines: The lines of the text.
    """

    lines: list[str]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    __repr__ = __str__


KIND_TEXT: dict[str, str] = {
    "all": "every value tried, then filtered",
    "range": "a range of the sorted values for each node",
    "table": "a table of the values that go with each key",
    "solved": "computed from an equation",
}


def explain_plan(model: Declarations, time_limit: float | None = None) -> Explanation:
    """Components, orders, widths and methods of a model, for people."""
    deadline = Deadline(time_limit)
    from constrint.diagrams.planner import count_planned, solve_all

    try:
        built, _ = solve_all(model, time_limit=time_limit)
    except (Unsupported, TooLargeDiagram) as problem:
        lines = [f"search: {problem}"]
        number = count_planned(model, max(0.0, min(COUNTING, deadline.left)))
        if number is not None:
            lines.append(f"{counted(number, 'solution')}, counted by ranges, residues and partial sums")
        return Explanation(lines)
    names = list(model.variables)
    if not built:
        return Explanation(["no solution: the plan proves it"])
    free = [c.diagram for c in built if not c.conditions]
    lines = [f"{len(built) - len(free)} components and {len(free)} free variables, multiplied"]
    for number, component in enumerate([c for c in built if c.conditions], 1):
        diagram = component.diagram
        lines.append(
            f"component {number}: {counted(component.conditions, 'condition')}, "
            f"{counted(diagram.size, 'solution')}, "
            f"{counted(diagram.edges, 'edge')} (estimated work: {counted(round(component.estimate), 'row')})"
        )
        for k, v in enumerate(diagram.variables):
            layer = diagram.layers[k]
            lines.append(
                f"  {names[v]}: {counted(layer.nodes, 'node')}, {counted(len(layer.value), 'edge')}; "
                f"{KIND_TEXT[component.kinds[k]]}"
            )
    if free:
        lines.append(
            "free: " + ", ".join(f"{names[d.variables[0]]} ({counted(d.size, 'value')})" for d in free)
        )
    total = 1
    for component in built:
        total *= component.diagram.size
    lines.append(counted(total, "solution"))
    return Explanation(lines)
