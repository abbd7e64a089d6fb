"""Temporary folders of a run, removed at its end, or by the next run if it was killed.

A running process holds a lock on a file in its folder, and the system releases the lock when the process
ends. So an unlocked folder was left behind.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: nothing is swept
    fcntl = None  # type: ignore[assignment]

PREFIX = "kerneltune-trials-"
LOCK = "lock"
NAME = re.compile(re.escape(PREFIX) + r"[a-z0-9_]+")
EMPTY_SECONDS = 3600.0  # age at which a folder without a lock file counts as left behind


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new private folder; folders of killed runs are removed first."""
    root = Path(tempfile.gettempdir())
    sweep(root)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
    lock = _locked(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def sweep(root: Path) -> int:
    """Remove this user's folders without a living run; returns their number."""
    if fcntl is None:
        return 0
    try:
        names = [entry.name for entry in os.scandir(root) if NAME.fullmatch(entry.name)]
    except OSError:
        return 0
    return sum(_removed(root / name) for name in names)


def _locked(folder: Path) -> int | None:
    """Make and lock a folder's lock file; it is renamed after locking, so no sweep finds it unlocked."""
    if fcntl is None:
        return None
    aside = folder / f"{LOCK}.new"
    handle = os.open(aside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        aside.rename(folder / LOCK)
    except OSError:  # no locks on this file system: no sweep can lock the file either
        os.close(handle)
        return None
    return handle


def _removed(folder: Path) -> bool:
    """Remove one folder if it is this user's and its lock is free."""
    try:
        about = folder.lstat()
    except OSError:
        return False
    own = stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and not about.st_mode & 0o077
    if not own:
        return False
    try:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        if time.time() - about.st_mtime > EMPTY_SECONDS:
            with suppress(OSError):
                (folder / f"{LOCK}.new").unlink(missing_ok=True)
                folder.rmdir()  # succeeds only if the folder is empty
                return True
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
