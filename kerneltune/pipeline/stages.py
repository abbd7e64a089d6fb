"""The two stages of the pipeline: processes that compile, and one process for each device that measures."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

from kerneltune.errors import KernelTuneError
from kerneltune.pipeline.children import Child, LostError
from kerneltune.running.child_process import MODULE

COMPILE_CHILD = (MODULE, "kerneltune.pipeline.compile_child")
MEASURING_CHILD = (MODULE, "kerneltune.measuring.child")
Answer = dict[str, Any]


class Compiling(Protocol):
    """The compiling stage: several orders at the same time."""

    workers: int

    def submit(self, order: Mapping[str, Any]) -> Future[Answer]:
        """Start a compilation; its answer has ``failure`` or what was built."""

    def close(self) -> None:
        """End its processes."""


class Measuring(Protocol):
    """The measuring stage: several devices at the same time."""

    slots: int  # devices
    depth: int  # requests that it takes at a time: the next waits beside a device

    def submit(self, request: Mapping[str, Any]) -> Future[Answer]:
        """Start one request."""

    def close(self) -> None:
        """End its processes."""


@dataclass(frozen=True)
class Commands:
    """The commands of the children."""

    compile: Sequence[str] = COMPILE_CHILD
    measure: Sequence[str] = MEASURING_CHILD


class Compilers:
    """Processes that compile, each for one order at a time.

    Args:
        workers: How many.
        command: Their command.
        timeout: Seconds for one compilation.
    """

    def __init__(self, workers: int, command: Sequence[str] = COMPILE_CHILD, timeout: float = 300.0) -> None:
        self.workers = workers
        self._command, self._timeout = command, timeout
        self._pool = ThreadPoolExecutor(workers, "kerneltune-compile")
        self._own = threading.local()
        self._all: list[Child] = []
        self._lock = threading.Lock()
        self._closed = False

    def submit(self, order: Mapping[str, Any]) -> Future[Answer]:
        """Start a compilation; its answer has ``failure`` or what was built."""
        return self._pool.submit(self._compiled, dict(order))

    def warm_up(self) -> None:
        """Start the processes, without waiting."""
        barrier = threading.Barrier(self.workers)

        def begin() -> None:
            barrier.wait(30)  # so that each thread begins its own
            self._child().start()

        for _ in range(self.workers):
            self._pool.submit(begin)

    def _child(self) -> Child:
        child: Child | None = getattr(self._own, "child", None)
        if child is None:
            child = self._own.child = Child(self._command)
            with self._lock:
                self._all.append(child)
        return child

    def _compiled(self, order: dict[str, Any]) -> Answer:
        if self._closed:
            return {"failure": "the run was ended"}
        started = perf_counter()
        try:
            answer = self._child().ask(order, self._timeout)
        except (LostError, KernelTuneError) as error:
            answer = {"failure": f"the compiler failed: {error}", "died": isinstance(error, LostError)}
        return {**answer, "took": perf_counter() - started}

    def close(self) -> None:
        """End the processes."""
        self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            for child in self._all:
                child.end()
        self._pool.shutdown(wait=True)


class Devices:
    """One measuring process for each device.

    Args:
        children: The processes, not yet started.
        timeout: Seconds for one candidate.
    """

    def __init__(self, children: Sequence[Child], timeout: float) -> None:
        self.slots = len(children)
        self.depth = 2 * self.slots
        self._timeout = timeout
        self._fastest: float | None = None
        self._free = deque(children)
        self._all = list(children)
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(self.slots, "kerneltune-measure")

    def start(self) -> Future[dict[str, Any]]:
        """Start all processes, without waiting; gives the facts of the first."""

        def begin() -> dict[str, Any]:
            with self._taken() as child:
                child.start()
                return child.facts

        begun = [self._pool.submit(begin) for _ in self._all]
        return begun[0]

    def submit(self, request: Mapping[str, Any]) -> Future[Answer]:
        """Start one request on a free device."""
        return self._pool.submit(self._measured, dict(request))

    def _measured(self, request: dict[str, Any]) -> Answer:
        with self._taken() as child:
            known = [time for time in (request.get("best"), self._fastest) if time is not None]
            answer = measured(child, {**request, "best": min(known, default=None)}, self._timeout)
            if "timing" in answer:  # the next request is waiting, and should know
                self._fastest = min(answer["timing"]["median"], self._fastest or math.inf)
            return answer

    @contextmanager
    def _taken(self) -> Iterator[Child]:
        """A process that no other thread has: the one that was free for the longest time."""
        with self._lock:
            child = self._free.popleft()
        try:
            yield child
        finally:
            with self._lock:
                self._free.append(child)

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for child in self._all:
            child.end()
        self._pool.shutdown(wait=True)


def measured(child: Child, request: dict[str, Any], timeout: float) -> Answer:
    """A child's answer; what failed after others ran in the same process is tried once more in a fresh one.

    A kernel may spoil another's memory without being noticed, so a failure counts only in a process that has
    run nothing else.
    """
    used = child.answered > 0
    answer = _asked(child, request, timeout)
    if used and answer.get("lost") and not answer.get("timed_out"):
        child.end()
        answer = _asked(child, request, timeout)
    return answer


def _asked(child: Child, request: dict[str, Any], timeout: float) -> Answer:
    try:
        return child.ask(request, timeout)
    except LostError as error:
        reason = f"{error} (a hang in the kernel?)" if error.timed_out else str(error)
        limit = timeout if error.timed_out else None
        return {"failure": reason, "lost": True, "died": True, "timed_out": error.timed_out, "limit": limit}
