"""Counting solutions: by diagrams if the structure of a model allows it, otherwise by search."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from constrint.modelling.ownership import check_variables
from constrint.modelling.result import Statistics
from constrint.search.all_solutions import AllSolutions
from constrint.search.projected import projection_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from constrint.expr import IntExpr
    from constrint.modelling.declarations import Declarations
    from constrint.modelling.result import Result
    from constrint.preparing.options import OnSolution, Options
    from constrint.search.call import SearchLog
    from constrint.support.deadline import Deadline


def count_solutions(
    model: Declarations,
    options: Options,
    deadline: Deadline,
    variables: object = None,
    told: SearchLog | None = None,
) -> tuple[int, bool]:
    """The number of solutions found before the deadline, and whether they are all.

    With variables, it is the number of combinations of their values. Where the callback ends the search, it
    is the number of solutions so far, and they are all that were wanted.
    """
    check_variables(model)
    chosen = projection_of(model, variables)
    on_solution = options.on_solution
    if on_solution is not None:
        return _count_with(model, replace(options, time_limit=deadline.rest), on_solution, chosen, told)
    if options.engine == "auto" and chosen is None:
        from constrint.diagrams.planner import count_planned
        from constrint.diagrams.table_joins import count_joined

        planned = count_joined(model, deadline.rest)
        if planned is None:
            planned = count_planned(model, deadline.rest)
        if planned is not None:
            if told is not None:
                told.end_of_all(planned, True, Statistics(engine="tables", method="diagrams"))
            return planned, True
    return AllSolutions(model, replace(options, time_limit=deadline.rest), told).count(chosen)


def _count_with(
    model: Declarations,
    options: Options,
    on_solution: OnSolution,
    variables: Sequence[IntExpr] | None,
    told_log: SearchLog | None,
) -> tuple[int, bool]:
    """The number of solutions passed to a callback, and whether these are all, or it ended the search itself.

    The callback ends the search by returning False.
    """
    is_ended_by_callback = False

    def told(result: Result) -> bool:
        nonlocal is_ended_by_callback
        is_ended_by_callback = on_solution(result) is False
        return not is_ended_by_callback

    solutions = AllSolutions(model, replace(options, on_solution=told), told_log)
    number = sum(1 for _ in solutions.every(None, variables))
    return number, solutions.complete or is_ended_by_callback
