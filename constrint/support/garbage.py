"""Work that makes many objects and keeps them all, without the garbage collector walking through them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()
_under_way = 0  # calls that hold the collector off
_was_enabled = False
_builders = 0  # calls that have raised its thresholds
_RARE = 100_000, 20, 20
_thresholds = _RARE


@contextmanager
def uncollected() -> Iterator[None]:
    """Hold off the search for reference cycles, in all threads, until the last such work ends.

    Reference counts go on freeing what nothing refers to. What a reader makes is kept and has no cycles, and
    each walk through it takes up to half a second, without a deadline check. So it counts as old at the end.
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
                _make_old()
                gc.enable()


def _make_old() -> None:
    """Put all objects into the oldest generation, as a walk through all of them would do, without one."""
    if not gc.get_freeze_count():  # else the program has frozen objects, which have to stay so
        gc.freeze()
        gc.unfreeze()


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Search for reference cycles rarely, in all threads, until the last such work ends.

    Lowering 100,000 constraints takes half of the time so. It makes some cycles, so memory would grow by a
    quarter without any search.
    """
    global _builders, _thresholds
    with _lock:
        if not _builders:
            _thresholds = gc.get_threshold()
            if 0 < _thresholds[0] < _RARE[0]:
                gc.set_threshold(*_RARE)
        _builders += 1
    try:
        yield
    finally:
        with _lock:
            _builders -= 1
            if not _builders and gc.get_threshold() == _RARE:  # else others have set them since
                gc.set_threshold(*_thresholds)
