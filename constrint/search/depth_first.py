"""A resumable depth-first search over a prepared model; every solution is checked exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from constrint.engine.dfs import is_unbounded
from constrint.engine.select import AS_BEST, AS_BEST_OR_GREATEST, GREATEST
from constrint.preparing.callbacks import ask
from constrint.preparing.checks import Assignment, check
from constrint.preparing.options import Options
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import Outcome, SearchStep, SearchTask, Stoppable
from constrint.propagators.linear import is_long
from constrint.search.sliced import SearchLimits, Stepper
from constrint.search.steering import steering_of
from constrint.search.subtree import Subtree, left_of, to_root
from constrint.store.state import (
    ASK,
    ASKED_FROM,
    CUT,
    EXHAUSTED,
    FAILURE_LIMIT,
    GOAL,
    GOAL_VARIABLE,
    GUIDED,
    HAS_PHASE,
    NEEDS_BOUND,
    RECORDING,
    SOLUTION,
    TRAIL,
    UNBOUNDED,
    WIDER,
    State,
)

if TYPE_CHECKING:
    from constrint.relaxation.point import Point
    from constrint.search.lns import Neighbourhoods


class DepthFirstRun(Stoppable, Stepper):
    """A resumable depth-first search."""

    def __init__(
        self,
        task: SearchTask,
        *,
        most_nodes: int | None = None,
        most_work: int | None = None,
        most_failures: int | None = None,
    ) -> None:
        prepared, root, options, _, goal = task
        self.prepared = prepared
        self._options = options
        if options.lns or options.restarts is not None:
            self.finder = "neighbourhoods" if options.lns else "restarts"
        branch = prepared.branch(root, options, goal)
        # What is shared with other searches is told by states that have no variables of their own.
        is_alone = options.sharing is None and most_work is None
        longest = root.settings.search.longest_sum
        has_blocks = is_alone and any(is_long(node, longest) for node in root.propagators)
        state, session = root.begin(
            branch,
            not root.exact and options.engine != "interpreted",
            lambda root: prepared.structure.encoding(root, has_blocks),
            may_resume=not has_blocks,
        )
        if most_work is not None and any(is_unbounded(state, v) for v in state.branch):
            most_work = None  # interruptions are handled by the whole search, not a share of it
        limits = SearchLimits(task.deadline, most_nodes, most_work, most_failures, root.settings)
        super().__init__(state, options.engine, root.exact, limits, session)
        if most_work is not None:
            state.scalar[RECORDING] = 1  # the caller will ask for the remaining subtree
        if goal is not None:
            # Each further solution must be better than the last.
            self._state.scalar[GOAL_VARIABLE] = goal[0]
            self._state.scalar[GOAL] = 1 if goal[1] == "min" else 2
        if {AS_BEST, AS_BEST_OR_GREATEST} & set(branch.values):
            self._state.scalar[GUIDED] = 1
        if options.hint and (options.lns or not options.is_solution):
            self._follow_hint()
        if options.brancher.decide is not None:
            self._state.scalar[ASKED_FROM] = len(prepared.preferences)
        self._steering = steering_of(prepared, root, options, goal, branch.variables)
        if self._steering is not None:
            begun = self._steering.begin(self._state)
            if begun is not self._state:
                self._state, self._session = begun, None
        self._start()

    def _follow_hint(self) -> None:
        """Take the hinted values as those of the best solution, and ends of the domains for the others."""
        state, hinted = self._state, self.prepared.hinted(self._options)
        for i, v in enumerate(state.branch):
            rises = state.branch_value[i] in (GREATEST, AS_BEST_OR_GREATEST)
            low, high = int(state.lo[v]), int(state.hi[v])
            state.phase[i] = min(max(hinted.get(int(v), high if rises else low), low), high)
        if self._options.is_solution or not self._options.lns:
            state.scalar[HAS_PHASE] = 1  # neighbourhoods are those of solutions

    def _watch(self) -> None:
        if self._options.watch is not None:
            self._options.watch(self)

    def _next(self, checked: bool) -> SearchStep:
        while True:
            outcome = self._advance()
            if isinstance(outcome, Outcome):
                return SearchStep(outcome)
            if outcome == SOLUTION:
                self._tighten()
                if self._steering is not None:
                    self._steering.solved()
                assignment = read(self.prepared, self._state)
                if checked:
                    check(self.prepared, assignment)
                return SearchStep(Outcome.FOUND, assignment)
            if outcome == EXHAUSTED:
                if self._state.scalar[WIDER]:
                    return SearchStep(Outcome.NEEDS_WIDER)
                if self._steering is None or self._steering.exhausted(self._state):
                    return SearchStep(Outcome.EXHAUSTED)
            elif outcome == CUT and self._steering is not None:
                self._adopt(self._steering.cut(self._state))
            elif outcome == ASK:
                self._decide()
            elif outcome == NEEDS_BOUND:
                name = self.prepared.name_of(int(self._state.scalar[UNBOUNDED]))
                return SearchStep(Outcome.UNBOUNDED, unbounded=name)

    def _decide(self) -> None:
        """Take the decision that the engine asks for."""
        assert self._options.brancher.decide is not None
        ask(self._options.brancher.decide, self.prepared.variables, self._state)

    @property
    def decided(self) -> Sequence[int]:
        """The variables that it decides."""
        return [int(v) for v in self._state.branch]

    def follow(self, values: Mapping[int, int]) -> None:
        """Take the values of a solution, all that are decided, as those of the best one."""
        state = self._state
        for i, v in enumerate(state.branch):
            state.phase[i] = values[int(v)]
        state.scalar[HAS_PHASE] = 1
        if (neighbourhoods := self.neighbourhoods) is not None:
            neighbourhoods.followed()

    def lead(self, point: Point) -> None:
        """Choose neighbourhoods by an optimum of the relaxation, too; without a solution, around it."""
        if (neighbourhoods := self.neighbourhoods) is not None:
            neighbourhoods.lead(point)

    @property
    def neighbourhoods(self) -> Neighbourhoods | None:
        """The neighbourhoods of a large-neighbourhood search; None for other searches."""
        if self._options.lns and self._state.scalar[GOAL]:
            return cast("Neighbourhoods", self._steering)
        return None

    def go_on(self, options: Options) -> None:
        """Remove the limits of nodes, work and failures.

        Args:
            options: The options from now on; only what is watched may differ.
        """
        self._options = options
        self._limits = replace(self._limits, nodes=None, work=None, failures=None)
        self._next_node_check = None

    def leave(self) -> tuple[Subtree | None, State, bool]:
        """End a search that gave up.

        Returns the remaining subtree, the root, and whether that is at its fixpoint.
        """
        state = self._state
        if state.scalar[FAILURE_LIMIT] > 0 and self._steering is not None:
            state = self._steering.cut(state)  # a search that is shared is long, so it counts failures
        left = left_of(state, [])
        return left, state, to_root(state)

    def goal_bounds(self) -> tuple[int, int]:
        """Bounds of the objective's variable at the root; (0, 0) without an objective."""
        scalar = self._state.scalar
        if not scalar[GOAL]:
            return 0, 0
        v = scalar[GOAL_VARIABLE]
        for top in range(scalar[TRAIL]):
            if self._state.trail_variable[top] == v:
                return int(self._state.trail_lo[top]), int(self._state.trail_hi[top])
        return int(self._state.lo[v]), int(self._state.hi[v])


def read(prepared: Prepared, state: State) -> Assignment:
    """The values of the fixed variables."""
    return {variable: int(state.lo[v]) for variable, v in prepared.variables.items()}
