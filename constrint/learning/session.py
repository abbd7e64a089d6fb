"""One resumable learning search, with the calls of `run.Run`; compiled when it proves long."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

from constrint.engine import background_compile as compiling
from constrint.engine.build import Branch
from constrint.engine.build import build as build_state
from constrint.errors import InternalError
from constrint.learning import decide, loop
from constrint.learning.build import Guide, build, grow, units
from constrint.learning.decompose import Decomposition
from constrint.learning.layout import (
    BROKEN,
    BUDGET,
    CONFLICTS,
    DECISION,
    DECISIONS,
    EXHAUSTED,
    FULL,
    IS_LOGGED,
    LEARNED,
    LOG,
    MUST,
    MUST_TO,
    PROPAGATIONS,
    SOLUTION,
    TRAIL,
)
from constrint.learning.loaded import is_loaded, part_of
from constrint.learning.normal import Contradiction, Normal, Translation, atom_of
from constrint.learning.trail import raise_bound
from constrint.modelling.result import Statistics
from constrint.preparing.branching import directions
from constrint.preparing.checks import Assignment, check
from constrint.preparing.options import Options
from constrint.preparing.prepared import Plan
from constrint.preparing.search import GaveUp
from constrint.presolve import Root
from constrint.store.state import GREATEST, State
from constrint.support.deadline import Deadline, Pace, Paused

if TYPE_CHECKING:
    from constrint.learning.compiled import Session
    from constrint.preparing.proof import Proof

HAND_OVER = 0.2  # seconds of interpreted search after which loading the compiled twin pays
SLICE = 20_000  # propagations between two looks at the clock, at most
COMPILED_SLICE = 300_000
# A longer trail is bounds that creep, and search without learning has no reasons to keep for them.
MOST_ENTRIES = 2_000_000
ENTRIES_OF_VARIABLE = 20  # … unless there are that many variables
# Tiers: 0/1 variables, others of the model, the goal, functions. Those follow from the model's variables:
# to decide them first would be to search their bounds, which may be far apart, value by value.
NARROW, WIDE, GOAL, LAST = 0, 1, 2, 3


class LearningRun:
    """One search that learns, resumable after each solution.

    Attributes:
        engine: Where it runs at present: "interpreted" or "compiled".
        allowed: Units of work after which `next` raises `Paused`, or None; a little more may be spent.
    """

    def __init__(
        self, plan: Plan, root: Root, options: Options, started: float, goal: tuple[int, str] | None = None
    ) -> None:
        self.plan = plan
        self.engine = "interpreted"
        self._deadline = Deadline(options.time_limit, started)
        self._pace = Pace(SLICE, self._deadline)
        parts = Decomposition(root, self._deadline)
        self._root = root = parts.root
        self._options = options
        self._goal = goal
        self.allowed: int | None = None
        self._session: Session | None = None
        self._is_over = False
        try:
            self._normal = Translation(
                root.nodes, root.box, [] if goal is None else [goal[0]], self._deadline
            ).normal
        except Contradiction:
            self._normal = Normal()
            self._is_over = True
        proof = options.proof
        if proof is not None:
            proof.begin(root.box, root.nodes, goal)
            for pair in self._normal.implied:
                proof.learned(atom_of(literal) for literal in pair)
        self._state: State = build_state(root.box, root.nodes, Branch(), root.huge)
        self._ls = build(self._normal, root.nodes, root.box, self._guide(root, parts.equalities))
        self._ls.scalar[IS_LOGGED] = int(proof is not None)
        for b, k in units(self._normal):
            self._is_over = self._is_over or not raise_bound(self._ls, self._state, b, k, DECISION)
        if proof is not None and self._is_over:
            proof.exhausted()
        if options.engine == "compiled" or (options.engine == "auto" and is_loaded(self._has_kernels())):
            self._hand_over()

    def _has_kernels(self) -> bool:
        return bool(self._normal.kernels)

    def _guide(self, root: Root, equalities: Sequence[int]) -> Guide:
        """Declared variables before functions of them, and wide ones towards a better goal."""
        lo, hi = root.box.lo, root.box.hi
        branch = self.plan.branch(root, self._options, self._goal)
        tier = [NARROW if hi[v] - lo[v] <= 1 else LAST for v in range(len(lo))]
        rule = [decide.AS_BEFORE] * len(lo)
        phase = list(lo)
        towards = directions(self._goal[0], self.plan.inputs) if self._goal else {}
        sign = -1 if self._goal and self._goal[1] == "max" else 1
        for v, value_rule in zip(branch.variables, branch.values, strict=True):
            if value_rule == GREATEST:
                phase[v] = hi[v]
            if tier[v] == LAST:
                tier[v] = WIDE
                if towards.get(v):
                    rule[v] = decide.LEAST if towards[v] == sign else decide.GREATEST
        for v in equalities:
            phase[v] = 1
        if self._goal:
            tier[self._goal[0]] = GOAL if self._goal[0] in branch.variables else LAST
        random = Random(self._options.seed)
        activity = [random.randrange(16) if self._options.seed else 0 for _ in lo]
        return Guide(tier, rule, phase, activity)

    def _hand_over(self) -> None:
        compiling.wait(part_of(self._has_kernels()), self._deadline)
        with compiling.loading(self._deadline):
            from constrint.learning.compiled import Session

            self._session = Session(self._ls, self._state, self._has_kernels())
        self._pace = Pace(COMPILED_SLICE, self._deadline)
        self._ls = self._session.ls
        self.engine = "compiled"

    def _is_long(self) -> bool:
        if self.engine == "compiled" or self._options.engine != "auto":
            return False
        spent = self._pace.spent
        return spent >= HAND_OVER and compiling.is_ready(part_of(self._has_kernels()), spent, self._deadline)

    def value(self, v: int) -> int:
        """Value of a fixed variable."""
        replaced = self._normal.replaced.get(v)
        if replaced is None:
            return int(self._ls.bound[2 * v])
        return int(self._ls.bound[replaced[0]] >= replaced[1])

    def goal_bounds(self) -> tuple[int, int]:
        """Between what the goal of a better solution is known to lie; (0, 0) without a goal."""
        if self._goal is None:
            return 0, 0
        v = self._goal[0]
        return int(self._ls.root[2 * v]), -int(self._ls.root[2 * v + 1])

    def next(self, checked: bool = True) -> Assignment | None:
        """The next solution, better than the last where there is a goal; None when there is no other.

        Without a goal only the first may be asked for. Raises `Stopped` at the time limit, `GaveUp` where
        bounds creep in so many steps that their reasons cannot be kept, `Paused` where its turn is over.

        Args:
            checked: Whether to evaluate the model on it now; whoever defers that must `check` before use.
        """
        while not self._is_over:
            self._deadline.check()
            if self.allowed is not None and self.allowed <= 0:
                raise Paused
            if self._options.watch is not None:
                self._options.watch(self)
            outcome = self._slice()
            if outcome != BROKEN and self._options.proof is not None:
                self._write_proof(self._options.proof, outcome == SOLUTION)
            if outcome == SOLUTION:
                self._tighten()
                assignment = {variable: self.value(v) for variable, v in self.plan.variables.items()}
                if checked:
                    check(self.plan, assignment)
                return assignment
            if outcome == EXHAUSTED:
                break
            if outcome == BROKEN:
                raise InternalError("a compiled search was given constraints that it was compiled without")
            if outcome == FULL:
                self._grow()
            elif self._is_long():
                self._hand_over()
        if self._options.proof is not None and not self._is_over:
            self._options.proof.exhausted()
        self._is_over = True
        return None

    def _write_proof(self, proof: Proof, is_solution: bool) -> None:
        """Pass on what was learned since the last call, and the solution at hand."""
        scalar = self._ls.scalar
        proof.clauses(self._ls.log[: scalar[LOG]])
        scalar[LOG] = 0
        if is_solution:
            proof.solution((v, self.value(v)) for v in range(len(self._root.box.lo)))

    def _slice(self) -> int:
        """Search on for a moment."""
        self._pace.begin()
        work = self._pace.work if self.allowed is None else min(self._pace.work, self.allowed)
        if self._session is not None:
            outcome = self._session.run(work)
        else:
            outcome = loop.run(self._ls, self._state, work)
        if self.allowed is not None:
            self.allowed -= work - int(self._ls.scalar[BUDGET])
        self._pace.end()
        return outcome

    def _tighten(self) -> None:
        """Ask for better solutions from now on."""
        if self._goal is None:
            self._is_over = True
        else:
            self.demand_better(self.value(self._goal[0]))

    def demand_better(self, value: int) -> None:
        """Look for solutions whose goal is better than a value from now on."""
        assert self._goal is not None
        v, direction = self._goal
        self._ls.scalar[MUST] = 2 * v + 1 if direction == "min" else 2 * v
        self._ls.scalar[MUST_TO] = 1 - value if direction == "min" else value + 1

    def _grow(self) -> None:
        if loop.has_room(self._ls):
            return  # it was the log that was full
        if self._ls.scalar[TRAIL] > max(MOST_ENTRIES, ENTRIES_OF_VARIABLE * len(self._ls.tier)):
            raise GaveUp
        if self._session is None:
            self._ls = grow(self._ls)
        else:
            self._ls = self._session.grow()

    def statistics(self) -> Statistics:
        """The work so far; seconds and solutions are the caller's to add."""
        scalar = self._ls.scalar
        return Statistics(
            nodes=int(scalar[DECISIONS]),
            failures=int(scalar[CONFLICTS]),
            propagations=int(scalar[PROPAGATIONS]),
            learned=int(scalar[LEARNED]),
            engine=self.engine,
            method="learning",
        )
