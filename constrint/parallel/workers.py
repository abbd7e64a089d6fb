"""The workers of one call: those of an executor of `concurrent.futures`, or own threads and processes."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from importlib.metadata import version
from typing import TypeVar

from constrint.errors import ConstrintError, InternalError, LimitError, ModelError

AHEAD = 2
"""Tasks that are handed out for each worker before an answer is awaited."""

Answer = TypeVar("Answer")


def checked(workers: int | None, executor: Executor | None) -> int:
    """The number of workers; the number of cores if the executor does not tell."""
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
    """The installed version of constrint."""
    return version("constrint")


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
        raise LimitError(
            f"a worker ended before its answer ({problem}): it may have been out of memory; "
            "give the workers more of it, or use fewer at a time"
        ) from problem


class Workers:
    """The workers of one call. Own workers are started on demand and end with the call.

    Attributes:
        count: Number of workers.
    """

    def __init__(self, count: int, executor: Executor | None) -> None:
        self.count = count
        self._executor = executor
        self._own: Executor | None = None
        self._running: deque[Future[str]] = deque()

    @property
    def have_our_clock(self) -> bool:
        """Whether the workers run on this machine for certain, where all read the same `perf_counter`."""
        return self._executor is None or isinstance(self._executor, ThreadPoolExecutor | ProcessPoolExecutor)

    def start(self, in_threads: bool) -> None:
        """Start own workers if there is no executor: threads of this process, or processes."""
        if self._executor is not None or self._own is not None:
            return
        if in_threads:
            self._own = ThreadPoolExecutor(self.count, "constrint")
        else:
            from constrint.parallel.processes import Processes
            from constrint.parallel.share import search_share

            self._own = Processes(self.count, search_share)

    def submit(self, common: str, share: str) -> Future[str]:
        """Submit a share of a search; the workers must have been started."""
        from constrint.parallel.share import search_share

        executor = self._executor or self._own
        if executor is None:
            raise InternalError("start the workers before submitting work")
        future: Future[str] = executor.submit(search_share, common, share)
        self._running.append(future)
        return future

    def answer(self, future: Future[str], seconds: float | None) -> str:
        """The answer of a worker; raises as `result_of`, and `LimitError` for any other failure."""
        try:
            answer = result_of(future, seconds)
            self._running.remove(future)
        except (ConstrintError, TimeoutError):
            raise
        except Exception as problem:
            raise LimitError(
                f"a worker failed before its answer ({type(problem).__name__}: {problem})"
            ) from problem
        return answer

    def dismiss(self) -> None:
        """Cancel the submitted shares that have no answer yet."""
        while self._running:
            self._running.popleft().cancel()

    def close(self) -> None:
        """End the workers: processes at once, threads after their present share."""
        self.dismiss()
        if self._own is not None:
            self._own.shutdown(cancel_futures=True)
            self._own = None
