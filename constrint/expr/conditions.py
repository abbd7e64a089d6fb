"""Conditions and their meanings; a condition on integer expressions is false if one of them is undefined."""

from __future__ import annotations

from constrint.errors import Undefined
from constrint.expr.base import Assignment, BoolExpr, IntExpr
from constrint.expr.domain import Domain
from constrint.expr.evaluation import with_parts
from constrint.support.record import record


@record(eq=False)
class BoolConst(BoolExpr):
    """True or false."""

    value: bool

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return ()

    def meaning(self, assignment: Assignment) -> bool:
        return self.value

    evaluate = meaning


@record(eq=False)
class BoolVar(BoolExpr):
    """A Boolean variable; made by `Model.bool_var`.

    Attributes:
        name: Its name.
        domain: Its values, 0 and 1.
    """

    name: str
    domain: Domain
    _offered = ("domain", "name")

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return ()

    def meaning(self, assignment: Assignment) -> bool:
        return bool(assignment[self])

    evaluate = meaning


_COMPARE = {
    "==": int.__eq__,
    "!=": int.__ne__,
    "<": int.__lt__,
    "<=": int.__le__,
    ">": int.__gt__,
    ">=": int.__ge__,
}


@record()
class Scale:
    """The number by which both sides of a comparison of fractions were multiplied to become integers.

    Attributes:
        denominator: The number, at least 2.
        is_float: Whether the values of the sides are floats; else they are Fractions.
    """

    denominator: int
    is_float: bool


@record(eq=False)
class Comparison(BoolExpr):
    """``left operator right`` with one of == != < <= > >=.

    Attributes:
        operator: The operator.
        left: The left side.
        right: The right side.
        scale: The scale of the sides, if these were fractions.
    """

    operator: str
    left: IntExpr
    right: IntExpr
    scale: Scale | None = None

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.left, self.right)

    def meaning(self, assignment: Assignment) -> bool:
        try:
            return _COMPARE[self.operator](self.left.meaning(assignment), self.right.meaning(assignment))
        except Undefined:
            return False


@record(eq=False)
class Divides(BoolExpr):
    """The divisor divides the dividend; 0 divides only 0."""

    divisor: IntExpr
    dividend: IntExpr

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.divisor, self.dividend)

    def meaning(self, assignment: Assignment) -> bool:
        try:
            divisor, dividend = self.divisor.meaning(assignment), self.dividend.meaning(assignment)
        except Undefined:
            return False
        return dividend % divisor == 0 if divisor else dividend == 0


@record(eq=False)
class Member(BoolExpr):
    """The value lies in a set of constants.

    Attributes:
        arg: The value.
        domain: The set.
        scale: Of a fraction, by what it and the set were multiplied; only people are shown it.
    """

    arg: IntExpr
    domain: Domain
    scale: Scale | None = None

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.arg,)

    def meaning(self, assignment: Assignment) -> bool:
        try:
            return self.arg.meaning(assignment) in self.domain
        except Undefined:
            return False


@record(eq=False)
class Table(BoolExpr):
    """The tuple of the values is one of the rows."""

    args: tuple[IntExpr, ...]
    rows: frozenset[tuple[int, ...]]

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return self.args

    def meaning(self, assignment: Assignment) -> bool:
        try:
            return tuple([int(arg.meaning(assignment)) for arg in self.args]) in self.rows
        except Undefined:
            return False


@record(eq=False)
class _Junction(BoolExpr):
    args: tuple[BoolExpr, ...]

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return self.args


class And(_Junction):
    """All parts hold."""

    __slots__ = ()

    def meaning(self, assignment: Assignment) -> bool:
        return all(arg.meaning(assignment) for arg in self.args)


class Or(_Junction):
    """At least one part holds."""

    __slots__ = ()

    def meaning(self, assignment: Assignment) -> bool:
        return any(arg.meaning(assignment) for arg in self.args)


@record(eq=False)
class Not(BoolExpr):
    """The condition does not hold."""

    arg: BoolExpr

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.arg,)

    def meaning(self, assignment: Assignment) -> bool:
        return not self.arg.meaning(assignment)


@record(eq=False)
class _Pair(BoolExpr):
    left: BoolExpr
    right: BoolExpr

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.left, self.right)


class Implies(_Pair):
    """The right side holds if the left side does."""

    __slots__ = ()

    def meaning(self, assignment: Assignment) -> bool:
        return not self.left.meaning(assignment) or self.right.meaning(assignment)


class Iff(_Pair):
    """Both sides have the same truth value."""

    __slots__ = ()

    def meaning(self, assignment: Assignment) -> bool:
        return self.left.meaning(assignment) == self.right.meaning(assignment)


with_parts(Comparison, Divides, Member, Table, And, Or, Not, Implies, Iff)
