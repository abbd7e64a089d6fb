"""`Model.solve` after its arguments have been read: optima and assumptions."""

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
from constrint.modelling.result import Result, Status
from constrint.preparing.options import Options
from constrint.search.call import WorkTotal
from constrint.search.solver import Solver
from constrint.support.arguments import check_flag

if TYPE_CHECKING:
    from pathlib import Path

    from constrint.answers.call_log import CallLog
    from constrint.modelling.declarations import Declarations

BLAME_SECONDS = 5.0
"""Seconds to search for the guilty assumptions if the call has no time limit."""


def best_of(
    model: Declarations,
    goals: Sequence[Goal],
    preferences: Sequence[Goal],
    options: Options,
    proof: str | Path | None = None,
    progress: bool = False,
    told: CallLog | None = None,
) -> Result:
    """The optimum; without goals, any solution."""
    check_flag(progress, "progress")
    work = WorkTotal() if told is None else told.work
    with ExitStack() as stack:
        if progress:
            from constrint.search.progress import shown

            options = stack.enter_context(shown(options, work))
        if told is not None:
            options = told.watching(options)
        if proof is not None:
            from constrint.learning.proof_log import proof_in

            if options.learn is not True:
                raise ModelError("proof= needs learn=True: only the learning search writes proofs")
            log = stack.enter_context(proof_in(proof))
            result = Solver(model, replace(options, proof=log), work).best(goals, preferences)
            log.claim(result)
            return result
        if not applies(options, bool(goals or preferences)):
            return Solver(model, options, work).best(goals, preferences)
        planned = Planned(model, options, work.started)
        solver = Solver(model, options, work, planned.watch)
        return planned.answer(solver.best(goals, preferences), solver.call())


def best_assuming(
    model: Declarations,
    assumptions: Sequence[BoolExpr],
    goals: Sequence[Goal],
    preferences: Sequence[Goal],
    options: Options,
    proof: str | Path | None = None,
    progress: bool = False,
    told: CallLog | None = None,
) -> Result:
    """`best_of` under assumptions; an infeasible result names the guilty ones in its `conflict`."""
    started = perf_counter()
    assumed = assuming(model, assumptions)
    result = best_of(assumed, goals, preferences, options, proof, progress, told)
    return blamed(assumed, result, started, options.time_limit)


def assuming(model: Declarations, assumptions: Sequence[BoolExpr]) -> Declarations:
    """The model, or a copy with the assumptions of a call."""
    constraints = constraints_of([assumptions], None, assumed=True)
    if not constraints:
        return model
    assumed = model.copy()
    assumed.constraints.extend(constraints)
    return assumed


def blamed(model: Declarations, result: Result, started: float, limit: float | None) -> Result:
    """The result; where it is infeasible, with a minimal set of the model's assumptions as its conflict.

    Args:
        model: The model, with the assumptions of the call.
        result: What a solver answered.
        started: When the call began, by `perf_counter`.
        limit: Its time limit in seconds.
    """
    if result.status is not Status.INFEASIBLE or not any(one.assumed for one in model.constraints):
        return result
    from constrint.answers.conflict import find_conflict

    seconds = BLAME_SECONDS if limit is None else max(0.0, started + limit - perf_counter())
    given = [number for number, one in enumerate(model.constraints) if not one.assumed]
    return replace(result, conflict=find_conflict(model, time_limit=seconds, background=given))
