"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from constrint.errors import ModelError


@contextmanager
def placed(path: str | Path) -> Iterator[Path]:
    """A temporary file to write to; renamed to the path on success and removed on failure."""
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        what = "this is a folder" if target.is_dir() else f"there is no folder {target.parent}"
        raise ModelError(f"cannot write {path}: {what}")
    if target.exists() and not target.is_file():  # pipes and devices are written directly
        yield target
        return
    aside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        yield aside
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)
