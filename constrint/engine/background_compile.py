"""Compilation in a separate process, which finishes even if the search that started it ends first.

    python -m constrint.learning.compile_part PART

compiles a part ("engine", "learn", "jumps", "cuts") into the cache. A search starts it after some seconds,
continues interpreted, and is handed over if the machine code is ready before the search ends. Only
`engine="compiled"` waits for it.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import sleep
from typing import TYPE_CHECKING

from constrint.engine import cache, claims
from constrint.settings import DEFAULT, SearchSettings
from constrint.support.deadline import NEVER, Deadline, beside

if TYPE_CHECKING:
    import subprocess

# Seconds that loading machine code may take: no search begins that later than this before its end.
LOADING = 1.0
CHECK_SECONDS = 0.05
COMPILER = "import sys; from constrint.learning.compile_part import main; main(sys.argv[1])"

_started: dict[str, subprocess.Popen[bytes]] = {}
_STARTING = threading.Lock()


def is_ready(part: str, spent: float, deadline: Deadline, rules: SearchSettings = DEFAULT.search) -> bool:
    """Whether a search should be handed over now; starts the compilation if the search proves long.

    Args:
        part: The compiled part that would take over.
        spent: Seconds of interpreted search so far.
        deadline: End of the search.
        rules: The settings.
    """
    if deadline.left < LOADING:
        return False
    if cache.is_filled(part):
        return True
    if spent < rules.seconds_before_compiling:
        return False
    # If no other process can compile, this one does, unless a deadline is set.
    return not begin(part) and not deadline.is_set


def is_due(part: str, spent: float, deadline: Deadline, rules: SearchSettings) -> bool:
    """Whether a search that was interpreted for some seconds goes on compiled; see `is_ready`."""
    is_long = spent >= rules.seconds_before_loading
    return cache.is_loaded(part) or (is_long and is_ready(part, spent, deadline, rules))


def obtain(part: str, load: Callable[[], None], deadline: Deadline) -> None:
    """Have a part in this process: compiled in another one where it is nowhere yet, then loaded."""
    if not cache.is_loaded(part):
        wait(part, deadline)
        loaded(load, deadline)


def load_engine() -> None:
    """Load the search engine, or compile it."""
    from constrint.engine.compiled import load

    load()


def begin(part: str) -> bool:
    """Start another process that compiles a part; False if that is impossible or has failed."""
    with _STARTING:
        process = _started.get(part)
        if process is not None:
            return process.poll() is None or cache.is_filled(part)
        from constrint.support.children import can_start, environment, python_command

        if not can_start() or cache.writable() is None:
            return False
        if claims.is_claimed(part):
            return True
        import subprocess  # imported late: few searches need it

        try:
            _started[part] = subprocess.Popen(
                python_command(COMPILER, part),
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env=environment(), start_new_session=True,
            )  # fmt: skip
        except OSError:
            return False
    sys.stderr.write(f"constrint: compiling {cache.ABOUT[part]}, in the background…\n")
    sys.stderr.flush()
    return True


@contextmanager
def loading(deadline: Deadline = NEVER) -> Iterator[None]:
    """Import, load or compile a part: one thread at a time, and with Ctrl-C deferred.

    Raises `Stopped` if other threads do so until the deadline.
    """
    with without_ctrl_c():
        lock = cache.LOADING
        while not lock.acquire(timeout=CHECK_SECONDS):
            deadline.check()
        try:
            yield
        finally:
            lock.release()


def loaded(load: Callable[[], None], deadline: Deadline = NEVER) -> None:
    """Call what imports, loads or compiles a part, as `loading` does; raises `Stopped` at the deadline."""

    def load_here() -> None:
        with loading(deadline):
            load()

    beside(load_here, deadline)


@contextmanager
def without_ctrl_c() -> Iterator[None]:
    """Defer Ctrl-C while machine code is loaded.

    LLVM's callbacks would swallow it, or the process would die.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is None:
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)


def wait(part: str, deadline: Deadline) -> None:
    """Wait for another process that compiles a part; raises `Stopped` at the deadline.

    Ctrl-C ends the wait at once. The other process continues, for the next search.
    """
    while not cache.is_loaded(part) and not cache.is_filled(part) and begin(part):
        deadline.check()
        sleep(CHECK_SECONDS)
