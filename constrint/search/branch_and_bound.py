"""Branch and bound for one objective, strengthened by a dual row of its linear program."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from constrint.errors import UnboundedError
from constrint.lowering.problem import Infeasible
from constrint.preparing.branching import PLAIN, Brancher, Group
from constrint.preparing.checks import Assignment, SuccessiveChecks, check
from constrint.preparing.search_protocol import Outcome, SearchStep
from constrint.presolve import Root, better_than, is_linear
from constrint.search.choose import Case, main_method
from constrint.search.depth_first import DepthFirstRun
from constrint.search.easy import is_small
from constrint.search.polling import at_point, polled
from constrint.search.probes import Probes
from constrint.search.start import nearby, start_search
from constrint.support.deadline import Stopped

if TYPE_CHECKING:
    from constrint.preparing.prepared import Prepared
    from constrint.preparing.search_protocol import Search
    from constrint.search.call import CallContext
    from constrint.search.warm_start import WarmStart


@dataclass(frozen=True, slots=True)
class Optimised:
    """The end of an optimisation.

    Attributes:
        outcome: `EXHAUSTED` where the solution is proven to be the best, or that there is none; `STOPPED`; or
            `NEEDS_WIDER`.
        solution: The best solution, or None.
        value: The value of its objective.
        bound: The bound of the objective that was proven; None if there is none, or it is the value.
    """

    outcome: Outcome
    solution: Assignment | None
    value: int
    bound: int | None


class BranchAndBound:
    """A running optimisation: the objective, and the best solution so far.

    Attributes:
        call: The call; after a learning search that gave up, the one without it.
    """

    def __init__(self, call: CallContext, prepared: Prepared, place: int) -> None:
        """Make one for the target at a place among the prepared model's goals and preferences."""
        self.call = call
        self._found: Assignment | None = None
        self._value = 0
        self._prepared = prepared
        self._place = place
        self._goal = [*prepared.goals, *prepared.preferences][place]
        self._restarts = 0
        self._solutions = 0
        self._run: Search | None = None  # the one under way
        self._counted = 0  # solutions that the statistics of the call have
        self._checks = SuccessiveChecks(prepared.model)

    def optimum(self, root: Root, best: Assignment | None, start: WarmStart | None = None) -> Optimised:
        """The best solution, or the best so far.

        Args:
            root: The root of the search.
            best: The solution to return if search is stopped before it finds one.
            start: A solution that further ones must improve on, or None.
        """
        left: Root | Outcome = root
        if start is not None:
            self._note_found(start.solution, start.value)
            left = self._left(root)
        try:
            outcome = left if isinstance(left, Outcome) else self._search(left)
        except (Stopped, KeyboardInterrupt) as stop:
            if isinstance(stop, KeyboardInterrupt) and (self._found or best) is None:
                raise
            outcome = Outcome.STOPPED
        if self._found is not None and outcome is not Outcome.NEEDS_WIDER:
            check(self._prepared, self._found)
        if outcome is Outcome.STOPPED:
            return Optimised(outcome, self._found or best, self._value, self._bound())
        return Optimised(outcome, self._found, self._value, None)

    def _search(self, root: Root) -> Outcome:
        """Improve the best solution until there is no better one, or until the search must end.

        Its parts return the root of what is left, or the outcome if that is the end.
        """
        run: Search | None = None
        left = self._polled(root)
        if isinstance(left, Root):
            left = self._descended(left)
        if isinstance(left, Root) and self._is_plain(left):
            left, run = self._begin(left)
        if isinstance(left, Root) and self.call.options.proof is None:
            left = self._probed(left, run)
        while isinstance(left, Root):
            run = run or start_search(self.call, self._prepared, left, self._goal)
            left, run = self._go_on(left, run), None
        return left

    def _polled(self, root: Root) -> Root | Outcome:
        """The root after a search for a good solution around some points."""
        call, prepared = self.call, self._prepared
        options = call.options
        if len(call.goals) != 1 or prepared.preferences or options.proof or options.brancher.decide:
            return root
        near = polled(prepared, root, call.goals[0])
        box = None if near is None else at_point(prepared, root, near)
        if box is None:
            return root
        task = call.task(prepared, replace(root, box=box), self._goal)
        outcome = self._briefly(DepthFirstRun(task, most_nodes=_brief(root)), "points")
        if outcome in (Outcome.STOPPED, Outcome.NEEDS_WIDER):
            return outcome
        return self._left(root)  # otherwise what the point leaves open is hard to find, or empty

    def _descended(self, root: Root) -> Root | Outcome:
        """The root after a greedy descent, where the objective is a sum of many variables."""
        call, options = self.call, self.call.options
        if self._found is not None or options.brancher != PLAIN or options.hint or options.proof is not None:
            return root
        if root.exact or is_small(self._prepared.variables, root.propagators, root.settings.search):
            return root
        from constrint.search.greedy import greedy_order

        order = greedy_order(self._prepared, root, self._goal[0])
        if order is None:
            return root
        options = replace(options, brancher=Brancher(groups=(Group(order),)), lns=False, restarts=None)
        task = call.task(self._prepared, root, self._goal, options)
        most = len(order) + root.settings.search.more_nodes_of_dive
        outcome = self._briefly(DepthFirstRun(task, most_nodes=most), "greedy descent")
        if outcome not in (Outcome.GAVE_UP, Outcome.UNBOUNDED):
            return outcome
        if self._found is not None:
            self.call = replace(call, options=replace(call.options, hint=self._found, is_solution=True))
        return self._left(root)

    def _briefly(self, run: DepthFirstRun, finder: str) -> Outcome:
        """Run a bounded search that comes before the others."""
        run.finder = finder
        try:
            return self._improve(run, run).outcome
        finally:
            self._run = None
            self._count(run)

    def _is_plain(self, root: Root) -> bool:
        """Whether the search starts as a plain tree search and may change its method after a short while."""
        options = self.call.options
        is_plain = not self.call.learns and options.restarts is None and not options.lns
        if options.sharing is None or not is_plain or is_linear(root, self._goal[0]):
            return is_plain
        case = Case(self._prepared, root, options, self.call.learning_gave_up)
        return main_method(case).method == "side by side"  # a tree that is shared begins at once

    def _probed(self, root: Root, run: Search | None) -> Root | Outcome:
        """The root after some probes for good values of the objective."""
        if self.call.options.brancher.decide is not None:
            return root
        probes = Probes(self.call, self._prepared, root, self._goal, self._note)
        if self._found is not None:
            probes.value = self._value
        left = probes.run()
        if isinstance(left, Outcome):
            if run is not None and left is Outcome.EXHAUSTED:
                self._count(run)
            return left
        if run is not None:  # the search continues where it is
            if probes.value is not None:
                run.demand_better(probes.value)
            return root
        return self._left(left)

    def _note(self, better: Assignment, value: int, run: Search) -> bool:
        """Record a better solution and report it to the caller; returns whether more are wanted."""
        self._note_found(better, value)
        if self.call.options.on_solution is None:
            return True
        self._checks.check(better)
        return self.call.report(better, run.statistics())

    def _note_found(self, better: Assignment, value: int) -> None:
        """Record a better solution, whose objective must be what the objective as written gives."""
        self._prepared.check_target(self._place, better, value)
        self._found, self._value = better, value

    def _begin(self, root: Root) -> tuple[Root | Outcome, Search | None]:
        """Search briefly; a longer search restarts with the dual row, or continues without one.

        Returns what is left, and the search that continues there if it has begun.
        """
        call = self.call
        most = _brief(root)
        brief = DepthFirstRun(call.task(self._prepared, root, self._goal), most_nodes=most)
        resumed: Search | None = None
        try:
            outcome = self._improve(brief, brief).outcome
            if outcome is not Outcome.GAVE_UP:
                return root if outcome is Outcome.UNBOUNDED else outcome, None
            from constrint.relaxation.dual import with_dual_row

            longer = with_dual_row(root, *self._goal) if is_linear(root, self._goal[0]) else root
            if longer is root and call.options.sharing is None:
                resumed = start_search(call, self._prepared, root, self._goal, begun=brief)
                return root, resumed
            left = self._left(root)
            return left if isinstance(left, Outcome) else replace(left, propagators=longer.propagators), None
        finally:
            if resumed is None:
                self._count(brief)

    def _go_on(self, root: Root, run: Search) -> Root | Outcome:
        """Run a search; returns the remaining root with narrower bounds."""
        if self._found is not None and self.call.options.is_solution:
            run.demand_better(self._value)  # marks that there is a solution
        try:
            step = self._improve(run)
            if step.outcome is Outcome.GAVE_UP:
                self.call = self.call.without_learning()
                return self._left(root)
            if step.outcome is Outcome.UNBOUNDED:
                return self._from_nearby(root, step, run)
            return step.outcome
        finally:
            self._count(run)

    def _from_nearby(self, root: Root, step: SearchStep, run: Search) -> Root | Outcome:
        """The remaining root after a solution near 0, which bounds the objective and more."""
        self._restarts += 1
        try:
            near, value = nearby(self.call, self._prepared, root, self._goal)
        except Infeasible:
            return Outcome.EXHAUSTED  # the equations have no better solution
        if near.outcome is Outcome.STOPPED:
            return near.outcome
        if near.found is None or self._restarts > root.settings.search.most_restarts:
            raise UnboundedError(step.unbounded)
        self._note_found(near.found, value)
        return self._left(root) if self.call.report(near.found, run.statistics()) else Outcome.STOPPED

    def _improve(self, run: Search, brief: DepthFirstRun | None = None) -> SearchStep:
        """Record better solutions until there is none; returns why.

        Args:
            run: The search.
            brief: The same if it is brief: of a large model, it ends soon after some solutions.
        """
        self._run = run
        before = self._solutions
        while (step := run.next(checked=False)).found is not None:
            self._solutions += 1
            if not self._note(step.found, run.value(self._goal[0]), run):
                return SearchStep(Outcome.STOPPED)
            if brief is not None:
                self._shorten(brief, self._solutions - before)
        return step

    def _shorten(self, brief: DepthFirstRun, solutions: int) -> None:
        """Let a brief search of a large model end the sooner, the more solutions it has found."""
        root = self._prepared.root
        if root is not None and len(root.box.lo) > root.settings.search.variables_before_dual:
            rules = root.settings.search
            brief.limit_nodes(max(1, rules.nodes_before_dual - rules.nodes_of_solution * solutions))

    def _bound(self) -> int | None:
        """The bound of the goal that the current search has proven; None before a search."""
        if self._run is None:
            return None
        low, high = self._run.goal_bounds()  # of what is better than the best so far
        bound, nearest = (low, min) if self._goal[1] == "min" else (high, max)
        root = self._prepared.root
        if root is None or abs(bound) >= root.huge >> 1:
            return None  # it stands for all integers
        return bound if self._found is None else nearest(bound, self._value)

    def _left(self, root: Root) -> Root | Outcome:
        """The root restricted to better objectives than the best so far; `EXHAUSTED` if it is empty."""
        left = root if self._found is None else better_than(root, *self._goal, self._value)
        return Outcome.EXHAUSTED if left is None else left

    def _count(self, run: Search) -> None:
        """Add the work of a finished search to that of the call."""
        self.call.work.add(run, self._solutions - self._counted)
        self._counted = self._solutions


def _brief(root: Root) -> int:
    """The nodes of a brief search: at least so many that it reaches some leaves."""
    rules = root.settings.search
    return rules.nodes_before_dual * -(-len(root.box.lo) // rules.variables_before_dual)
