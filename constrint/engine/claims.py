"""One process at a time compiles a part: locks of the operating system, which end with their process."""

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
    """Lock a file; False where another process has it. Where files cannot be locked, nobody waits."""
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if is_waiting else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
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
    folder = cache.writable()
    if folder is None:
        return None
    try:
        return os.open(folder / f"{cache.name(part)}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return None


@contextmanager
def claimed(part: str) -> Iterator[None]:
    """Compile a part: who comes second waits until the first has ended, or was killed."""
    file = _open(part)
    try:
        if file is not None:
            _lock(file, is_waiting=True)
        yield
    finally:
        if file is not None:
            os.close(file)


def is_claimed(part: str) -> bool:
    """Whether another process compiles a part at present."""
    file = _open(part)
    if file is None:
        return False
    try:
        return not _lock(file, is_waiting=False)
    finally:
        with suppress(OSError):
            os.close(file)
