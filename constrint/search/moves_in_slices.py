"""The moves of a local search, run in slices: by Python at first, by machine code once they take long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from constrint.engine import background_compile as compiling
from constrint.engine import cache
from constrint.preparing.search_protocol import SearchTask
from constrint.support.deadline import Pace

if TYPE_CHECKING:
    from constrint.engine.array_search import ArraySearch

WORK_OF_UNIT = 16  # of a local search's work
S = TypeVar("S", bound=NamedTuple)


@dataclass(frozen=True, slots=True)
class Moves(Generic[S]):
    """The moves of a kind of local search.

    Attributes:
        part: The part of the machine code that has them.
        run: Makes moves on a state, of about so much work.
        work: The work that a state has had.
        load: Loads the machine code, or compiles it.
        compiled: A search that runs it on a state; it holds the memory that the machine code works on.
    """

    part: str
    run: Callable[[S, int], int]
    work: Callable[[S], int]
    load: Callable[[], None]
    compiled: Callable[[S], ArraySearch[S]]


class MovesInSlices(Generic[S]):
    """Moves on a state, in slices between two checks of the deadline.

    Args:
        moves: Their kind.
        state: The state.
        task: The search that they are part of.
        slice_: The work of a slice, interpreted.

    Attributes:
        state: The present state.
        engine: The present engine: "interpreted" or "compiled".
    """

    def __init__(self, moves: Moves[S], state: S, task: SearchTask, slice_: int) -> None:
        self.state = state
        self.engine = "interpreted"
        self._moves, self._task = moves, task
        self._pace = Pace(slice_, task.deadline)
        self._run: Callable[[int], int] = partial(moves.run, state)
        self._session: ArraySearch[S] | None = None
        self._over = 0  # work that makes no unit yet
        engine = task.options.engine
        if engine == "compiled" or (engine == "auto" and cache.is_at_hand(moves.part)):
            self._hand_over()

    def run(self, allowed: int | None) -> tuple[int, int]:
        """Run one slice, of at most so many units if that is not None.

        Returns:
            What the moves return; the units that they took, 0 where all are allowed.
        """
        self._pace.begin()
        work = self._pace.work
        if allowed is not None:  # the turn ends at the same move however long slices are
            work = min(work, WORK_OF_UNIT * allowed - self._over)
        before = self._moves.work(self.state)
        result = self._run(work)
        done = self._moves.work(self.state) - before
        units = 0
        if allowed is not None:
            units, self._over = divmod(done + self._over, WORK_OF_UNIT)
        self._pace.end(done)
        return result, units

    def hand_over_if_long(self) -> None:
        """Go on by machine code, if the moves have taken long enough."""
        if self.engine == "compiled" or self._task.options.engine != "auto":
            return
        rules = self._task.root.settings.search
        if compiling.is_due(self._moves.part, self._pace.spent, self._task.deadline, rules):
            self._hand_over()

    def _hand_over(self) -> None:
        deadline = self._task.deadline
        compiling.obtain(self._moves.part, self._moves.load, deadline)
        with compiling.loading(deadline):
            session = self._moves.compiled(self.state)
        self._session = session
        self.state, self._run = session.state, session.run
        self._pace = Pace(self._task.root.settings.local_search.compiled_slice, deadline)
        self.engine = "compiled"
