"""`Model.solve` by another solver: which options it takes, and which are refused by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from constrint.answers.assumptions import assuming, blamed
from constrint.errors import ModelError
from constrint.expr import BoolExpr
from constrint.modelling.objectives import Goal
from constrint.modelling.result import Result, Statistics, Status
from constrint.support.arguments import check_flag, check_function, check_seconds, integer
from constrint.support.deadline import Deadline, Stopped, beside
from constrint.support.optional import needed

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations
    from constrint.preparing.options import OnSolution

OWN: Mapping[str, tuple[object, str]] = {
    "branching": (None, "CP-SAT chooses its own branching"),
    "restarts": (None, "CP-SAT has restarts of its own"),
    "lns": (False, "CP-SAT searches neighbourhoods by itself, given several workers"),
    "learn": ("auto", "CP-SAT always learns clauses"),
    "proof": (None, "CP-SAT writes no proof that our checker reads"),
    "engine": ("auto", "CP-SAT is its own engine"),
    "executor": (None, "CP-SAT has threads of its own: set their number by workers"),
}
"""Options that only the default backend has: the neutral value of each, and why others are refused."""


@dataclass(frozen=True, slots=True)
class BackendRequest:
    """The options that another solver takes; see `Model.solve`."""

    time_limit: float | None
    seed: int
    workers: int | None
    on_solution: OnSolution | None
    progress: bool


def solve_elsewhere(
    model: Declarations,
    backend: str,
    assumptions: Sequence[BoolExpr],
    goals: Sequence[Goal],
    preferences: Sequence[Goal],
    request: BackendRequest,
    own: Mapping[str, object],
) -> Result:
    """The result of another solver.

    Args:
        model: The model.
        backend: The solver.
        assumptions: Conditions for this call.
        goals: What to optimise.
        preferences: What to optimise after the goals.
        request: The options that it takes.
        own: The options of the default backend, by name; refused unless they ask for nothing.
    """
    if backend != "cp-sat":
        raise ModelError(f'backend is "constrint" or "cp-sat", not {backend!r}')
    for name, value in own.items():
        nothing, reason = OWN[name]
        if type(value) is not type(nothing) or value != nothing:
            raise ModelError(f'{name}= does not go with backend="cp-sat": {reason}. Leave it out')
    limit = request.time_limit
    check_seconds(limit)
    seed = integer(request.seed, "seed")
    threads = 1 if request.workers is None else integer(request.workers, "workers")
    if threads < 1:
        raise ModelError(f"workers must be at least 1, not {threads}")
    check_flag(request.progress, "progress")
    check_function(request.on_solution, "on_solution")
    started = perf_counter()
    name = "constrint.backends.cp_sat"
    try:  # the first import of OR-Tools takes about half a second
        bridge = beside(
            lambda: needed(name, "constrint[cp-sat]", 'backend="cp-sat"'), Deadline(limit, started)
        )
    except Stopped:
        taken = perf_counter() - started
        return Result(Status.UNKNOWN, statistics=Statistics(seconds=taken, engine="cp-sat", method="cp-sat"))
    assumed = assuming(model, assumptions)
    result: Result = bridge.solve(
        assumed,
        goals,
        preferences,
        time_limit=limit,
        seed=seed,
        workers=threads,
        started=started,
        on_solution=request.on_solution,
        progress=bool(request.progress),
    )
    return blamed(assumed, result, started, limit)
