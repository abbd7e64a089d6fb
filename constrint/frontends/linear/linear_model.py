"""A model as a linear program: columns and rows.

Comparisons of sums are rows, clauses over Boolean variables too. A domain with holes or a stride gets columns
of its own that say which value it is. Everything else is refused, with the constraint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from constrint.errors import ModelError
from constrint.expr import (
    And,
    BoolConst,
    BoolExpr,
    BoolVar,
    Comparison,
    Const,
    Iff,
    Implies,
    IntExpr,
    IntVar,
    Member,
    Mul,
    Not,
    Or,
    Sum,
)
from constrint.expr.conditions import Scale
from constrint.expr.domain import BINARY, Domain
from constrint.expr.written_fractions import decimal_text
from constrint.frontends.linear.numbers import INFINITE
from constrint.modelling.conflict import describe
from constrint.modelling.declarations import Declarations
from constrint.modelling.objectives import Direction
from constrint.modelling.soft import sole_goal
from constrint.support.deadline import watched
from constrint.support.limits import recursion_room

MOST_FRAMES = 5_000
"""How many calls the reading of an expression may take."""
_FLIPPED = {"<=": ">", "<": ">=", ">=": "<", ">": "<=", "==": "!=", "!=": "=="}


class NotLinear(Exception):  # noqa: N818 - what was found
    """An expression is not linear; the message names it."""


@dataclass(slots=True)
class Sums:
    """``constant + sum(coefficient * column)``."""

    terms: dict[int, int]
    constant: int = 0

    def plus(self, other: Sums, factor: int = 1) -> Sums:
        """This sum and a multiple of another one."""
        terms = dict(self.terms)
        for v, a in other.terms.items():
            terms[v] = terms.get(v, 0) + factor * a
        return Sums(terms, self.constant + factor * other.constant)


@dataclass(slots=True)
class LinearRow:
    """``lo <= sum <= hi``; None for no bound. All numbers are to be divided by a number of the row.

    `under` is the 0/1 column, with its value, under which alone the row must hold; None for always.
    """

    name: str | None
    terms: dict[int, int]
    lo: int | None
    hi: int | None
    divisor: int = 1
    under: tuple[int, int] | None = None

    def decimal(self, number: int) -> str:
        """One of the numbers, divided."""
        text = decimal_text(Fraction(number, self.divisor))
        assert text is not None
        return text


class LinearModel:
    """The linear program of a model.

    Attributes:
        names: The columns' names.
        bounds: The columns' bounds.
        rows: The rows.
        goal: The objective.
        denominator: The number by which its values are divided.
        direction: Its direction.

    Raises:
        ModelError: Something in the model is not linear; names the constraint.
    """

    def __init__(self, model: Declarations, what: str, *, has_indicators: bool = False) -> None:
        self.names: list[str] = []
        self.bounds: list[tuple[int | None, int | None]] = []
        self.rows: list[LinearRow] = []
        self.goal: Sums | None = None
        self.denominator = 1
        self.direction: Direction = "min"
        self._what = what
        self._has_indicators = has_indicators
        self._under: tuple[int, int] | None = None  # the indicator of the rows that are being added
        self._known: dict[IntExpr, int] = {}
        self._taken = set(model.variables)
        for name, variable in model.variables.items():
            domain = variable.domain if isinstance(variable, IntVar) else BINARY
            self._known[variable] = self._column(name, domain.lo, domain.hi)
        for name, variable in model.variables.items():
            self._restrict(name, variable)
        with recursion_room(MOST_FRAMES):
            for constraint in watched(model.constraints):
                try:
                    self._require(constraint.expr, constraint.name)
                except NotLinear as found:
                    raise self._refused(f"{describe(constraint)}: {found}") from None
                except RecursionError:
                    raise self._refused(f"{describe(constraint)}: it is nested too deeply") from None
            self._aim(model)

    def _refused(self, why: str) -> ModelError:
        return ModelError(
            f"{self._what} holds linear models only: {why}. Write it as FlatZinc, XCSP3 or JSON instead"
        )

    def _aim(self, model: Declarations) -> None:
        goal, unit = sole_goal(model, self._what)
        self.denominator = 1 if unit is None else unit.denominator
        if goal is not None:
            expr, direction = goal
            try:
                self.goal, self.direction = self._sum(expr), direction
            except NotLinear as found:
                raise self._refused(f"the objective: {found}") from None
            for number in [*self.goal.terms.values(), self.goal.constant]:
                self.coefficient(number)

    def coefficient(self, number: int) -> str:
        """A coefficient of the objective as a decimal number."""
        exact = Fraction(number, self.denominator)
        text = decimal_text(exact)
        if text is None:
            raise ModelError(
                f"{self._what} has decimal numbers only, and {exact} in the objective is none: multiply the "
                f"objective by {self.denominator}"
            )
        return text

    # Columns

    def _restrict(self, name: str, variable: IntVar | BoolVar) -> None:
        """Say which values between its bounds a variable may have, with columns of their own."""
        domain, v = variable.domain, self._known[variable]
        if domain.values is not None:
            self._choose(name, v, domain)
        elif domain.step > 1:
            anchor = domain.lo if domain.lo is not None else domain.hi
            assert anchor is not None
            most = None if domain.lo is None or domain.hi is None else (domain.hi - domain.lo) // domain.step
            low = 0 if domain.lo is not None else None
            steps = self._column(self._new(f"{name}_step"), low, most if domain.lo is not None else 0)
            self.rows.append(LinearRow(None, {v: 1, steps: -domain.step}, anchor, anchor))

    def _choose(self, name: str, v: int, domain: Domain) -> None:
        """One binary column for each value, of which one is 1."""
        values = list(domain)
        columns = [self._column(self._new(f"{name}_is_{i}"), 0, 1) for i in range(len(values))]
        self.rows.append(LinearRow(None, dict.fromkeys(columns, 1), 1, 1))
        weights = {column: -value for column, value in zip(columns, values, strict=True)}
        self.rows.append(LinearRow(None, {v: 1, **weights}, 0, 0))

    def _column(self, name: str, lo: int | None, hi: int | None) -> int:
        for value in (lo, hi):
            self._check(value, f"'{name}'")
        self.names.append(name)
        self.bounds.append((lo, hi))
        return len(self.names) - 1

    def _new(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def _check(self, value: int | None, what: str) -> None:
        if value is not None and abs(value) >= INFINITE:
            raise self._refused(f"{what} has a number beyond 10^20, which its readers take for infinity")

    # Rows

    def _add(
        self, name: str | None, total: Sums, lo: int | None, hi: int | None, scale: Scale | None = None
    ) -> None:
        lo = None if lo is None else lo - total.constant
        hi = None if hi is None else hi - total.constant
        for value in (lo, hi, *total.terms.values()):
            if value is not None and abs(value) >= INFINITE:
                raise NotLinear("it has a number beyond 10^20, which readers take for infinity")
        divisor = 1 if scale is None else scale.denominator
        numbers = [number for number in (lo, hi, *total.terms.values()) if number is not None]
        if any(decimal_text(Fraction(number, divisor)) is None for number in numbers):
            divisor = 1  # such as thirds: the row stays multiplied
        self.rows.append(LinearRow(name, total.terms, lo, hi, divisor, self._under))

    def _require(self, node: BoolExpr, name: str | None) -> None:
        if isinstance(node, And):
            for part in node.args:
                self._require(part, name)
        elif isinstance(node, Not) and isinstance(node.arg, Comparison) and node.arg.operator in _FLIPPED:
            self._compare(_FLIPPED[node.arg.operator], node.arg, name)
        elif isinstance(node, Not) and isinstance(node.arg, Or):
            for part in node.arg.args:
                self._require(_negated(part), name)
        elif isinstance(node, Comparison):
            self._compare(node.operator, node, name)
        elif isinstance(node, Member) and node.domain.step == 1 and node.domain.values is None:
            if node.domain.is_empty:
                self._add(name, Sums({}), 1, None)
            else:
                self._add(name, self._sum(node.arg), node.domain.lo, node.domain.hi)
        else:
            try:
                self._add(name, *self._of_literals(node))
            except NotLinear:
                if not self._has_indicators or self._under is not None or not self._indicate(node, name):
                    raise

    def _of_literals(self, node: BoolExpr) -> tuple[Sums, int, int | None]:
        """The sum of literals, with its bounds, that a condition on Boolean variables is."""
        if isinstance(node, Iff):
            return self._literal(node.left).plus(self._literal(node.right), -1), 0, 0
        return self._clause(node), 1, None

    def _indicate(self, node: BoolExpr, name: str | None) -> bool:
        """Add the rows of a condition that holds where a literal does; False for other conditions."""
        if isinstance(node, Iff):
            sides = (node.left, node.right) if self._indicator(node.left) else (node.right, node.left)
            under = self._indicator(sides[0])
            if under is None or not isinstance(sides[1], Comparison) or sides[1].operator in ("==", "!="):
                return False
            self._require_under(under, sides[1], name)
            self._require_under((under[0], 1 - under[1]), Not(sides[1]), name)
            return True
        if isinstance(node, Implies):
            node = Or((Not(node.left), node.right))
        if not isinstance(node, Or) or len(node.args) != 2:
            return False
        for literal, then in (node.args, node.args[::-1]):
            under = self._indicator(literal)
            if under is not None:
                self._require_under((under[0], 1 - under[1]), then, name)
                return True
        return False

    def _indicator(self, node: BoolExpr) -> tuple[int, int] | None:
        """The column of a literal, and its value where the literal holds; None for another condition."""
        if isinstance(node, Not):
            found = self._indicator(node.arg)
            return None if found is None else (found[0], 1 - found[1])
        return (self._known[node], 1) if isinstance(node, BoolVar) and node in self._known else None

    def _require_under(self, under: tuple[int, int], node: BoolExpr, name: str | None) -> None:
        while isinstance(node, Not) and isinstance(node.arg, Not):
            node = node.arg.arg
        self._under = under
        try:
            self._require(node, name)
        finally:
            self._under = None

    def _compare(self, operator: str, node: Comparison, name: str | None) -> None:
        total = self._sum(node.left).plus(self._sum(node.right), -1)
        if operator == "!=":
            self._differ(total, name)
        elif operator == "==":
            self._add(name, total, 0, 0, node.scale)
        elif operator in ("<=", "<"):
            self._add(name, total, None, -(operator == "<"), node.scale)
        else:
            self._add(name, total, int(operator == ">"), None, node.scale)

    def _differ(self, total: Sums, name: str | None) -> None:
        """Require that a sum is not 0, with a column that says whether it is above or below.

        Each solution has one value of this column, so there are as many as before.
        """
        lo, hi = self._ends(total)
        if self._under is not None:
            raise NotLinear("!= that holds under a condition is not linear")
        if lo is None or hi is None:
            raise NotLinear("!= needs bounds of all its variables")
        if lo > 0 or hi < 0:
            return
        above = self._column(self._new(f"{name or 'differs'}_above"), 0, 1)
        self._add(name, total.plus(Sums({above: lo - 1})), lo, None)  # at least 1 where it is above
        self._add(name, total.plus(Sums({above: -hi - 1})), None, -1)  # at most -1 elsewhere

    def _ends(self, total: Sums) -> tuple[int | None, int | None]:
        """The least and the greatest value of a sum by the bounds of its columns; None for no bound."""
        ends: list[int | None] = [total.constant, total.constant]
        for v, a in total.terms.items():
            for side, bound in enumerate(self.bounds[v] if a > 0 else self.bounds[v][::-1]):
                known = ends[side]
                if a:
                    ends[side] = None if bound is None or known is None else known + a * bound
        return ends[0], ends[1]

    def _clause(self, node: BoolExpr) -> Sums:
        """A sum of literals that is at least 1 where one of them holds."""
        if isinstance(node, Or):
            parts: Sequence[Sums] = [self._clause(part) for part in node.args]
        elif isinstance(node, Implies):
            parts = [self._clause(_negated(node.left)), self._clause(node.right)]
        elif isinstance(node, Not) and isinstance(node.arg, And | Not | Or | Implies):
            return self._clause(_negated(node.arg))
        else:
            return self._literal(node)
        total = Sums({})
        for part in parts:
            total = total.plus(part)
        return total

    def _literal(self, node: BoolExpr) -> Sums:
        if isinstance(node, Not):
            return Sums({}, 1).plus(self._literal(node.arg), -1)
        if isinstance(node, BoolConst):
            return Sums({}, int(node.value))
        if isinstance(node, BoolVar) and node in self._known:
            return Sums({self._known[node]: 1})
        raise NotLinear(f"{_kind(node)} is not linear here")

    def _sum(self, node: IntExpr) -> Sums:
        if isinstance(node, Const):
            return Sums({}, node.value)
        if isinstance(node, BoolExpr):
            return self._literal(node)
        if isinstance(node, IntVar) and node in self._known:
            return Sums({self._known[node]: 1})
        total = Sums({})
        if isinstance(node, Sum):
            total.constant = node.constant
            for a, part in node.terms:
                inner = self._sum(part)
                total.constant += a * inner.constant
                for v, b in inner.terms.items():
                    total.terms[v] = total.terms.get(v, 0) + a * b
            return total
        if isinstance(node, Mul):
            factors = [self._sum(part) for part in node.args]
            variable = [factor for factor in factors if factor.terms]
            if len(variable) <= 1:
                known = 1
                for factor in factors:
                    known *= 1 if factor.terms else factor.constant
                return total.plus(variable[0] if variable else Sums({}, 1), known)
            raise NotLinear("a product of variables is not linear")
        raise NotLinear(f"{_kind(node)} is not linear")


def _negated(node: BoolExpr) -> BoolExpr:
    """The negation of a condition, moved inwards by one level."""
    if isinstance(node, Not):
        return node.arg
    if isinstance(node, And):
        return Or(tuple([_negated(part) for part in node.args]))
    if isinstance(node, Or | Implies):
        raise NotLinear("a conjunction inside a disjunction is not linear")
    return Not(node)


def _kind(node: IntExpr) -> str:
    """The name of an operator or constraint in messages."""
    definition = getattr(node, "definition", None)
    if definition is not None:
        return str(definition.name)
    return str(getattr(node, "name", type(node).__name__)).lower()
