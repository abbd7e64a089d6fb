"""Attempts before a long search: a short descent, and enumeration in tables of rows.

A search that tries preferred values in order meets the optimum first. In many tilings nearly every preferred
value is free, so the first descent ends with it, in far less time than tables take.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from constrint.enumeration.swept import Swept, sweep
from constrint.preparing.search_protocol import Outcome, SearchTask
from constrint.search.choose import Method
from constrint.search.depth_first import DepthFirstRun


def answered_early(
    task: SearchTask, methods: Collection[Method]
) -> tuple[Swept | None, DepthFirstRun | None]:
    """The optimum by the methods that come before all others, and a descent that gave up, to be continued.

    The optimum is None where they do not suffice.

    Args:
        task: What to search.
        methods: The chosen methods.
    """
    begun: DepthFirstRun | None = None
    if "descent" in methods:
        rules = task.root.settings.search
        run = DepthFirstRun(
            task,
            most_nodes=rules.nodes_of_descent,
            most_failures=rules.failures_of_descent,
        )
        step = run.next()
        if step.outcome in (Outcome.FOUND, Outcome.EXHAUSTED, Outcome.STOPPED):
            is_proven = step.outcome is not Outcome.STOPPED
            return Swept(step.found, is_proven, run.statistics(solutions=int(step.found is not None))), None
        if step.outcome is Outcome.GAVE_UP:
            begun = run  # otherwise bounds are missing, and tables may do without
    swept = sweep(task.prepared, task.root) if "tables" in methods else None
    if swept is not None and begun is not None:
        work = begun.statistics().plus(swept.statistics, swept.statistics.solutions)
        return replace(swept, statistics=work), None
    return swept, begun
