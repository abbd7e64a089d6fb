"""The place in the user's source at which an expression was built."""

from __future__ import annotations

import linecache
import re
import sys
from bisect import bisect_right
from functools import cached_property
from types import CodeType

from constrint.errors import ParseError, Position


class Span:
    """A part of a text; its `Position` is computed on demand, which is seldom.

    Args:
        source: The text.
        start: Offset of the first character.
        end: Offset behind the last one.
    """

    __slots__ = ("end", "source", "start")

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.start = start
        self.end = end

    def resolve(self) -> Position:
        """The place."""
        source, start, end = self.source, self.start, self.end
        first, last = bisect_right(source.lines, start), bisect_right(source.lines, end)
        columns = start - source.lines[first - 1] + 1, end - source.lines[last - 1] + 1
        return Position(source.filename, first, columns[0], last, columns[1], source.text[start:end])


class Source:
    """A text and where it came from: everything a place in it needs.

    Args:
        text: The text.
        filename: Its name in messages.
    """

    def __init__(self, text: str, filename: str = "<text>") -> None:
        self.text = text
        self.filename = filename

    @cached_property
    def lines(self) -> list[int]:
        """Where each line begins."""
        return [0, *[found.end() for found in re.finditer("\n", self.text)]]

    def line(self, number: int) -> str:
        """The text of a line, counted from 1."""
        if not 0 < number <= len(self.lines):
            return ""
        end = self.lines[number] - 1 if number < len(self.lines) else len(self.text)
        return self.text[self.lines[number - 1] : end].rstrip("\r")

    def error(self, line: int, column: int, message: str, hint: str = "") -> ParseError:
        """An error at a place of this text."""
        return ParseError(
            message, filename=self.filename, line=line, column=column, source_line=self.line(line), hint=hint
        )


_OWN = "constrint."  # prefix of this package's module names; its __init__ builds nothing


def caller() -> tuple[CodeType, int] | None:
    """The instruction in the user's code that is building a node.

    It is resolved later, since that is slow.
    """
    frame = sys._getframe(2)
    while frame.f_globals.get("__name__", "").startswith(_OWN):
        if frame.f_back is None:
            return None
        frame = frame.f_back
    global _last
    last = _last
    if last[0] is not frame.f_code or last[1] != frame.f_lasti:
        _last = last = frame.f_code, frame.f_lasti
    return last


_last: tuple[CodeType, int] = caller.__code__, -1  # conditions that a loop builds share their place


def kept_place(expr: object) -> Position | Span | None:
    """The place of an expression, without the code that built it."""
    where: Position | Span | tuple[CodeType, int] | None = getattr(expr, "_where", None)
    return resolve(*where) if isinstance(where, tuple) else where


def resolve(code: CodeType, instruction: int) -> Position | None:
    """The source position of an instruction."""
    spans = list(code.co_positions())
    line, end_line, column, end_column = spans[instruction // 2] if instruction >= 0 else (None,) * 4
    if line is None:
        return None
    source = linecache.getline(code.co_filename, line)
    if column is None or end_column is None:
        return Position(code.co_filename, line, 1, text=source.strip())
    # co_positions counts bytes; columns in messages count characters.
    raw = source.encode()
    first = len(raw[:column].decode(errors="replace")) + 1
    last = end_column + 1
    text = source[first - 1 :].strip()
    if end_line == line:
        last = len(raw[:end_column].decode(errors="replace")) + 1
        text = source[first - 1 : last - 1]
    return Position(code.co_filename, line, first, end_line, last, text)
