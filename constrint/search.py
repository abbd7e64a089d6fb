"""Answers: the first solution, all of them, the best, the lexicographic best; and what limits do.

`prepare.Plan` is a model made ready, `run.Run` one search over it. Every solution is checked against the
model's own expressions before anyone sees it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from constrint.engine.build import Box
from constrint.errors import LimitError, UnboundedError
from constrint.ir import NeedsWiderBounds
from constrint.prepare import WIDEST_BITS, Options, Plan
from constrint.presolve import Root
from constrint.result import Result, Statistics, Status
from constrint.run import Assignment, Run, Stopped, check

if TYPE_CHECKING:
    from constrint.goals import Goal
    from constrint.model import Model

__all__ = ["Options", "Plan", "Run", "Solver"]


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
