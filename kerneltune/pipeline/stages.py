"""The two stages of the pipeline: processes that compile, and one process for each device that measures."""

from __future__ import annotations

import heapq
import math
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import msgspec

from kerneltune.errors import KernelTuneError
from kerneltune.messages import Answer, Built, Failed, Finals, M, Message, Order, Request, Turns
from kerneltune.running.child_process import MODULE
from kerneltune.running.children import Child, hang_of_kernel

COMPILE_CHILD = (MODULE, "kerneltune.pipeline.compile_child")
MEASURING_CHILD = (MODULE, "kerneltune.measuring.child")
NICENESS = 5  # how far compilers besides the first are below this process


class Compiling(Protocol):
    """The compiling stage: several orders at the same time."""

    workers: int

    def submit(self, order: Order) -> Future[Built | Failed]:
        """Start a compilation."""

    def close(self) -> None:
        """End its processes."""


class Measuring(Protocol):
    """The measuring stage: several devices at the same time."""

    slots: int  # devices
    depth: int  # requests that it takes at a time: the next waits beside a device

    def submit(
        self, number: int, order: Order, built: Built | None, best: float | None
    ) -> Future[Answer | Failed]:
        """Start one candidate.

        Args:
            number: The trial's.
            order: The order.
            built: Its machine code, if a compiler made any.
            best: The least time so far, in milliseconds.
        """

    def close(self) -> None:
        """End its processes."""


@dataclass(frozen=True)
class Commands:
    """The commands of the children."""

    compile: Sequence[str] = COMPILE_CHILD
    measure: Sequence[str] = MEASURING_CHILD


class Compilers:
    """Processes that compile, each for one order at a time.

    The first process has this one's priority, and an order goes to it if it is free. The others have a lower
    one, so that the first order, on which the first measurement waits, has a core of its own, and so have the
    processes that measure.

    Args:
        workers: How many.
        command: Their command.
        timeout: Seconds for one compilation.
        first: The first process, if it was started before.
    """

    def __init__(
        self,
        workers: int,
        command: Sequence[str] = COMPILE_CHILD,
        timeout: float = 300.0,
        first: Child | None = None,
    ) -> None:
        self.workers = workers
        self._timeout = timeout
        self._pool = ThreadPoolExecutor(workers, "kerneltune-compile")
        others = [Child(command, niceness=NICENESS) for _ in range(workers - 1)]
        self._all = [first or Child(command), *others]
        self._free = list(range(workers))  # a heap
        self._lock = threading.Lock()
        self._closed = False

    def submit(self, order: Order) -> Future[Built | Failed]:
        """Start a compilation."""
        return self._pool.submit(self._compiled, order)

    def warm_up(self) -> None:
        """Start the processes, without waiting."""
        barrier, first_started = threading.Barrier(self.workers), threading.Event()

        def begin() -> None:
            with self._taken() as number:
                barrier.wait(30)  # so that each thread begins another one
                if number:
                    first_started.wait(1)
                try:
                    if not self._closed:
                        self._all[number].start()
                finally:
                    first_started.set()

        for _ in range(self.workers):
            self._pool.submit(begin)

    def _compiled(self, order: Order) -> Built | Failed:
        if self._closed:
            return Failed(failure="the run was ended")
        with self._taken() as number:
            return compiled(self._all[number], order, self._timeout)

    @contextmanager
    def _taken(self) -> Iterator[int]:
        """The number of a process that no other thread has: the first that is free."""
        with self._lock:
            number = heapq.heappop(self._free)
        try:
            yield number
        finally:
            with self._lock:
                heapq.heappush(self._free, number)

    def close(self) -> None:
        """End the processes."""
        self._closed = True
        _end(self._pool, self._all)


class Devices:
    """One measuring process for each device.

    Args:
        children: The processes, not yet started.
        timeout: Seconds for one candidate.
        ready: Set when what their set-up names is there; None: it is.
    """

    def __init__(
        self, children: Sequence[Child], timeout: float, ready: threading.Event | None = None
    ) -> None:
        self.slots = len(children)
        self._ready, self._closed = ready, False
        self.depth = 2 * self.slots
        self._timeout = timeout
        self._fastest: float | None = None
        self._free = deque(children)
        self._all = list(children)
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(self.slots, "kerneltune-measure")

    def start(self) -> None:
        """Start all processes, without waiting."""

        def begin() -> None:
            with self._taken() as child:
                child.begin()
                if self._ready is not None:
                    self._ready.wait()
                if not self._closed:
                    child.start()

        for _ in self._all:
            self._pool.submit(begin)

    def submit(
        self, number: int, order: Order, built: Built | None, best: float | None
    ) -> Future[Answer | Failed]:
        """Start one candidate on a free device."""
        if built is not None and built.cubin and order.kind != "triton":
            order = msgspec.structs.replace(order, source="")  # machine code stands for it
        return self._pool.submit(self._measured, Request(trial=number, order=order, built=built, best=best))

    def in_turns(self, request: Finals) -> Turns | Failed:
        """The times of finalists on one device."""

        def turned() -> Turns | Failed:
            with self._taken() as child:
                return measured(child, request, Turns, self._timeout)

        return self._pool.submit(turned).result()

    def _measured(self, request: Request) -> Answer | Failed:
        with self._taken() as child:
            known = [time for time in (request.best, self._fastest) if time is not None]
            request = msgspec.structs.replace(request, best=min(known, default=None))
            completed = self._completed(request)
            if isinstance(completed, Failed):
                return completed
            request, loading = completed
            answer = measured(child, request, Answer, self._timeout, loading)
            if (
                isinstance(answer, Answer) and answer.timing is not None
            ):  # the next one waits, and should know
                self._fastest = min(answer.timing.median, self._fastest or math.inf)
            return answer

    def _completed(self, request: Request) -> tuple[Request, float] | Failed:
        """A request with its input, and the seconds that reading it may take; or why there is no input."""
        return request, 0.0

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
        self._closed = True
        if self._ready is not None:
            self._ready.set()
        _end(self._pool, self._all)


def _end(pool: ThreadPoolExecutor, children: Sequence[Child]) -> None:
    """End processes and the threads that wait for them."""
    pool.shutdown(wait=False, cancel_futures=True)
    for child in children:
        child.end()
    pool.shutdown(wait=True)
    for child in children:  # which a thread may have started meanwhile
        child.end()


def measured(
    child: Child, request: Message, kind: type[M], timeout: float, loading: float = 0.0
) -> M | Failed:
    """A child's answer; a failure after other candidates is tried once more in a fresh process.

    A kernel may spoil another's memory without being noticed, so a failure counts only in a process that has
    run nothing else.
    """
    used = child.answered > 0
    answer = child.ask(request, kind, timeout, loading)
    if used and isinstance(answer, Failed) and answer.lost and not answer.timed_out:
        child.end()
        answer = child.ask(request, kind, timeout, loading)
    if isinstance(answer, Failed):
        return msgspec.structs.replace(answer, failure=hang_of_kernel(answer))
    return answer


def compiled(child: Child, order: Order, timeout: float) -> Built | Failed:
    """A child's machine code."""
    try:
        answer = child.ask(order, Built, timeout)
    except KernelTuneError as error:
        return Failed(failure=f"the compiler failed: {error}")
    if isinstance(answer, Failed) and answer.died:
        return Failed(failure=f"the compiler failed: {answer.failure}", died=True)
    return answer
