"""Pseudo-Boolean constraints in the OPB format: linear or with products, with soft constraints (WBO) too."""

from __future__ import annotations

import re
from collections.abc import Sequence

from constrint.expr import And, BoolConst, BoolExpr, Comparison, Const, IntExpr, Not, linear
from constrint.frontends.boolean.statements import Statements
from constrint.modelling.declarations import Declarations
from constrint.support.limits import Budget

_HEADER = re.compile(r"\*.*?#variable\s*=\s*([0-9]+)")
_WORD = re.compile(
    r"\s+|(?P<relation>>=|<=|=)|(?P<end>;)|(?P<soft>\[\s*[0-9]+\s*\])|(?P<head>min:|max:|soft:)"
    r"|(?P<number>[+-]?\s*[0-9]+)|(?P<literal>~?\s*[A-Za-z_][A-Za-z0-9_\[\]{}^.]*)"
)
Words = list[tuple[str, str]]
"""Kinds and texts of words."""


def read_opb(text: str, filename: str = "<opb>", budget: Budget | None = None) -> Declarations:
    """Read pseudo-Boolean constraints.

    Soft constraints make the objective: the least weight of those that do not hold; ``soft: TOP;`` bounds it.

    Raises:
        ParseError: The text is not valid; has the line.
        LimitExceeded: The model is beyond the limits.
    """
    return _OpbReader(Statements(text, filename, budget or Budget())).read()


class _OpbReader:
    def __init__(self, parts: Statements) -> None:
        self.parts = parts
        self.costs: list[tuple[int, IntExpr]] = []
        self.top: int | None = None
        self.is_soft = False
        self.has_goal = False

    def read(self) -> Declarations:
        """Read all statements."""
        parts = self.parts
        words: Words = []
        for number, line in enumerate(parts.lines, 1):
            parts.line = number
            parts.budget.count_steps(1, parts.where)
            if line.lstrip().startswith("*"):
                match = _HEADER.match(line.lstrip())
                if match is not None and number == 1:
                    parts.declare(parts.integer(match[1]))
                continue
            at = 0
            while at < len(line):
                match = _WORD.match(line, at)
                if match is None:
                    hint = "write such as: +2 x1 -3 ~x2 >= 1 ;"
                    raise parts.error(f"'{line[at]}' is not understood here", hint, line[at])
                at = match.end()
                parts.budget.count_steps(1)
                if match.lastgroup == "end":
                    self._statement(words)
                    words = []
                elif match.lastgroup is not None:
                    words.append((match.lastgroup, match[0]))
        if words:
            raise parts.error("the last statement has no end: the text may be cut short", "end it with ;")
        self._aim()
        return parts.model

    def _aim(self) -> None:
        if not self.is_soft:
            return
        if self.has_goal:
            raise self.parts.error("there are soft constraints and an objective", "leave one of the two out")
        cost = linear(self.costs)
        if self.top is not None:
            self.parts.model.add(Comparison("<", cost, Const(self.top)), name="top")
        self.parts.model.minimize(cost)

    def _statement(self, words: Words) -> None:
        if not words:
            raise self.parts.error("there is nothing before this ;", "leave it out", ";")
        kind, text = words[0]
        if kind == "head":
            self._head(text, words[1:])
            return
        weight = None
        if kind == "soft":
            weight, words = self.parts.integer(text.strip("[] ")), words[1:]
            self.is_soft = True
        condition = self._condition(words)
        if weight is None:
            self.parts.model.add(condition.at(self.parts.position()))
        elif weight:
            self.costs.append((weight, Not(condition)))

    def _head(self, head: str, words: Words) -> None:
        if head == "soft:":
            self.is_soft = True
            if len(words) > 1 or (words and words[0][0] != "number"):
                raise self.parts.error("soft: has one number, the top cost", "write such as soft: 10 ;")
            self.top = self._number(words[0][1]) if words else None
            return
        if self.has_goal:
            raise self.parts.error("there is a second objective", "keep one", head)
        self.has_goal = True
        goal = self._sum(words)
        (self.parts.model.minimize if head == "min:" else self.parts.model.maximize)(goal)

    def _number(self, text: str) -> int:
        return self.parts.integer("".join(text.split()))

    def _condition(self, words: Words) -> BoolExpr:
        places = [i for i, (kind, _) in enumerate(words) if kind == "relation"]
        if len(places) != 1 or places[0] != len(words) - 2 or words[-1][0] != "number":
            hint = "write such as: +2 x1 -3 ~x2 >= 1 ;"
            raise self.parts.error("a constraint is a sum, >=, <= or =, and a number", hint)
        operator = "==" if words[-2][1] == "=" else words[-2][1]
        return Comparison(operator, self._sum(words[:-2]), Const(self._number(words[-1][1])))

    def _sum(self, words: Sequence[tuple[str, str]]) -> IntExpr:
        """A sum of products of a number and literals."""
        terms: list[tuple[int, IntExpr]] = []
        at = 0
        while at < len(words):
            factor = 1
            kind, text = words[at]
            if kind == "number":
                factor = self._number(text)
                at += 1
            literals = []
            while at < len(words) and words[at][0] == "literal":
                name = "".join(words[at][1].split())
                literals.append(self.parts.literal(name.lstrip("~"), name.startswith("~")))
                at += 1
            if not literals:
                hint = "write a number and then one or more variables: +2 x1"
                raise self.parts.error("a variable is missing here", hint, text)
            terms.append((factor, literals[0] if len(literals) == 1 else And(tuple(literals))))
        return linear(terms) if terms else BoolConst(False)
