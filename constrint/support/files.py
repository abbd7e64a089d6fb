"""Files that users name: opened without waiting for ever, read to a limit, expanded where compressed.

Every reader of both packages reads users' files by `opened` and `read_stream` or `read_file`. A pipe is read
as a file is, a device up to the limit; a folder, and a pipe that nobody writes to, are errors.
"""

from __future__ import annotations

import io
import os
import select
import stat
from collections.abc import Callable
from errno import EISDIR, ETIMEDOUT
from importlib import import_module
from os.path import splitext
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from constrint.errors import ModelError

if TYPE_CHECKING:
    from pathlib import Path

COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}
"""The modules of Python that read and write compressed files, by ending."""
PATIENCE = 30.0
"""Seconds until a pipe without a writer is an error."""
MOST_BYTES = 200_000_000
"""The most bytes of a file without a limit of its own; `Limits.bytes` is the same for models."""
PIECE = 1 << 20


class TooLargeError(OSError):
    """A file is larger than what is read."""


def opened(path: str | Path, patience: float = PATIENCE) -> BinaryIO:
    """A file to read, expanded where its ending says so; raises `OSError` if it cannot be opened.

    Args:
        path: The file, a pipe or a device.
        patience: Seconds after which a pipe without content raises `TimeoutError`.
    """
    raw = _opened(path, patience)
    module = COMPRESSED.get(splitext(path)[1].lower())
    if module is None:
        return raw
    open_: Callable[..., Any] = import_module(module).open
    try:
        return _Expanded(open_(raw, "rb"), raw)
    except BaseException:
        raw.close()
        raise


def written(path: str | Path) -> BinaryIO:
    """A file to write, compressed where its ending says so; raises `OSError` if it cannot be opened."""
    module = COMPRESSED.get(splitext(path)[1].lower())
    open_: Callable[..., object] = open if module is None else import_module(module).open
    return cast("BinaryIO", open_(path, "wb"))


def read_file(path: str | Path, most: int = MOST_BYTES, patience: float = PATIENCE) -> bytes:
    """The bytes of a file; raises `OSError` if it cannot be read, or has more than `most` bytes."""
    pieces, length = [], 0
    with opened(path, patience) as file:
        while piece := file.read(PIECE):
            length += len(piece)
            if length > most:
                raise TooLargeError(None, f"this has more than {most:,} bytes, the most that is read")
            pieces.append(piece)
    return b"".join(pieces)


def _opened(path: str | Path, patience: float) -> BinaryIO:
    """A file that is opened without waiting for the other end of a pipe."""
    name = os.fspath(path)
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    file = os.open(name, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
    try:
        mode = os.fstat(file).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR), name)
        if hasattr(os, "O_NONBLOCK"):  # else the file was opened to wait, as on Windows
            if stat.S_ISFIFO(mode):
                return io.BufferedReader(_Pipe(file, patience))
            os.set_blocking(file, True)
        return open(file, "rb")
    except BaseException:
        os.close(file)
        raise


class _Expanded(io.BufferedReader):
    """The content of a compressed file, which closes that file."""

    def __init__(self, content: Any, packed: BinaryIO) -> None:
        super().__init__(content)
        self._packed = packed

    def close(self) -> None:
        super().close()
        self._packed.close()


class _Pipe(io.RawIOBase):
    """A pipe whose writer is waited for no longer than a number of seconds."""

    def __init__(self, file: int, patience: float) -> None:
        self._file = file
        self._patience = patience

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not select.select([self._file], [], [], 0)[0]:
            waiting = select.poll()
            waiting.register(self._file, select.POLLIN)
            if not waiting.poll(self._patience * 1000):
                raise TimeoutError(ETIMEDOUT, f"nothing came from the pipe for {self._patience:.3g} seconds")
        found = os.read(self._file, len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        if not self.closed:
            os.close(self._file)
        super().close()


def damaged(error: Exception, name: str) -> ModelError | None:
    """The error for a compressed file that cannot be expanded; None for any other error."""
    if isinstance(error, EOFError) or type(error).__name__ in ("LZMAError", "BadGzipFile") or _is_zlib(error):
        return ModelError(f"{name}: the compressed file is damaged, or cut short: {error}")
    return None


def _is_zlib(error: Exception) -> bool:
    return type(error).__module__ == "zlib" or str(error) == "Invalid data stream"
