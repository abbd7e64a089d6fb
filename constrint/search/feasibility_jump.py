"""Feasibility jumps as a member of a portfolio: a local search proposes, a tree search completes.

The local search moves on rows that some constraints may lack. So a point without violated rows is only a
guide: a search that follows it finds the solution next to it, or fails, and the local search goes on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from constrint.local_search.jump_arrays import build, values
from constrint.local_search.layout import PART, STEPS, WORK, Jumps
from constrint.local_search.moves import jump, scatter
from constrint.local_search.separable_rows import SeparableRows
from constrint.modelling.result import Statistics
from constrint.preparing.branching import Brancher
from constrint.preparing.search_protocol import Outcome, SearchStep, SearchTask, Stoppable
from constrint.search.depth_first import DepthFirstRun
from constrint.search.moves_in_slices import Moves, MovesInSlices

if TYPE_CHECKING:
    from constrint.engine.array_search import ArraySearch

VARIABLES_OF_CHECK = 1_000  # that are given random values between two deadline checks
GUIDED = Brancher("dom_w_deg", "best_so_far")


def _load() -> None:
    from constrint.local_search.compiled_jumps import load

    load()


def _compiled(state: Jumps) -> ArraySearch[Jumps]:
    from constrint.local_search.compiled_jumps import CompiledJumps

    return CompiledJumps(state)


JUMPS = Moves(PART, jump, lambda state: int(state.scalar[WORK]), _load, _compiled)


class FeasibilityJumpRun(Stoppable):
    """A local search for a first solution, resumable; it follows the protocol of members.

    It gives one solution, and gives up thereafter, or once too many points without violated rows are none.

    Attributes:
        allowed: Units of work after which `next` pauses, or None; a little more may be spent.
    """

    def __init__(self, task: SearchTask, rows: SeparableRows) -> None:
        options = replace(task.options, brancher=GUIDED, restarts=None, lns=False)
        self.allowed: int | None = None
        self.prepared, self._task = task.prepared, task._replace(options=options)
        self._rules = task.root.settings.local_search
        self._deadline = task.deadline
        self._rows = rows
        state = build(rows, options.seed, task.prepared.hinted(task.options))
        rows.rows.clear()  # they are in the state now
        self._moves = MovesInSlices(JUMPS, state, self._task, self._rules.slice)
        self._dive: DepthFirstRun | None = None
        self._dives = 0
        self._ended: Statistics | None = None  # the work of a local search that is over

    @property
    def engine(self) -> str:
        """The present engine: "interpreted" or "compiled"."""
        return self.statistics().engine

    def _next(self, checked: bool) -> SearchStep:
        while self._ended is None:
            self._deadline.check()
            if self.allowed is not None and self.allowed <= 0:
                return SearchStep(Outcome.PAUSED)
            if self._task.options.watch is not None:
                self._task.options.watch(self)
            if self._slice() > 0:
                self._moves.hand_over_if_long()
                continue
            step = self._follow_point(checked)
            if step.outcome is not Outcome.GAVE_UP:
                self._end()
                return step
            self._leave_point()
        return SearchStep(Outcome.GAVE_UP)

    def _slice(self) -> int:
        """Run one slice; returns the number of violated rows."""
        violated, units = self._moves.run(self.allowed)
        if self.allowed is not None:
            self.allowed -= units
        return violated

    def _follow_point(self, checked: bool) -> SearchStep:
        """The solution next to the present point, or proof that there is none; it may give up."""
        rules = self._rules
        dive = self._dive = DepthFirstRun(
            self._task,
            most_nodes=rules.nodes_of_dive * (len(self._task.root.box.lo) + rules.failures_of_dive),
            most_failures=rules.failures_of_dive,
        )
        point = values(self._rows, self._moves.state)
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
        state = self._moves.state
        count = len(state.value)
        for begin in range(0, count, VARIABLES_OF_CHECK):
            self._deadline.check()
            scatter(state, begin, min(count, begin + VARIABLES_OF_CHECK))

    def _end(self) -> None:
        """End, and free the memory: the others may go on for long."""
        if self._ended is None:
            self._ended = self.statistics()
            del self._moves, self._rows

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
        if self._ended is not None:
            return self._ended
        steps = int(self._moves.state.scalar[STEPS])
        return Statistics(nodes=steps, engine=self._moves.engine, method="jumps", finder="local search")


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
