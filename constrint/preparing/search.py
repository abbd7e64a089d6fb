"""What every search is, whichever method it follows: what starts one, what ends it, what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from constrint.modelling.result import Statistics
from constrint.preparing.checks import Assignment

if TYPE_CHECKING:
    from constrint.preparing.options import Options
    from constrint.preparing.prepared import Plan
    from constrint.presolve import Root


class Search(Protocol):
    """One search, resumable after each solution.

    Attributes:
        plan: The model made ready.
    """

    plan: Plan

    def next(self, checked: bool = True) -> Assignment | None:
        """The next solution, better than the last where there is a goal; None when there is no other.

        Raises `Stopped` at the time limit, and `GaveUp` where the search is not worth more.

        Args:
            checked: Whether to evaluate the model on it now; whoever defers that must `check` before use.
        """

    def value(self, v: int) -> int:
        """Value of a variable in the last solution."""

    def goal_bounds(self) -> tuple[int, int]:
        """Between what the goal's variable is known to lie at the root; (0, 0) without a goal."""

    def demand_better(self, value: int) -> None:
        """Look for solutions whose goal is better than a value from now on."""

    def statistics(self) -> Statistics:
        """The work so far; seconds and solutions are the caller's to add."""


class SearchFactory(Protocol):
    """Starts searches of one kind for the parts of one call."""

    def start(
        self,
        plan: Plan,
        root: Root,
        options: Options,
        started: float,
        goal: tuple[int, str] | None = None,
        is_every: bool = False,
    ) -> Search:
        """Start a search.

        Args:
            plan: The model made ready.
            root: Where to look.
            options: How to search.
            started: When the time limit began.
            goal: What is to become better and better.
            is_every: Whether all solutions are wanted.
        """

    def close(self) -> None:
        """The call is over: let go what was held for it."""


class GaveUp(Exception):  # noqa: N818 - a limit, not a fault
    """The nodes, or the work, that the search was worth are spent."""


class Interrupted(Exception):  # noqa: N818 - carries the best so far to the caller
    """Search was stopped by the time limit or by Ctrl-C.

    Attributes:
        best: The best solution so far.
        bound: What no value of the goal's variable is better than; None where that is not known.
    """

    def __init__(self, best: Assignment | None, bound: int | None = None) -> None:
        self.best = best
        self.bound = bound
        super().__init__()
