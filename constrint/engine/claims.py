"""Locks of the operating system by which one process at a time compiles a part; they end with the process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from constrint.engine import cache

if TYPE_CHECKING:
    from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


def _lock(file: int, is_waiting: bool) -> bool:
    """Lock a file; False if another process holds the lock. If files cannot be locked, returns True."""
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if is_waiting else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        except OSError:  # the file system has no locks
            return True
        return True
    import msvcrt

    while True:
        try:
            msvcrt.locking(file, msvcrt.LK_LOCK if is_waiting else msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore] # Windows
        except OSError:
            if not is_waiting:
                return False
        else:
            return True


def _open(part: str) -> int | None:
    from constrint.support.own_files import open_lock

    folder = cache.writable()
    if folder is None:
        return None
    try:
        return open_lock(folder / f"{cache.name(part)}.lock")
    except OSError:
        return None


@contextmanager
def claimed(part: str) -> Iterator[None]:
    """Hold the claim on compiling a part; waits until a process that has it ends."""
    file = _open(part)
    try:
        if file is not None:
            _lock(file, is_waiting=True)
        yield
    finally:
        if file is not None:
            os.close(file)


def is_claimed(part: str) -> bool:
    """Whether another process is compiling a part."""
    file = _open(part)
    if file is None:
        return False
    try:
        return not _lock(file, is_waiting=False)
    finally:
        with suppress(OSError):
            os.close(file)
