"""Measuring in this process, and on any executor of `concurrent.futures`."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager

import msgspec

from constrint.support.own_files import open_lock, own_folder, temporary_folder
from kerneltune.errors import KernelTuneError, RunError
from kerneltune.measuring.serving import Server
from kerneltune.messages import Answer, Built, Failed, Finals, Order, Request, SetUp, Turns
from kerneltune.pipeline.stages import Commands, compiled, measured
from kerneltune.running.children import Child, visible_device

try:
    import fcntl
except ImportError:  # Windows: executors there have one task a device
    fcntl = None  # type: ignore[assignment]


class InThisProcess:
    """Measures in a thread of this process: for functions that no child can import by name."""

    slots = depth = 1

    def __init__(self, server: Server) -> None:
        self._server = server
        self._pool = ThreadPoolExecutor(1, "kerneltune-measure")

    def submit(
        self, number: int, order: Order, built: Built | None, best: float | None
    ) -> Future[Answer | Failed]:
        """Start one candidate."""
        request = Request(trial=number, order=order, built=built, best=best)
        return self._pool.submit(self._answered, request)

    def in_turns(self, request: Finals) -> Turns | Failed:
        """The times of finalists."""
        return self._pool.submit(self._turned, request).result()

    def _answered(self, request: Request) -> Answer | Failed:
        answer = self._server.answer(request)
        assert not isinstance(answer, Turns)
        return answer

    def _turned(self, request: Finals) -> Turns | Failed:
        answer = self._server.answer(request)
        assert not isinstance(answer, Answer)
        return answer

    def close(self) -> None:
        """Wait for running work."""
        self._pool.shutdown(wait=True, cancel_futures=True)


class OnExecutor:
    """Compiles and measures as tasks of an executor, such as Dask's, on machines that see the same files.

    Args:
        executor: Any executor of `concurrent.futures`.
        set_up: The first message to measuring processes.
        slots: Tasks at a time.
        timeout: Seconds for one candidate.
        devices: GPUs of each worker's machine that it may use, in turn.
    """

    def __init__(
        self,
        executor: Executor,
        set_up: SetUp,
        slots: int,
        timeout: float,
        devices: tuple[int | None, ...] = (None,),
        commands: Commands | None = None,
    ) -> None:
        self.slots = self.depth = slots
        self._executor, self._set_up, self._timeout = executor, set_up, timeout
        self._devices, self._count = devices, 0
        self._commands = commands or Commands()

    def submit(
        self, number: int, order: Order, built: Built | None, best: float | None
    ) -> Future[Answer | Failed]:
        """Start one candidate as a task."""
        device = self._devices[self._count % len(self._devices)]
        self._count += 1
        request = Request(trial=number, order=order, built=built, best=best)
        task = (self._set_up, request, device, self._timeout, self._commands)
        return self._executor.submit(measured_remotely, *task)

    def close(self) -> None:
        """The executor is its owner's; its workers' children end with them."""


_children: dict[tuple[str, int | None], tuple[tuple[SetUp | None, tuple[str, ...]], Child]] = {}
_lock = threading.Lock()  # of the children: a worker may run tasks in several threads


def measured_remotely(
    set_up: SetUp, request: Request, device: int | None, timeout: float, commands: Commands
) -> Answer | Failed:
    """Compile and measure one candidate in a worker; a device's lock keeps others off it meanwhile."""
    order, built = request.order, request.built
    try:
        if order.kind in ("cuda", "triton") and built is None:
            thread = threading.get_ident()
            made = compiled(_kept(("compile", thread), None, None, commands.compile), order, timeout)
            if isinstance(made, Failed):
                return msgspec.structs.replace(made, trial=request.trial)
            built = made
        with device_lock(device):
            child = _kept(("measure", device), set_up, device, commands.measure)
            whole = msgspec.structs.replace(request, built=built)
            answer = measured(child, whole, Answer, timeout)
        if built is None:
            return answer
        return msgspec.structs.replace(answer, built=msgspec.structs.replace(built, cubin=b""))
    except KernelTuneError as error:
        return Failed(failure=str(error), exit_code=error.exit_code)


def _kept(
    owner: tuple[str, int | None], set_up: SetUp | None, device: int | None, command: Sequence[str]
) -> Child:
    """This worker's child of a thread that compiles, or of a device; one for another case is ended."""
    content = set_up, tuple(command)
    with _lock:
        known = _children.get(owner)
        if known is not None and known[0] == content:
            return known[1]
        child = Child(command, set_up, visible_device(device))
        _children[owner] = content, child
    if known is not None:
        known[1].end()
    return child


@contextmanager
def device_lock(device: int | None) -> Iterator[None]:
    """Hold the lock of a device, which this user's processes on this machine share.

    Raises:
        RunError: The folder of the locks belongs to another user.
    """
    if fcntl is None:
        yield
        return
    try:
        folder = own_folder(temporary_folder("kerneltune"))
        file = open_lock(folder / f"device-{0 if device is None else device}.lock")
    except OSError as error:
        reason = error.strerror or error
        raise RunError(f"the GPU cannot be locked: {reason}; set TMPDIR to a folder of your own") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


@atexit.register
def _end_children() -> None:
    for _, child in _children.values():
        child.end()
