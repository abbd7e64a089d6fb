"""Texts that are read line by line, and the places in them."""

from __future__ import annotations

from pathlib import PurePath

from constrint.errors import ParseError, Position
from constrint.expr.position import Source
from constrint.modelling.declarations import Declarations
from constrint.support.limits import Budget


class NumberedLines:
    """The lines of a text, counted from 1.

    Args:
        text: The text.
        filename: Its name in messages.
        budget: The limits of reading.
    """

    def __init__(self, text: str, filename: str, budget: Budget) -> None:
        budget.size(len(text), filename)
        self.source = Source(text, filename)
        self.filename = filename
        self.budget = budget
        self.lines = [line.rstrip("\r") for line in text.split("\n")]

    def error_at(self, line: int, message: str, hint: str = "", word: str = "") -> ParseError:
        """An error on a line, at a word of it or at its beginning."""
        text = self.source.line(line)
        column = max(0, text.find(word)) if word else len(text) - len(text.lstrip())
        return self.source.error(line, column + 1, message, hint)

    def where_at(self, line: int) -> str:
        """A line as limits name it."""
        return f"{self.filename}:{line}"

    def position_at(self, line: int) -> Position:
        """A line, without the blanks around it, as a place."""
        text = self.lines[line - 1]
        start, text = len(text) - len(text.lstrip()) + 1, text.strip()
        return Position(self.filename, line, start, line, start + len(text), text)

    def empty_model(self) -> Declarations:
        """A model with the name of the file, if it has one."""
        return Declarations() if self.filename.startswith("<") else Declarations(PurePath(self.filename).stem)
