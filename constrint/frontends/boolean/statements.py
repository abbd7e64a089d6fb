"""Common parts of the readers of Boolean formats: variables, literals, integers, errors with a line."""

from __future__ import annotations

import re

from constrint.errors import ParseError, Position
from constrint.expr import BoolConst, BoolExpr, BoolVar, Not, Or
from constrint.frontends.numbered import NumberedLines
from constrint.support.limits import Budget

_INTEGER = re.compile(r"[+-]?[0-9]+")


class Statements(NumberedLines):
    """The model while it is read, and the present line; see `NumberedLines` for the arguments."""

    def __init__(self, text: str, filename: str, budget: Budget) -> None:
        super().__init__(text, filename, budget)
        self.line = 0
        self.model = self.empty_model()
        self._literals: dict[str, tuple[BoolVar, BoolExpr]] = {}

    def error(self, message: str, hint: str = "", word: str = "") -> ParseError:
        """An error on the present line, at a word of it."""
        return self.error_at(self.line, message, hint, word)

    def where(self) -> str:
        """The present line as limits name it."""
        return self.where_at(self.line)

    def position(self) -> Position:
        """The present line as a place."""
        return self.position_at(self.line)

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
