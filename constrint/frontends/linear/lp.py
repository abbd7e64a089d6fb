"""Files in the LP format (CPLEX's) as models.

Sections are found by their words at the beginning of a line; between them a list of tokens is read. Variables
are at least 0 where nothing else is said, as the format has it, and stay so under a negative upper bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from constrint.errors import ParseError
from constrint.frontends.linear import numbers
from constrint.frontends.linear.numbers import INFINITE
from constrint.frontends.linear.program import LinearProgram, ProgramColumn, ProgramRow, Terms, model_of
from constrint.modelling.declarations import Declarations
from constrint.support.limits import Budget

_HEADS = (
    ("objective", r"(?:minimi[sz]e|minimum|min|maximi[sz]e|maximum|max)(?=\s|$)", True),
    ("rows", r"(?:subject\s+to|such\s+that|st\b\.?|s\.\s?t\.)(?=\s|:|$)", True),
    ("bounds", r"bounds?\s*$", False),
    ("general", r"(?:generals?|gen|integers?|int)\s*$", False),
    ("binary", r"(?:binar(?:y|ies)|bin)\s*$", False),
    ("end", r"end\s*$", False),
    ("semi-continuous variables", r"(?:semi-continuous|semis?|semi)\s*$", False),
    ("special ordered sets", r"sos[12]?\s*$", False),
    ("lazy constraints", r"lazy\s+constraints\s*$", False),
    ("user cuts", r"user\s+cuts\s*$", False),
    ("general constraints", r"(?:general\s+constraints?|gencons?)\s*$", False),
)
_HEAD = [(name, re.compile(r"\s*" + pattern, re.IGNORECASE), has_more) for name, pattern, has_more in _HEADS]
_READ = ("objective", "rows", "bounds", "general", "binary", "end")
_TOKEN = re.compile(
    r"\s+|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<sense><=|>=|=<|=>|<|>|=)|(?P<arrow>->)|(?P<sign>[+-])|(?P<colon>:)"
    r"|(?P<name>[^\s<>=+\-*/^:\[\]\\0-9.][^\s<>=+\-*/^:\\]*)"
)
_SENSE = {"<": "<=", "=<": "<=", "<=": "<=", ">": ">=", "=>": ">=", ">=": ">=", "=": "="}
_TURNED = {"<=": ">=", ">=": "<=", "=": "="}
_WORDS_OF_INFINITY = ("inf", "infinity")


class LpToken(NamedTuple):
    """A word of the text: its kind, its text, its line."""

    kind: str
    text: str
    line: int


def read_lp(text: str, filename: str = "<lp>", budget: Budget | None = None) -> Declarations:
    """Read a file in the LP format as a model.

    Raises:
        ParseError: The text is not valid, has continuous variables, or what is not linear; has the line.
        LimitExceeded: The model is beyond the limits.
    """
    return model_of(_LpReader(LinearProgram(text, filename, budget or Budget())).read())


class _LpReader:
    def __init__(self, program: LinearProgram) -> None:
        self.program = program
        self.tokens: list[LpToken] = []
        self.at = 0
        self.sections: list[tuple[str, list[LpToken]]] = []

    def read(self) -> LinearProgram:
        """Read all sections."""
        self._split()
        readers: dict[str, Callable[[], None]] = {
            "objective": self._objective,
            "rows": self._rows,
            "bounds": self._bounds,
            "general": lambda: self._listed(False),
            "binary": lambda: self._listed(True),
            "end": lambda: None,
        }
        for name, tokens in self.sections:
            self.tokens, self.at = tokens, 0
            readers[name]()
        return self.program

    def _split(self) -> None:
        program = self.program
        tokens: list[LpToken] = []
        for line, raw in enumerate(program.lines, 1):
            text = raw.partition("\\")[0]
            program.budget.count_steps(1, lambda line=line: program.where_at(line))  # type: ignore[misc]
            for name, pattern, has_more in _HEAD:
                match = pattern.match(text)
                if match is not None and not (has_more and text[match.end() :].lstrip()[:1] in tuple("<>=")):
                    tokens = self._section(name, match[0].strip(), line)
                    text = text[match.end() :].removeprefix(":")
                    break
            else:
                if not self.sections and text.strip():
                    hint = "begin with Minimize or Maximize"
                    raise program.error_at(line, "a file in the LP format begins with the objective", hint)
            self._tokens(text, line, tokens)
            if self.sections and self.sections[-1][0] == "end":
                self._check_rest(line)
                return
        message, hint = "the text ends without End: it may be cut short", "add a line End at the end"
        raise program.error_at(len(program.lines), message, hint)

    def _check_rest(self, end: int) -> None:
        """Refuse what stands behind the end."""
        for line, raw in enumerate(self.program.lines[end:], end + 1):
            if raw.partition("\\")[0].strip():
                hint = "move it before End, or make it a comment with \\"
                raise self.program.error_at(line, "this stands behind End", hint)

    def _section(self, name: str, word: str, line: int) -> list[LpToken]:
        program = self.program
        if name not in _READ:
            raise program.error_at(
                line, f"the section '{word}' is not read: {name}", "only linear models are read"
            )
        if (name == "objective") != (not self.sections):
            message = "the objective comes first, and once"
            raise program.error_at(line, message, "begin with Minimize or Maximize, then Subject To")
        if name == "objective" and word.lower().startswith("max"):
            program.direction = "max"
        tokens: list[LpToken] = []
        self.sections.append((name, tokens))
        return tokens

    def _tokens(self, text: str, line: int, tokens: list[LpToken]) -> None:
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                if text[at] in "[]^*/":
                    hint = "only linear models are read: write the model in the constrint language"
                    raise self.program.error_at(line, "quadratic terms are not read", hint, text[at])
                hint = "names begin with a letter or one of !\"#$%&(),;?@_`'{}~"
                raise self.program.error_at(line, f"'{text[at]}' is not understood here", hint, text[at])
            at = match.end()
            if match.lastgroup is not None:
                self.program.budget.count_steps(1)
                tokens.append(LpToken(match.lastgroup, match[0], line))

    # Tokens

    def _kind(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at].kind if at < len(self.tokens) else "end"

    def _next(self) -> LpToken:
        self.at += 1
        return self.tokens[self.at - 1]

    def _line(self) -> int:
        if not self.tokens:
            return len(self.program.lines)
        return self.tokens[min(self.at, len(self.tokens) - 1)].line

    def _error(self, message: str, hint: str = "") -> ParseError:
        word = self.tokens[self.at].text if self.at < len(self.tokens) else ""
        return self.program.error_at(self._line(), message, hint, word)

    def _label(self) -> str | None:
        if self._kind() in ("name", "number") and self._kind(1) == "colon":
            name = self._next().text
            self._next()
            return name
        return None

    def _signs(self) -> int:
        sign = 1
        while self._kind() == "sign":
            sign = -sign if self._next().text == "-" else sign
        return sign

    def _decimal(self) -> Fraction:
        token = self._next()
        value = numbers.decimal(token.text, self.program.budget, lambda: self.program.where_at(token.line))
        assert value is not None
        return value

    def _is_infinity(self) -> bool:
        return self._kind() == "name" and self.tokens[self.at].text.lower() in _WORDS_OF_INFINITY

    # Sections

    def _sum(self) -> tuple[Terms, Fraction]:
        """A sum of terms: the coefficients, and the constant."""
        terms: Terms = {}
        constant = Fraction(0)
        is_first = True
        while self._kind() in ("sign", "number", "name"):
            if not is_first and self._kind() != "sign":
                break
            is_first = False
            sign = self._signs()
            factor, is_named = Fraction(1), True
            if self._kind() == "number":
                factor = self._decimal()
                is_named = self._kind() == "name"
            if not is_named:
                constant += sign * factor
                continue
            if self._kind() != "name" or self._is_infinity():
                raise self._error("a variable or a number is missing here", "write terms such as + 3 x")
            token = self._next()
            v = self.program.column(token.text, token.line)
            self.program.budget.node(1)
            terms[v] = terms.get(v, Fraction(0)) + sign * factor
        return terms, constant

    def _objective(self) -> None:
        self._label()
        self.program.objective, self.program.constant = self._sum()
        if self.at < len(self.tokens):
            raise self._error(
                "the objective has ended here", "write + or - between terms, and then Subject To"
            )

    def _rows(self) -> None:
        names: set[str] = set()
        while self.at < len(self.tokens):
            line = self._line()
            name = self._label()
            if name is not None and name in names:
                self.at -= 2
                raise self._error(f"a second row is named '{name}'", "give each row its own name")
            names |= {name} if name else set()
            when = self._condition()
            self.program.rows.append(self._row(name, line, when))

    def _condition(self) -> tuple[int, int] | None:
        """The condition before an arrow, as in ``y = 1 -> x <= 3``."""
        if [self._kind(i) for i in range(4)] != ["name", "sense", "number", "arrow"]:
            return None
        token = self._next()
        sense = self._next().text
        value = self._decimal()
        self._next()
        if sense != "=" or value not in (0, 1):
            self.at -= 2
            raise self._error(
                "the condition before -> is that a variable is 0 or 1", "write such as y = 1 -> …"
            )
        return self.program.column(token.text, token.line), int(value)

    def _row(self, name: str | None, line: int, when: tuple[int, int] | None) -> ProgramRow:
        terms, constant = self._sum()
        sense = self._sense()
        if terms:
            row = ProgramRow(name, line, terms, when=when)
            self._limit(row, sense, self._side() - constant)
            return row
        terms, inner = self._sum()
        row = ProgramRow(name, line, terms, when=when)
        self._limit(row, _TURNED[sense], constant - inner)
        if self._kind() == "sense":
            self._limit(row, self._sense(), self._side() - inner)
        return row

    def _sense(self) -> str:
        if self._kind() != "sense":
            hint = "write <=, >= or = and a number; + or - between terms"
            raise self._error("a comparison is missing here", hint)
        return _SENSE[self._next().text]

    def _side(self) -> Fraction:
        """The number on the right."""
        sign = self._signs()
        if self._is_infinity():
            self._next()
            return sign * INFINITE
        if self._kind() != "number":
            raise self._error("a number is missing here", "move all variables to the left side")
        return sign * self._decimal()

    def _limit(self, row: ProgramRow, sense: str, value: Fraction) -> None:
        if sense != "<=":
            row.lo = max(row.lo, value)
        if sense != ">=":
            row.hi = min(row.hi, value)

    def _bounds(self) -> None:
        while self.at < len(self.tokens):
            line = self._line()
            if self._kind() == "name" and not self._is_infinity():
                name = self._next()
                if self._kind() == "name" and self.tokens[self.at].text.lower() == "free":
                    self._next()
                    column = self._column(name)
                    column.lo, column.hi = -INFINITE, INFINITE
                    continue
                self._bound(name, self._sense(), self._side())
            else:
                value = self._side()
                sense = _TURNED[self._sense()]
                if self._kind() != "name":
                    raise self._error("a variable is missing here", "write such as 0 <= x <= 5")
                name = self._next()
                self._bound(name, sense, value)
                if self._kind() == "sense":
                    self._bound(name, self._sense(), self._side())
            if self.at < len(self.tokens) and self._line() == line:
                raise self._error("each bound stands on a line of its own", "begin a new line here")

    def _column(self, name: LpToken) -> ProgramColumn:
        v = self.program.numbers.get(name.text)
        if v is None:
            v = self.program.column(name.text, name.line)
        return self.program.columns[v]

    def _bound(self, name: LpToken, sense: str, value: Fraction) -> None:
        column = self._column(name)
        if sense != "<=":
            column.lo = value
        if sense != ">=":
            column.hi = value

    def _listed(self, is_binary: bool) -> None:
        while self.at < len(self.tokens):
            if self._kind() != "name":
                raise self._error("names of variables stand here", "leave numbers and signs out")
            column = self._column(self._next())
            column.is_integer = True
            if is_binary:
                column.lo, column.hi = Fraction(0), Fraction(1)
