"""Feasibility jumps as a member of a portfolio: a local search proposes, a tree search completes.

The local search moves on rows that some constraints may lack. So a point without violated rows is only a
guide: a search that follows it finds the solution next to it, or fails, and the local search goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from constrint.engine import background_compile as compiling
from constrint.engine import cache
from constrint.local_search.jump_arrays import build, values
from constrint.local_search.layout import PART, STEPS, WORK
from constrint.local_search.moves import jump, scatter
from constrint.local_search.separable_rows import SeparableRows
from constrint.modelling.result import Statistics
from constrint.preparing.branching import Brancher
from constrint.preparing.search_protocol import Outcome, SearchStep, SearchTask, Stoppable
from constrint.search.depth_first import DepthFirstRun
from constrint.support.deadline import Pace

if TYPE_CHECKING:
    from constrint.local_search.compiled_jumps import CompiledJumps

WORK_OF_UNIT = 16  # of the local search's work
VARIABLES_OF_CHECK = 1_000  # that are given random values between two deadline checks
GUIDED = Brancher("dom_w_deg", "best_so_far")


class FeasibilityJumpRun(Stoppable):
    """A local search for a first solution, resumable; it follows the protocol of members.

    It gives one solution, and gives up thereafter, or once too many points without violated rows are none.

    Attributes:
        engine: The present engine: "interpreted" or "compiled".
        allowed: Units of work after which `next` pauses, or None; a little more may be spent.
    """

    def __init__(self, task: SearchTask, rows: SeparableRows) -> None:
        options = replace(task.options, brancher=GUIDED, restarts=None, lns=False)
        self.allowed: int | None = None
        self.engine = "interpreted"
        self.prepared, self._task = task.prepared, task._replace(options=options)
        self._rules = task.root.settings.local_search
        self._deadline = task.deadline
        self._pace = Pace(self._rules.slice, self._deadline)
        self._rows = rows
        self._state = build(rows, options.seed, task.prepared.hinted(task.options))
        rows.rows.clear()  # they are in the state now
        self._jump: Callable[[int], int] = partial(jump, self._state)
        self._session: CompiledJumps | None = None
        self._dive: DepthFirstRun | None = None
        self._dives = 0
        self._over = 0  # work that makes no unit yet
        self._steps = 0  # of a local search that is over
        self._is_over = False
        if options.engine == "compiled" or (options.engine == "auto" and cache.is_at_hand(PART)):
            self._hand_over()

    def _hand_over(self) -> None:
        from constrint.local_search.compiled_jumps import CompiledJumps, load

        compiling.obtain(PART, load, self._deadline)
        with compiling.loading(self._deadline):
            session = CompiledJumps(self._state)
        self._session = session  # it holds the memory that the machine code works on
        self._state, self._jump = session.state, session.run
        self._pace = Pace(self._rules.compiled_slice, self._deadline)
        self.engine = "compiled"

    def _is_long(self) -> bool:
        if self.engine == "compiled" or self._task.options.engine != "auto":
            return False
        return compiling.is_due(PART, self._pace.spent, self._deadline, self._task.root.settings.search)

    def _next(self, checked: bool) -> SearchStep:
        while not self._is_over:
            self._deadline.check()
            if self.allowed is not None and self.allowed <= 0:
                return SearchStep(Outcome.PAUSED)
            if self._task.options.watch is not None:
                self._task.options.watch(self)
            if self._slice() > 0:
                if self._is_long():
                    self._hand_over()
                continue
            step = self._follow_point(checked)
            if step.outcome is not Outcome.GAVE_UP:
                self._end()
                return step
            self._leave_point()
        return SearchStep(Outcome.GAVE_UP)

    def _slice(self) -> int:
        """Run one slice; returns the number of violated rows."""
        self._pace.begin()
        work = self._pace.work
        if self.allowed is not None:  # the turn ends at the same step however long slices are
            work = min(work, WORK_OF_UNIT * self.allowed - self._over)
        before = int(self._state.scalar[WORK])
        violated = self._jump(work)
        done = int(self._state.scalar[WORK]) - before
        if self.allowed is not None:
            units, self._over = divmod(done + self._over, WORK_OF_UNIT)
            self.allowed -= units
        self._pace.end(done)
        return violated

    def _follow_point(self, checked: bool) -> SearchStep:
        """The solution next to the present point, or proof that there is none; it may give up."""
        rules = self._rules
        dive = self._dive = DepthFirstRun(
            self._task,
            most_nodes=rules.nodes_of_dive * (len(self._task.root.box.lo) + rules.failures_of_dive),
            most_failures=rules.failures_of_dive,
        )
        point = values(self._rows, self._state)
        dive.follow({v: point[v] for v in dive.decided})
        try:
            return dive.next(checked)
        finally:
            if self.allowed is not None:
                self.allowed -= int(dive.propagations)

    def _leave_point(self) -> None:
        """Move away from a point that is no solution."""
        self._dives += 1
        if self._dives >= self._rules.most_dives:
            self._end()
            return
        count = len(self._state.value)
        for begin in range(0, count, VARIABLES_OF_CHECK):
            self._deadline.check()
            scatter(self._state, begin, min(count, begin + VARIABLES_OF_CHECK))

    def _end(self) -> None:
        """End, and free the memory: the others may go on for long."""
        if not self._is_over:
            self._is_over = True
            self._steps = int(self._state.scalar[STEPS])
            del self._state, self._rows, self._jump
            self._session = None

    def value(self, v: int) -> int:
        """Value of a variable in the solution."""
        assert self._dive is not None
        return self._dive.value(v)

    def goal_bounds(self) -> tuple[int, int]:
        """It proves none: (0, 0)."""
        return 0, 0

    def demand_better(self, value: int) -> None:
        """End: a solution is known."""
        self._end()

    def statistics(self) -> Statistics:
        """The work so far: steps as nodes."""
        steps = self._steps if self._is_over else int(self._state.scalar[STEPS])
        return Statistics(nodes=steps, engine=self.engine, method="jumps", finder="local search")


def feasibility_jump_run(task: SearchTask) -> FeasibilityJumpRun | str:
    """A local search; a text says why there is none: too many rows, or too few constraints that have them."""
    root = task.root
    if root.exact:
        return "numbers need more than int64"
    if task.options.proof is not None:
        return "a proof is written, to which it adds nothing"
    rows = SeparableRows(root, None if task.goal is None else task.goal[0])
    count, share = len(root.propagators), rows.rules.one_left_out
    if not rows.is_small:
        most = rows.rules.most_entries
        return f"rows of {count:,} constraints have more than {most:,} entries (local_search.most_entries)"
    if share * rows.left_out > count:
        return (
            f"{rows.left_out:,} of {count:,} constraints have no rows, more than one in {share} "
            "(local_search.one_left_out)"
        )
    if not rows.rows:
        return f"none of {count:,} constraints has a row"
    return FeasibilityJumpRun(task, rows)
