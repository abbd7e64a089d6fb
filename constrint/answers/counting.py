"""Counting solutions: by diagrams if the structure of a model allows it, otherwise by search."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from constrint.modelling.ownership import check_variables
from constrint.search.enumeration import Enumeration

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations
    from constrint.preparing.options import Options
    from constrint.support.deadline import Deadline


def count_solutions(model: Declarations, options: Options, deadline: Deadline) -> tuple[int, bool]:
    """The number of solutions found before the deadline, and whether they are all."""
    check_variables(model)
    if options.engine == "auto":
        from constrint.diagrams.planner import count_planned

        planned = count_planned(model, deadline.rest)
        if planned is not None:
            return planned, True
    return Enumeration(model, replace(options, time_limit=deadline.rest)).count()
