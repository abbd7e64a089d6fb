"""The protocol of all searches: starting one, and its steps: solutions, or the reason why there is none."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from constrint.modelling.result import Statistics
from constrint.preparing.checks import Assignment
from constrint.support.deadline import Deadline, Stopped

if TYPE_CHECKING:
    from constrint.preparing.options import Options
    from constrint.preparing.prepared import Prepared
    from constrint.presolve import Root


class Outcome(Enum):
    """How a step of a search ended."""

    FOUND = "found"
    """A solution is found."""
    EXHAUSTED = "exhausted"
    """It is proven that there is no other solution."""
    PAUSED = "paused"
    """The turn of the search is over; the next step resumes it."""
    STOPPED = "stopped"
    """The time limit was reached, or the caller wants no more solutions."""
    GAVE_UP = "gave up"
    """The search has used up its limit of nodes or work, or what it stores has grown too long."""
    UNBOUNDED = "unbounded"
    """A variable without finite bounds must be decided."""
    NEEDS_WIDER = "needs wider bounds"
    """Nothing is left, but bounds left the range that stands for all integers, so that proves nothing."""


class SearchStep(NamedTuple):
    """A step of a search: a solution, or the reason why it gives none.

    Attributes:
        outcome: How it ended.
        solution: The solution of `FOUND`; of `STOPPED`, the best one so far if the search kept it back.
        unbounded: The name of the variable of `UNBOUNDED`.
    """

    outcome: Outcome
    solution: Assignment | None = None
    unbounded: str = ""

    @property
    def found(self) -> Assignment | None:
        """The solution of `FOUND`; None for other outcomes."""
        return self.solution if self.outcome is Outcome.FOUND else None


class SearchTask(NamedTuple):
    """The task of a search.

    Attributes:
        prepared: The prepared model.
        root: The root of the search.
        options: How to search.
        started: Start of the call, by `perf_counter`.
        goal: The objective that each further solution must improve, or None.
    """

    prepared: Prepared
    root: Root
    options: Options
    started: float
    goal: tuple[int, str] | None = None

    @property
    def deadline(self) -> Deadline:
        """The end of the call."""
        return Deadline(self.options.time_limit, self.started)


class Search(Protocol):
    """A search that can be resumed after each solution.

    Attributes:
        prepared: The prepared model.
    """

    prepared: Prepared

    def next(self, checked: bool = True) -> SearchStep:
        """The next solution, better than the last if there is an objective, or why there is none.

        Args:
            checked: Whether to check the solution now; otherwise the caller must `check` it before use.
        """

    def value(self, v: int) -> int:
        """Value of a variable in the last solution."""

    def goal_bounds(self) -> tuple[int, int]:
        """Bounds of the objective's variable at the root; (0, 0) without an objective."""

    def demand_better(self, value: int) -> None:
        """Require solutions with a better objective than a value from now on."""

    def statistics(self) -> Statistics:
        """The work so far; the caller adds seconds and solutions."""


class Stoppable:
    """A search that a check of the deadline, or the caller, may stop."""

    def next(self, checked: bool = True) -> SearchStep:
        """The next solution, or why there is none; see `Search.next`."""
        try:
            return self._next(checked)
        except Stopped:
            return SearchStep(Outcome.STOPPED)

    def _next(self, checked: bool) -> SearchStep:
        raise NotImplementedError


class SearchFactory(Protocol):
    """Starts searches of one kind for the parts of one call."""

    def start(self, task: SearchTask, is_every: bool = False) -> Search:
        """Start a search; for all solutions with `is_every`."""

    def close(self) -> None:
        """End the call: release its resources."""
