"""A call of `Model` as its searches see it: the request, the work so far, and reports to the caller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from constrint.modelling.result import Result, Statistics, Status
from constrint.preparing.checks import Assignment, values_of
from constrint.preparing.options import Options
from constrint.preparing.search_protocol import Search, SearchTask
from constrint.support.deadline import Deadline

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations
    from constrint.modelling.objectives import Goal
    from constrint.preparing.prepared import Prepared
    from constrint.presolve import Root

NO_WORK = Statistics()


@dataclass(slots=True)
class WorkTotal:
    """The work of a call.

    Attributes:
        started: Start of the call, by `perf_counter`.
        statistics: The sum over the searches that are over.
        place: The place of the target that is optimised now.
        found: The solutions of an enumeration so far.
    """

    started: float = field(default_factory=lambda: perf_counter())
    statistics: Statistics = field(default_factory=Statistics)
    place: int = 0
    found: int = 0

    def add(self, run: Search, solutions: int) -> None:
        """Add the work of a finished search."""
        self.statistics = self.statistics.plus(run.statistics(), solutions)


class SearchLog(Protocol):
    """The log of a call."""

    work: WorkTotal

    def watching(self, options: Options) -> Options:
        """The options of the call, with which its searches tell the log."""

    def end_of_all(self, found: int, is_complete: bool, work: Statistics) -> None:
        """All solutions that are wanted have been found, or as many as the limits allow."""


@dataclass(slots=True)
class Reporter:
    """The last solution that the caller was told of.

    Attributes:
        cost: The values of its objectives, negated where they are maximised; None before the first.
    """

    cost: list[int] | None = None


@dataclass(frozen=True, slots=True)
class CallContext:
    """A call: the request, which does not change, the total of its work, and reports to the caller.

    Attributes:
        model: The model.
        options: The search options.
        goals: The objectives, the most important first.
        preferences: The preferences.
        work: The work so far.
        reporter: The reports so far.
        beside: Called at intervals with each search that is not brief, in addition to `options.watch`, or
            None; it may raise `Stopped`.
        learning_gave_up: Whether the learning search was tried and gave up: a tree search takes over.
    """

    model: Declarations
    options: Options
    goals: Sequence[Goal] = ()
    preferences: Sequence[Goal] = ()
    work: WorkTotal = field(default_factory=WorkTotal)
    reporter: Reporter = field(default_factory=Reporter)
    beside: Callable[[Search], None] | None = None
    learning_gave_up: bool = False

    @property
    def started(self) -> float:
        """Start of the call, by `perf_counter`."""
        return self.work.started

    @property
    def deadline(self) -> Deadline:
        """The end of the call."""
        return Deadline(self.options.time_limit, self.work.started)

    def told(self, prepared: Prepared) -> None:
        """Tell the caller what presolve made of the model."""
        if self.options.on_prepared is not None:
            self.options.on_prepared(prepared, self.options)

    def task(
        self,
        prepared: Prepared,
        root: Root,
        goal: tuple[int, str] | None = None,
        options: Options | None = None,
    ) -> SearchTask:
        """The task of one of its searches, with the call's options or others."""
        return SearchTask(prepared, root, options or self.options, self.started, goal)

    @property
    def targets(self) -> list[Goal]:
        """The objectives and the preferences."""
        return [*self.goals, *self.preferences]

    @property
    def learns(self) -> bool:
        """Whether the learning search is requested, and has not given up."""
        return self.options.learn is True and not self.learning_gave_up

    def without_learning(self) -> CallContext:
        """The call after the learning search gave up."""
        return replace(self, learning_gave_up=True)

    def result(self, status: Status, assignment: Assignment | None = None) -> Result:
        """The result of the call so far, with a solution or without one."""
        statistics = self.work.statistics.within(perf_counter() - self.work.started)
        if assignment is None:
            return Result(status, statistics=statistics)
        objective = [int(expr.evaluate(assignment)) for expr, _ in self.goals]
        single = objective[0] if len(objective) == 1 else None
        return Result(
            status,
            values_of(self.model, assignment),
            tuple(objective) if len(objective) > 1 else single,
            statistics,
            assignment,
            self.model.intervals.copy(),
            bound=None
            if status is not Status.OPTIMAL
            else tuple(objective)
            if len(objective) > 1
            else single,
        )

    def report(self, found: Assignment, work: Statistics = NO_WORK) -> bool:
        """Call the caller's callback with a solution if it is better than the last one.

        Args:
            found: The solution.
            work: The work of the search that found it, if that is not over.

        Returns:
            Whether the caller wants more solutions.
        """
        on_solution = self.options.on_solution
        if on_solution is None:
            return True
        shown = self.result(Status.FEASIBLE, found)
        objective = shown.objective if isinstance(shown.objective, tuple) else (shown.objective or 0,)
        signs = [1 if direction == "min" else -1 for _, direction in self.goals]
        cost = [sign * value for sign, value in zip(signs, objective, strict=False)]
        if self.goals and self.reporter.cost is not None and cost >= self.reporter.cost:
            return True  # the search for a later goal finds solutions again
        self.reporter.cost = cost
        total = shown.statistics
        statistics = replace(
            total,
            nodes=total.nodes + work.nodes,
            failures=total.failures + work.failures,
            propagations=total.propagations + work.propagations,
            finder=work.finder or total.finder,
        )
        return on_solution(replace(shown, statistics=statistics)) is not False
