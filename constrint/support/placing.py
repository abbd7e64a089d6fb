"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from constrint.errors import ModelError
from constrint.support.files import written

LONGEST_ENDING = 40  # bytes of an ending that a temporary file has too: the names of formats are shorter
PERMISSIONS = 0o777  # as by writing into a file, a changed one loses the right to run as its owner


@contextmanager
def placed(path: str | Path) -> Iterator[Path]:
    """As `replaced`; raises `ModelError` where the path cannot be written, or its disk is full."""
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        what = "this is a folder" if target.is_dir() else f"there is no folder {target.parent}"
        raise ModelError(f"cannot write {path}: {what}")
    try:
        with replaced(target) as aside:
            yield aside
    except BrokenPipeError:
        raise
    except OSError as error:
        raise ModelError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None


@contextmanager
def replaced(path: str | Path, *, private: bool = False) -> Iterator[Path]:
    """A temporary file to write to, with the ending of the path: new, empty, and under a random name.

    On success it is renamed to the path, with the mode of the file that was there, before which only this
    user can read it; on failure it is removed. Pipes and devices are written directly.

    Args:
        path: The file to replace.
        private: Replace whatever has the name, even a pipe, by a file for this user alone.
    """
    target = Path(path)
    if not target.name:  # ".", "/" and the like
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    old = target.stat() if target.exists() and not private else None
    if old is not None and not target.is_file() and not target.is_dir():
        yield target
        return
    aside = _new_file(target, 0o600 if private or old is not None else 0o666)
    try:
        yield aside
        if old is not None:
            _give_mode(aside, old)
        aside.replace(target)
    except OSError as error:
        if error.filename is None or error.filename == str(aside):
            error.filename, error.filename2 = str(target), None
        raise
    finally:
        aside.unlink(missing_ok=True)


def replace(path: str | Path, content: bytes) -> None:
    """Write a file, compressed where its ending says so; see `replaced`. Raises `OSError`."""
    with replaced(path) as aside, written(aside) as file:
        file.write(content)


def reserve(path: Path) -> None:
    """Take the space of a file that is to be written through memory.

    A full disk is an `OSError` here; later, a write to memory would end the process.
    """
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
            except OSError as error:
                if error.errno not in (
                    errno.EOPNOTSUPP,
                    errno.EINVAL,
                    errno.ENOSYS,
                ):  # this file system cannot
                    raise


def _new_file(target: Path, mode: int) -> Path:
    """An empty file beside the target, which no other process or thread has, with the target's ending."""
    endings = ("".join(target.suffixes[-2:]), target.suffix, "")
    ending = next(one for one in endings if len(os.fsencode(one)) <= LONGEST_ENDING)
    aside = target.with_name(f".{os.urandom(8).hex()}{ending}")
    # O_EXCL also refuses a link of that name.
    os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode))
    return aside


def _give_mode(aside: Path, old: os.stat_result) -> None:
    """Give a file the owner and mode of another, but no rights to a group that had none."""
    mode, new = old.st_mode & PERMISSIONS, aside.stat()
    if hasattr(os, "chown") and (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(OSError):  # only root can give files away
            os.chown(aside, old.st_uid, old.st_gid)
        if aside.stat().st_gid != old.st_gid:
            mode &= ~0o070
    aside.chmod(mode)
