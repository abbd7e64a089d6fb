"""`Solver`: the first solution, the optimum, the lexicographic optimum, and limits.

`preparing.prepared.Prepared` is a model made ready, `search.depth_first.DepthFirstRun` a search over it.
Every solution is checked against the model's own expressions before anyone sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from constrint.enumeration.swept import Swept
from constrint.errors import UnboundedError
from constrint.lowering.problem import HUGE_BITS
from constrint.modelling.result import Result, Status
from constrint.preparing.checks import Assignment, bounded
from constrint.preparing.options import Options
from constrint.preparing.prepared import WIDEST_BITS, Prepared
from constrint.preparing.search_protocol import Outcome, Search
from constrint.presolve import Root
from constrint.search.branch_and_bound import BranchAndBound, Optimised
from constrint.search.call import CallContext, WorkTotal
from constrint.search.choose import Case, Choice, choose, first_methods
from constrint.search.descent import answered_early
from constrint.search.easy import EasyAnswer
from constrint.search.start import first_solution, prepared_for
from constrint.search.warm_start import WarmStart, is_as_good, near_hints, restricted
from constrint.support.deadline import Stopped, until

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations
    from constrint.modelling.objectives import Goal


class Solver:
    """Answers one call of `Model`.

    Attributes:
        model: The model.
        options: The search options.
        work: The work of the call so far.
    """

    def __init__(
        self,
        model: Declarations,
        options: Options,
        work: WorkTotal | None = None,
        beside: Callable[[Search], None] | None = None,
    ) -> None:
        """Make a solver; `work` and `beside` are as in `CallContext`."""
        self.model = model
        self.options = options
        self.work = WorkTotal() if work is None else work
        self._beside = beside

    def call(self, goals: Sequence[Goal] = (), preferences: Sequence[Goal] = ()) -> CallContext:
        """The call with these objectives and preferences."""
        return CallContext(self.model, self.options, goals, preferences, self.work, beside=self._beside)

    def prepare(self, goals: Sequence[Goal], preferences: Sequence[Goal]) -> Prepared:
        """The prepared model, without a search."""
        call = self.call(goals, preferences)
        with until(call.deadline):
            return prepared_for(call)

    def choices(self, prepared: Prepared, root: Root) -> list[Choice]:
        """The methods that are tried, in order; see `choose`."""
        return choose(Case(prepared, root, self.options))

    def close(self) -> None:
        """Release the workers."""
        if self.options.sharing is not None:
            self.options.sharing.close()

    def best(self, goals: Sequence[Goal], preferences: Sequence[Goal]) -> Result:
        """The lexicographic optimum of the goals and then the preferences; without either, any solution."""
        call = self.call(goals, preferences)
        easy = EasyAnswer(call)
        with until(call.deadline):
            result = self._best_of(call, easy)
            if result.status is not Status.UNKNOWN or easy.solution is None:
                return result
            self.work.statistics = replace(self.work.statistics, solutions=1, finder="first tries")
            call.report(easy.solution)
            status = Status.FEASIBLE if call.targets else Status.OPTIMAL
            return replace(call.result(status, easy.solution), bound=result.bound)

    def _best_of(self, call: CallContext, easy: EasyAnswer) -> Result:
        bits = HUGE_BITS
        while True:
            try:
                if call.deadline.is_set:
                    easy.at_once()
                dives = call.deadline.is_set and easy.solution is None
                prepared = prepared_for(call, bits, before_presolve=easy.dive if dives else None)
            except Stopped:
                return call.result(Status.UNKNOWN)
            call.told(prepared)
            try:
                result = _best(call, prepared, easy)
            finally:
                self.close()
            if result is not None:
                return result
            if prepared.bits >= WIDEST_BITS:
                raise UnboundedError(prepared.first_unbounded())
            bits = 4 * prepared.bits


def _best(call: CallContext, prepared: Prepared, easy: EasyAnswer) -> Result | None:
    """The result for a prepared model; None where only wider bounds could prove it."""
    best: Assignment | None = None
    root = prepared.root
    if root is None:
        return call.result(Status.INFEASIBLE)
    try:
        if call.deadline.is_set:
            easy.dive(prepared, root)
        call, start = near_hints(call, prepared, root)
        if start is not None:
            best = start.solution
            if not call.report(best):
                raise Stopped
            if not call.targets:
                return call.result(Status.OPTIMAL, best)
        methods = [choice.method for choice in first_methods(Case(prepared, root, call.options))]
        swept, begun = answered_early(call.task(prepared, root), methods)
        if swept is not None:
            return _swept(call, swept, start)
        # The learning search cannot try values in order: it optimises preferences in turn, as goals.
        learns = call.learns and not root.exact
        goals_in_turn = [*prepared.goals, *(prepared.preferences if learns else ())]
        left: Root | None = root
        for place, (v, _) in enumerate(goals_in_turn):
            if left is None:
                break
            call.work.place = place
            known, finder = best, call.work.statistics.finder
            climb = BranchAndBound(call, prepared, place)
            end = climb.optimum(left, best, start)
            if end.outcome is not Outcome.EXHAUSTED:
                return _interrupted(climb.call, prepared, end, place)
            if end.solution is None:
                return call.result(Status.INFEASIBLE)
            call, start, best = climb.call, None, end.solution
            if place and known is not None and is_as_good(known, best, call.targets):
                best = known  # a search for a later goal finds solutions again
                call.work.statistics = call.work.statistics.found_by(finder)
            left = restricted(left, {v: end.value})
        wanted = len(prepared.goals) + len(prepared.preferences)
        if left is not None and len(goals_in_turn) < max(1, wanted):
            step = first_solution(call, prepared, left, begun)
            if step.outcome in (Outcome.STOPPED, Outcome.NEEDS_WIDER):
                end = Optimised(step.outcome, step.solution or best, 0, None)
                return _interrupted(call, prepared, end, len(goals_in_turn))
            best = step.found
    except (Stopped, KeyboardInterrupt) as stop:
        if isinstance(stop, KeyboardInterrupt) and best is None:
            raise
        return call.result(Status.UNKNOWN if best is None else Status.FEASIBLE, best)
    return call.result(Status.INFEASIBLE if best is None else Status.OPTIMAL, best)


def _interrupted(call: CallContext, prepared: Prepared, end: Optimised, place: int) -> Result | None:
    """The result of a search that was stopped; None for one that needs wider bounds.

    Args:
        call: The call.
        prepared: The prepared model.
        end: How the search for the present target ended.
        place: The place of that target: those before it are proven.
    """
    if end.outcome is Outcome.NEEDS_WIDER:
        return None
    result = call.result(Status.UNKNOWN if end.solution is None else Status.FEASIBLE, end.solution)
    bounds: list[int | None] = []
    for number, (expr, _) in enumerate(call.goals):
        if number < place:
            bounds.append(None if end.solution is None else int(expr.evaluate(end.solution)))
        elif number > place:
            bounds.append(prepared.root_bound(number))
        else:
            bounds.append(None if end.bound is None else prepared.written_value(number, end.bound))
    return bounded(result, bounds, call.goals)


def _swept(call: CallContext, swept: Swept, start: WarmStart | None) -> Result:
    """The result of a descent, or of enumeration."""
    call.work.statistics = swept.statistics
    best = swept.best
    if start is not None and is_as_good(start.solution, best, call.targets):
        best = start.solution
        call.work.statistics = swept.statistics.found_by("hint")
    elif best is not None:
        call.report(best)
    if not swept.is_proven:
        return call.result(Status.FEASIBLE if best else Status.UNKNOWN, best)
    return call.result(Status.OPTIMAL if best else Status.INFEASIBLE, best)
