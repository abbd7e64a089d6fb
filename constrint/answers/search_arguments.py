"""The search arguments of `Model`'s calls, checked together and turned into `Options`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from constrint.errors import ModelError
from constrint.preparing.branching import Brancher, Branching, as_brancher
from constrint.preparing.options import OnSolution, Options
from constrint.preparing.restart_rules import RestartRule, Restarts
from constrint.support.arguments import check_flag, check_function, check_seconds, integer

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from constrint.answers.call_log import CallLog
    from constrint.answers.presented import PresentedGoals
    from constrint.modelling.declarations import Declarations
    from constrint.preparing.options import Engine, Learning
    from constrint.preparing.search_protocol import SearchFactory
    from constrint.support.log_target import Log

# The default brancher of searches that restart: failure weights lead each restart elsewhere.
LED_BY_FAILURES = Brancher("dom_w_deg", "best_so_far")

# Search methods that cannot run on shares of a tree: they search the whole tree repeatedly, or ask the
# caller.
NOT_SHARED = {
    "learn": "makes clauses of failures in all of the tree",
    "restarts": "goes over all of the tree again and again",
    "lns": "goes over all of the tree again and again",
}


def log_of(
    model: Declarations, log: Log, started: float, presented: PresentedGoals | None = None
) -> CallLog | None:
    """The log of a call, with its first line written; None where nobody reads it.

    Args:
        model: The model.
        log: `log=` of the call.
        started: Start of the call, by `perf_counter`.
        presented: The goals; None for all solutions.
    """
    if log is False and "logging" not in sys.modules:
        return None
    from constrint.support.log_target import log_target

    write = log_target(log)
    if write is None:
        return None
    from constrint.answers.call_log import CallLog
    from constrint.search.call import WorkTotal

    told = CallLog(write, started, WorkTotal(), presented)
    told.begin(model)
    return told


def options_of(
    *,
    time_limit: float | None = None,
    seed: int = 0,
    engine: Engine = "auto",
    branching: Branching | None = None,
    restarts: RestartRule | Restarts | None = None,
    lns: bool = False,
    learn: Learning = False,
    has_goal: bool = False,
    on_solution: OnSolution | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Options:
    """The options of a search; without a brancher, the default that suits the others. See `Model.solve`."""
    if engine not in ("auto", "interpreted", "compiled"):
        raise ModelError(f'engine is "auto", "interpreted" or "compiled", not {engine!r}')
    check_seconds(time_limit)
    integer(seed, "seed")
    check_flag(lns, "lns")
    check_function(on_solution, "on_solution")
    if learn not in (True, False, "auto"):
        raise ModelError(f'learn is True, False or "auto", not {learn!r}')
    if learn is True and (lns or restarts is not None):
        raise ModelError("the learning search has its own restarts: leave out lns and restarts, or learn")
    if lns and restarts is not None:
        raise ModelError("large-neighbourhood search has its own restarts: leave out lns or restarts")
    if lns and not has_goal:
        raise ModelError("large-neighbourhood search improves a solution: give minimize= or maximize=")
    if isinstance(restarts, str):
        restarts = Restarts(restarts)
    if restarts is not None and not isinstance(restarts, Restarts):
        raise ModelError(f'restarts are "luby", "geometric" or Restarts(…), not {restarts!r}')
    brancher = as_brancher(branching)
    if branching is None and (lns or restarts is not None):
        brancher = LED_BY_FAILURES
    sharing = _sharing(
        workers, executor, {"learn": learn is True, "restarts": restarts, "lns": lns}, brancher
    )
    return Options(
        time_limit=time_limit,
        seed=seed,
        engine=engine,
        brancher=brancher,
        learn=learn,
        restarts=restarts,
        lns=lns,
        on_solution=on_solution,
        sharing=sharing,
        workers=workers if sharing is not None and executor is None and workers is not None else 1,
    )


def _sharing(
    workers: int | None, executor: Executor | None, ways: Mapping[str, object], brancher: Brancher
) -> SearchFactory | None:
    """The factory of shared searches, or None for one worker; raises if the options exclude sharing."""
    if executor is None and (workers is None or (type(workers) is int and workers == 1)):
        return None
    from constrint.parallel.workers import checked

    count = checked(workers, executor)
    if count == 1 and executor is None:
        return None
    for name, given in ways.items():
        if given:
            raise ModelError(f"{name} {NOT_SHARED[name]}: leave that out, or workers and executor")
    if brancher.decide is not None:
        raise ModelError(
            "a branching function works with one worker only: leave it out, or workers and executor"
        )
    from constrint.parallel.shared_search import SharedSearches

    return SharedSearches(count, executor)
