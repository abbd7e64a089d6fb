"""The backend "cp-sat": a model is lowered and propagated here, and solved by OR-Tools CP-SAT (extra.

Cp-sat).

CP-SAT gets the normal form after root reasoning, so every expression of a model is supported. Its solutions
are checked against the user's own expressions, like all others.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from math import ceil, floor, prod
from time import perf_counter
from typing import Any

from ortools.sat.python import cp_model

from constrint.backends.cp_sat_rules import LARGEST, MOST_ROWS, RULES, listed
from constrint.errors import ModelError, UnboundedError
from constrint.modelling.declarations import Declarations
from constrint.modelling.objectives import Goal
from constrint.modelling.result import Result, Statistics, Status
from constrint.preparing.checks import Assignment, check
from constrint.preparing.prepared import Prepared
from constrint.presolve import Root
from constrint.search.solver import values_of
from constrint.support.deadline import Deadline, Stopped, look, until

MOST_EXACT = 1 << 52  # smaller integers are exact as floating-point numbers
NEAR = 1e-3


def solve(
    model: Declarations,
    goals: Sequence[Goal],
    preferences: Sequence[Goal],
    *,
    time_limit: float | None = None,
    seed: int = 0,
    workers: int = 1,
    started: float | None = None,
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
            translation = Translation(prepared, prepared.root)
    except Stopped:
        return Result(Status.UNKNOWN, statistics=_statistics(started))
    status, assignment, bound = Status.UNKNOWN, None, None
    steps: list[tuple[int, str] | None] = [*prepared.goals] or [None]
    for goal in steps:
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = workers
        solver.parameters.random_seed = seed % (1 << 31)
        if time_limit is not None:
            solver.parameters.max_time_in_seconds = max(0.0, started + time_limit - perf_counter())
        translation.aim(goal)
        with _ctrl_c(solver):
            answer = solver.solve(translation.model)
        if answer == cp_model.MODEL_INVALID:
            raise ModelError(f"CP-SAT refuses the model: {translation.model.validate()}")
        if answer == cp_model.INFEASIBLE:
            return Result(Status.INFEASIBLE, statistics=_statistics(started))
        if goal is not None and len(goals) == len(steps) == 1:
            bound = _bound(solver, goal, prepared)
        if answer in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            assignment = translation.read(solver)
            check(prepared, assignment)
        status = {cp_model.OPTIMAL: Status.OPTIMAL, cp_model.UNKNOWN: Status.UNKNOWN}.get(
            answer, Status.FEASIBLE
        )
        if status is not Status.OPTIMAL:
            break
        if goal is not None:
            translation.fix(goal[0], solver.value(translation.variables[goal[0]]))
    if assignment is None:
        return Result(Status.UNKNOWN, statistics=_statistics(started), bound=bound)
    status = Status.FEASIBLE if status is Status.UNKNOWN else status
    result = _result(model, assignment, status, goals, started)
    if len(goals) == len(steps) == 1 and status is Status.OPTIMAL and isinstance(result.objective, int):
        bound = result.objective
    return replace(result, bound=bound)


def _bound(solver: cp_model.CpSolver, goal: tuple[int, str], prepared: Prepared) -> int | None:
    """The bound of the objective that CP-SAT proved; None where its floating-point number says too little."""
    proven = solver.best_objective_bound
    if not abs(proven) < MOST_EXACT:
        return None
    whole = ceil(proven - NEAR) if goal[1] == "min" else floor(proven + NEAR)
    factor, constant = prepared.scales.get(goal[0], (1, 0))
    return factor * whole + constant


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
    model: Declarations, assignment: Assignment, status: Status, goals: Sequence[Goal], started: float
) -> Result:
    objective = tuple(expr.evaluate(assignment) for expr, _ in goals)
    return Result(
        status,
        values_of(model, assignment),
        (objective[0] if len(objective) == 1 else objective) if goals else None,
        replace(_statistics(started), solutions=1),
        _assignment=assignment,
    )


def _statistics(started: float) -> Statistics:
    return Statistics(seconds=perf_counter() - started, engine="cp-sat")


class Translation:
    """The CP-SAT model of a normal form.

    Attributes:
        model: The CP-SAT model.
        variables: Its variables, by number in the normal form.
        box: The domains of the normal form.
    """

    def __init__(self, prepared: Prepared, root: Root) -> None:
        self.model: Any = cp_model.CpModel()
        self.variables: dict[int, Any] = {}
        self._prepared = prepared
        self.box = root.box
        used = {v for node in root.nodes for v in node.scope()} | set(prepared.variables.values())
        for v in sorted(used | {v for v, _ in prepared.goals}):
            look()
            self.variables[v] = self._variable(v)
        for node in root.nodes:
            look()
            RULES.get(type(node), listed)(self, node)
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

    def read(self, solver: cp_model.CpSolver) -> Assignment:
        """The solution that was found."""
        return {variable: solver.value(self.variables[v]) for variable, v in self._prepared.variables.items()}

    def _variable(self, v: int) -> Any:
        box = self.box
        lo, hi, step, values = box.lo[v], box.hi[v], box.step[v], box.values[v]
        if max(-lo, hi) >= LARGEST:
            name = self._prepared.name_of(v)
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
        return 1 << self._prepared.bits // 2

    @property
    def bounds(self) -> tuple[Sequence[int], Sequence[int]]:
        """Least and greatest values by variable."""
        return self.box.lo, self.box.hi

    def literal(self, literal: int) -> Any:
        """A literal of the normal form; its variable is 0 or 1."""
        variable = self.variables[literal >> 1]
        return variable.negated() if literal & 1 else variable

    def of(self, numbers: Sequence[int]) -> list[Any]:
        """The variables with these numbers."""
        return [self.variables[v] for v in numbers]

    def sum(self, terms: Sequence[tuple[int, int]]) -> Any:
        """A sum of terms; raises `ModelError` where it may leave CP-SAT's numbers."""
        lo, hi = self.box.lo, self.box.hi
        if sum(abs(a) * max(abs(lo[v]), abs(hi[v])) for a, v in terms) >= LARGEST:
            raise ModelError(
                "CP-SAT holds sums up to 2^60, which this model exceeds: use the default backend"
            )
        return sum(a * self.variables[v] for a, v in terms)

    def is_not(self, total: Any, bound: int) -> list[Any]:
        """The two halves of a `!=`, as constraints that the caller must enforce."""
        return [total <= bound - 1, total >= bound + 1]

    def listed(self, arguments: Sequence[int], result: int, function: Callable[..., int | None]) -> None:
        """A function of a few values as a table; where it is None, the arguments are not allowed."""
        domains = [self.members(v) for v in arguments]
        size = prod(len(domain) for domain in domains)
        if size > MOST_ROWS:
            raise ModelError(
                f"CP-SAT lacks {function.__name__}, and {size} combinations of its arguments are too many "
                "for a table: use the default backend, or bound them"
            )
        rows = [(*row, value) for row in product(*domains) if (value := function(*row)) is not None]
        if rows:
            self.model.add_allowed_assignments(self.of([*arguments, result]), rows)
        else:
            self.model.add_bool_or([])

    def members(self, v: int) -> Sequence[int]:
        """The values that a variable may have."""
        lo, hi, step, values = self.box.lo[v], self.box.hi[v], self.box.step[v], self.box.values[v]
        if values is not None:
            return [value for value in values if lo <= value <= hi and (value - lo) % step == 0]
        return range(lo, hi + 1, step)
