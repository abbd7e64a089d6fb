"""CP-SAT's better solutions while it searches: the caller's function, and the line on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from ortools.sat.python import cp_model

from constrint.support.long_numbers import counted

if TYPE_CHECKING:
    from rich.status import Status as Line

    from constrint.modelling.result import Result
    from constrint.preparing.options import OnSolution


class Watch(cp_model.CpSolverSolutionCallback):
    """Passes each better solution to the caller; ends the search if the caller asks for it.

    CP-SAT calls it from a thread of its own, where an exception would be lost: it is kept for `raised`.
    """

    def __init__(
        self,
        read: Callable[[Watch], Result | None],
        then: OnSolution | None,
        line: Line | None,
        started: float,
    ) -> None:
        super().__init__()
        self._read = read
        self._then = then
        self._line = line
        self._started = started
        self._error: BaseException | None = None
        self.is_ended = False

    def on_solution_callback(self) -> None:
        """Called by CP-SAT."""
        if self.is_ended:
            return
        try:
            result = self._read(self)
            if result is None:  # no better than the last one
                return
            if self._line is not None:
                self._line.update(self._text(result))
            if self._then is not None and self._then(result) is False:
                self.is_ended = True
        except BaseException as error:
            self._error, self.is_ended = error, True
        if self.is_ended:
            self.stop_search()

    def _text(self, result: Result) -> str:
        seconds = f"{perf_counter() - self._started:.1f} s"
        best = [] if result.objective is None else [f"best {result.objective}"]
        return " · ".join([seconds, *best, counted(result.statistics.solutions, "solution")])

    def raised(self) -> None:
        """Raise what the caller's function raised."""
        if self._error is not None:
            raise self._error


@contextmanager
def line_of(progress: bool) -> Iterator[Line | None]:
    """The progress line on standard error, where that is wanted and a terminal."""
    if not progress:
        yield None
        return
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    with console.status("CP-SAT …") as line:
        yield line
