"""Searches over a model: the first solution, all of them, the best, the lexicographic best; and limits.

A `Plan` is a model made ready: lowered and propagated at the root. A `Run` is one search over it, which
moves from the interpreted engine to the compiled one when it proves long. Every solution is checked
against the model's own expressions before anyone sees it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

from constrint.branching import VALUE_RULES, Brancher, Inputs, dependents, directions
from constrint.engine import cache, dfs
from constrint.engine.build import Box, Branch, build, grow
from constrint.engine.state import (
    BOUND,
    EXHAUSTED,
    FAILURES,
    FULL,
    GOAL,
    GOAL_VARIABLE,
    GREATEST,
    HAS_BOUND,
    LEAST,
    NEEDS_BOUND,
    NODES,
    PROPAGATIONS,
    SOLUTION,
    UNBOUNDED,
    WIDER,
    State,
)
from constrint.errors import InternalError, LimitError, ModelError, UnboundedError, Undefined
from constrint.expr import BoolVar, IntExpr
from constrint.ir import HUGE_BITS, Infeasible, NeedsWiderBounds
from constrint.lower import Lowering, is_domain
from constrint.presolve import OutOfRange, Root, presolve
from constrint.result import Result, Statistics, Status

if TYPE_CHECKING:
    from constrint.engine.compiled import Session
    from constrint.model import Engine, Goal, Model

Assignment = dict[IntExpr, int]

MOST_BITS = 1 << 20
WIDEST_BITS = 1 << 14  # search is repeated with bounds up to this wide where narrower ones prove nothing
SLICE_NODES = 100
SLICE_PROPAGATIONS = 20_000
COMPILED_NODES = 5_000
COMPILED_PROPAGATIONS = 1_000_000
# Seconds of interpreted search after which compiling pays: loading a cached engine, or making one.
HAND_OVER_CACHED = 1.0
HAND_OVER_COLD = 10.0


class Stopped(Exception):  # noqa: N818 - a limit, not a fault
    """The time limit was reached."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to search.

    Attributes:
        time_limit: Seconds after which to stop, or None.
        seed: Seed of random value choices.
        engine: "auto", "interpreted" or "compiled".
        brancher: How to branch.
    """

    time_limit: float | None = None
    seed: int = 0
    engine: Engine = "auto"
    brancher: Brancher = field(default_factory=Brancher)


class Plan:
    """A model lowered and propagated at the root.

    Attributes:
        model: The model.
        variables: Number of each variable of the model.
        goals: (number, direction) of each expression to optimise.
        preferences: (number, direction) of each preferred expression.
        inputs: What each function is a function of.
        root: What presolve left; None where it proved that there is no solution.
    """

    def __init__(
        self, model: Model, goals: Sequence[Goal], preferences: Sequence[Goal], bits: int = HUGE_BITS
    ) -> None:
        self.model = model
        self.variables: dict[IntExpr, int] = {}
        self.goals: list[tuple[int, str]] = []
        self.preferences: list[tuple[int, str]] = []
        self.inputs: Inputs = {}
        self.root: Root | None = None
        while True:
            self.bits = bits
            try:
                self._lower(bits, goals, preferences)
            except NeedsWiderBounds as signal:
                if isinstance(signal, OutOfRange) and bits >= WIDEST_BITS:
                    raise UnboundedError(self.first_unbounded()) from None
                bits *= 4
                if bits > MOST_BITS:
                    raise ModelError(
                        f"the model has numbers of over {MOST_BITS // 8} bits: bound its powers"
                    ) from None
                continue
            except Infeasible:
                pass
            except RecursionError:
                raise ModelError(
                    "an expression is nested too deeply: build long sums with sum_, conditions with all_of"
                ) from None
            return

    def _lower(self, bits: int, goals: Sequence[Goal], preferences: Sequence[Goal]) -> None:
        lowering = Lowering(bits)
        model = self.model
        for variable in model.variables.values():
            lowering.declare(variable)
        # Domains first: the bounds of functions are taken from those of their arguments.
        for constraint in sorted(model.constraints, key=lambda constraint: not is_domain(constraint.expr)):
            lowering.require(constraint.expr)
        for expr in model.lets.values():
            lowering.sum_of(expr)  # a let that is undefined is no solution either
        self.variables = lowering.variables
        declared = set(lowering.variables.values())
        targets = [_target(lowering, expr, direction) for expr, direction in [*goals, *preferences]]
        # Trying values in order suits variables. A function of them may be decided long before its
        # arguments are, so functions, and all that is more important, are optimised one after the other.
        first = len(goals)
        for i in range(first, len(targets)):
            if targets[i][0] not in declared:
                first = i + 1
        self.goals, self.preferences = targets[:first], targets[first:]
        self.inputs = lowering.problem.inputs
        root = presolve(lowering.problem)
        if not root.stable:
            # Bounds that creep without an end in sight would keep search from ever branching.
            for v in lowering.variables.values():
                if max(-root.box.lo[v], root.box.hi[v]) >= lowering.problem.finite:
                    raise UnboundedError(self.name_of(v))
        self.root = root

    def first_unbounded(self) -> str:
        """Name of a variable of the model without finite bounds of its own."""
        for variable, v in self.variables.items():
            domain = getattr(variable, "domain", None)
            if domain is not None and not domain.is_finite:
                return self.name_of(v)
        return "an expression"

    def name_of(self, v: int) -> str:
        """Name of the variable of the model with a number, or of the expression that it stands for."""
        for variable, number in self.variables.items():
            if number == v and not isinstance(variable, BoolVar):
                return str(getattr(variable, "name", ""))
        return "an expression to optimise"

    def branch(self, root: Root, options: Options, goal: tuple[int, str] | None) -> Branch:
        """What to decide: preferences first and in order, then the variables of the model."""
        preferred = [(v, GREATEST if direction == "max" else LEAST) for v, direction in self.preferences]
        rule = VALUE_RULES[options.brancher.values]
        rules = {}
        if goal is not None and options.brancher.values == "auto":
            sign = 1 if goal[1] == "min" else -1
            for v, direction in directions(goal[0], self.inputs).items():
                rules[v] = GREATEST if direction == -sign else rule
        entries = preferred + [(v, rules.get(v, rule)) for v in self.variables.values()]
        degrees = dependents(len(root.box.lo), root.nodes, self.inputs)
        in_order = options.brancher.variables == "input_order"
        return Branch(
            [v for v, _ in entries],
            [rule for _, rule in entries],
            [degrees[v] + 1 for v, _ in entries],
            len(entries) if in_order else len(preferred),
            options.seed,
        )


def _target(lowering: Lowering, expr: IntExpr, direction: str) -> tuple[int, str]:
    """The variable to optimise for an expression, and its direction."""
    value = lowering.sum_of(expr)
    if len(value.terms) == 1:
        ((v, factor),) = value.terms.items()
        return v, direction if factor > 0 else ("min" if direction == "max" else "max")
    return lowering.problem.of_linear(value), direction


class Run:
    """One search, resumable after each solution.

    Attributes:
        engine: Where it runs at present: "interpreted" or "compiled".
    """

    def __init__(
        self,
        plan: Plan,
        root: Root,
        options: Options,
        started: float,
        goal: tuple[int, str] | None = None,
    ) -> None:
        self.plan = plan
        self.exact = root.exact
        self.engine = "interpreted"
        self._options = options
        self._deadline = None if options.time_limit is None else started + options.time_limit
        self._began = perf_counter()
        self._session: Session | None = None
        self._state: State = build(root.box, root.nodes, plan.branch(root, options, goal), root.huge)
        if goal is not None:
            # Each further solution must be better than the last.
            self._state.scalar[GOAL_VARIABLE] = goal[0]
            self._state.scalar[GOAL] = 1 if goal[1] == "min" else 2
        if options.engine == "compiled" and not self.exact:
            self._hand_over()

    def _hand_over(self) -> None:
        from constrint.engine.compiled import Session

        self._session = Session(self._state)
        self._state = self._session.state
        self.engine = "compiled"

    def _is_long(self) -> bool:
        if self.engine == "compiled" or self.exact or self._options.engine != "auto":
            return False
        spent = perf_counter() - self._began
        if spent < HAND_OVER_CACHED:
            return False
        return spent >= (HAND_OVER_CACHED if cache.is_filled() else HAND_OVER_COLD)

    def value(self, v: int) -> int:
        """Value of a fixed variable."""
        return int(self._state.lo[v])

    def next(self, checked: bool = True) -> Assignment | None:
        """The next solution; None when there is no other. Raises `Stopped` at the time limit.

        Args:
            checked: Whether to evaluate the model on it now; whoever defers that must `check` before use.
        """
        while True:
            if self._deadline is not None and perf_counter() > self._deadline:
                raise Stopped
            if self._session is not None:
                outcome = self._session.run(COMPILED_NODES, COMPILED_PROPAGATIONS)
            else:
                outcome = dfs.run(self._state, SLICE_NODES, SLICE_PROPAGATIONS)
            if outcome == SOLUTION:
                self._tighten()
                assignment = read(self.plan, self._state)
                if checked:
                    check(self.plan, assignment)
                return assignment
            if outcome == EXHAUSTED:
                if self._state.scalar[WIDER]:
                    raise NeedsWiderBounds
                return None
            if outcome == FULL:
                self._grow()
            elif outcome == NEEDS_BOUND:
                raise UnboundedError(self.plan.name_of(int(self._state.scalar[UNBOUNDED])))
            elif self._is_long():
                self._hand_over()

    def _tighten(self) -> None:
        scalar = self._state.scalar
        if scalar[GOAL]:
            scalar[HAS_BOUND] = 1
            scalar[BOUND] = self.value(scalar[GOAL_VARIABLE]) + (-1 if scalar[GOAL] == 1 else 1)

    def _grow(self) -> None:
        self._state = grow(self._state) if self._session is None else self._session.grow()

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
    for variable, value in assignment.items():
        if not isinstance(variable, BoolVar) and value not in variable.domain:  # type: ignore[attr-defined] # keys are variables
            raise InternalError(f"{variable} has no value {value}")
    for constraint in plan.model.constraints:
        try:
            holds = constraint.expr.evaluate(assignment)
        except Undefined as undefined:
            raise InternalError(f"a solution makes a constraint undefined ({undefined})") from undefined
        if not holds:
            where = constraint.position or constraint.name or "a constraint"
            raise InternalError(f"a solution violates {where}: please report this model")


def values_of(model: Model, assignment: Assignment) -> dict[str, int]:
    """The values of all variables and lets by name."""
    values = {name: int(variable.evaluate(assignment)) for name, variable in model.variables.items()}
    values.update({name: int(expr.evaluate(assignment)) for name, expr in model.lets.items()})
    return values


class Solver:
    """Answers one call of `Model`: counts the work and the time over all its runs."""

    def __init__(self, model: Model, options: Options) -> None:
        self.model = model
        self.options = options
        self.started = perf_counter()
        self.total = Statistics()

    def _add(self, run: Run, solutions: int) -> None:
        work = run.statistics()
        total = self.total
        self.total = replace(
            work,
            nodes=total.nodes + work.nodes,
            failures=total.failures + work.failures,
            propagations=total.propagations + work.propagations,
            solutions=total.solutions + solutions,
        )

    def _result(
        self, status: Status, assignment: Assignment | None = None, goals: Sequence[Goal] = ()
    ) -> Result:
        statistics = replace(self.total, seconds=perf_counter() - self.started)
        if assignment is None:
            return Result(status, statistics=statistics)
        objective = tuple(expr.evaluate(assignment) for expr, _ in goals)
        return Result(
            status,
            values_of(self.model, assignment),
            (objective[0] if len(objective) == 1 else objective) if goals else None,
            statistics,
            assignment,
        )

    def best(self, goals: Sequence[Goal], preferences: Sequence[Goal]) -> Result:
        """The lexicographic optimum of the goals and then the preferences; or just any solution."""
        plan = Plan(self.model, goals, preferences)
        while True:
            try:
                return self._best(plan, goals, preferences)
            except NeedsWiderBounds:
                if plan.bits >= WIDEST_BITS:
                    raise UnboundedError(plan.first_unbounded()) from None
                plan = Plan(self.model, goals, preferences, 4 * plan.bits)

    def _best(self, plan: Plan, goals: Sequence[Goal], preferences: Sequence[Goal]) -> Result:
        best: Assignment | None = None
        root = plan.root
        try:
            for v, direction in plan.goals:
                if root is None:
                    break
                found = self._optimum(plan, root, v, direction, best)
                if found is None:
                    return self._result(Status.INFEASIBLE)
                best, value = found
                root = _fixed(root, v, value)
            if root is not None and (plan.preferences or not plan.goals):
                run = Run(plan, root, self.options, self.started)
                try:
                    best = run.next()
                finally:
                    self._add(run, 1 if best else 0)
        except Interrupted as interrupted:
            best = interrupted.best or best
            status = Status.UNKNOWN if best is None else Status.FEASIBLE
            return self._result(status, best, [*goals])
        except (Stopped, KeyboardInterrupt) as stop:
            if isinstance(stop, KeyboardInterrupt) and best is None:
                raise
            return self._result(Status.UNKNOWN if best is None else Status.FEASIBLE, best, [*goals])
        return self._result(Status.INFEASIBLE if best is None else Status.OPTIMAL, best, [*goals])

    def _optimum(
        self, plan: Plan, root: Root, v: int, direction: str, best: Assignment | None
    ) -> tuple[Assignment, int] | None:
        """Branch and bound on variable v."""
        run = Run(plan, root, self.options, self.started, (v, direction))
        value = 0
        found: Assignment | None = None
        solutions = 0
        try:
            while True:
                better = run.next(checked=False)  # only the last is an answer
                if better is None:
                    break
                solutions += 1
                found, value = better, run.value(v)
        except (Stopped, KeyboardInterrupt) as stop:
            if isinstance(stop, KeyboardInterrupt) and (found or best) is None:
                raise
            if found is not None:
                check(plan, found)
            raise Interrupted(found or best) from stop
        finally:
            self._add(run, solutions)
        if found is None:
            return None
        check(plan, found)
        return found, value

    def every(self, limit: int | None) -> Iterator[Result]:
        """All solutions, each once."""
        plan = Plan(self.model, (), ())
        if plan.root is None:
            return
        run = Run(plan, plan.root, self.options, self.started)
        found = 0
        while limit is None or found < limit:
            try:
                assignment = run.next()
            except Stopped:
                return
            except NeedsWiderBounds:
                raise UnboundedError(plan.first_unbounded()) from None
            if assignment is None:
                return
            found += 1
            self.total = replace(run.statistics(), solutions=found)
            yield self._result(Status.OPTIMAL, assignment)

    def count(self) -> int:
        """The number of solutions."""
        plan = Plan(self.model, (), ())
        if plan.root is None:
            return 0
        run = Run(plan, plan.root, self.options, self.started)
        found = 0
        try:
            while run.next() is not None:
                found += 1
        except NeedsWiderBounds:
            raise UnboundedError(plan.first_unbounded()) from None
        except Stopped as stop:
            limit = self.options.time_limit
            raise LimitError(
                f"counting reached its time limit of {limit} s after {found} solutions"
            ) from stop
        return found


class Interrupted(Exception):  # noqa: N818 - carries the best so far to the caller
    """Search was stopped by the time limit or by Ctrl-C."""

    def __init__(self, best: Assignment | None) -> None:
        self.best = best
        super().__init__()


def _fixed(root: Root, v: int, value: int) -> Root:
    """The root with one variable fixed."""
    box = root.box
    lo, hi, step, values = list(box.lo), list(box.hi), list(box.step), list(box.values)
    lo[v] = hi[v] = value
    step[v] = 1
    values[v] = None
    return replace(root, box=Box(lo, hi, step, values))
