"""Files that may be compressed, and files that are replaced whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, cast

from constrint.errors import ModelError

COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}
"""The modules of Python that read and write compressed files, by ending."""


def opened(path: str | Path, mode: str = "rb") -> BinaryIO:
    """A file, compressed where its ending says so; raises `OSError` if it cannot be opened."""
    module = COMPRESSED.get(Path(path).suffix.lower())
    open_: Callable[..., Any] = open if module is None else import_module(module).open
    return cast("BinaryIO", open_(path, mode))


def damaged(error: Exception, name: str) -> ModelError | None:
    """The error for a compressed file that cannot be expanded; None for any other error."""
    if isinstance(error, EOFError) or type(error).__name__ in ("LZMAError", "BadGzipFile") or _is_zlib(error):
        return ModelError(f"{name}: the compressed file is damaged, or cut short: {error}")
    return None


def _is_zlib(error: Exception) -> bool:
    return type(error).__module__ == "zlib" or str(error) == "Invalid data stream"


def replace(path: str | Path, content: bytes) -> None:
    """Write a file, compressed where its ending says so; a crash leaves the old one. Raises `OSError`."""
    target = Path(path)
    aside = target.with_name(f".{os.getpid()}.{target.name}")  # keeps the ending
    try:
        with opened(aside, "wb") as file:
            file.write(content)
        if target.exists():
            aside.chmod(target.stat().st_mode)
        aside.replace(target)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
