"""Work that makes many objects and keeps them all, without the garbage collector walking through them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()
_under_way = 0  # calls that hold the collector off
_was_enabled = False


@contextmanager
def uncollected() -> Iterator[None]:
    """Hold off the search for reference cycles, in all threads, until the last such work ends.

    Reference counts go on freeing what nothing refers to. What a reader makes is kept and has no cycles, and
    each walk through it takes up to half a second, without a deadline check.
    """
    global _under_way, _was_enabled
    with _lock:
        if not _under_way:
            _was_enabled = gc.isenabled()
            gc.disable()
        _under_way += 1
    try:
        yield
    finally:
        with _lock:
            _under_way -= 1
            if not _under_way and _was_enabled:
                gc.enable()
