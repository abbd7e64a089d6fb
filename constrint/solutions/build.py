"""The set of all solutions of a model, built by the planner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constrint.diagrams.layers import TooLarge
from constrint.diagrams.planner import limit_error, solve_all
from constrint.diagrams.terms import Unsupported
from constrint.modelling.declarations import Declarations
from constrint.modelling.ownership import check_variables
from constrint.solutions.solutionset import SolutionSet

if TYPE_CHECKING:
    from concurrent.futures import Executor


def solution_set(
    model: Declarations,
    *,
    memory_limit: int | None = None,
    time_limit: float | None = None,
    executor: Executor | None = None,
    workers: int | None = None,
) -> SolutionSet:
    """The set of all solutions of a model.

    Args:
        model: A model whose variables have finite domains.
        memory_limit: Bytes that building may take; None for the default.
        time_limit: Seconds that building may take.
        executor: Builds with the workers of any executor of `concurrent.futures`.
        workers: How many workers; without an executor, threads of this process.

    Raises:
        LimitError: The set cannot be built within the limits.
    """
    check_variables(model)
    try:
        built, planner = solve_all(
            model, memory_limit=memory_limit, time_limit=time_limit, executor=executor, workers=workers
        )
    except (Unsupported, TooLarge, OverflowError) as problem:
        raise limit_error(problem) from problem
    feasible = planner.feasible and (built or not model.variables)
    return SolutionSet(list(model.variables), [c.diagram for c in built] if feasible else None)
