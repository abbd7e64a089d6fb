"""One resumable search, which moves from the interpreted engine to the compiled one when it proves long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constrint import compiling
from constrint.asking import ask
from constrint.deadline import Deadline, Pace, Paused
from constrint.engine import cache, dfs
from constrint.engine.build import grow
from constrint.engine.state import (
    AS_BEST,
    AS_BEST_OR_GREATEST,
    ASK,
    ASKED_FROM,
    BOUND,
    CUT,
    EXHAUSTED,
    FAILURES,
    FULL,
    GOAL,
    GOAL_VARIABLE,
    GUIDED,
    HAS_BOUND,
    NEEDS_BOUND,
    NODES,
    PROPAGATIONS,
    SOLUTION,
    TRAIL,
    UNBOUNDED,
    WIDER,
    State,
)
from constrint.errors import InternalError, UnboundedError, Undefined
from constrint.expr import BoolVar, IntExpr
from constrint.ir import NeedsWiderBounds
from constrint.prepare import Options, Plan
from constrint.presolve import LARGE, Root
from constrint.result import Statistics

if TYPE_CHECKING:
    from constrint.engine.compiled import Session
    from constrint.model import Model

Assignment = dict[IntExpr, int]

SLICE = (100, 20_000)  # nodes, propagations
FIRST_SLICE = (2, 60)  # where the compiled engine is loaded: what costs no more than handing over
COMPILED_NODES = 5_000
COMPILED_PROPAGATIONS = 1_000_000
HAND_OVER = 1.0  # seconds of interpreted search after which loading the compiled engine pays
PROPAGATIONS_OF_NODE = 50  # a search of few nodes may not spend more on each


class GaveUp(Exception):  # noqa: N818 - a limit, not a fault
    """The nodes that the search was worth are spent."""


class Run:
    """One search, resumable after each solution.

    Attributes:
        engine: Where it runs at present: "interpreted" or "compiled".
        turn_ends: The number of nodes at which `next` raises `Paused`, or None.
    """

    def __init__(
        self,
        plan: Plan,
        root: Root,
        options: Options,
        started: float,
        goal: tuple[int, str] | None = None,
        most_nodes: int | None = None,
    ) -> None:
        self.plan = plan
        self.exact = root.exact
        self.engine = "interpreted"
        self._options = options
        self._most_nodes = most_nodes
        self._deadline = Deadline(options.time_limit, started)
        self._pace = Pace(SLICE[1])
        self.turn_ends: int | None = None
        self._session: Session | None
        branch = plan.branch(root, options, goal)
        self._state: State
        self._state, self._session = root.begin(branch, not root.exact and options.engine != "interpreted")
        if goal is not None:
            # Each further solution must be better than the last.
            self._state.scalar[GOAL_VARIABLE] = goal[0]
            self._state.scalar[GOAL] = 1 if goal[1] == "min" else 2
        if {AS_BEST, AS_BEST_OR_GREATEST} & set(branch.values):
            self._state.scalar[GUIDED] = 1
        if options.brancher.decide is not None:
            self._state.scalar[ASKED_FROM] = len(plan.preferences)
        self._steering = plan.steering(root, options, goal, branch.variables)
        if self._steering is not None:
            begun = self._steering.begin(self._state)
            if begun is not self._state:
                self._state, self._session = begun, None
        if self._session is not None:
            self._pace = Pace(COMPILED_PROPAGATIONS)
            self.engine = "compiled"
        elif not self.exact and (options.engine == "compiled" or self._is_large()):
            self._hand_over()

    def _adopt(self, state: State) -> None:
        """Go on with a state that may have other arrays."""
        if state is not self._state:
            self._state = state
            if self._session is not None:
                self._hand_over()

    def _hand_over(self) -> None:
        compiling.wait("engine", self._deadline)
        from constrint.engine.compiled import Session

        self._pace = Pace(COMPILED_PROPAGATIONS)
        self._session = Session(self._state)
        self._state = self._session.state
        self.engine = "compiled"

    def _is_large(self) -> bool:
        """Whether handing over at once pays, as this process has the compiled engine."""
        large = len(self._state.watch_constraint) >= LARGE
        return large and self._options.engine == "auto" and cache.is_loaded()

    def _is_long(self) -> bool:
        if self.engine == "compiled" or self.exact or self._options.engine != "auto":
            return False
        if cache.is_loaded():
            return True
        spent = self._pace.spent
        return spent >= HAND_OVER and compiling.is_ready("engine", spent, self._deadline)

    def value(self, v: int) -> int:
        """Value of a fixed variable."""
        return int(self._state.lo[v])

    def next(self, checked: bool = True) -> Assignment | None:
        """The next solution; None when there is no other. Raises `Stopped` at the time limit, and `Paused`.

        Args:
            checked: Whether to evaluate the model on it now; whoever defers that must `check` before use.
        """
        while True:
            self._deadline.check()
            if self.turn_ends is not None and self._state.scalar[NODES] >= self.turn_ends:
                raise Paused
            if self._most_nodes is not None and self._is_spent(self._most_nodes):
                raise GaveUp
            if self._options.watch is not None:
                self._options.watch(self)
            outcome = self._slice()
            if outcome == SOLUTION:
                self._tighten()
                if self._steering is not None:
                    self._steering.solved()
                assignment = read(self.plan, self._state)
                if checked:
                    check(self.plan, assignment)
                return assignment
            if outcome == EXHAUSTED:
                if self._state.scalar[WIDER]:
                    raise NeedsWiderBounds
                if self._steering is None or self._steering.exhausted(self._state):
                    return None
            elif outcome == CUT and self._steering is not None:
                self._adopt(self._steering.cut(self._state))
            elif outcome == ASK and self._options.brancher.decide is not None:
                ask(self._options.brancher.decide, self.plan.variables, self._state)
            elif outcome == FULL:
                self._grow()
            elif outcome == NEEDS_BOUND:
                raise UnboundedError(self.plan.name_of(int(self._state.scalar[UNBOUNDED])))
            elif self._is_long():
                self._hand_over()

    def _slice(self) -> int:
        """Search on for a moment."""
        self._pace.begin()
        nodes, propagations = SLICE[0], self._pace.work
        if self._session is not None:
            nodes = COMPILED_NODES
        elif self._options.engine == "auto" and not self.exact and cache.is_loaded():
            nodes, propagations = FIRST_SLICE
        if self.turn_ends is not None:
            nodes = min(nodes, self.turn_ends - int(self._state.scalar[NODES]))
        if self._session is not None:
            outcome = self._session.run(nodes, propagations)
        else:
            outcome = dfs.run(self._state, nodes, propagations)
        self._pace.end()
        return outcome

    def _is_spent(self, nodes: int) -> bool:
        scalar = self._state.scalar
        return scalar[NODES] >= nodes or scalar[PROPAGATIONS] >= nodes * PROPAGATIONS_OF_NODE

    @property
    def propagations(self) -> int:
        """Runs of propagators so far."""
        return int(self._state.scalar[PROPAGATIONS])

    def demand_better(self, value: int) -> None:
        """Look for solutions whose goal is better than a value from now on."""
        scalar = self._state.scalar
        scalar[HAS_BOUND] = 1
        scalar[BOUND] = value + (-1 if scalar[GOAL] == 1 else 1)

    def _tighten(self) -> None:
        if self._state.scalar[GOAL]:
            self.demand_better(self.value(self._state.scalar[GOAL_VARIABLE]))

    def _grow(self) -> None:
        self._state = grow(self._state) if self._session is None else self._session.grow()

    def goal_bounds(self) -> tuple[int, int]:
        """Between what the goal's variable is known to lie at the root; (0, 0) without a goal."""
        scalar = self._state.scalar
        if not scalar[GOAL]:
            return 0, 0
        v = scalar[GOAL_VARIABLE]
        for top in range(scalar[TRAIL]):
            if self._state.trail_variable[top] == v:
                return int(self._state.trail_lo[top]), int(self._state.trail_hi[top])
        return int(self._state.lo[v]), int(self._state.hi[v])

    def statistics(self) -> Statistics:
        """The work so far; seconds and solutions are the caller's to add."""
        scalar = self._state.scalar
        return Statistics(
            nodes=int(scalar[NODES]),
            failures=int(scalar[FAILURES]),
            propagations=int(scalar[PROPAGATIONS]),
            engine=self.engine,
            arithmetic="exact" if self.exact else "int64",
        )


def read(plan: Plan, state: State) -> Assignment:
    """The values of the variables that search has fixed."""
    return {variable: int(state.lo[v]) for variable, v in plan.variables.items()}


def check(plan: Plan, assignment: Assignment) -> None:
    """Evaluate the model's own expressions on a solution, exactly."""
    check_solution(plan.model, assignment)


def check_solution(model: Model, assignment: Assignment) -> None:
    """Evaluate a model's expressions on what is said to be a solution, exactly."""
    for variable, value in assignment.items():
        if not isinstance(variable, BoolVar) and value not in variable.domain:  # type: ignore[attr-defined] # keys are variables
            raise InternalError(f"{variable} has no value {value}")
    for constraint in model.constraints:
        try:
            holds = constraint.expr.evaluate(assignment)
        except Undefined as undefined:
            raise InternalError(f"a solution makes a constraint undefined ({undefined})") from undefined
        if not holds:
            where = constraint.position or constraint.name or "a constraint"
            raise InternalError(f"a solution violates {where}: please report this model")
