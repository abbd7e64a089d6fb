"""The workers of one call: those of an executor of `concurrent.futures`, or own threads and processes."""

from __future__ import annotations

import os
import sys
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from functools import cache
from time import perf_counter
from typing import NamedTuple, TypeVar

from constrint.errors import ConstrintError, InternalError, LimitError, ModelError
from constrint.settings import SearchSettings
from constrint.support.version import version

AHEAD = 2
"""Tasks that are handed out for each worker before an answer is awaited."""

CLUSTER_CHECK = 2.0
"""Seconds between two checks of a cluster that has not answered."""

Answer = TypeVar("Answer")


def checked(workers: int | None, executor: Executor | None) -> int:
    """The number of workers; the number of cores if the executor has no such attribute."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ModelError(f"executor must be an executor of concurrent.futures, not {executor!r}")
    if workers is None:
        told = getattr(executor, "_max_workers", None)
        return 1 if executor is None else told if isinstance(told, int) else os.cpu_count() or 1
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ModelError(f"the number of workers must be a positive integer, not {workers!r}")
    return workers


@cache
def own_version() -> str:
    """The version of constrint."""
    return version()


def check_version(told: str) -> None:
    """Raise `LimitError` for a task from another version."""
    if told != own_version():
        raise ModelError(
            f"the worker has constrint {own_version()} and its caller {told}: install the same version"
        )


def result_of(future: Future[Answer], seconds: float | None = None) -> Answer:
    """The answer of a worker.

    Raises:
        TimeoutError: No answer after `seconds`.
        LimitError: The worker failed.
    """
    try:
        return future.result(seconds)
    except BrokenExecutor as problem:
        raise _lost(problem) from problem


def _lost(problem: Exception) -> LimitError:
    if not isinstance(problem, BrokenExecutor | CancelledError):
        return LimitError(f"a worker failed before its answer ({_named(problem)})")
    told = problem if isinstance(problem, BrokenExecutor) else _named(problem)
    return LimitError(
        f"a worker ended before its answer ({told}): it may have been out of memory; "
        "give the workers more of it, or use fewer at a time"
    )


def _named(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__


class _Handed(NamedTuple):
    """A share that a worker has: its texts, and the executor that took it."""

    common: str
    share: str
    executor: Executor


class Workers:
    """The workers of one call. Own workers are started on demand and end with the call.

    A share that is lost with its worker is handed out again, and has the same answer. Where an executor takes
    no more work, as one of processes after a loss or one whose scheduler is gone, own processes take its
    place, and the shares that it still has are handed out again.

    Attributes:
        count: Number of workers.
    """

    def __init__(
        self, count: int, executor: Executor | None, most_losses: int = SearchSettings.most_losses
    ) -> None:
        self.count = count
        self._executor = executor
        self._own: Executor | None = None
        self._running: dict[Future[str], _Handed] = {}
        self._losses = 0
        self._most_losses = most_losses
        self._has_taken = False  # a share

    @property
    def have_our_clock(self) -> bool:
        """Whether the workers run on this machine for certain, where all read the same `perf_counter`."""
        return self._executor is None or isinstance(self._executor, ThreadPoolExecutor | ProcessPoolExecutor)

    def start(self, in_threads: bool) -> None:
        """Start own workers if there is no executor: threads of this process, or processes."""
        if self._executor is not None or self._own is not None:
            return
        self._own = ThreadPoolExecutor(self.count, "constrint") if in_threads else self._processes()

    def _processes(self) -> Executor:
        from constrint.parallel.processes import Processes
        from constrint.parallel.share import search_share

        return Processes(self.count, search_share)

    def submit(self, common: str, share: str) -> Future[str]:
        """Submit a share of a search; the workers must have been started.

        Raises `LimitError` if the executor takes no share at all, or too many workers were lost.
        """
        from constrint.parallel.share import search_share

        while True:
            executor = self._own or self._executor
            if executor is None:
                raise InternalError("start the workers before submitting work")
            try:
                future: Future[str] = executor.submit(search_share, common, share)
            except Exception as problem:  # it lost another share, was shut down, or lost its scheduler
                if not (self._has_taken or isinstance(problem, BrokenExecutor)):
                    raise LimitError(f"the executor takes no work ({_named(problem)})") from problem
                if not self._note_loss(executor, problem, takes_no_more=True):
                    raise _lost(problem) from problem
                continue
            self._has_taken = True
            self._running[future] = _Handed(common, share, executor)
            return future

    def answer(self, future: Future[str], seconds: float | None) -> str:
        """The answer of a worker, of another one if the first fails.

        Raises:
            TimeoutError: No answer after `seconds`.
            LimitError: Too many workers failed.
        """
        ends = None if seconds is None else perf_counter() + seconds
        while True:
            handed = self._running[future]
            try:
                if self._is_replaced(handed.executor) and not future.done():
                    raise BrokenExecutor("it takes no more work")
                answer = _result(future, handed.executor, ends)
            except (ConstrintError, TimeoutError):
                raise
            except Exception as problem:
                # Any other error may be the executor's own: Dask's future of a worker that was killed between
                # its answer and its reading raises ValueError.
                del self._running[future]
                if not self._note_loss(handed.executor, problem, isinstance(problem, BrokenExecutor)):
                    raise _lost(problem) from problem
                future = self.submit(handed.common, handed.share)
            else:
                del self._running[future]
                return answer

    def _is_replaced(self, executor: Executor) -> bool:
        """Whether own processes took the place of an executor."""
        return executor is self._executor and self._own is not None

    def _note_loss(self, executor: Executor, problem: Exception, takes_no_more: bool) -> bool:
        """Note that an executor lost a share; whether the share is to be handed out again.

        If the executor takes no more shares, own processes take its place.
        """
        if self._is_replaced(executor):
            return True  # counted when its first share was lost
        self._losses += 1
        if self._own is None and takes_no_more:
            self._own = self._processes()
            sys.stderr.write(
                f"constrint: the executor takes no more work ({_named(problem)}); "
                "processes of this machine take its place\n"
            )
            sys.stderr.flush()
        return self._losses <= self._most_losses

    def dismiss(self) -> None:
        """Cancel the submitted shares that have no answer yet."""
        while self._running:
            self._running.popitem()[0].cancel()

    def close(self) -> None:
        """End the workers: processes at once, threads after their present share."""
        self.dismiss()
        if self._own is not None:
            self._own.shutdown(cancel_futures=True)
            self._own = None


def _result(future: Future[str], executor: Executor, ends: float | None) -> str:
    """A worker's answer; raises `BrokenExecutor` where its cluster is gone, and `TimeoutError` at the end.

    A client of Dask whose scheduler has gone may leave its futures pending for ever, so it is checked.
    """
    while True:
        left = CLUSTER_CHECK if ends is None else min(CLUSTER_CHECK, max(0.0, ends - perf_counter()))
        try:
            return future.result(left)
        except TimeoutError:
            if future.done() or (ends is not None and perf_counter() >= ends):
                raise
            client = getattr(executor, "_client", None)
            if getattr(client, "status", "running") == "closed":
                raise BrokenExecutor("its cluster is gone") from None
