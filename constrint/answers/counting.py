"""The number of solutions: by diagrams where the structure of a model allows it, otherwise one by one."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from constrint.search.solver import Solver

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations
    from constrint.preparing.options import Options


def count_solutions(model: Declarations, options: Options) -> tuple[int, bool]:
    """How many solutions were found within the time limit, and whether they are all."""
    if options.engine == "auto":
        from constrint.diagrams.planner import count_planned

        started = perf_counter()
        planned = count_planned(model, options.time_limit)
        if planned is not None:
            return planned, True
        if options.time_limit is not None:
            options = replace(options, time_limit=max(0.0, options.time_limit - (perf_counter() - started)))
    return Solver(model, options).count()
