"""A search driven in slices: interpreted at first, compiled if it proves long, within limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from operator import sub
from typing import TYPE_CHECKING

from constrint.engine import background_compile as compiling
from constrint.engine import cache, dfs
from constrint.engine.state_arrays import grow
from constrint.modelling.result import Statistics
from constrint.preparing.search_protocol import Outcome
from constrint.settings import DEFAULT, Settings
from constrint.store.state import (
    BOUND,
    FAILURES,
    FULL,
    GOAL,
    GOAL_VARIABLE,
    HAS_BOUND,
    NODES,
    PAUSED,
    PROPAGATIONS,
    State,
)
from constrint.support.deadline import NEVER, Deadline, Pace

if TYPE_CHECKING:
    from constrint.engine.compiled import CompiledSearch
    from constrint.preparing.options import Engine

WORK_OF_NODE = 20  # work of a node, in addition to its propagator runs
COST, COMPILED_COST = 2e-7, 5e-9  # seconds of a propagator's run for each word of its arguments


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """Limits of a search.

    Attributes:
        deadline: End of the call.
        nodes: Limit of nodes; checked at intervals.
        work: Limit of propagator runs and nodes. The search ends at the same node in either engine and for
            any slices.
        failures: Limit of failures; checked when the limit of nodes is.
        settings: The settings, of which some size the slices.
    """

    deadline: Deadline = NEVER
    nodes: int | None = None
    work: int | None = None
    failures: int | None = None
    settings: Settings = DEFAULT

    def first_check(self, propagators: int) -> int | None:
        """The number of nodes at which the limit of nodes is checked first; None without one."""
        if self.nodes is None:
            return None
        rules = self.settings.search
        is_late = self.failures is None and propagators <= rules.few_propagators
        return min(self.nodes, rules.first_check if is_late else 1)


class Stepper:
    """A search on the engine's state.

    Attributes:
        exact: Whether its numbers need Python's integers, so that it is never compiled.
        engine: The present engine: "interpreted" or "compiled".
        turn_ends: The number of nodes at which it pauses, or None.
        finder: Its name as the finder of solutions.
    """

    finder = "tree search"

    def __init__(
        self,
        state: State,
        engine: Engine,
        exact: bool,
        limits: SearchLimits,
        session: CompiledSearch | None = None,
    ) -> None:
        self.exact = exact
        self.engine = "interpreted"
        self._wanted = engine
        self._limits = limits
        self._rules = rules = limits.settings.search
        self.turn_ends: int | None = None
        self._pace = Pace(rules.slice[1], limits.deadline)
        self._node_pace = Pace(rules.slice[0], limits.deadline)
        self._next_node_check = limits.first_check(len(state.kind))
        self._next_work_check = 0  # number of the node before which the work is checked next
        self._session = session
        self._state = state
        self._longest: int | None = None  # words of the longest propagator, if that is known

    def _start(self) -> None:
        """Choose the engine that the caller wants; the state is complete."""
        if self._session is not None:
            self._set_pace()
            self.engine = "compiled"
        elif not self.exact and (self._wanted == "compiled" or self._is_large()):
            self._hand_over()

    def _set_pace(self) -> None:
        """Reset the size of slices: from now on the search runs compiled."""
        self._pace = Pace(self._rules.compiled_slice[1], self._limits.deadline)
        self._node_pace = Pace(self._rules.compiled_slice[0], self._limits.deadline)

    def _adopt(self, state: State) -> None:
        """Continue with a state that may have other arrays."""
        if state is not self._state:
            self._state = state
            if self._session is not None:
                self._hand_over()

    def _hand_over(self) -> None:
        compiling.obtain("engine", compiling.load_engine, self._limits.deadline)
        from constrint.engine.compiled import CompiledSearch

        self._session = CompiledSearch(self._state)
        self._set_pace()
        self._state = self._session.state
        self.engine = "compiled"

    def _is_large(self) -> bool:
        """Whether handing over at once pays, because this process has loaded the compiled engine."""
        large = len(self._state.watch_constraint) >= self._limits.settings.presolve.large
        return large and self._wanted == "auto" and cache.is_loaded()

    def _is_long(self) -> bool:
        if self.engine == "compiled" or self.exact or self._wanted != "auto":
            return False
        return compiling.is_due("engine", self._pace.spent, self._limits.deadline, self._rules)

    def value(self, v: int) -> int:
        """Value of a fixed variable."""
        return int(self._state.lo[v])

    def _advance(self) -> int | Outcome:
        """Search until the caller must act; raises `Stopped` at the time limit.

        Returns what `dfs.run` does, other than PAUSED and FULL, or the outcome of a limit.
        """
        while True:
            if (limit := self._limit()) is not None:
                return limit
            self._watch()
            outcome = self._slice()
            if outcome == FULL:
                self._grow()
            elif outcome != PAUSED:
                return outcome
            elif self._is_long():
                self._hand_over()

    def _watch(self) -> None:
        """Hook for subclasses: called between slices."""

    def limit_nodes(self, more: int) -> None:
        """Give up after some more nodes, if the limit of nodes does not come before."""
        limits = self._limits
        at = int(self._state.scalar[NODES]) + more
        if limits.nodes is not None and at < limits.nodes:
            self._limits = replace(limits, nodes=at)
            self._next_node_check = at if self._next_node_check is None else min(at, self._next_node_check)

    def _limit(self) -> Outcome | None:
        """`PAUSED` at the end of a turn, `GAVE_UP` at the limit of nodes, work or failures, or else None."""
        limits, scalar = self._limits, self._state.scalar
        limits.deadline.check()
        nodes, propagations = int(scalar[NODES]), int(scalar[PROPAGATIONS])
        if self.turn_ends is not None and nodes >= self.turn_ends:
            return Outcome.PAUSED
        # Check only at certain nodes, because a slice may end anywhere.
        if limits.nodes is not None and self._next_node_check is not None and nodes >= self._next_node_check:
            rules = self._rules
            if nodes >= limits.nodes or propagations >= limits.nodes * rules.propagations_of_node:
                return Outcome.GAVE_UP
            if limits.failures is not None and scalar[FAILURES] > limits.failures:
                return Outcome.GAVE_UP
            self._next_node_check = min(limits.nodes, nodes + max(1, limits.nodes // rules.checks_of_nodes))
        if limits.work is not None and nodes >= self._next_work_check:
            if propagations + WORK_OF_NODE * nodes >= limits.work:
                return Outcome.GAVE_UP
            self._next_work_check = nodes + max(1, limits.work // WORK_OF_NODE // self._rules.checks_of_work)
        return None

    def _slice(self) -> int:
        """Run one slice."""
        rules = self._rules
        nodes, propagations = self._node_pace.work, self._pace.work
        if self._session is None and self._wanted == "auto" and not self.exact and cache.is_loaded():
            nodes, propagations = min(nodes, rules.first_slice[0]), rules.first_slice[1]
        propagations = min(propagations, self._in_time())
        nodes = min(nodes, max(1, propagations // rules.least_of_node))
        check = None if self._limits.work is None else self._next_work_check
        for end in (self.turn_ends, self._next_node_check, check):
            if end is not None:
                nodes = min(nodes, end - int(self._state.scalar[NODES]))
        before = int(self._state.scalar[NODES]), int(self._state.scalar[PROPAGATIONS])
        self._pace.begin()
        if self._session is not None:
            outcome = self._session.run(nodes, propagations)
        else:
            outcome = dfs.run(self._state, nodes, propagations)
        scalar = self._state.scalar
        took = self._pace.end(int(scalar[PROPAGATIONS]) - before[1])
        if scalar[NODES] != before[0]:  # the root's cost says nothing about nodes
            self._node_pace.adapt(took, int(scalar[NODES]) - before[0])
        return outcome

    def _in_time(self) -> int:
        """How many runs of the longest propagator fit into the time that is left; at least one."""
        deadline = self._limits.deadline
        if not deadline.is_set:
            return self._rules.compiled_slice[1]
        if self._longest is None:
            start = self._state.start
            self._longest = int(max(map(sub, islice(start, 1, None), start), default=1))
        cost = self._longest * (COST if self._session is None else COMPILED_COST)
        return max(1, int(max(deadline.left, self._rules.missed) / max(cost, 1e-9)))

    @property
    def seconds(self) -> float:
        """Time spent searching."""
        return self._pace.spent

    @property
    def propagations(self) -> int:
        """Runs of propagators so far."""
        return int(self._state.scalar[PROPAGATIONS])

    @property
    def node_count(self) -> int:
        """Nodes so far."""
        return int(self._state.scalar[NODES])

    @property
    def best(self) -> int | None:
        """The objective value to improve on, or None."""
        scalar = self._state.scalar
        return int(scalar[BOUND]) + (1 if scalar[GOAL] == 1 else -1) if scalar[HAS_BOUND] else None

    def demand_better(self, value: int) -> None:
        """Require solutions with a better objective than a value from now on."""
        scalar = self._state.scalar
        scalar[HAS_BOUND] = 1
        scalar[BOUND] = value + (-1 if scalar[GOAL] == 1 else 1)

    def _tighten(self) -> None:
        """With an objective, require solutions that are better than the present one."""
        if self._state.scalar[GOAL]:
            self.demand_better(self.value(self._state.scalar[GOAL_VARIABLE]))

    def _grow(self, refutations: int = 0) -> None:
        """Make space for one more level, and for this many refuted decisions."""
        session = self._session
        self._state = grow(self._state, refutations) if session is None else session.grow(refutations)

    def statistics(self, solutions: int = 0) -> Statistics:
        """The work so far, with the caller's number of solutions; the caller adds seconds."""
        scalar = self._state.scalar
        return Statistics(
            nodes=int(scalar[NODES]),
            failures=int(scalar[FAILURES]),
            propagations=int(scalar[PROPAGATIONS]),
            solutions=solutions,
            engine=self.engine,
            finder=self.finder,
            arithmetic="exact" if self.exact else "int64",
        )
