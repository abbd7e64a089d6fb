"""Clauses in the DIMACS format (CNF), and weighted ones (WCNF, with its header of before 2022 or without)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from constrint.expr import BoolConst, BoolExpr, IntExpr, Not, linear
from constrint.frontends.boolean.statements import Statements, any_of
from constrint.modelling.declarations import Declarations
from constrint.support.limits import Budget

Kind = Literal["cnf", "wcnf"]


def read_cnf(text: str, filename: str = "<cnf>", budget: Budget | None = None) -> Declarations:
    """Read clauses in the DIMACS format; variable 3 becomes the Boolean variable x3.

    Raises:
        ParseError: The text is not valid; has the line.
        LimitExceeded: The model is beyond the limits.
    """
    return _DimacsReader(Statements(text, filename, budget or Budget()), "cnf").read()


def read_wcnf(text: str, filename: str = "<wcnf>", budget: Budget | None = None) -> Declarations:
    """Read weighted clauses; the objective is the least weight of soft clauses that do not hold.

    Raises:
        ParseError: The text is not valid; has the line.
        LimitExceeded: The model is beyond the limits.
    """
    return _DimacsReader(Statements(text, filename, budget or Budget()), "wcnf").read()


class _DimacsReader:
    def __init__(self, parts: Statements, kind: Kind) -> None:
        self.parts = parts
        self.kind = kind
        self.variables: int | None = None  # as the header has it
        self.clauses: int | None = None
        self.top: int | None = None
        self.found = 0
        self.open: list[str] = []  # words of a clause that goes on in the next line
        self.costs: list[tuple[int, IntExpr]] = []
        self.constant = 0

    def read(self) -> Declarations:
        """Read all lines."""
        for words in self._lines():
            if words[0] == "p":
                self._header(words)
                continue
            if self.variables is None and self.kind == "cnf":
                raise self.parts.error(
                    "a clause stands before the header", "begin with: p cnf VARIABLES CLAUSES"
                )
            for word in words:
                if word == "0" and (self.open or self.kind == "cnf"):  # a weight may be 0
                    self._clause(self.open)
                    self.open = []
                else:
                    self.open.append(word)
        self._check_end()
        if self.costs or self.constant or self.kind == "wcnf":
            self.parts.model.minimize(linear(self.costs, self.constant))
        return self.parts.model

    def _lines(self) -> Iterator[list[str]]:
        """The words of lines that are no comments (between clauses only); a line with % ends the text."""
        parts = self.parts
        for number, line in enumerate(parts.lines, 1):
            parts.line = number
            parts.budget.count_steps(1, parts.where)
            words = line.split()
            if not words or (words[0][0] == "c" and not self.open):
                continue
            if words[0] == "%" and self.kind == "cnf":
                return
            yield words

    def _header(self, words: list[str]) -> None:
        parts = self.parts
        if self.variables is not None or self.found or self.open:
            raise parts.error("a second header, or one after a clause", "keep the header on top", "p")
        numbers = [parts.integer(word) for word in words[2:]]
        most = 3 if self.kind == "wcnf" else 2
        if words[1:2] != [self.kind] or not 2 <= len(numbers) <= most or min(numbers) < 0:
            hint = f"write: p {self.kind} VARIABLES CLAUSES" + (" [TOP]" if self.kind == "wcnf" else "")
            raise parts.error(f"this is not the header of a {self.kind} file", hint)
        self.variables, self.clauses = numbers[:2]
        self.top = numbers[2] if len(numbers) > 2 else None
        parts.declare(self.variables)

    def _clause(self, words: list[str]) -> None:
        self.found += 1
        weight: int | None = None
        if self.kind == "wcnf":
            weight, words = self._weight(words[0]), words[1:]
        clause = any_of([self._literal(word) for word in words])
        if weight is None:
            self._require(clause)
        elif isinstance(clause, BoolConst):
            self.constant += weight
        elif weight:
            self.costs.append((weight, Not(clause)))

    def _require(self, clause: BoolExpr) -> None:
        # Literals and constants are shared or have no place of their own.
        self.parts.model.add(clause.at(self.parts.position()) if clause.children[1:] else clause)

    def _weight(self, word: str) -> int | None:
        """The weight of a clause; None for one that must hold."""
        if word == "h" and self.variables is None:
            return None
        weight = self.parts.integer(word)
        if weight < 0:
            raise self.parts.error(f"the weight {word} is negative", "weights are at least 0", word)
        return None if self.top is not None and weight >= self.top else weight

    def _literal(self, word: str) -> BoolExpr:
        number = self.parts.integer(word)
        if number == 0:
            raise self.parts.error(f"'{word}' is not a literal", "write 0 for the end of a clause", word)
        if self.variables is not None and abs(number) > self.variables:
            hint = f"the header says that there are {self.variables} variables"
            raise self.parts.error(f"there is no variable {abs(number)}", hint, word)
        if abs(number) > (self.parts.budget.limits.variables or abs(number)):
            self.parts.budget.variable(abs(number), self.parts.where)
        return self.parts.literal(f"x{abs(number)}", number < 0)

    def _check_end(self) -> None:
        parts = self.parts
        if self.kind == "cnf" and self.variables is None:
            raise parts.error("there is no header", "begin with: p cnf VARIABLES CLAUSES")
        if self.open:
            raise parts.error("the last clause has no end: the text may be cut short", "end it with 0")
        if self.clauses is not None and self.found != self.clauses:
            message = f"the header says {self.clauses} clauses, and there are {self.found}"
            raise parts.error(message, "the text may be cut short; or write the right number")
