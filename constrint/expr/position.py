"""Where in the user's source an expression was built."""

from __future__ import annotations

import linecache
import sys
from types import CodeType

from constrint.errors import Position

_OWN = "constrint."  # how the names of this package's modules begin; its __init__ builds nothing


def caller() -> tuple[CodeType, int] | None:
    """The instruction in the user's code that is building a node (kept unresolved: that is cheap)."""
    frame = sys._getframe(2)
    while frame.f_globals.get("__name__", "").startswith(_OWN):
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


def resolve(code: CodeType, instruction: int) -> Position | None:
    """The source position of an instruction."""
    spans = list(code.co_positions())
    line, end_line, column, end_column = spans[instruction // 2] if instruction >= 0 else (None,) * 4
    if line is None:
        return None
    source = linecache.getline(code.co_filename, line)
    if column is None or end_column is None:
        return Position(code.co_filename, line, 1, text=source.strip())
    # co_positions counts bytes; columns for people count characters.
    raw = source.encode()
    first = len(raw[:column].decode(errors="replace")) + 1
    last = end_column + 1
    text = source[first - 1 :].strip()
    if end_line == line:
        last = len(raw[:end_column].decode(errors="replace")) + 1
        text = source[first - 1 : last - 1]
    return Position(code.co_filename, line, first, end_line, last, text)
