"""Deadlines of calls, and the amount of work between two checks of the clock."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from math import inf
from threading import Thread, local
from time import perf_counter
from typing import TypeVar

from constrint.support.arguments import check_seconds

T = TypeVar("T")
SHORT_SLICE, LONG_SLICE = 0.015, 0.05  # seconds of a slice of work between which it stays as large as it is


class Stopped(Exception):  # noqa: N818 - a limit, not a fault
    """The time limit was reached, or the caller wants no more solutions."""


class Deadline:
    """The end of a call.

    Every phase that may take long checks it: lowering, root reasoning, decomposing constraints, search,
    waiting for a compiler. Functions without access to it check the present one: `check_deadline`.

    Args:
        seconds: Duration of the call; None for no limit.
        started: Start of the call, by `perf_counter`; the present by default.
    """

    __slots__ = ("_at",)

    def __init__(self, seconds: float | None = None, started: float | None = None) -> None:
        self._at = inf
        if seconds is not None:
            self._at = (perf_counter() if started is None else started) + seconds

    @classmethod
    def of_call(cls, time_limit: float | None) -> Deadline:
        """The deadline of a call of a user that begins now: what it has to import first counts, too."""
        check_seconds(time_limit)
        return cls(time_limit)

    @property
    def is_set(self) -> bool:
        """Whether there is a time limit."""
        return self._at < inf

    @property
    def left(self) -> float:
        """Seconds left."""
        return self._at - perf_counter() if self.is_set else inf

    @property
    def rest(self) -> float | None:
        """Seconds until then as the time limit of what comes next: not negative, None without a deadline."""
        return max(0.0, self.left) if self.is_set else None

    def check(self) -> None:
        """Raise `Stopped` if it has passed."""
        if self.is_set and perf_counter() > self._at:
            raise Stopped


NEVER = Deadline()


class _Present(local):
    """The deadline of this thread's present call."""

    deadline: Deadline = NEVER


_present = _Present()


class until:  # noqa: N801 - read as a word of a `with` statement
    """Make a deadline the present one of this thread.

    It is a class, and may be entered again: enumerations enter it for each solution.
    """

    __slots__ = ("_before", "_deadline")

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._before = NEVER

    def __enter__(self) -> None:
        self._before = _present.deadline
        _present.deadline = self._deadline

    def __exit__(self, *raised: object) -> None:
        _present.deadline = self._before


def check_deadline() -> None:
    """Raise `Stopped` if the present deadline has passed.

    It costs a tenth of a microsecond without a deadline, a quarter with one: call it once for each
    constraint, expression or thousand numbers.
    """
    deadline = _present.deadline
    if deadline._at < inf:
        deadline.check()


def watched(items: Iterable[T]) -> Iterator[T]:
    """The items, with a deadline check before each."""
    for item in items:
        check_deadline()
        yield item


def sliced(items: Iterable[T], size: int = 4096) -> Iterator[list[T]]:
    """The items in lists of at most this size, with a deadline check before each."""
    rest = iter(items)
    while part := list(islice(rest, size)):
        check_deadline()
        yield part


def present() -> Deadline:
    """The deadline of this thread's present call."""
    return _present.deadline


def beside(work: Callable[[], T], deadline: Deadline) -> T:
    """Run a function that cannot check the deadline, such as an import, in a thread of its own.

    Raises `Stopped` at the deadline; the thread then goes on, for the next call that needs what it does.
    Without a deadline it is done in this thread.
    """
    if not deadline.is_set:
        return work()
    done: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(work())
        except BaseException as problem:
            failed.append(problem)

    deadline.check()
    thread = Thread(target=run, name="constrint")
    thread.start()
    thread.join(max(0.0, deadline.left))
    if failed:
        raise failed[0]
    if not done:
        raise Stopped
    return done[0]


class Pace:
    """Adapts the size of slices: a propagator run may take a microsecond or milliseconds.

    It decides when the clock is checked, and never what is searched.

    Attributes:
        work: Propagations of the next slice.
        spent: Seconds of all slices so far.
    """

    __slots__ = ("_most", "_since", "spent", "work")

    FIRST = 500  # propagations of the first slice; one if a deadline is set

    def __init__(self, most: int, deadline: Deadline = NEVER) -> None:
        self._most = most
        self.work = 1 if deadline.is_set else min(self.FIRST, most)
        self._since = 0.0
        self.spent = 0.0

    def begin(self) -> None:
        """Begin a slice."""
        self._since = perf_counter()

    def end(self, done: int | None = None) -> float:
        """It has ended: the next one is longer where this one was short. Gives the seconds it took.

        Args:
            done: The work of a slice that may have ended early, as at a solution; by default all of it.
        """
        took = perf_counter() - self._since
        self.spent += took
        self.adapt(took, done)
        return took

    def adapt(self, took: float, done: int | None = None) -> None:
        """Make the next slice longer where one was short, and shorter where it was long; see `end`."""
        if done is not None:
            took *= self.work / max(1, done)
        if took < SHORT_SLICE:
            if self.work < self._most:
                self.work = min(self._most, 4 * self.work)
        elif took > LONG_SLICE:
            self.work = max(1, self.work // 4)
