"""What the readers of Boolean formats share: variables, literals, integers, errors with their line."""

from __future__ import annotations

import re
from pathlib import PurePath

from constrint.errors import ParseError, Position
from constrint.expr import BoolConst, BoolExpr, BoolVar, Not, Or
from constrint.modelling.declarations import Declarations
from constrint.support.limits import Budget

_INTEGER = re.compile(r"[+-]?[0-9]+")


class Statements:
    """The model while it is read.

    Args:
        text: The text.
        filename: Its name in messages.
        budget: The limits of reading.
    """

    def __init__(self, text: str, filename: str, budget: Budget) -> None:
        self.filename = filename
        self.budget = budget
        budget.size(len(text), filename)
        self.lines = [line.rstrip("\r") for line in text.split("\n")]
        self.line = 0
        self.model = Declarations("model" if filename.startswith("<") else PurePath(filename).stem)
        self._literals: dict[str, tuple[BoolVar, BoolExpr]] = {}

    def error(self, message: str, hint: str = "", word: str = "") -> ParseError:
        """An error on the present line, at a word of it."""
        text = self.lines[self.line - 1] if 0 < self.line <= len(self.lines) else ""
        column = max(0, text.find(word)) + 1 if word else 1
        return ParseError(
            message, filename=self.filename, line=self.line, column=column, hint=hint, source_line=text
        )

    def where(self) -> str:
        """The present line as limits name it."""
        return f"{self.filename}:{self.line}"

    def position(self) -> Position:
        """The present line as a place."""
        text = self.lines[self.line - 1].strip()
        return Position(self.filename, self.line, 1, self.line, len(text) + 1, text)

    def integer(self, word: str) -> int:
        """An integer; raises `ParseError` for anything else."""
        if not _INTEGER.fullmatch(word):
            raise self.error(f"'{word}' is not an integer", "write decimal digits", word)
        self.budget.digits(word, self.where)
        try:
            return int(word)
        except ValueError:
            self.budget.digits(10**9, self.where)
            raise self.error("Python does not read numbers with this many digits") from None

    def declare(self, count: int) -> None:
        """Declare the variables x1, x2 … up to a number."""
        self.budget.variable(count, self.where)
        for number in range(1, count + 1):
            self._declare(f"x{number}")

    def _declare(self, name: str) -> tuple[BoolVar, BoolExpr]:
        variable = self.model.bool_var(name)
        pair = self._literals[name] = variable, Not(variable)
        return pair

    def literal(self, name: str, is_negated: bool) -> BoolExpr:
        """A variable or its negation; the variable is declared on first mention."""
        self.budget.node(1, self.where)
        known = self._literals.get(name)
        if known is None:
            self.budget.variable(1, self.where)
            known = self._declare(name)
        return known[1] if is_negated else known[0]


def any_of(literals: list[BoolExpr]) -> BoolExpr:
    """The condition that one of some literals holds."""
    if not literals:
        return BoolConst(False)
    return literals[0] if len(literals) == 1 else Or(tuple(literals))
