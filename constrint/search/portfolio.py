"""`learn="auto"`: branching first; if that proves long, it alternates with the learning search.

Both are complete, and either may end the search. Solutions of one bound the other. Turns are counted in nodes
and propagations, never in seconds, so equal seeds give equal answers at any speed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from constrint.engine.background_compile import LOADING
from constrint.learning.size import parts
from constrint.modelling.result import Statistics
from constrint.preparing.checks import Assignment, check
from constrint.preparing.search import GaveUp
from constrint.propagators import (
    Cumulative,
    DivMod,
    LinearLeIf,
    Node,
    NoOverlap,
    Power,
    Product,
    Rectangles,
)
from constrint.search.depth_first import Run
from constrint.support.deadline import Deadline, Paused

if TYPE_CHECKING:
    from constrint.learning.session import LearningRun
    from constrint.preparing.options import Options
    from constrint.preparing.prepared import Plan
    from constrint.presolve import Root

TURN = 100  # nodes of a turn of branching
LEAST_TURN = 20_000  # least units of work of a turn of learning
# Propagations of branching before the learning search starts; most models need no more.
ALONE = 100_000
ALONE_FOR_EACH_PART = 100  # for each part into which the learning search decomposes the constraints
ALONE_FOR_EACH_PART_OF_SCHEDULES = 8
# Units of learning work for each eight propagations of branching, which cost about the same.
ON_SCHEDULES, ON_OTHERS = 128, 1


def learning_share(nodes: list[Node]) -> int:
    """Units of learning work for each eight propagations of branching.

    Learning suits orders of tasks and positions of boxes (conditional sums over two or more variables). It
    does not suit constraints that it explains by all bounds, such as products.
    """
    orders = others = 0
    for node in nodes:
        if isinstance(node, LinearLeIf):
            orders += len(node.terms) > 1
        elif isinstance(node, NoOverlap | Cumulative):
            orders += len(node.starts)
        elif isinstance(node, Rectangles):
            orders += len(node.xs)
        elif isinstance(node, Product | DivMod | Power):
            others += 1
    return ON_SCHEDULES if 3 * orders >= len(nodes) and orders > 2 * others else ON_OTHERS


def alone(root: Root, share: int) -> int:
    """Propagations of branching that come first: about the cost of building the learning search."""
    size = sum(parts(node, root.box) for node in root.nodes)
    if share == ON_SCHEDULES:
        return ALONE_FOR_EACH_PART_OF_SCHEDULES * size
    return max(ALONE, ALONE_FOR_EACH_PART * size)


class AlternatingRun:
    """A search that alternates between branching and learning; it follows the protocol `Search`."""

    def __init__(
        self,
        plan: Plan,
        root: Root,
        options: Options,
        started: float,
        goal: tuple[int, str] | None = None,
        begun: Run | None = None,
    ) -> None:
        watch = options.watch
        if watch is not None:
            options = replace(options, watch=lambda _: watch(self))
        self.plan = plan
        self._root = root
        self._options = options
        self._started = started
        self._deadline = Deadline(options.time_limit, started)
        self._goal = goal
        # These two are computed at the end of the first turn, which most searches do not reach.
        self._share = 0
        self._alone = 0
        self._best: int | None = None
        if begun is None:
            self._branching = Run(plan, root, options, started, goal)
        else:  # a search that ended early: its nodes count as part of the first turns
            self._branching = begun
            self._branching.go_on(options)
            self._best = begun.best
        self._branching.turn_ends = TURN
        self._learning: LearningRun | None = None
        self._gave_up = False
        self._current: Run | LearningRun = self._branching
        self._counted = 0  # propagations of branching for which the learning search was given work
        self._owed = 0  # units of work that the learning search may still do

    def value(self, v: int) -> int:
        """Value of a variable in the last solution."""
        return self._current.value(v)

    def goal_bounds(self) -> tuple[int, int]:
        """Bounds of the objective's variable before search; (0, 0) without an objective."""
        return self._branching.goal_bounds()

    def demand_better(self, value: int) -> None:
        """Require solutions with a better objective than a value from now on."""
        self._best = value
        for run in (self._branching, self._learning):
            if run is not None:
                run.demand_better(value)

    def next(self, checked: bool = True) -> Assignment | None:
        """The next solution, better than the last if there is an objective; None if there is no other.

        Without an objective, only the first solution may be requested. Raises `Stopped` at the time limit.

        Args:
            checked: Whether to check the solution now; otherwise the caller must `check` it before use.
        """
        while True:
            try:
                found = self._current.next(checked=False)
            except Paused:
                self._take_turns()
                continue
            except GaveUp:
                self._gave_up = True
                self._current = self._branching
                continue
            if found is None or self._is_better():
                if found is not None and checked:
                    check(self.plan, found)
                return found

    def _is_better(self) -> bool:
        """Whether the solution improves the last one; if so, both searches must improve on it."""
        if self._goal is None:
            return True
        v, direction = self._goal
        value = self.value(v)
        # Branching applies a new bound when it backtracks; until then it may find a solution that is no
        # better.
        if self._best is not None and (value - self._best) * (1 if direction == "min" else -1) >= 0:
            value = self._best
        is_new = value != self._best
        self.demand_better(value)
        return is_new

    def _take_turns(self) -> None:
        """End the present turn: choose the next search, and its amount of work."""
        branching, learning = self._branching, self._learning
        if self._share == 0:
            self._share = learning_share(self._root.nodes)
            self._alone = alone(self._root, self._share)
        if self._current is learning and learning is not None:
            self._owed = learning.allowed or 0
        elif branching.propagations >= self._alone and self._may_learn():
            self._owed += self._share * (branching.propagations - self._counted) // 8
            self._counted = branching.propagations
            if self._owed >= LEAST_TURN:
                self._current = self._learner()
                self._current.allowed = self._owed
                return
        self._current = branching
        branching.turn_ends = (branching.turn_ends or 0) + TURN

    def _may_learn(self) -> bool:
        """Whether the learning search can continue, or there is time to build it."""
        if self._learning is None:
            return self._deadline.left > 2 * LOADING
        return not self._gave_up

    def _learner(self) -> LearningRun:
        """The learning search, built on first use."""
        if self._learning is None:
            from constrint.learning.session import LearningRun

            self._learning = LearningRun(self.plan, self._root, self._options, self._started, self._goal)
            if self._best is not None:
                self._learning.demand_better(self._best)
        return self._learning

    def statistics(self) -> Statistics:
        """The work of both searches so far; the caller adds seconds and solutions."""
        branched = self._branching.statistics()
        if self._learning is None:
            return branched
        learned = self._learning.statistics()
        return replace(
            branched,
            nodes=branched.nodes + learned.nodes,
            failures=branched.failures + learned.failures,
            propagations=branched.propagations + learned.propagations,
            learned=learned.learned,
            engine="compiled" if "compiled" in (branched.engine, learned.engine) else "interpreted",
            method="both",
        )
