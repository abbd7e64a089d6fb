"""The protocol of all searches: starting one, its solutions, and the exceptions that end it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from constrint.modelling.result import Statistics
from constrint.preparing.checks import Assignment

if TYPE_CHECKING:
    from constrint.preparing.options import Options
    from constrint.preparing.prepared import Prepared
    from constrint.presolve import Root


class Search(Protocol):
    """A search that can be resumed after each solution.

    Attributes:
        prepared: The prepared model.
    """

    prepared: Prepared

    def next(self, checked: bool = True) -> Assignment | None:
        """The next solution, better than the last if there is an objective; None if there is no other.

        Args:
            checked: Whether to check the solution now; otherwise the caller must `check` it before use.

        Raises:
            Stopped: The time limit was reached.
            GaveUp: The search has used up its limit of nodes or work.
        """

    def value(self, v: int) -> int:
        """Value of a variable in the last solution."""

    def goal_bounds(self) -> tuple[int, int]:
        """Bounds of the objective's variable at the root; (0, 0) without an objective."""

    def demand_better(self, value: int) -> None:
        """Require solutions with a better objective than a value from now on."""

    def statistics(self) -> Statistics:
        """The work so far; the caller adds seconds and solutions."""


class SearchFactory(Protocol):
    """Starts searches of one kind for the parts of one call."""

    def start(
        self,
        prepared: Prepared,
        root: Root,
        options: Options,
        started: float,
        goal: tuple[int, str] | None = None,
        is_every: bool = False,
    ) -> Search:
        """Start a search.

        Args:
            prepared: The prepared model.
            root: The root of the search.
            options: How to search.
            started: Start of the time limit, by `perf_counter`.
            goal: The objective that each further solution must improve, or None.
            is_every: Whether all solutions are wanted.
        """

    def close(self) -> None:
        """End the call: release its resources."""


class GaveUp(Exception):  # noqa: N818 - a limit, not a fault
    """The search has used up its limit of nodes or work."""


class Interrupted(Exception):  # noqa: N818 - carries the best so far to the caller
    """Search was stopped by the time limit or by Ctrl-C.

    Attributes:
        best: The best solution so far.
        bound: The proven bound of the goal's variable; None if there is none.
    """

    def __init__(self, best: Assignment | None, bound: int | None = None) -> None:
        self.best = best
        self.bound = bound
        super().__init__()
