"""Whether an optimum is to be found by tables of rows (`sweep`), and what they give."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from constrint.modelling.result import Statistics
from constrint.preparing.branching import PLAIN
from constrint.preparing.checks import Assignment, check

if TYPE_CHECKING:
    from constrint.preparing.options import Options
    from constrint.preparing.prepared import Plan
    from constrint.presolve import Root

MOST_WORK = 2_000_000  # rows looked at by all constraints together; some ten nanoseconds each
LEAST_COMBINATIONS = 16_384  # of values; for fewer, search ends before numpy is loaded (80 ms)


@dataclass(frozen=True, slots=True)
class Swept:
    """A proven answer.

    Attributes:
        best: The optimum; None where there is no solution.
        statistics: The work.
        started: When the call began, moved on by the time that loading modules took.
    """

    best: Assignment | None
    statistics: Statistics
    started: float


def sweep(plan: Plan, options: Options, started: float) -> Swept | None:
    """The optimum by tables; None where model or options do not suit that, or it is too much work."""
    targets = [*plan.goals, *plan.preferences]
    root = plan.root
    if root is None or not targets or not _suits(plan, root, options):
        return None
    begun = perf_counter()
    from constrint.tables.operations import Unsuitable
    from constrint.tables.optimum import Optimum

    started += perf_counter() - begun
    deadline = None if options.time_limit is None else started + options.time_limit
    numbers = list(plan.variables.values())
    try:
        found = Optimum(root.box, root.nodes, numbers, targets, plan.inputs, MOST_WORK, deadline)
    except Unsuitable:
        return None
    statistics = Statistics(nodes=found.parts, solutions=found.improvements, engine="tables")
    if found.values is None:
        return Swept(None, statistics, started)
    best = {variable: found.values[v] for variable, v in plan.variables.items()}
    check(plan, best)
    return Swept(best, statistics, started)


def _suits(plan: Plan, root: Root, options: Options) -> bool:
    """Whether tables may be tried: no way to search is wanted, int64, at the fixpoint, and not too small."""
    if options.engine != "auto" or options.learn is True or options.brancher != PLAIN:
        return False
    if root.exact or not root.stable:
        return False
    box = root.box
    combinations = 1
    for v in set(plan.variables.values()):
        combinations *= (box.hi[v] - box.lo[v]) // box.step[v] + 1
    return combinations >= LEAST_COMBINATIONS
