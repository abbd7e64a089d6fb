"""`Model.solve` after its arguments have been read: optima, assumptions, other backends."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from constrint.answers.planned import Planned, applies
from constrint.errors import ModelError
from constrint.expr import BoolExpr
from constrint.modelling.declarations import constraints_of
from constrint.modelling.objectives import Goal
from constrint.modelling.result import Result, Statistics, Status
from constrint.preparing.options import Options
from constrint.search.solver import Solver
from constrint.support.arguments import check_seconds, integer
from constrint.support.deadline import Deadline, Stopped, beside
from constrint.support.optional import needed

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from pathlib import Path

    from constrint.modelling.conflict import Conflict
    from constrint.modelling.declarations import Constraint, Declarations

BLAME_SECONDS = 5.0
"""Seconds to search for the guilty assumptions if the call has no time limit."""


def best_of(
    model: Declarations,
    goals: Sequence[Goal],
    preferences: Sequence[Goal],
    options: Options,
    proof: str | Path | None = None,
    progress: bool = False,
) -> Result:
    """The optimum; without goals, any solution."""
    solver = Solver(model, options)
    with ExitStack() as stack:
        if progress:
            from constrint.search.progress import shown

            stack.enter_context(shown(solver))
        if proof is not None:
            from constrint.learning.proof import proof_in

            if options.learn is not True:
                raise ModelError("proof= needs learn=True: only the learning search writes proofs")
            log = stack.enter_context(proof_in(proof))
            solver.options = replace(solver.options, proof=log)
        if not applies(solver.options, bool(goals or preferences)):
            return solver.best(goals, preferences)
        planned = Planned(solver)
        return planned.answer(solver.best(goals, preferences))


def best_assuming(
    model: Declarations,
    assumptions: Sequence[BoolExpr],
    goals: Sequence[Goal],
    preferences: Sequence[Goal],
    options: Options,
    proof: str | Path | None = None,
    progress: bool = False,
) -> Result:
    """`best_of` under assumptions; an infeasible result names the guilty ones in its `conflict`."""
    constraints = constraints_of(assumptions, None, assumed=True)
    if not constraints:
        return best_of(model, goals, preferences, options, proof, progress)
    started = perf_counter()
    assumed = model.copy()
    assumed.constraints.extend(constraints)
    result = best_of(assumed, goals, preferences, options, proof, progress)
    if result.status is not Status.INFEASIBLE:
        return result
    limit = options.time_limit
    seconds = BLAME_SECONDS if limit is None else max(0.0, started + limit - perf_counter())
    return replace(result, conflict=blame(model, constraints, seconds))


def blame(model: Declarations, assumptions: Sequence[Constraint], seconds: float) -> Conflict:
    """A minimal set of assumptions that contradict the model's constraints; these are not part of the set."""
    from constrint.answers.conflict import find_conflict

    assumed = model.copy()
    assumed.constraints.extend(assumptions)
    first = len(model.constraints)
    return find_conflict(assumed, time_limit=seconds, background=range(first))


def solve_elsewhere(
    model: Declarations,
    backend: str,
    assumptions: Sequence[BoolExpr],
    goals: Sequence[Goal],
    preferences: Sequence[Goal],
    time_limit: float | None,
    seed: int,
    workers: int | None,
    executor: Executor | None,
) -> Result:
    """The result of another solver."""
    if backend != "cp-sat":
        raise ModelError(f'backend is "constrint" or "cp-sat", not {backend!r}')
    if executor is not None:
        raise ModelError("CP-SAT has threads of its own: set their number by workers, and leave out executor")
    check_seconds(time_limit)
    started = perf_counter()
    name = "constrint.backends.cp_sat"
    try:  # the first import of OR-Tools takes about half a second
        bridge = beside(
            lambda: needed(name, "constrint[cp-sat]", 'backend="cp-sat"'), Deadline(time_limit, started)
        )
    except Stopped:
        spent = Statistics(seconds=perf_counter() - started, engine="cp-sat")
        return Result(Status.UNKNOWN, statistics=spent)
    if assumptions:
        model = model.copy()
        model.assume(*assumptions)
    threads = 1 if workers is None else integer(workers, "workers")
    result: Result = bridge.solve(
        model, goals, preferences, time_limit=time_limit, seed=seed, workers=threads, started=started
    )
    return result
