"""Files that may be compressed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from os.path import splitext
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from constrint.errors import ModelError

if TYPE_CHECKING:
    from pathlib import Path

COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}
"""The modules of Python that read and write compressed files, by ending."""


def opened(path: str | Path, mode: str = "rb") -> BinaryIO:
    """A file, compressed where its ending says so; raises `OSError` if it cannot be opened."""
    module = COMPRESSED.get(splitext(path)[1].lower())
    open_: Callable[..., Any] = open if module is None else import_module(module).open
    return cast("BinaryIO", open_(path, mode))


def damaged(error: Exception, name: str) -> ModelError | None:
    """The error for a compressed file that cannot be expanded; None for any other error."""
    if isinstance(error, EOFError) or type(error).__name__ in ("LZMAError", "BadGzipFile") or _is_zlib(error):
        return ModelError(f"{name}: the compressed file is damaged, or cut short: {error}")
    return None


def _is_zlib(error: Exception) -> bool:
    return type(error).__module__ == "zlib" or str(error) == "Invalid data stream"
