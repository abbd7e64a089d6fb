"""Text files that users name, read within a limit of their size."""

from __future__ import annotations

from pathlib import Path

from constrint.support.files import MOST_BYTES, damaged, read_file
from kerneltune.errors import InputError

MOST_LISTS = 3_000_000
"""The most brackets that open in a JSON file: an empty list takes as much memory as 20 characters."""


def text_of(path: Path, what: str = "", most: int = MOST_BYTES) -> str:
    """The text of a file.

    Args:
        path: The file; a compressed one is expanded.
        what: What it is, for messages: "the cache".
        most: The most bytes that are read.

    Raises:
        InputError: It cannot be read, is too large, or is no UTF-8 text.
    """
    named = f"{what} {path}".strip()
    try:
        return read_file(path, most).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"cannot read {named}: this is no UTF-8 text") from None
    except OSError as error:
        raise InputError(f"cannot read {named}: {error.strerror or error}") from None
    except Exception as error:
        problem = damaged(error, named)
        if problem is None:
            raise
        raise InputError(str(problem)) from None


def json_text_of(path: Path, what: str = "") -> str:
    """The text of a JSON file, which is small enough to be taken apart; raises `InputError`."""
    text = text_of(path, what)
    if text.count("[") + text.count("{") > MOST_LISTS:
        raise InputError(f"{path} has more than {MOST_LISTS:,} lists and objects, the most that are read")
    return text
