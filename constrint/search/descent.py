"""What answers before a long search begins: a short descent, and tables of rows.

A search that tries preferred values in order meets the optimum first. In many tilings nearly every preferred
value is free, so the first descent ends with it, in far less time than tables take.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from constrint.errors import UnboundedError
from constrint.lowering.problem import NeedsWiderBounds
from constrint.preparing.options import Options
from constrint.preparing.prepared import Plan
from constrint.preparing.search import GaveUp, Search
from constrint.presolve import Root
from constrint.search.choose import Method
from constrint.search.depth_first import Run
from constrint.tables.swept import Swept, sweep

MOST_NODES = 100
MOST_FAILURES = 4
"""With more failures the preferred values contradict each other, and tables are better."""


def answered_early(
    plan: Plan,
    root: Root,
    options: Options,
    started: float,
    methods: Collection[Method],
    add: Callable[[Search, int], None],
) -> Swept | None:
    """The optimum by the methods that come before all others; None where they do not suffice.

    Args:
        plan: The plan.
        root: The root of the search.
        options: The search options.
        started: Start of the call, by `perf_counter`.
        methods: The chosen methods.
        add: Takes a search that gave up, and the number of its solutions.
    """
    if "descent" in methods:
        run = Run(plan, root, options, started, most_nodes=MOST_NODES, most_failures=MOST_FAILURES)
        try:
            best = run.next()
            return Swept(best, True, run.statistics(solutions=int(best is not None)))
        except (GaveUp, NeedsWiderBounds, UnboundedError):
            add(run, 0)
    return sweep(plan, root) if "tables" in methods else None
