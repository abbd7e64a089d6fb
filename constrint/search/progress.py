"""The progress line of a search on a terminal; shown only on request."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from constrint.modelling.result import Result, Statistics
from constrint.support.long_numbers import counted, written

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status as Line

    from constrint.preparing.options import OnSolution, Options
    from constrint.preparing.search_protocol import Search
    from constrint.search.call import WorkTotal

BETWEEN_UPDATES = 0.2  # seconds


class Progress:
    """Follows a search and formats its progress."""

    def __init__(
        self,
        work: WorkTotal,
        then: OnSolution | None = None,
        line: Line | None = None,
        between: float = BETWEEN_UPDATES,
    ) -> None:
        """Make one.

        Args:
            work: The work of the call.
            then: The caller's callback for better solutions, or None.
            line: The line to update, or None.
            between: Seconds from one update to the next, at least.
        """
        self._work = work
        self._line = line
        self._between = between
        self._then = then
        self._best: int | tuple[int, ...] | None = None
        self._solutions = 0
        self._looked = 0.0
        self._bound: int | None = None

    def on_solution(self, result: Result) -> bool | None:
        """Record a better solution, and pass it on to the caller's callback."""
        self._best = result.objective
        self._solutions += 1
        return None if self._then is None else self._then(result)

    def watch(self, run: Search) -> None:
        """Update the line if the last update is long enough ago."""
        now = perf_counter()
        if self._line is not None and now - self._looked >= self._between:
            self._looked = now
            self._bound = bound_of(run, self._work.place)
            self._line.update(self.text(run.statistics(), now - self._work.started))

    def text(self, work: Statistics, seconds: float) -> str:
        """The line."""
        nodes = self._work.statistics.nodes + work.nodes
        parts = [f"{seconds:.1f} s", counted(nodes, "node"), f"{nodes / max(seconds, 1e-3):,.0f} nodes/s"]
        if self._best is not None:
            parts.append(f"best {written(self._best) if isinstance(self._best, int) else self._best}")
        if self._bound is not None and isinstance(self._best, int):
            parts.append(f"bound {written(self._bound)}")
            with suppress(OverflowError):  # of a quotient that is no float
                parts.append(f"gap {abs(self._best - self._bound) / max(1, abs(self._best)):.1%}")
        return " · ".join([*parts, counted(self._solutions, "solution")])


def bound_of(run: Search, place: int) -> int | None:
    """The bound of the objective at a place that a search has proven, as written; None if there is none."""
    prepared, root = run.prepared, run.prepared.root
    if place >= len(prepared.goals) or root is None:
        return None
    low, high = run.goal_bounds()
    bound = low if prepared.goals[place][1] == "min" else high
    if abs(bound) >= root.huge >> 1:
        return None  # it stands for all integers
    return prepared.written_value(place, bound)


@contextmanager
def shown(
    options: Options, work: WorkTotal, console: Console | None = None, between: float = BETWEEN_UPDATES
) -> Iterator[Options]:
    """The options of a call whose progress is shown on a terminal while it works."""
    if console is None:
        from rich.console import Console

        console = Console(stderr=True)
    if not console.is_terminal:
        yield options
        return
    with console.status("…") as line:
        progress = Progress(work, options.on_solution, line, between)
        yield replace(options, watch=progress.watch, on_solution=progress.on_solution)
