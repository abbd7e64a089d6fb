"""The backend "cp-sat": a model is lowered and propagated here, and solved by OR-Tools CP-SAT.

It needs the extra cp-sat. CP-SAT gets the normal form after root reasoning, so every expression of a model is
supported. Its solutions are checked against the user's own expressions, like all others.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from math import prod
from time import perf_counter
from typing import TYPE_CHECKING

from ortools.sat.python import cp_model

from constrint.backends.cp_sat_rules import MOST_ROWS, RULES
from constrint.backends.cp_sat_watch import Watch, line_of
from constrint.errors import ModelError, UnboundedError
from constrint.frontends.cp_sat.rules import LARGEST_NUMBER
from constrint.modelling.declarations import Declarations
from constrint.modelling.objectives import Goal
from constrint.modelling.result import Result, Statistics, Status
from constrint.preparing.checks import Assignment, bounded, check, values_of
from constrint.preparing.options import OnSolution
from constrint.preparing.prepared import Prepared
from constrint.presolve import Root
from constrint.support.deadline import Deadline, Stopped, check_deadline, until

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, IntVar, LinearExpr, SatParameters
    from ortools.sat.python.cp_model_helper import Literal


def solve(
    model: Declarations,
    goals: Sequence[Goal],
    preferences: Sequence[Goal],
    *,
    time_limit: float | None = None,
    seed: int = 0,
    workers: int = 1,
    started: float | None = None,
    on_solution: OnSolution | None = None,
    progress: bool = False,
) -> Result:
    """Find the lexicographic optimum of the goals and then the preferences; without either, any solution.

    Args:
        model: The model; all of its numbers must be within 2^60.
        goals: What to optimise, the most important first.
        preferences: What to optimise after the goals.
        time_limit: Seconds.
        seed: CP-SAT's random seed.
        workers: CP-SAT's threads.
        started: When the time limit began, by `perf_counter`; now, where it is left out.
        on_solution: Called with each better solution; search ends if it returns False.
        progress: Whether to show the best solution so far on a terminal.

    Returns:
        The result.

    Raises:
        ModelError: CP-SAT cannot represent the model.
        UnboundedError: A variable has no finite bounds.
    """
    started = perf_counter() if started is None else started
    deadline = Deadline(time_limit, started)
    targets = [*goals, *preferences]
    try:
        with until(deadline):
            prepared = Prepared(model, targets, (), deadline=deadline)
            if prepared.root is None:
                return Result(Status.INFEASIBLE, statistics=_statistics(started))
            translation = CpSatTranslation(prepared, prepared.root)
    except Stopped:
        return Result(Status.UNKNOWN, statistics=_statistics(started))
    best = _Best(prepared, targets)
    with line_of(progress) as line:

        def shown(solver: Watch) -> Result | None:
            if not best.takes(translation.read(solver)):
                return None
            return _result(model, best.assignment, Status.FEASIBLE, goals, started, best.count)

        watch = Watch(shown, on_solution, line, started)
        status, bounds = _climbed(translation, _parameters(seed, workers), deadline, watch, best)
    if not best.count:
        return Result(status, statistics=_statistics(started))
    result = _result(model, best.assignment, status, goals, started, best.count)
    return bounded(result, bounds[: len(goals)], goals)


def _parameters(seed: int, workers: int) -> SatParameters:
    parameters = cp_model.CpSolver().parameters
    parameters.num_workers = workers
    parameters.random_seed = seed % (1 << 31)
    return parameters


class _Best:
    """The best of the solutions so far, by the targets in their order; each is checked."""

    def __init__(self, prepared: Prepared, targets: Sequence[Goal]) -> None:
        self._prepared = prepared
        self._targets = targets
        self._key: tuple[int, ...] = ()
        self.assignment: Assignment = {}
        self.count = 0

    def takes(self, assignment: Assignment) -> bool:
        """Whether a solution is better than all before; it is kept if so."""
        check(self._prepared, assignment)
        values = [(int(expr.evaluate(assignment)), way) for expr, way in self._targets]
        key = tuple([value if way == "max" else -value for value, way in values])
        if self.count and key <= self._key:
            return False
        self._key, self.assignment = key, assignment
        self.count += 1
        return True


def _climbed(
    translation: CpSatTranslation, parameters: SatParameters, deadline: Deadline, watch: Watch, best: _Best
) -> tuple[Status, list[int | None]]:
    """Optimise the goals one after the other; the status, and the bound of each goal."""
    status = Status.UNKNOWN
    prepared = translation.prepared
    bounds = [prepared.root_bound(place) for place in range(len(prepared.goals))]
    steps: list[tuple[int, str] | None] = [*prepared.goals] or [None]
    for place, goal in enumerate(steps):
        solver = cp_model.CpSolver()
        solver.parameters.copy_from(parameters)
        if deadline.is_set:
            solver.parameters.max_time_in_seconds = max(0.0, deadline.left)
        translation.aim(goal)
        with _ctrl_c(solver):
            answer = solver.solve(translation.model, watch)
        watch.raised()
        if answer == cp_model.MODEL_INVALID:
            raise ModelError(f"CP-SAT refuses the model: {translation.model.validate()}")
        if answer == cp_model.INFEASIBLE:
            return Status.INFEASIBLE, []
        if answer in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            best.takes(translation.read(solver))
        status = {cp_model.OPTIMAL: Status.OPTIMAL}.get(answer, Status.FEASIBLE)
        if goal is not None:
            bounds[place] = translation.bound(solver, place)
        if watch.is_ended and goal is not None:
            status = Status.FEASIBLE
        if status is not Status.OPTIMAL:
            break
        if goal is not None:
            translation.fix(goal[0], solver.value(translation.variables[goal[0]]))
    return (status if best.count else Status.UNKNOWN), bounds


@contextmanager
def _ctrl_c(solver: cp_model.CpSolver) -> Iterator[None]:
    """Make Ctrl-C end CP-SAT, which keeps its best solution, and restore the previous handler afterwards.

    CP-SAT leaves the system's handler behind, with which the next Ctrl-C would kill the process. Only the
    main thread can install another one.
    """
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    solver.parameters.catch_sigint_signal = is_main and handler is not None
    try:
        yield
    finally:
        if solver.parameters.catch_sigint_signal:
            signal.signal(signal.SIGINT, handler)


def _result(
    model: Declarations,
    assignment: Assignment,
    status: Status,
    goals: Sequence[Goal],
    started: float,
    solutions: int,
) -> Result:
    objective = tuple(int(expr.evaluate(assignment)) for expr, _ in goals)
    return Result(
        status,
        values_of(model, assignment),
        (objective[0] if len(objective) == 1 else objective) if goals else None,
        replace(_statistics(started), solutions=solutions, finder="cp-sat"),
        _assignment=assignment,
        _intervals=model.intervals.copy(),
    )


def _statistics(started: float) -> Statistics:
    return Statistics(seconds=perf_counter() - started, engine="cp-sat", method="cp-sat")


class CpSatTranslation:
    """The CP-SAT model of a normal form.

    Attributes:
        model: The CP-SAT model.
        variables: Its variables, by number in the normal form.
        box: The domains of the normal form.
        prepared: The model whose normal form it is.
    """

    def __init__(self, prepared: Prepared, root: Root) -> None:
        self.model: CpModel = cp_model.CpModel()
        self.variables: dict[int, IntVar] = {}
        self.prepared = prepared
        self.box = root.box
        used = {v for node in root.propagators for v in node.scope()} | set(prepared.variables.values())
        for v in sorted(used | {v for v, _ in prepared.goals}):
            check_deadline()
            self.variables[v] = self._variable(v)
        for node in root.propagators:
            check_deadline()
            RULES[type(node)](self, node)
        for variable, v in prepared.variables.items():
            value = prepared.model.hints.get(str(getattr(variable, "name", "")))
            if value is not None:
                self.model.add_hint(self.variables[v], min(max(value, self.box.lo[v]), self.box.hi[v]))

    def aim(self, goal: tuple[int, str] | None) -> None:
        """Set what is optimised next."""
        self.model.clear_objective()
        if goal is not None:
            optimise = self.model.minimize if goal[1] == "min" else self.model.maximize
            optimise(self.variables[goal[0]])

    def fix(self, v: int, value: int) -> None:
        """Fix a variable."""
        self.model.add(self.variables[v] == value)

    def bound(self, solver: cp_model.CpSolver, place: int) -> int | None:
        """The proven bound of a goal's expression; None where CP-SAT's is no integer of a float."""
        bound = solver.best_objective_bound
        if not abs(bound) < 1 << 53:
            return None
        return self.prepared.written_value(place, round(bound))

    def read(self, solver: cp_model.CpSolver | Watch) -> Assignment:
        """The solution that was found."""
        return {variable: solver.value(self.variables[v]) for variable, v in self.prepared.variables.items()}

    def _variable(self, v: int) -> IntVar:
        box = self.box
        lo, hi, step, values = box.lo[v], box.hi[v], box.step[v], box.values[v]
        if max(-lo, hi) >= LARGEST_NUMBER:
            name = self.prepared.name_of(v)
            if max(-lo, hi) >= self._plan_finite():
                raise UnboundedError(name)
            raise ModelError(
                f"CP-SAT holds numbers up to 2^60, which '{name}' exceeds: use the default backend"
            )
        if values is not None:
            kept = [value for value in values if lo <= value <= hi and (value - lo) % step == 0]
            return self.model.new_int_var_from_domain(cp_model.Domain.from_values(kept), f"v{v}")
        if step == 1 or lo == hi:
            return self.model.new_int_var(lo, hi, f"v{v}")
        steps = self.model.new_int_var(0, (hi - lo) // step, f"s{v}")
        variable = self.model.new_int_var(lo, hi, f"v{v}")
        self.model.add(variable == lo + step * steps)
        return variable

    def _plan_finite(self) -> int:
        return 1 << self.prepared.bits // 2

    @property
    def bounds(self) -> tuple[Sequence[int], Sequence[int]]:
        """Least and greatest values by variable."""
        return self.box.lo, self.box.hi

    def literal(self, literal: int) -> Literal:
        """A literal of the normal form; its variable is 0 or 1."""
        variable = self.variables[literal >> 1]
        return variable.negated() if literal & 1 else variable

    def of(self, v: int) -> IntVar:
        """A variable."""
        return self.variables[v]

    def all(self, variables: Sequence[int]) -> list[IntVar]:
        """The variables with these numbers."""
        return [self.variables[v] for v in variables]

    def sum(self, terms: Sequence[tuple[int, int]], constant: int = 0) -> LinearExpr | int:
        """A sum of terms and a constant; raises `ModelError` where it may leave CP-SAT's numbers."""
        lo, hi = self.box.lo, self.box.hi
        if sum([abs(a) * max(abs(lo[v]), abs(hi[v])) for a, v in terms], abs(constant)) >= LARGEST_NUMBER:
            raise ModelError(
                "CP-SAT holds sums up to 2^60, which this model exceeds: use the default backend"
            )
        return sum([a * self.variables[v] for a, v in terms], constant)

    def admits(self, v: int, value: int) -> bool:
        """Whether a value lies within the bounds of a variable."""
        return self.box.lo[v] <= value <= self.box.hi[v]

    def listed(self, arguments: Sequence[int], result: int, function: Callable[..., int | None]) -> None:
        """A function of a few values as a table; where it is None, the arguments are not allowed."""
        domains = [self.members(v) for v in arguments]
        size = prod(len(domain) for domain in domains)
        if size > MOST_ROWS:
            raise ModelError(
                f"CP-SAT lacks {function.__name__}, and {size} combinations of its arguments are too many "
                "for a table: use the default backend, or bound them"
            )
        rows = [
            (*row, value)
            for row in product(*domains)
            if (value := function(*row)) is not None and self.admits(result, value)
        ]
        if rows:
            self.model.add_allowed_assignments(self.all([*arguments, result]), rows)
        else:
            self.model.add_bool_or([])

    def members(self, v: int) -> Sequence[int]:
        """The values that a variable may have."""
        lo, hi, step, values = self.box.lo[v], self.box.hi[v], self.box.step[v], self.box.values[v]
        if values is not None:
            return [value for value in values if lo <= value <= hi and (value - lo) % step == 0]
        return range(lo, hi + 1, step)
