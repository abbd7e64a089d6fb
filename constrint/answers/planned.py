"""A solution from the model's diagrams, where a search for any solution has not answered soon.

Congruences and other constraints that reason little about bounds leave search nothing to prune by, while the
planner evaluates them for whole columns of values.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from constrint.errors import LimitError, ModelError
from constrint.modelling.declarations import Declarations
from constrint.modelling.result import Result, Status
from constrint.preparing.checks import Assignment, check_solution, values_of
from constrint.preparing.options import Options
from constrint.preparing.search_protocol import Search
from constrint.search.call import CallContext
from constrint.support.deadline import Deadline, Stopped, until


class Planned:
    """Watches a search for any solution, and twice tries the diagrams beside it.

    Args:
        model: The model.
        options: The search options.
        started: Start of the call, by `perf_counter`.
    """

    def __init__(self, model: Declarations, options: Options, started: float) -> None:
        rules = model.settings.diagrams
        share = rules.patience if options.time_limit is None else options.time_limit / rules.share
        self._model = model
        self._then = options.watch
        most = rules.seconds * rules.later if options.time_limit is None else share
        self._tries = [  # when the next build of diagrams begins, and the seconds that it may take
            (started + min(rules.patience, share) * times, min(rules.seconds * times, most))
            for times in (1, rules.later)
        ]
        self._found: tuple[Status, Assignment] | None = None

    def watch(self, search: Search) -> None:
        """Try the diagrams if it is time; raises `Stopped` when they have answered."""
        if self._then is not None:
            self._then(search)
        if not self._tries or perf_counter() < self._tries[0][0]:
            return
        seconds = self._tries.pop(0)[1]
        model = self._model
        if max(len(model.variables), len(model.constraints)) <= model.settings.diagrams.largest:
            self._found = built(model, seconds)
        if self._found is not None:
            raise Stopped

    def answer(self, result: Result, call: CallContext) -> Result:
        """The result of the search of a call, or that of the diagrams where they ended it."""
        if self._found is None:
            return result
        status, found = self._found
        finder = "diagrams" if found else ""
        solutions = int(bool(found))
        statistics = replace(result.statistics, method="diagrams", finder=finder, solutions=solutions)
        if status is Status.INFEASIBLE:
            return replace(result, status=status, statistics=statistics)
        call.work.statistics = statistics
        call.report(found)
        return Result(status, values_of(self._model, found), None, statistics, found)


def applies(options: Options, has_goals: bool) -> bool:
    """Whether a call leaves it to the solver how any solution is found."""
    is_free = options.engine == "auto" and options.learn is not True and options.proof is None
    return is_free and not has_goals and options.sharing is None and options.restarts is None


def built(model: Declarations, seconds: float) -> tuple[Status, Assignment] | None:
    """A solution, or the proof that there is none; None where the diagrams are too large."""
    from constrint.solutions.build import solution_set

    memory = model.settings.diagrams.memory
    try:
        with until(Deadline(seconds, perf_counter())):  # within that of the call
            solutions = solution_set(model, memory_limit=memory, time_limit=seconds)
    except (LimitError, ModelError, Stopped):
        return None
    if not solutions.size:
        return Status.INFEASIBLE, {}
    first = solutions.plain()[0]
    found: Assignment = {v: int(first[name]) for name, v in model.variables.items()}
    check_solution(model, found)
    return Status.OPTIMAL, found
