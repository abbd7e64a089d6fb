"""Files that this user will trust, in folders where others may have made something of the same name.

A cache, a lock or a temporary file has a place that can be guessed. What stands there is used only if it is a
regular file (no link, pipe or folder) that belongs to this user or to root and that nobody else may write.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
# A link is not followed, and a pipe without a writer does not wait for one.
SAFELY = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def is_own(status: os.stat_result) -> bool:
    """Whether this user or root owns a file or folder."""
    return not hasattr(os, "geteuid") or status.st_uid in (os.geteuid(), 0)


def is_own_folder(path: Path) -> bool:
    """Whether the owner of a folder, and of the link that leads there, is this user or root."""
    try:
        return is_own(path.lstat()) and is_own(path.stat()) and path.is_dir()
    except OSError:
        return False


def own_folder(path: Path) -> Path:
    """Make a folder for this user alone, and return it; raises `OSError` if that is impossible."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    if not is_own_folder(path):
        raise PermissionError(f"{path} belongs to another user, or is not a folder")
    if hasattr(os, "geteuid") and path.stat().st_uid == os.geteuid() and path.stat().st_mode & 0o077:
        path.chmod(0o700)
    return path


def read_own(path: Path) -> tuple[bytes, os.stat_result] | None:
    """A file's content and status; None if it is missing, or anyone else may have written it."""
    try:
        file = os.open(path, os.O_RDONLY | SAFELY)
    except OSError:
        return None
    try:
        status = os.fstat(file)
        others = hasattr(os, "geteuid") and status.st_mode & OTHERS_WRITE
        if not stat.S_ISREG(status.st_mode) or not is_own(status) or others:
            return None
        with os.fdopen(os.dup(file), "rb") as opened:
            return opened.read(), status
    except OSError:
        return None
    finally:
        os.close(file)


def write_own(path: Path, content: bytes) -> None:
    """Write a file whole, for this user alone; raises `OSError`, also where a folder has its name."""
    from constrint.support.placing import replaced

    with replaced(path, private=True) as aside:
        aside.write_bytes(content)


def open_lock(path: Path) -> int:
    """Open a file for a lock, for this user alone; raises `OSError` where something else has its name."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | SAFELY, 0o600)
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode) or not is_own(status):
        os.close(file)
        raise PermissionError(f"{path} belongs to another user, or is no file")
    return file


def temporary_folder(name: str) -> Path:
    """The path of this user's own folder below the temporary folder, which may not exist."""
    import tempfile

    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"{name}-{user}"
