"""A resumable learning search that follows the protocol `Search`; compiled if it proves long."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

from constrint.engine import background_compile as compiling
from constrint.engine import cache
from constrint.engine.select import GREATEST
from constrint.engine.state_arrays import Branch
from constrint.engine.state_arrays import build as build_state
from constrint.errors import InternalError
from constrint.learning import decide, loop
from constrint.learning.clause_exchange import Clause, ClauseExchange
from constrint.learning.decompose import Decomposition
from constrint.learning.layout import (
    BROKEN,
    BUDGET,
    CONFLICTS,
    CONSULT,
    CONSULT_AT,
    DECISION,
    DECISIONS,
    EXHAUSTED,
    FULL,
    GOAL,
    IS_LOGGED,
    KEPT,
    LEARNED,
    LOG,
    MUST,
    MUST_TO,
    PART,
    PROPAGATIONS,
    RESTARTS,
    SOLUTION,
    TRAIL,
)
from constrint.learning.learner_arrays import NEVER_CONSULT, Guide, build, grow, units
from constrint.learning.normal import ContradictoryRoot, LearningNormalForm, NormalTranslation, atom_of
from constrint.learning.trail import raise_bound
from constrint.modelling.result import Statistics
from constrint.preparing.branching import directions
from constrint.preparing.checks import check
from constrint.preparing.search_protocol import Outcome, SearchStep, SearchTask, Stoppable
from constrint.presolve import Root
from constrint.relaxation.highs import has_highs
from constrint.relaxation.shared_sums import too_few_sums
from constrint.store.state import State
from constrint.support.deadline import Pace
from constrint.support.garbage import rarely_collected

if TYPE_CHECKING:
    from constrint.learning.compiled_learning import CompiledLearning
    from constrint.learning.duals import Duals
    from constrint.learning.entries import Atom
    from constrint.preparing.proof import Proof
    from constrint.relaxation.lp_rows import LpRow as RelaxedRow
    from constrint.relaxation.lp_rows import Relaxation

# Tiers: 0/1 variables, other variables of the model, the objective, functions. Functions follow from the
# model's variables; deciding them first would enumerate their ranges, which may be wide.
NARROW, WIDE, TARGET, LAST = 0, 1, 2, 3


def _load() -> None:
    from constrint.learning.compiled_learning import load

    load()


class LearningRun(Stoppable):
    """A learning search that can be resumed after each solution.

    Without an objective, only the first solution may be requested. The search gives up if bounds creep in so
    many steps that their reasons cannot be stored.

    Args:
        follows: Whether it follows the groups of `branching=`, in turns.
        exchanges: Whether it exchanges clauses with others.

    Attributes:
        engine: The present engine: "interpreted" or "compiled".
        allowed: Units of work after which `next` pauses, or None; slightly more may be used.
        exchange: The clauses that it exports and imports; None for a search alone.
    """

    @rarely_collected()
    def __init__(self, task: SearchTask, *, follows: bool = True, exchanges: bool = False) -> None:
        prepared, root, options, _, goal = task
        self.prepared = prepared
        self._follows = follows
        self.engine = "interpreted"
        self._deadline = task.deadline
        self._rules = rules = root.settings.learning
        self._pace = Pace(rules.slice, self._deadline)
        selects = options.proof is None
        parts = Decomposition(root, self._deadline)
        self._given = root
        self._root = root = parts.root
        self._equalities = parts.literals
        self._duals: Duals | None = None
        self._worked = 0  # steps
        self._options = options
        self._goal = goal
        self.allowed: int | None = None
        self._session: CompiledLearning | None = None
        self._is_over = False
        try:
            kept = [] if goal is None else [goal[0]]
            self._normal = NormalTranslation(
                root.propagators, root.box, kept, self._deadline, selects, rules.most_values
            ).normal
        except ContradictoryRoot:
            self._normal = LearningNormalForm()
            self._is_over = True
        proof = options.proof
        if proof is not None:
            proof.begin(root.box, root.propagators, goal)
            for pair in self._normal.implied:  # implied by the sums that these literals compare
                proof.learned(atom_of(literal) for literal in pair)
            for clause in self._normal.merged:
                proof.learned(clause)
        self._state: State = build_state(root.box, root.propagators, Branch(), root.huge)
        self._ls = build(self._normal, root.propagators, root.box, self._guide(root, parts.equalities), rules)
        self.exchange = ClauseExchange(self._ls, rules.most_told) if exchanges else None
        if proof is None and options.learn is True:
            self._ls.scalar[CONSULT_AT] = rules.before_programs
        self._ls.scalar[IS_LOGGED] = int(proof is not None or exchanges)
        if goal is not None:
            self._ls.scalar[GOAL] = 2 * goal[0] + int(goal[1] == "max")
        for b, k in units(self._normal):
            self._is_over = self._is_over or not raise_bound(self._ls, self._state, b, k, DECISION)
        if proof is not None and self._is_over:
            proof.exhausted()
        if options.engine == "compiled" or (options.engine == "auto" and cache.is_at_hand(PART)):
            self._hand_over()

    def _guide(self, root: Root, equalities: Sequence[int]) -> Guide:
        """The guide: declared variables before functions of them, towards a better objective."""
        lo, hi = root.box.lo, root.box.hi
        branch = self.prepared.branch(root, self._options, self._goal)
        tier = [NARROW if hi[v] - lo[v] <= 1 else LAST for v in range(len(lo))]
        rule = [decide.AS_BEFORE] * len(lo)
        phase = list(lo)
        towards = directions(self._goal[0], self.prepared.inputs) if self._goal else {}
        sign = -1 if self._goal and self._goal[1] == "max" else 1
        for v, value_rule in zip(branch.variables, branch.values, strict=True):
            if value_rule == GREATEST:
                phase[v] = hi[v]
            if tier[v] == LAST:
                tier[v] = WIDE
        for v, direction in towards.items():
            if direction and tier[v] != LAST:
                rule[v] = decide.LEAST if direction == sign else decide.GREATEST
        for v in equalities:
            phase[v] = 1
        for v, value in self.prepared.hinted(self._options).items():
            phase[v] = min(max(value, lo[v]), hi[v])
            rule[v] = decide.AS_BEFORE
        if self._goal:
            tier[self._goal[0]] = TARGET if self._goal[0] in branch.variables else LAST
        random = Random(self._options.seed)
        activity = [random.randrange(16) if self._options.seed else 0 for _ in lo]
        first = len(self.prepared.preferences)
        groups = branch.groups[int(first > 0) : -1] if self._follows else []
        end = groups[-1][0] if groups else first
        followed = list(zip(branch.variables, branch.values, strict=True))[first:end]
        return Guide(tier, rule, phase, activity, followed, [(at - first, by) for at, by in groups])

    def _hand_over(self) -> None:
        compiling.obtain(PART, _load, self._deadline)
        with compiling.loading(self._deadline):
            from constrint.learning.compiled_learning import CompiledLearning

            self._session = CompiledLearning(self._ls, self._state)
        self._pace = Pace(self._rules.compiled_slice, self._deadline)
        self._ls = self._session.ls
        self.engine = "compiled"

    def _is_long(self) -> bool:
        if self.engine == "compiled" or self._options.engine != "auto":
            return False
        return compiling.is_due(PART, self._pace.spent, self._deadline, self._root.settings.search)

    def value(self, v: int) -> int:
        """Value of a fixed variable."""
        replaced = self._normal.replaced.get(v)
        if replaced is None:
            return int(self._ls.bound[2 * v])
        return int(self._ls.bound[replaced[0]] >= replaced[1])

    def goal_bounds(self) -> tuple[int, int]:
        """Proven bounds of the objective of any better solution; (0, 0) without an objective."""
        if self._goal is None:
            return 0, 0
        v = self._goal[0]
        return int(self._ls.root[2 * v]), -int(self._ls.root[2 * v + 1])

    def _next(self, checked: bool) -> SearchStep:
        while not self._is_over:
            self._deadline.check()
            if self.allowed is not None and self.allowed <= 0:
                return SearchStep(Outcome.PAUSED)
            if self._options.watch is not None:
                self._options.watch(self)
            if self.exchange is not None:
                self.exchange.fill(self._ls)
            outcome = self._slice()
            if outcome != BROKEN and self._options.proof is not None:
                self._write_proof(self._options.proof, outcome == SOLUTION)
            elif self.exchange is not None:
                self.exchange.note(self._ls)
            if outcome == SOLUTION:
                self._tighten()
                assignment = {variable: self.value(v) for variable, v in self.prepared.variables.items()}
                if checked:
                    check(self.prepared, assignment)
                return SearchStep(Outcome.FOUND, assignment)
            if outcome == EXHAUSTED:
                break
            if outcome == BROKEN:
                raise InternalError("a constraint cannot explain what it derived")
            if outcome == FULL:
                if not self._grow():
                    return SearchStep(Outcome.GAVE_UP)
                continue
            if outcome == CONSULT:
                self._consult()
            if self._is_long():
                self._hand_over()
        if self._options.proof is not None and not self._is_over:
            self._options.proof.exhausted()
        self._is_over = True
        return SearchStep(Outcome.EXHAUSTED)

    def _write_proof(self, proof: Proof, is_solution: bool) -> None:
        """Write the clauses learned since the last call, and the present solution, to the proof."""
        scalar = self._ls.scalar
        proof.clauses(self._ls.log[: scalar[LOG]])
        scalar[LOG] = 0
        if is_solution:
            proof.solution((v, self.value(v)) for v in range(len(self._root.box.lo)))

    def _slice(self) -> int:
        """Run one slice."""
        self._pace.begin()
        work = self._pace.work if self.allowed is None else min(self._pace.work, self.allowed)
        if self._session is not None:
            outcome = self._session.run(work)
        else:
            outcome = loop.run(self._ls, self._state, work)
        done = work - int(self._ls.scalar[BUDGET])
        self._worked += done
        if self.allowed is not None:
            self.allowed -= done
        self._pace.end(done)
        return outcome

    @property
    def consults(self) -> bool:
        """Whether it consults a relaxation."""
        return self._duals is not None

    def consult(self, relaxation: Relaxation, rows: Sequence[RelaxedRow]) -> None:
        """Consult a relaxation of the same constraints at nodes from now on.

        Args:
            relaxation: The relaxation.
            rows: Its rows, with cuts.
        """
        from constrint.learning.duals import Duals

        truths: dict[tuple[int, int | None], Atom] = {
            **{(v, None): atom for v, atom in self._normal.replaced.items()},
            **{key: self._normal.resolved(literal) for key, literal in self._equalities.items()},
        }
        self._duals = Duals(self._ls, relaxation, rows, self._goal, truths, self._rules)

    def _consult_own(self) -> None:
        """Consult a relaxation of its own: one that bounds the objective, or has sums without one."""
        self._ls.scalar[CONSULT_AT] = NEVER_CONSULT
        if not has_highs() or (self._goal is None and too_few_sums(self._given) is not None):
            return
        from constrint.relaxation.lp_rows import relaxed

        relaxation = relaxed(self._given)
        if relaxation is not None and (self._goal is None or relaxation.is_about(self._goal[0])):
            self.consult(relaxation, relaxation.rows)

    def _consult(self) -> None:
        """Consult the relaxation at the present node; make it first if necessary."""
        duals = self._duals
        if duals is None:
            self._consult_own()
            return
        before = duals.spent
        ls = duals.consult(self._ls, self._worked)
        if self.allowed is not None:
            self.allowed -= duals.spent - before
        if ls is not None:
            self._ls = ls if self._session is None else self._session.take(ls)

    def _tighten(self) -> None:
        """Require better solutions from now on."""
        if self._goal is None:
            self._is_over = True
        else:
            self.demand_better(self.value(self._goal[0]))

    def demand_better(self, value: int) -> None:
        """Require solutions with a better objective than a value from now on."""
        assert self._goal is not None
        v, direction = self._goal
        self._ls.scalar[MUST] = 2 * v + 1 if direction == "min" else 2 * v
        self._ls.scalar[MUST_TO] = 1 - value if direction == "min" else value + 1

    def _grow(self) -> bool:
        """Make space; False where the trail is too long already."""
        if loop.has_room(self._ls):
            return True  # only the log was full
        rules = self._rules
        if self._ls.scalar[TRAIL] > max(rules.most_trail, rules.trail_of_variable * len(self._ls.tier)):
            return False
        self._ls = grow(self._ls) if self._session is None else self._session.grow()
        return True

    def exported(self) -> list[Clause]:
        """New bounds and clauses for other searches of the same constraints since the last call."""
        return [] if self.exchange is None else self.exchange.exported(self._ls)

    def facts(self) -> str:
        """Its state in a line for people."""
        scalar = self._ls.scalar
        learned = f"{int(scalar[LEARNED]):,} clauses learned, {int(scalar[KEPT]):,} kept"
        return f"{int(scalar[CONFLICTS]):,} failures, {learned}; {int(scalar[RESTARTS]):,} restarts"

    def statistics(self) -> Statistics:
        """The work so far; the caller adds seconds and solutions."""
        scalar = self._ls.scalar
        return Statistics(
            nodes=int(scalar[DECISIONS]),
            failures=int(scalar[CONFLICTS]),
            propagations=int(scalar[PROPAGATIONS]),
            learned=int(scalar[LEARNED]),
            engine=self.engine,
            method="learning",
            finder="learning",
        )
