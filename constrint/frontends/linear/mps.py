"""Files in the MPS format, free or fixed, as models.

Fields are separated by blanks, so names have none. An integer column without bounds is 0 or 1; an upper bound
below 0 without a lower bound means no lower bound, as CPLEX has it. Of several rows N the first is the
objective.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Literal

from constrint.errors import ParseError
from constrint.frontends.linear import numbers
from constrint.frontends.linear.numbers import INFINITE
from constrint.frontends.linear.program import LinearProgram, ProgramRow, model_of
from constrint.modelling.declarations import Declarations
from constrint.support.limits import Budget

SECTIONS = ("NAME", "OBJSENSE", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "ENDATA")
_OTHERS = {
    "QUADOBJ": "a quadratic objective",
    "QMATRIX": "a quadratic objective",
    "QSECTION": "a quadratic objective",
    "QCMATRIX": "quadratic constraints",
    "CSECTION": "cones",
    "SOS": "special ordered sets",
    "SOS1": "special ordered sets",
    "SOS2": "special ordered sets",
    "INDICATORS": "indicator constraints",
    "LAZYCONS": "lazy constraints",
    "USERCUTS": "user cuts",
    "PWLOBJ": "a piecewise linear objective",
    "GENCONS": "general constraints",
}
_SENSES = {
    "MIN": "min",
    "MINIMIZE": "min",
    "MINIMISE": "min",
    "MAX": "max",
    "MAXIMIZE": "max",
    "MAXIMISE": "max",
}
_BARE = ("FR", "MI", "PL", "BV")
Kind = Literal["E", "L", "G", "N"]


def read_mps(text: str, filename: str = "<mps>", budget: Budget | None = None) -> Declarations:
    """Read a file in the MPS format as a model.

    Raises:
        ParseError: The text is not valid, has continuous variables, or what is not linear; has the line.
        LimitExceeded: The model is beyond the limits.
    """
    return model_of(_MpsReader(LinearProgram(text, filename, budget or Budget())).read())


class _MpsReader:
    def __init__(self, program: LinearProgram) -> None:
        self.program = program
        self.line = 0
        self.section = ""
        self.kinds: dict[str, Kind] = {}
        self.rows: dict[str, ProgramRow] = {}
        self.objective: str | None = None
        self.is_integer = False
        self.has_sense = False
        self.sets: dict[str, str] = {}
        self.sides: dict[str, dict[str, Fraction]] = {"RHS": {}, "RANGES": {}}
        self.has_lower: set[int] = set()

    def read(self) -> LinearProgram:
        """Read all lines."""
        readers: dict[str, Callable[[list[str]], None]] = {
            "OBJSENSE": self._sense,
            "ROWS": self._row,
            "COLUMNS": self._column,
            "RHS": self._sides,
            "RANGES": self._sides,
            "BOUNDS": self._bound,
        }
        for number, line in enumerate(self.program.lines, 1):
            self.line = number
            if not line.strip() or line[0] == "*":
                continue
            self.program.budget.count_steps(1, self._where)
            if not line[0].isspace():
                self._header(line.split())
                if self.section == "ENDATA":
                    return self._done()
            elif self.section in readers:
                readers[self.section](line.split())
            else:
                raise self.error("this line stands in no section", "begin with NAME, then ROWS")
        self.line = len(self.program.lines)
        raise self.error("the text ends without ENDATA: it may be cut short", "add a line ENDATA at the end")

    def error(self, message: str, hint: str = "", word: str = "") -> ParseError:
        return self.program.error_at(self.line, message, hint, word)

    def _where(self) -> str:
        return self.program.where_at(self.line)

    def _header(self, words: Sequence[str]) -> None:
        name = words[0].upper()
        if name in _OTHERS:
            raise self.error(
                f"the section {name} is not read: {_OTHERS[name]}", "only linear models are read"
            )
        if name not in SECTIONS:
            hint = (
                f"sections begin in the first column: {', '.join(SECTIONS)}; other lines begin with a blank"
            )
            raise self.error(f"there is no section '{words[0]}'", hint)
        self.section = name
        if name == "OBJSENSE" and len(words) > 1:
            self._sense(list(words[1:]))
        elif name != "NAME" and len(words) > 1:
            raise self.error(f"'{words[1]}' stands behind the section's name", "begin a new line", words[1])

    def _sense(self, words: list[str]) -> None:
        direction = _SENSES.get(words[0].upper())
        if direction is None or len(words) > 1:
            raise self.error(f"'{' '.join(words)}' is not a direction", "write MIN or MAX")
        if self.has_sense:
            raise self.error("this is a second direction of the objective", "keep one", words[0])
        self.has_sense = True
        self.program.direction = "max" if direction == "max" else "min"

    def _row(self, words: list[str]) -> None:
        if len(words) != 2 or words[0].upper() not in ("E", "L", "G", "N"):
            raise self.error("a row is its kind, N, E, L or G, and its name", "write such as  L  capacity")
        kind, name = words[0].upper(), words[1]
        if name in self.kinds:
            raise self.error(f"the row '{name}' is declared twice", "give each row its own name", name)
        self.program.budget.node(1, self._where)
        self.kinds[name] = kind  # type: ignore[assignment]  # one of the four
        if kind == "N":
            if self.objective is None:
                self.objective = name
            return
        self.rows[name] = row = ProgramRow(name, self.line)
        self.program.rows.append(row)

    def _column(self, words: list[str]) -> None:
        if len(words) >= 3 and words[1].strip("'").upper() == "MARKER":
            kind = words[2].strip("'").upper()
            if kind not in ("INTORG", "INTEND"):
                hint = "only linear models are read: the markers are INTORG and INTEND"
                raise self.error(f"the marker {words[2]} is not read", hint, words[2])
            self.is_integer = kind == "INTORG"
            return
        name, pairs = self._fields(words, False)
        known = len(self.program.columns)
        v = self.program.column(name, self.line)
        column = self.program.columns[v]
        if v == known:
            column.is_integer = self.is_integer
        for row, text in pairs:
            terms = self._terms(row)
            value = self._number(text)
            if terms is None:
                continue
            if v in terms:
                hint = "add the two coefficients up"
                raise self.error(f"'{name}' has a second coefficient in the row '{row}'", hint, row)
            self.program.budget.node(1, self._where)
            terms[v] = value

    def _terms(self, row: str) -> dict[int, Fraction] | None:
        """The terms of a row; None for a row that means nothing."""
        kind = self.kinds.get(row)
        if kind is None:
            raise self.error(f"there is no row '{row}'", "declare it under ROWS", row)
        if kind == "N":
            return self.program.objective if row == self.objective else None
        return self.rows[row].terms

    def _fields(self, words: list[str], may_lack_name: bool) -> tuple[str, list[tuple[str, str]]]:
        """The first field, and the pairs of a row and a number after it."""
        if may_lack_name and len(words) in (2, 4):
            words = ["", *words]
        if len(words) not in (3, 5):
            hint = "write a name, then one or two pairs of a row and a number; names have no blanks"
            raise self.error(f"this line has {len(words)} fields", hint)
        return words[0], list(zip(words[1::2], words[2::2], strict=True))

    def _number(self, text: str) -> Fraction:
        value = numbers.decimal(text, self.program.budget, self._where)
        if value is None:
            raise self.error(f"'{text}' is not a number", "write a decimal number", text)
        return value

    def _same_set(self, name: str) -> None:
        """Refuse a second set of right-hand sides, ranges or bounds."""
        first = self.sets.setdefault(self.section, name)
        if first != name:
            hint = f"keep the lines of one set of {self.section}"
            raise self.error(f"the set '{name}' is a second one, after '{first}'", hint, name)

    def _sides(self, words: list[str]) -> None:
        name, pairs = self._fields(words, True)
        self._same_set(name)
        sides = self.sides[self.section]
        for row, text in pairs:
            self._terms(row)
            if self.section == "RANGES" and self.kinds[row] == "N":
                raise self.error(f"the row '{row}' is of kind N, and has no range", "leave it out", row)
            if row in sides:
                raise self.error(f"the row '{row}' has a second number in {self.section}", "keep one", row)
            value = numbers.bound(text, self.program.budget, self._where)
            if value is None:
                raise self.error(f"'{text}' is not a number", "write a decimal number", text)
            if abs(value) >= INFINITE and self.kinds[row] == "E":
                raise self.error(f"the row '{row}' would equal infinity", "give it a finite number", row)
            sides[row] = value

    def _apply_sides(self) -> None:
        """Give the rows their right-hand sides and ranges."""
        sides, ranges = self.sides["RHS"], self.sides["RANGES"]
        for name, row in self.rows.items():
            kind, side, width = self.kinds[name], sides.get(name, Fraction(0)), ranges.get(name)
            row.lo = side if kind in "EG" else -INFINITE
            row.hi = side if kind in "EL" else INFINITE
            if width is None or abs(side) >= INFINITE:
                continue
            if kind == "L" or (kind == "E" and width < 0):
                row.lo = max(side - abs(width), -INFINITE)
            else:
                row.hi = min(side + abs(width), INFINITE)
        self.program.constant = -sides.get(self.objective or "", Fraction(0))

    def _bound(self, words: list[str]) -> None:
        kind = words[0].upper()
        if kind in ("SC", "SI", "SN"):
            hint = "write x == 0 or x >= 3 in a model of the constrint language"
            raise self.error(f"the bound {kind} is not read: a semi-continuous variable", hint)
        if kind not in ("UP", "LO", "FX", "UI", "LI", *_BARE):
            hint = "the kinds are UP, LO, FX, FR, MI, PL, BV, LI and UI"
            raise self.error(f"there is no bound '{words[0]}'", hint, words[0])
        name, text = self._bound_fields(kind, words[1:])
        v = self.program.numbers.get(name)
        if v is None:
            raise self.error(f"there is no column '{name}'", "columns stand under COLUMNS", name)
        value = Fraction(0)
        if kind not in _BARE:
            found = numbers.bound(text, self.program.budget, self._where)
            if found is None:
                raise self.error(f"'{text}' is not a number", "write a decimal number", text)
            value = found
        self._set_bound(kind, v, value)

    def _bound_fields(self, kind: str, words: list[str]) -> tuple[str, str]:
        """The column and the number of a bound; the name of the set may be left out."""
        most = 3
        wanted = 1 if kind in _BARE else 2
        if not wanted <= len(words) <= most:
            raise self.error(
                "a bound is its kind, its set, a column and a number", "write such as  UP BND x 4"
            )
        if kind in _BARE and len(words) == 2 and words[1] not in self.program.numbers:
            words = ["", *words]  # a column and a number that is not needed
        elif len(words) == wanted:
            words = ["", *words]
        self._same_set(words[0])
        return words[1], words[2] if len(words) > 2 else ""

    def _set_bound(self, kind: str, v: int, value: Fraction) -> None:
        column = self.program.columns[v]
        column.is_bounded = True
        if kind in ("BV", "LI", "UI"):
            column.is_integer = True
        if kind in ("LO", "LI", "FX"):
            column.lo = value
        if kind in ("UP", "UI", "FX"):
            column.hi = value
        if kind in ("FR", "MI"):
            column.lo = -INFINITE
        if kind in ("FR", "PL"):
            column.hi = INFINITE
        if kind == "BV":
            column.lo, column.hi = Fraction(0), Fraction(1)
        if kind in ("LO", "LI", "FX", "FR", "MI", "BV"):
            self.has_lower.add(v)

    def _done(self) -> LinearProgram:
        self._apply_sides()
        program = self.program
        for v, column in enumerate(program.columns):
            if not column.is_bounded and column.is_integer:
                column.hi = Fraction(1)
            elif column.hi < 0 and v not in self.has_lower:
                column.lo = -INFINITE
        return program
