"""The set of all solutions of a model, built by the planner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constrint.diagrams.layers import TooLargeDiagram
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
    except (Unsupported, TooLargeDiagram, OverflowError) as problem:
        raise limit_error(problem) from problem
    feasible = planner.feasible and (built or not model.variables)
    diagrams = [c.diagram for c in built] if feasible else None
    return SolutionSet(list(model.variables), diagrams, *_meanings(model))


def _meanings(model: Declarations) -> tuple[dict[int, dict[object, object]], dict[str, dict[object, str]]]:
    """The values of enumerations by number, and the variables of sets."""
    if not model.symbols:
        return {}, {}
    from constrint.modelling.symbols import SetVar

    numbers = {name: v for v, name in enumerate(model.variables)}
    labels: dict[int, dict[object, object]] = {}
    sets: dict[str, dict[object, str]] = {}
    for name, symbol in model.symbols.items():
        if isinstance(symbol, SetVar):
            sets[name] = {one: v.name for one, v in zip(symbol.members, symbol.variables, strict=True)}
        else:
            labels[numbers[symbol.index.name]] = dict(enumerate(symbol.values))
    return labels, sets
