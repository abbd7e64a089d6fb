"""Whether an optimum is to be found by tables of rows (`sweep`), and what they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from constrint.modelling.result import Statistics
from constrint.preparing.checks import Assignment, check

if TYPE_CHECKING:
    from constrint.preparing.prepared import Plan
    from constrint.presolve import Root

MOST_WORK = 2_000_000  # rows looked at by all constraints together; some ten nanoseconds each


@dataclass(frozen=True, slots=True)
class Swept:
    """An answer.

    Attributes:
        best: The optimum; None where there is no solution.
        is_proven: Whether that is so; otherwise the best that was found before the deadline, or None.
        statistics: The work.
    """

    best: Assignment | None
    is_proven: bool
    statistics: Statistics


def sweep(plan: Plan, root: Root) -> Swept | None:
    """The optimum by tables; None where the constraints do not suit that, or it is too much work."""
    targets = [*plan.goals, *plan.preferences]
    from constrint.tables.operation import Unsuitable
    from constrint.tables.optimum import Optimum

    numbers = list(plan.variables.values())
    try:
        found = Optimum(root.box, root.nodes, numbers, targets, plan.inputs, MOST_WORK)
    except Unsuitable:
        return None
    statistics = Statistics(nodes=found.parts, solutions=found.improvements, engine="tables")
    if found.values is None:
        return Swept(None, found.is_proven, statistics)
    best = {variable: found.values[v] for variable, v in plan.variables.items()}
    check(plan, best)
    return Swept(best, found.is_proven, statistics)
