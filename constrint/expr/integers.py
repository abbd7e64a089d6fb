"""Integer nodes, and what each of them means."""

from __future__ import annotations

import math
from collections.abc import Callable
from threading import Lock

from constrint.errors import ModelError, Undefined, shown_number
from constrint.expr.base import Assignment, BoolExpr, IntExpr
from constrint.expr.conditions import Comparison, Member
from constrint.expr.domain import Domain
from constrint.expr.evaluation import share_work
from constrint.support.record import record, refuse, shown


@record(eq=False)
class Const(IntExpr):
    """An integer."""

    value: int

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return ()

    def evaluate(self, assignment: Assignment) -> int:
        return self.value


@record(eq=False)
class IntVar(IntExpr):
    """An integer variable; made by `Model.int_var`."""

    name: str
    domain: Domain

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return ()

    def evaluate(self, assignment: Assignment) -> int:
        return assignment[self]


LONGEST_POWER_BITS = 4_000_000
_EXTENDING = Lock()  # two threads may add to one sum


class Sum(IntExpr):
    """``constant + sum(coefficient * expression)``; zero coefficients stay: terms must be defined.

    A sum that was made by adding to another (`extended`) has its terms, as a tuple, once they are asked for.
    Until then they are the first ones of a list that it shares with that other sum.
    """

    __slots__ = ("_count", "_list", "constant", "terms")
    __match_args__ = ("terms", "constant")
    terms: tuple[tuple[int, IntExpr], ...]
    constant: int
    _count: int
    _list: list[tuple[int, IntExpr]] | None

    def __init__(self, terms: tuple[tuple[int, IntExpr], ...], constant: int) -> None:
        object.__setattr__(self, "terms", terms)
        object.__setattr__(self, "constant", constant)
        object.__setattr__(self, "_count", len(terms))
        object.__setattr__(self, "_list", None)

    @property
    def count(self) -> int:
        """Number of terms."""
        return self._count

    def extended(self, terms: list[tuple[int, IntExpr]], constant: int) -> Sum:
        """The sum with more terms and another constant; extending that one again copies nothing."""
        with _EXTENDING:
            shared = self._list
            if shared is None or len(shared) != self._count:
                shared = list(self.terms)
            shared += terms
        longer = object.__new__(Sum)
        object.__setattr__(longer, "constant", constant)
        object.__setattr__(longer, "_count", self._count + len(terms))
        object.__setattr__(longer, "_list", shared)
        return longer

    def __getattr__(self, name: str) -> tuple[tuple[int, IntExpr], ...]:
        """The terms, when they are first asked for."""
        shared = self._list if name == "terms" else None
        if shared is None:
            raise AttributeError(f"a sum has no attribute {name!r}")
        terms = tuple(shared[: self._count])
        object.__setattr__(self, "terms", terms)
        return terms

    __setattr__ = refuse
    __delattr__ = refuse
    __repr__ = shown

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return Sum, (self.terms, self.constant)

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return tuple([term for _, term in self.terms])

    def evaluate(self, assignment: Assignment) -> int:
        total = self.constant
        for coefficient, term in self.terms:
            total += coefficient * term.evaluate(assignment)
        return total


@record(eq=False)
class Mul(IntExpr):
    """The product of two or more expressions."""

    args: tuple[IntExpr, ...]

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return self.args

    def evaluate(self, assignment: Assignment) -> int:
        total = 1
        for arg in self.args:
            total *= arg.evaluate(assignment)
        return total


@record(eq=False)
class _Binary(IntExpr):
    left: IntExpr
    right: IntExpr

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.left, self.right)


class FloorDiv(_Binary):
    """``left // right``, rounded down; undefined for a zero divisor."""

    __slots__ = ()

    def needs(self) -> tuple[BoolExpr, ...]:
        return _unless_within(self.right, lambda domain: 0 not in domain, "!=")

    def evaluate(self, assignment: Assignment) -> int:
        left, right = self.left.evaluate(assignment), self.right.evaluate(assignment)
        if right == 0:
            raise Undefined("division by zero")
        return left // right


class Mod(_Binary):
    """``left % right``, with the sign of the divisor; undefined for a zero divisor."""

    __slots__ = ()

    def needs(self) -> tuple[BoolExpr, ...]:
        return _unless_within(self.right, lambda domain: 0 not in domain, "!=")

    def evaluate(self, assignment: Assignment) -> int:
        left, right = self.left.evaluate(assignment), self.right.evaluate(assignment)
        if right == 0:
            raise Undefined("remainder of a division by zero")
        return left % right


class Pow(_Binary):
    """``left ** right``; undefined for a negative exponent; 0 ** 0 is 1."""

    __slots__ = ()

    def needs(self) -> tuple[BoolExpr, ...]:
        return _unless_within(self.right, lambda domain: domain.lo is not None and domain.lo >= 0, ">=")

    def evaluate(self, assignment: Assignment) -> int:
        left, right = self.left.evaluate(assignment), self.right.evaluate(assignment)
        if right < 0:
            raise Undefined("negative exponent")
        if right > 64 and right * (abs(left).bit_length() - 1) > LONGEST_POWER_BITS:
            raise ModelError(f"{shown_number(left)} ** {shown_number(right)} is too large to compute")
        power: int = left**right
        return power


def _domain(expr: IntExpr) -> Domain | None:
    """The values that a constant or variable can have; None for other expressions."""
    if isinstance(expr, Const):
        return Domain(expr.value, expr.value)
    return expr.domain if isinstance(expr, IntVar) else None


def _unless_within(expr: IntExpr, always: Callable[[Domain], bool], operator: str) -> tuple[BoolExpr, ...]:
    """The comparison of an operand with 0, unless its domain says enough."""
    domain = _domain(expr)
    return () if domain is not None and always(domain) else (Comparison(operator, expr, Const(0)),)


def inside(index: IntExpr, last: int) -> tuple[BoolExpr, ...]:
    """The condition that an index lies between 0 and a last one, unless its domain says so."""
    domain = _domain(index)
    if domain is None or domain.lo is None or domain.hi is None or domain.lo < 0 or domain.hi > last:
        return (Member(index, Domain.of_range(0, last)),)
    return ()


@record(eq=False)
class Abs(IntExpr):
    """The absolute value."""

    arg: IntExpr

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.arg,)

    def evaluate(self, assignment: Assignment) -> int:
        return abs(self.arg.evaluate(assignment))


@record(eq=False)
class _Nary(IntExpr):
    args: tuple[IntExpr, ...]

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return self.args

    def _values(self, assignment: Assignment) -> list[int]:
        return [arg.evaluate(assignment) for arg in self.args]


class Min(_Nary):
    """The least of one or more expressions."""

    __slots__ = ()

    def evaluate(self, assignment: Assignment) -> int:
        return min(self._values(assignment))


class Max(_Nary):
    """The greatest of one or more expressions."""

    __slots__ = ()

    def evaluate(self, assignment: Assignment) -> int:
        return max(self._values(assignment))


class Gcd(_Nary):
    """The greatest common divisor, never negative; gcd(0, 0) is 0."""

    __slots__ = ()

    def evaluate(self, assignment: Assignment) -> int:
        return math.gcd(*self._values(assignment))


class Lcm(_Nary):
    """The least common multiple, never negative; 0 where any argument is 0."""

    __slots__ = ()

    def evaluate(self, assignment: Assignment) -> int:
        return math.lcm(*self._values(assignment))


@record(eq=False)
class Element(IntExpr):
    """``values[index]`` for a table of constants; undefined for an index outside 0 … len - 1."""

    values: tuple[int, ...]
    index: IntExpr

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.index,)

    def needs(self) -> tuple[BoolExpr, ...]:
        return inside(self.index, len(self.values) - 1)

    def evaluate(self, assignment: Assignment) -> int:
        index = self.index.evaluate(assignment)
        if not 0 <= index < len(self.values):
            raise Undefined("index out of range")
        return self.values[index]


@record(eq=False)
class IfThenElse(IntExpr):
    """One of two values, as a condition has it; the other one need not be defined."""

    condition: BoolExpr
    then: IntExpr
    otherwise: IntExpr

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.condition, self.then, self.otherwise)

    def evaluate(self, assignment: Assignment) -> int:
        chosen = self.then if self.condition.evaluate(assignment) else self.otherwise
        return int(chosen.evaluate(assignment))


share_work(Sum, Mul, FloorDiv, Mod, Pow, Abs, Min, Max, Gcd, Lcm, Element, IfThenElse)
