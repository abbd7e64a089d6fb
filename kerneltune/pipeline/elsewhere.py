"""Measuring in this process, and on any executor of `concurrent.futures`."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from constrint.support.own_files import open_lock, own_folder, temporary_folder
from kerneltune.errors import KernelTuneError, RunError
from kerneltune.measuring.serving import Server
from kerneltune.pipeline.children import Child, LostError, visible_device
from kerneltune.pipeline.stages import Answer, Commands, measured

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

    def submit(self, request: Mapping[str, Any]) -> Future[Answer]:
        """Start one request."""
        return self._pool.submit(self._server.answer, dict(request))

    def close(self) -> None:
        """Wait for what runs."""
        self._pool.shutdown(wait=True, cancel_futures=True)


class OnExecutor:
    """Compiles and measures as tasks of an executor, such as Dask's, on machines that see the same files.

    Args:
        executor: Any executor of `concurrent.futures`.
        set_up: What measuring processes are sent first.
        slots: Tasks at a time.
        timeout: Seconds for one candidate.
        devices: GPUs of each worker's machine that it may use, in turn.
    """

    def __init__(
        self,
        executor: Executor,
        set_up: Mapping[str, Any],
        slots: int,
        timeout: float,
        devices: tuple[int | None, ...] = (None,),
        commands: Commands | None = None,
    ) -> None:
        self.slots = self.depth = slots
        self._executor, self._set_up, self._timeout = executor, dict(set_up), timeout
        self._devices, self._count = devices, 0
        self._commands = commands or Commands()

    def submit(self, request: Mapping[str, Any]) -> Future[Answer]:
        """Start one candidate as a task."""
        device = self._devices[self._count % len(self._devices)]
        self._count += 1
        commands = (list(self._commands.compile), list(self._commands.measure))
        task = (self._set_up, dict(request), device, self._timeout, commands)
        return self._executor.submit(measured_remotely, *task)

    def close(self) -> None:
        """The executor is its owner's; its workers' children end with them."""


_children: dict[tuple[str, int | None], tuple[str, Child]] = {}
_lock = threading.Lock()  # of the children: a worker may run tasks in several threads


def measured_remotely(
    set_up: dict[str, Any],
    request: dict[str, Any],
    device: int | None,
    timeout: float,
    commands: tuple[list[str], list[str]],
) -> Answer:
    """Compile and measure one candidate in a worker; a device's lock keeps others off it meanwhile."""
    order = request["order"]
    built = request.get("built") or {}
    try:
        if order["kind"] in ("cuda", "triton") and not built:
            thread = threading.get_ident()
            built = _kept(("compile", thread), None, None, commands[0]).ask(order, timeout)
            if "failure" in built:
                return {**built, "trial": request["trial"]}
        with device_lock(device):
            child = _kept(("measure", device), set_up, device, commands[1])
            answer = measured(child, {**request, "built": built}, timeout)
        return {**answer, "built": {k: v for k, v in built.items() if k != "cubin"}}
    except LostError as error:
        return {"failure": f"the compiler failed: {error}", "died": True}
    except KernelTuneError as error:
        return {"failure": str(error), "exit_code": error.exit_code}


def _kept(
    owner: tuple[str, int | None], set_up: dict[str, Any] | None, device: int | None, command: list[str]
) -> Child:
    """This worker's child of a thread that compiles, or of a device; one for another case is ended."""
    content = hashlib.sha256(json.dumps([set_up, command]).encode()).hexdigest()
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
