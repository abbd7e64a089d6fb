"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from constrint.errors import ModelError
from constrint.support.files import opened


@contextmanager
def placed(path: str | Path) -> Iterator[Path]:
    """As `replaced`; raises `ModelError` where the path is a folder, or its folder is missing."""
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        what = "this is a folder" if target.is_dir() else f"there is no folder {target.parent}"
        raise ModelError(f"cannot write {path}: {what}")
    with replaced(target) as aside:
        yield aside


@contextmanager
def replaced(path: str | Path) -> Iterator[Path]:
    """A temporary file to write to, with the ending of the path.

    On success it is renamed to the path, with the mode of the file that was there; on failure it is removed.
    Pipes and devices are written directly.
    """
    target = Path(path)
    is_old = target.exists()
    if is_old and not target.is_file() and not target.is_dir():
        yield target
        return
    aside = target.with_name(f".{os.getpid()}.{target.name}")
    try:
        yield aside
        if is_old:
            aside.chmod(target.stat().st_mode)
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


def replace(path: str | Path, content: bytes) -> None:
    """Write a file, compressed where its ending says so; see `replaced`. Raises `OSError`."""
    with replaced(path) as aside, opened(aside, "wb") as file:
        file.write(content)
