"""Files that take their place only when they are complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from constrint.errors import ModelError


@contextmanager
def placed(path: str | Path) -> Iterator[Path]:
    """A file to write to, which takes its place when all went well and is removed when not."""
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        what = "this is a folder" if target.is_dir() else f"there is no folder {target.parent}"
        raise ModelError(f"cannot write {path}: {what}")
    if target.exists() and not target.is_file():  # a pipe or a device has to be written in its place
        yield target
        return
    aside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        yield aside
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)
