"""A linear program as the formats have it, and the model that it describes.

Numbers are exact fractions. A row is multiplied by the least common denominator of its numbers, which its
comparisons keep as their scale. A fractional objective is compared exactly; its value is shown as a float.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor

from constrint.errors import ModelError, ParseError
from constrint.expr import BoolConst, BoolExpr, Comparison, Const, Implies, IntExpr, linear
from constrint.expr.conditions import Scale
from constrint.expr.domain import Domain
from constrint.expr.rational import Rational
from constrint.frontends.linear.numbers import INFINITE, common_denominator
from constrint.frontends.numbered import NumberedLines
from constrint.modelling.declarations import Declarations
from constrint.modelling.objectives import Direction
from constrint.support.limits import Budget

Terms = dict[int, Fraction]
"""Coefficients by column."""


@dataclass(slots=True)
class ProgramColumn:
    """A variable: its name, the line of its first mention, its bounds, and whether it is an integer."""

    name: str
    line: int
    lo: Fraction = Fraction(0)
    hi: Fraction = INFINITE
    is_integer: bool = False
    is_bounded: bool = False


@dataclass(slots=True)
class ProgramRow:
    """``lo <= sum <= hi``, where a column has a value if there is a condition `when`."""

    name: str | None
    line: int
    terms: Terms = field(default_factory=dict)
    lo: Fraction = -INFINITE
    hi: Fraction = INFINITE
    when: tuple[int, int] | None = None


class LinearProgram(NumberedLines):
    """A linear program while it is read; see `NumberedLines` for the arguments."""

    def __init__(self, text: str, filename: str, budget: Budget) -> None:
        super().__init__(text, filename, budget)
        self.columns: list[ProgramColumn] = []
        self.numbers: dict[str, int] = {}
        self.rows: list[ProgramRow] = []
        self.objective: Terms = {}
        self.constant = Fraction(0)
        self.direction: Direction = "min"

    def column(self, name: str, line: int) -> int:
        """The number of a column by its name, made on first mention."""
        number = self.numbers.get(name)
        if number is None:
            self.budget.variable(1, lambda: self.where_at(line))
            number = self.numbers[name] = len(self.columns)
            self.columns.append(ProgramColumn(name, line))
        return number

    def model(self) -> Declarations:
        """The model."""
        self._check_integers()
        model = self.empty_model()
        variables = [model.variable(column.name, self._domain(column)) for column in self.columns]
        for row in self.rows:
            self.budget.node(len(row.terms) + 1, lambda line=row.line: self.where_at(line))  # type: ignore[misc]
            for condition in self._conditions(row, variables):
                model.add(condition.at(self.position_at(row.line)), name=row.name)
        if self.objective or self.constant:
            factor = common_denominator([*self.objective.values(), self.constant])
            terms = [(int(a * factor), variables[v]) for v, a in self.objective.items()]
            goal = linear(terms, int(self.constant * factor))
            target = goal if factor == 1 else Rational(goal, factor, True)
            (model.minimize if self.direction == "min" else model.maximize)(target)
        return model

    def _check_integers(self) -> None:
        open_ = [column for column in self.columns if not column.is_integer]
        if open_:
            few = ", ".join(f"'{column.name}'" for column in open_[:3])
            more = f" and {len(open_) - 3} more" if len(open_) > 3 else ""
            verb = "is a continuous variable" if len(open_) == 1 else "are continuous variables"
            hint = "constrint has integers only: list them under General, or between MARKER lines"
            raise self.error_at(open_[0].line, f"{few}{more} {verb}", hint, open_[0].name)

    def _domain(self, column: ProgramColumn) -> Domain:
        lo = None if column.lo <= -INFINITE else ceil(column.lo)
        hi = None if column.hi >= INFINITE else floor(column.hi)
        if column.lo >= INFINITE or column.hi <= -INFINITE:
            raise self.error_at(
                column.line, f"'{column.name}' has no value between its bounds", "", column.name
            )
        return Domain.of_range(lo, hi)

    def _conditions(self, row: ProgramRow, variables: Sequence[IntExpr]) -> list[BoolExpr]:
        found: list[BoolExpr] = []
        if row.lo >= INFINITE or row.hi <= -INFINITE or row.lo > row.hi:
            found.append(BoolConst(False))
        elif row.lo == row.hi:
            found.append(_compared(row.terms, "==", row.lo, variables))
        else:
            if row.lo > -INFINITE:
                found.append(_compared(row.terms, ">=", row.lo, variables))
            if row.hi < INFINITE:
                found.append(_compared(row.terms, "<=", row.hi, variables))
        if row.when is None:
            return found
        column, value = row.when
        return [Implies(Comparison("==", variables[column], Const(value)), one) for one in found]


def _compared(terms: Terms, operator: str, side: Fraction, variables: Sequence[IntExpr]) -> Comparison:
    """A side of a row."""
    factor = common_denominator([*terms.values(), side])
    total = linear([(int(a * factor), variables[v]) for v, a in terms.items()])
    scale = None if factor == 1 else Scale(factor, True)
    return Comparison(operator, total, Const(int(side * factor)), scale)


def model_of(program: LinearProgram) -> Declarations:
    """The model of a program that has been read; raises `ParseError` for what a model cannot have."""
    try:
        return program.model()
    except ParseError:
        raise
    except ModelError as error:
        if hasattr(error, "limit"):
            raise
        raise program.error_at(1, str(error)) from None
