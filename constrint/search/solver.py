"""`Solver`: the first solution, the optimum, the lexicographic optimum, and limits.

`preparing.prepared.Prepared` is a model made ready, `search.depth_first.Run` a search over it. Every solution
is checked against the model's own expressions before anyone sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from constrint.enumeration.swept import Swept
from constrint.errors import ModelError, UnboundedError
from constrint.lowering.problem import HUGE_BITS, NeedsWiderBounds
from constrint.modelling.result import Result, Statistics, Status
from constrint.preparing.branching import PLAIN
from constrint.preparing.checks import Assignment, bounded, values_of
from constrint.preparing.options import Options
from constrint.preparing.prepared import WIDEST_BITS, Prepared
from constrint.preparing.search_protocol import GaveUp, Interrupted, Search
from constrint.presolve import Root
from constrint.presolve.breaking import without_symmetries
from constrint.search.branch_and_bound import BranchAndBound
from constrint.search.choose import Case, Choice, choose, first_methods, main_method, may_search_briefly
from constrint.search.depth_first import DepthFirstRun
from constrint.search.descent import answered_early
from constrint.search.easy import at_an_end, by_diving, is_small
from constrint.search.near_zero import nearby_roots
from constrint.search.portfolio import PortfolioRun
from constrint.search.warm_start import WarmStart, hinted_solution, is_as_good, near_hints, restricted
from constrint.support.deadline import Deadline, Stopped, until

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations
    from constrint.modelling.objectives import Goal

__all__ = ["DepthFirstRun", "Options", "Prepared", "Solver"]


class Solver:
    """Answers one call of `Model`, and adds up work and time of all its searches."""

    def __init__(self, model: Declarations, options: Options) -> None:
        self.model = model
        self.options = options
        self.beside: Callable[[Search], None] | None = None  # called with a search that is not brief
        self.started = perf_counter()
        self.total = Statistics()
        self._learning_gave_up = False
        self.goals: Sequence[Goal] = ()
        self._targets: Sequence[Goal] = ()
        self._has_dived = False
        self._reported: list[int] | None = None  # the goals of the last solution reported to the caller
        self._easy: Assignment | None = None  # the answer if time runs out before another solution is found

    def _prepare(
        self,
        goals: Sequence[Goal],
        preferences: Sequence[Goal],
        bits: int = HUGE_BITS,
        is_every: bool = False,
    ) -> Prepared:
        """The prepared model; raises `Stopped` at the time limit."""
        options = self.options
        deadline = Deadline(options.time_limit, self.started)
        may_compile = options.engine != "interpreted"
        is_first = not (goals or preferences or is_every)
        may_postpone = is_first and may_search_briefly(options, self._learning_gave_up)
        dives = deadline.is_set and not is_every and self._easy is None
        return Prepared(
            self.model,
            goals,
            preferences,
            bits,
            options.brancher,
            deadline,
            may_compile,
            may_postpone,
            before_presolve=self._dive if dives else None,
            proof=options.proof,
        )

    def _dive(self, prepared: Prepared, root: Root) -> None:
        """Search briefly for a solution that is easy to find, unless one is known."""
        if self._easy is None and not self._has_dived:
            self._has_dived = not (
                root.exact or is_small(prepared.variables, root.propagators, root.settings.search)
            )
            self._easy = by_diving(prepared, root, self.options)
            self._stop_if_answered()

    def _stop_if_answered(self) -> None:
        """Raise `Stopped` if the easy solution answers the call: any will do, and the model is large."""
        model, options = self.model, self.options
        if self._easy is None or self._targets or model.hints:
            return
        if is_small(model.variables, model.constraints, model.settings.search):
            return
        is_free = options.engine == "auto" and options.brancher == PLAIN and options.proof is None
        if is_free and may_search_briefly(options):
            raise Stopped

    @property
    def has_workers(self) -> bool:
        """Whether many workers share a search."""
        return self.options.sharing is not None

    @property
    def learns(self) -> bool:
        """Whether the learning search is requested, and has not given up."""
        return self.options.learn is True and not self._learning_gave_up

    def give_up_learning(self) -> None:
        """Note that the learning search gave up: a tree search takes over."""
        self._learning_gave_up = True

    def prepare(self, goals: Sequence[Goal], preferences: Sequence[Goal]) -> Prepared:
        """The prepared model, without a search."""
        with until(Deadline(self.options.time_limit, self.started)):
            return self._prepare(goals, preferences)

    def choices(self, prepared: Prepared, root: Root) -> list[Choice]:
        """The methods that are tried, in order; see `choose`."""
        return choose(Case(prepared, root, self.options, self._learning_gave_up))

    def run(
        self,
        prepared: Prepared,
        root: Root,
        goal: tuple[int, str] | None = None,
        is_every: bool = False,
        begun: DepthFirstRun | None = None,
    ) -> Search:
        """Start a search of the chosen kind: for one solution, for all, or for better ones.

        Args:
            prepared: The prepared model.
            root: The root of the search.
            goal: The objective that each further solution must improve, or None.
            is_every: Whether all solutions are wanted.
            begun: A tree search that ended early, to be continued; not with workers.
        """
        options, started = self.options, self.started
        if self.beside is not None:
            options = options.watched(self.beside)
        method = main_method(Case(prepared, root, options, self._learning_gave_up)).method
        if method == "learning":
            from constrint.learning.session import LearningRun

            if not is_every and options.proof is None:  # a proof has no step for symmetries
                root = without_symmetries(root, goal, prepared.variables.values()).root
            return LearningRun(prepared, root, options, started, goal)
        if options.proof is not None:
            if self._learning_gave_up:
                raise ModelError("the proof grew too long: bounds creep in small steps; bound the variables")
            raise ModelError("a proof needs numbers that fit int64: bound the variables")
        if method == "side by side" and not is_every:
            from constrint.search.threaded_portfolio import ThreadedPortfolio

            return ThreadedPortfolio(prepared, root, options, started, goal)
        if options.sharing is not None:
            return options.sharing.start(prepared, root, options, started, goal, is_every)
        if method == "portfolio":
            return PortfolioRun(prepared, root, options, started, goal, begun)
        if begun is not None:
            begun.go_on(options)
            return begun
        return DepthFirstRun(prepared, root, options, started, goal)

    def _close(self) -> None:
        """Release the workers."""
        if self.options.sharing is not None:
            self.options.sharing.close()

    def add(self, run: Search, solutions: int) -> None:
        """Add the work of a finished search."""
        self.total = self.total.plus(run.statistics(), solutions)

    def _result(
        self, status: Status, assignment: Assignment | None = None, goals: Sequence[Goal] = ()
    ) -> Result:
        statistics = self.total.within(perf_counter() - self.started)
        if assignment is None:
            return Result(status, statistics=statistics)
        objective = tuple(expr.evaluate(assignment) for expr, _ in goals)
        return Result(
            status,
            values_of(self.model, assignment),
            (objective[0] if len(objective) == 1 else objective) if goals else None,
            statistics,
            assignment,
            self.model.intervals.copy(),
            bound=objective[0] if len(objective) == 1 and status is Status.OPTIMAL else None,
        )

    def report(self, found: Assignment, work: Statistics) -> None:
        """Call the caller's callback with a solution if it is better than the last one.

        Raises:
            Stopped: No more are wanted.
        """
        if self.options.on_solution is None:
            return
        shown = self._result(Status.FEASIBLE, found, self.goals)
        objective = shown.objective if isinstance(shown.objective, tuple) else (shown.objective or 0,)
        signs = [1 if way == "min" else -1 for _, way in self.goals]
        cost = [sign * value for sign, value in zip(signs, objective, strict=False)]
        if self.goals and self._reported is not None and cost >= self._reported:
            return  # the search for a later goal finds solutions again
        self._reported = cost
        total = self.total
        statistics = replace(
            shown.statistics,
            nodes=total.nodes + work.nodes,
            failures=total.failures + work.failures,
            propagations=total.propagations + work.propagations,
        )
        if self.options.on_solution(replace(shown, statistics=statistics)) is False:
            raise Stopped

    def best(self, goals: Sequence[Goal], preferences: Sequence[Goal]) -> Result:
        """The lexicographic optimum of the goals and then the preferences; without either, any solution."""
        with until(Deadline(self.options.time_limit, self.started)):
            result = self._best_of(goals, preferences)
            if result.status is not Status.UNKNOWN or self._easy is None:
                return result
            with suppress(Stopped):  # nothing is left to stop
                self.report(self._easy, Statistics())
            status = Status.FEASIBLE if self._targets else Status.OPTIMAL
            self.total = replace(self.total, solutions=1)
            return replace(self._result(status, self._easy, [*goals]), bound=result.bound)

    def _best_of(self, goals: Sequence[Goal], preferences: Sequence[Goal]) -> Result:
        self.goals, self._targets = goals, [*goals, *preferences]
        bits = HUGE_BITS
        while True:
            try:
                if self.options.time_limit is not None and self._easy is None:
                    self._easy = hinted_solution(self.model, self._targets)
                    self._easy = self._easy or at_an_end(self.model, self._targets)
                    self._stop_if_answered()
                prepared = self._prepare(goals, preferences, bits)
            except Stopped:
                return self._result(Status.UNKNOWN)
            try:
                return self._best(prepared, goals, preferences)
            except NeedsWiderBounds:
                if prepared.bits >= WIDEST_BITS:
                    raise UnboundedError(prepared.first_unbounded()) from None
            finally:
                self._close()
            bits = 4 * prepared.bits

    def _best(self, prepared: Prepared, goals: Sequence[Goal], preferences: Sequence[Goal]) -> Result:
        best: Assignment | None = None
        begun: DepthFirstRun | None = None
        root = prepared.root
        try:
            if root is not None and self.options.time_limit is not None:
                self._dive(prepared, root)
            start = None if root is None else near_hints(self, prepared, root)
            if start is not None:
                best = start.solution
                self.report(best, Statistics())
                if not (prepared.goals or prepared.preferences):
                    return self._result(Status.OPTIMAL, best)
            if root is not None:
                case = Case(prepared, root, self.options, self._learning_gave_up)
                methods = [choice.method for choice in first_methods(case)]
                swept, begun = answered_early(prepared, root, self.options, self.started, methods)
                if swept is not None:
                    return self._swept(swept, goals, start)
            # The learning search cannot try values in order: it optimises preferences in turn, as goals.
            learns = self.learns and root is not None and not root.exact
            goals_in_turn = [*prepared.goals, *(prepared.preferences if learns else ())]
            for place, (v, _) in enumerate(goals_in_turn):
                if root is None:
                    break
                found = BranchAndBound(self, prepared, place).optimum(root, best, start)
                start = None
                if found is None:
                    return self._result(Status.INFEASIBLE)
                best, value = found
                root = restricted(root, {v: value})
            wanted = len(prepared.goals) + len(prepared.preferences)
            if root is not None and len(goals_in_turn) < max(1, wanted):
                best = self.first(prepared, root, begun)
        except Interrupted as interrupted:
            best = interrupted.best or best
            status = Status.UNKNOWN if best is None else Status.FEASIBLE
            bound = None
            if interrupted.bound is not None and len(prepared.goals) == 1 and not prepared.preferences:
                factor, constant = prepared.scales.get(prepared.goals[0][0], (1, 0))
                bound = factor * interrupted.bound + constant
            return bounded(self._result(status, best, [*goals]), bound, goals[0][1] if goals else "min")
        except (Stopped, KeyboardInterrupt) as stop:
            if isinstance(stop, KeyboardInterrupt) and best is None:
                raise
            return self._result(Status.UNKNOWN if best is None else Status.FEASIBLE, best, [*goals])
        return self._result(Status.INFEASIBLE if best is None else Status.OPTIMAL, best, [*goals])

    def _swept(self, swept: Swept, goals: Sequence[Goal], start: WarmStart | None) -> Result:
        """The result of a descent, or of enumeration."""
        self.total = swept.statistics
        best = swept.best
        if start is not None and is_as_good(start.solution, best, self._targets):
            best = start.solution
        elif best is not None:
            with suppress(Stopped):  # nothing is left to stop
                self.report(best, Statistics())
        if not swept.is_proven:
            return self._result(Status.FEASIBLE if best else Status.UNKNOWN, best, [*goals])
        return self._result(Status.OPTIMAL if best else Status.INFEASIBLE, best, [*goals])

    def first(self, prepared: Prepared, root: Root, begun: DepthFirstRun | None) -> Assignment | None:
        """A solution; the preferred one if the prepared model has preferences."""
        left: Root | None = root
        if root.postponed:
            most = root.settings.search.nodes_before_presolve
            run = DepthFirstRun(prepared, root, self.options, self.started, most_nodes=most)
            try:
                return self._first_of(prepared, root, run)
            except GaveUp:
                left = prepared.reason()
        if left is None:
            return None
        try:
            return self._first_of(prepared, left, self.run(prepared, left, begun=begun))
        except GaveUp:
            self.give_up_learning()
            return self._first_of(prepared, left, self.run(prepared, left))

    def _first_of(self, prepared: Prepared, root: Root, run: Search) -> Assignment | None:
        """The first solution of a search."""
        found: Assignment | None = None
        try:
            found = run.next()
            if found is not None:
                with suppress(Stopped):  # it is the last
                    self.report(found, run.statistics())
        except UnboundedError:
            near = None if prepared.preferences else self.nearby(prepared, root, None)
            if near is None:
                raise
            found = near[0]
            with suppress(Stopped):
                self.report(found, run.statistics())
        finally:
            self.add(run, 1 if found else 0)
        return found

    def nearby(
        self, prepared: Prepared, root: Root, goal: tuple[int, str] | None
    ) -> tuple[Assignment, int] | None:
        """A solution near 0 that is better than others there, and the value of its objective."""
        most = root.settings.search.nodes_near_zero
        for near in nearby_roots(prepared, root):
            run = DepthFirstRun(prepared, near, self.options, self.started, goal, most_nodes=most)
            best: tuple[Assignment, int] | None = None
            try:
                while (found := run.next()) is not None:
                    best = found, run.value(goal[0]) if goal else 0
                    if goal is None:
                        break
            except (GaveUp, NeedsWiderBounds, UnboundedError):
                pass
            finally:
                self.add(run, 0)
            if best is not None:
                return best
        return None
