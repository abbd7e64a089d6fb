"""Folders of a run's temporary files, removed with the run, or by the next one where it was killed.

A folder belongs to a run while that holds the lock of the file in it; the system lets go of a lock when its
process ends, however it ends. So what is not locked was left behind.
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
except ImportError:  # Windows: nothing is swept there
    fcntl = None  # type: ignore[assignment]

PREFIX = "kerneltune-trials-"
LOCK = "lock"
NAME = re.compile(re.escape(PREFIX) + r"[a-z0-9_]+")
EMPTY_SECONDS = 3600.0  # after which a folder without a lock is one whose run was killed while it began


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new folder that only this user can read; those of runs that were killed are removed first."""
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
    """Remove this user's folders that no living run has; how many there were."""
    if fcntl is None:
        return 0
    try:
        names = [entry.name for entry in os.scandir(root) if NAME.fullmatch(entry.name)]
    except OSError:
        return 0
    return sum(_removed(root / name) for name in names)


def _locked(folder: Path) -> int | None:
    """Make and lock the folder's lock file; it gets its name when it is locked, so no sweep comes between."""
    if fcntl is None:
        return None
    aside = folder / f"{LOCK}.new"
    handle = os.open(aside, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        aside.rename(folder / LOCK)
    except OSError:  # a file system without locks, which no sweep can lock either
        os.close(handle)
        return None
    return handle


def _removed(folder: Path) -> bool:
    """Remove one folder if it is this user's own and its lock can be had."""
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
                folder.rmdir()  # succeeds where nothing else is in it
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
