"""Compiling in a process of its own: no search waits for it, and it ends though the search ends first.

    python -m constrint.search.background_compile PART

compiles a part ("engine", "learn", "learn-sums") into the cache. A search starts that once it has taken
some seconds, goes on interpreted, and is handed over where the machine code is there before its end.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import sleep, time
from typing import TYPE_CHECKING

from constrint.engine import cache
from constrint.support.deadline import Deadline

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

BEGIN_AFTER = 2.0  # seconds of interpreted search
LOADING = (
    1.0  # seconds that loading machine code may take: no search begins that later than this before its end
)
STALE = 900.0  # seconds after which another process that compiles is taken for dead
LOOK = 0.05
LOWER_PRIORITY = 5

ABOUT = {
    "engine": "the search engine, once on this machine (about half a minute)",
    "learn": "the learning search, once on this machine (about a minute)",
    "learn-sums": "the learning search, once on this machine (about a minute)",
}
_started: dict[str, subprocess.Popen[bytes]] = {}


def is_ready(part: str, spent: float, deadline: Deadline) -> bool:
    """Whether a search is to be handed over now; starts to compile where it proves long.

    Args:
        part: What it would be handed over to.
        spent: Seconds of interpreted search so far.
        deadline: When it must end.
    """
    if deadline.left < LOADING:
        return False
    if cache.is_filled(part):
        return True
    if spent < BEGIN_AFTER:
        return False
    # Where no other process can compile, this one does, unless that could take longer than it may.
    return not begin(part) and not deadline.is_set


def begin(part: str) -> bool:
    """Let another process compile a part; False where that cannot be or has failed."""
    process = _started.get(part)
    if process is not None:
        return process.poll() is None or cache.is_filled(part)
    if getattr(sys, "frozen", False) or not sys.executable:
        return False
    import subprocess  # loaded by few searches

    try:
        if not _claim(part):
            return True
        _started[part] = subprocess.Popen(
            [sys.executable, "-m", "constrint.search.background_compile", part],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": _path()}, start_new_session=True,
        )  # fmt: skip
    except OSError:
        return False
    sys.stderr.write(f"constrint: compiling {ABOUT[part]}, in the background…\n")
    sys.stderr.flush()
    return True


@contextmanager
def without_ctrl_c() -> Iterator[None]:
    """Keep Ctrl-C until machine code has been loaded: LLVM's callbacks swallow it, or the process dies."""
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
    """Where there is a deadline, let a part be compiled before it; raises `Stopped` when it comes first."""
    if not deadline.is_set or cache.is_filled(part):
        return
    while begin(part) and not cache.is_filled(part):
        deadline.check()
        sleep(LOOK)


def _path() -> str:
    """Where the other process finds this package."""
    from pathlib import Path

    own = str(Path(__file__).resolve().parents[2])
    return os.pathsep.join([own, *filter(None, [os.environ.get("PYTHONPATH")])])


def _mark(part: str) -> Path:
    return cache.folder(part) / "under-way"


def _claim(part: str) -> bool:
    """Whether this is the one process that compiles a part."""
    mark = _mark(part)
    mark.parent.mkdir(parents=True, exist_ok=True)
    if mark.exists() and time() - mark.stat().st_mtime > STALE:
        mark.unlink(missing_ok=True)
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def main(part: str) -> None:
    """Compile a part."""
    try:
        if hasattr(os, "nice"):
            os.nice(LOWER_PRIORITY)
        if part == "engine":
            from constrint.engine.compiled import load

            load()
        else:
            from constrint.learning.compiled import load as load_learning

            load_learning(part == "learn")
    finally:
        _mark(part).unlink(missing_ok=True)


if __name__ == "__main__":
    main(sys.argv[1])
