"""Branch and bound for one objective, strengthened by a dual row of its linear program."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from constrint.errors import UnboundedError
from constrint.lowering.problem import Infeasible
from constrint.preparing.checks import Assignment, check
from constrint.preparing.search_protocol import GaveUp, Interrupted
from constrint.presolve import better_than, is_linear
from constrint.search.depth_first import DepthFirstRun
from constrint.search.polling import at_point, polled
from constrint.search.probes import Probes
from constrint.support.deadline import Stopped

if TYPE_CHECKING:
    from constrint.preparing.prepared import Prepared
    from constrint.preparing.search_protocol import Search
    from constrint.presolve import Root
    from constrint.search.solver import Solver
    from constrint.search.warm_start import WarmStart


class BranchAndBound:
    """A running optimisation: the objective, and the best solution so far."""

    def __init__(self, solver: Solver, prepared: Prepared, place: int) -> None:
        """Make one for the target at a place among the prepared model's goals and preferences."""
        self._found: Assignment | None = None
        self._value = 0
        self._solver = solver
        self._prepared = prepared
        self._place = place
        self._goal = [*prepared.goals, *prepared.preferences][place]
        self._restarts = 0
        self._solutions = 0
        self._run: Search | None = None  # the one under way
        self._counted = 0  # solutions that the solver's statistics have

    def optimum(
        self, root: Root, best: Assignment | None, start: WarmStart | None = None
    ) -> tuple[Assignment, int] | None:
        """The best solution and the value of its objective; raises `Interrupted` with the best so far.

        Args:
            root: The root of the search.
            best: The solution to return if search is stopped before it finds one.
            start: A solution that further ones must improve on, or None.
        """
        left: Root | None = root
        if start is not None:
            self._note_found(start.solution, start.value)
            left = self._left(root)
        try:
            if left is not None:
                self._search(left)
        except (Stopped, KeyboardInterrupt) as stop:
            if isinstance(stop, KeyboardInterrupt) and (self._found or best) is None:
                raise
            if self._found is not None:
                check(self._prepared, self._found)
            raise Interrupted(self._found or best, self._bound()) from stop
        if self._found is None:
            return None
        check(self._prepared, self._found)
        return self._found, self._value

    def _search(self, root: Root) -> None:
        """Improve the best solution until there is no better one."""
        known = self._polled(root)
        if known is None:
            return
        left, run = self._begin(known) if self._is_plain(known) else (known, None)
        if left is not None and self._solver.options.proof is None:
            left = self._probed(left, run)
        while left is not None:
            left, run = self._go_on(left, run or self._solver.run(self._prepared, left, self._goal)), None

    def _polled(self, root: Root) -> Root | None:
        """The root after a search for a good solution around some points; None if it became infeasible."""
        solver, prepared = self._solver, self._prepared
        options = solver.options
        if len(solver.goals) != 1 or prepared.preferences or options.proof or options.brancher.decide:
            return root
        near = polled(prepared, root, solver.goals[0])
        box = None if near is None else at_point(prepared, root, near)
        if box is None:
            return root
        most = root.settings.search.nodes_before_dual
        run = DepthFirstRun(
            prepared, replace(root, box=box), solver.options, solver.started, self._goal, most_nodes=most
        )
        try:
            self._improve(run)
        except (GaveUp, UnboundedError):
            pass  # what the point leaves open is hard to find
        finally:
            self._run = None
            self._count(run)
        return self._left(root)

    def _is_plain(self, root: Root) -> bool:
        """Whether the search starts as a plain tree search and may change its method after a short while."""
        options = self._solver.options
        is_plain = not self._solver.learns and options.restarts is None and not options.lns
        return is_plain and (not self._solver.has_workers or is_linear(root, self._goal[0]))

    def _probed(self, root: Root, run: Search | None) -> Root | None:
        """The root after some probes for good values of the objective; None if nothing is left."""
        if self._solver.options.brancher.decide is not None:
            return root
        probes = Probes(self._solver, self._prepared, root, self._goal, self._note)
        if self._found is not None:
            probes.value = self._value
        probes.run()
        if probes.is_over:
            if run is not None:
                self._count(run)
            return None
        if run is not None:  # the search continues where it is
            if probes.value is not None:
                run.demand_better(probes.value)
            return root
        return self._left(probes.root)

    def _note(self, better: Assignment, value: int, run: Search) -> None:
        """Record a better solution and report it to the caller."""
        self._note_found(better, value)
        if self._solver.options.on_solution is not None:
            check(self._prepared, better)
            self._solver.report(better, run.statistics())

    def _note_found(self, better: Assignment, value: int) -> None:
        """Record a better solution, whose objective must be what the objective as written gives."""
        self._prepared.check_target(self._place, better, value)
        self._found, self._value = better, value

    def _begin(self, root: Root) -> tuple[Root | None, Search | None]:
        """Search briefly; a longer search restarts with the dual row, or continues without one.

        Returns:
            The remaining root, and the search that continues there if it has begun.
        """
        solver = self._solver
        most = root.settings.search.nodes_before_dual
        brief = DepthFirstRun(
            self._prepared, root, solver.options, solver.started, self._goal, most_nodes=most
        )
        resumed: Search | None = None
        try:
            self._improve(brief)
            return None, None
        except UnboundedError:
            return root, None
        except GaveUp:
            from constrint.relaxation.dual import with_dual_row

            longer = with_dual_row(root, *self._goal) if is_linear(root, self._goal[0]) else root
            if longer is root and not solver.has_workers:
                resumed = solver.run(self._prepared, root, self._goal, begun=brief)
                return root, resumed
            left = self._left(root)
            return (None if left is None else replace(left, propagators=longer.propagators)), None
        finally:
            if resumed is None:
                self._count(brief)

    def _go_on(self, root: Root, run: Search) -> Root | None:
        """Run a search; returns the remaining root with narrower bounds."""
        solver = self._solver
        if self._found is not None and solver.options.is_solution:
            run.demand_better(self._value)  # marks that there is a solution
        try:
            self._improve(run)
            return None
        except GaveUp:
            solver.give_up_learning()
            return self._left(root)
        except UnboundedError:
            # A solution bounds the objective, and that may bound what search needs to continue.
            self._restarts += 1
            try:
                near = solver.nearby(self._prepared, root, self._goal)
            except Infeasible:
                return None  # the equations have no better solution
            if near is None or self._restarts > root.settings.search.most_restarts:
                raise
            self._note_found(*near)
            solver.report(near[0], run.statistics())
            return self._left(root)
        finally:
            self._count(run)

    def _improve(self, run: Search) -> None:
        """Record better solutions until there is none."""
        self._run = run
        while (better := run.next(checked=False)) is not None:
            self._solutions += 1
            self._note(better, run.value(self._goal[0]), run)

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

    def _left(self, root: Root) -> Root | None:
        """The root restricted to better objectives than the best so far; None if it is empty."""
        return root if self._found is None else better_than(root, *self._goal, self._value)

    def _count(self, run: Search) -> None:
        """Add the work of a finished search to the solver's statistics."""
        self._solver.add(run, self._solutions - self._counted)
        self._counted = self._solutions
