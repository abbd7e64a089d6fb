"""The memory limit of a command: all that it does, searches too."""

from __future__ import annotations

import _thread
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from constrint.support.limits import Budget, ReadingStopped, resident_bytes

INTERVAL = 0.02
"""Seconds between two checks, in which a fast search takes some 20 MB."""


@contextmanager
def watched_memory(budget: Budget) -> Iterator[None]:
    """Stop what is done inside, by an interruption, once it takes more memory than the budget allows.

    Readers check themselves, and say where in the text they were. Workers in other processes do not count.

    Raises:
        ReadingStopped: The limit was reached.
    """
    memory = budget.memory or 0
    most = (resident_bytes() or 0) + memory
    ended, reached = Event(), Event()

    def watch() -> None:
        while not ended.wait(INTERVAL):
            if (resident_bytes() or 0) > most:
                reached.set()
                _thread.interrupt_main()
                return

    watcher = Thread(target=watch, name="memory", daemon=True)
    watcher.start()
    try:
        yield
    except KeyboardInterrupt:
        if not reached.is_set():
            raise
        raise ReadingStopped(f"the memory limit of {memory:,} bytes was reached") from None
    finally:
        ended.set()
        with suppress(KeyboardInterrupt):  # that of the watcher may come when all is over
            watcher.join()
