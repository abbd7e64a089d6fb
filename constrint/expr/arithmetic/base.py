"""The base class of arithmetic functions: one class has everything that the layers above need.

`IntFunction` has a default rule for everything. A function that is defined by a relation of integers gives
its `value`, its `bounds` and that `relation`; the default rules derive its lowering, its columns and ranges
in the planner, and its form in text, JSON and sympy. A function with a propagator, or with better rules for
the planner, overrides the rule in question. The decorator `function` registers it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

from constrint.expr.base import Assignment, BoolExpr, IntExpr
from constrint.expr.conditions import Comparison
from constrint.expr.domain import Domain
from constrint.expr.evaluation import with_parts
from constrint.expr.integers import Const, IntVar
from constrint.expr.ranges import Known, between, fixed
from constrint.expr.sums import Linear
from constrint.support.record import record

if TYPE_CHECKING:
    from constrint.expr.arithmetic.protocols import LoweringProtocol, RangesProtocol

Bounds: TypeAlias = tuple[int, int]
"""Least and greatest value."""

FUNCTIONS: dict[str, type[IntFunction]] = {}
"""All arithmetic functions by name; `constrint.expr.functions` imports each."""

Class = TypeVar("Class", bound="type[IntFunction]")


class IntFunction(IntExpr):
    """An arithmetic function of integer expressions.

    Attributes:
        value: The definition: the value for these values of the operands; raises `Undefined` if there is
            none.
        name: Its name in text, JSON, sympy and messages.
        symbol: Its name in JSON, if that differs.
        infix: Whether text writes it as an operator (the symbol), not as a call.
        fewest: Least number of operands.
        most: Greatest number of operands, or None.
        conditions: Number of leading operands that are conditions.
        requires: Operands that must compare with 0 (`>=` or `!=`) for it to be defined.
        is_isotone: Whether it is non-decreasing in every operand.
        grows: Whether a value may have as many digits as all operands together, or more.
        sympy_name: The sympy class with this meaning. Without one it is an undefined function there.
    """

    __slots__ = ()
    name: ClassVar[str]
    symbol: ClassVar[str] = ""
    infix: ClassVar[bool] = False
    fewest: ClassVar[int] = 1
    most: ClassVar[int | None] = None
    conditions: ClassVar[int] = 0
    requires: ClassVar[dict[int, str]] = {}
    is_isotone: ClassVar[bool] = False
    grows: ClassVar[bool] = False
    sympy_name: ClassVar[str] = ""
    value: ClassVar[Callable[..., int]]

    # Meaning

    @classmethod
    def of(cls, operands: tuple[IntExpr, ...]) -> IntExpr:
        """The expression with these operands."""
        raise NotImplementedError

    def meaning(self, assignment: Assignment) -> int:
        """The value under an assignment of the variables; raises `Undefined` if there is none."""
        return self.value(*[child.meaning(assignment) for child in self.children])

    def needs(self) -> tuple[BoolExpr, ...]:
        """The conditions under which it is defined, provided that its operands are."""
        if not self.requires:
            return ()
        operands = self.children
        return tuple([need for i, way in self.requires.items() for need in unless_known(operands[i], way)])

    @classmethod
    def bounds(cls, *operands: Bounds) -> Bounds:
        """Bounds on the values of operands within bounds, for which it has some value."""
        if not cls.is_isotone:
            raise NotImplementedError
        operands = tuple(cls._required(i, within) for i, within in enumerate(operands))
        return cls.value(*[lo for lo, _ in operands]), cls.value(*[max(hi, lo) for lo, hi in operands])

    @classmethod
    def _required(cls, i: int, within: Bounds) -> Bounds:
        return (max(within[0], 0), max(within[1], 0)) if cls.requires.get(i) == ">=" else within

    @classmethod
    def relation(cls, result: IntExpr, *operands: IntExpr) -> Iterable[BoolExpr]:
        """Conditions that hold exactly if the result is the value, for operands for which it is defined."""
        raise NotImplementedError

    def decomposed(self) -> IntExpr | None:
        """The same number by other functions, where it is lowered and planned as those."""
        return None

    # Lowering

    def lower(self, lowering: LoweringProtocol) -> Linear:
        """The sum that it equals: a new variable of which the relation is required."""
        other = self.decomposed()
        if other is not None:
            return lowering.sum_of(lowering.kept(other))
        operands = lowering.operands(self)
        if not any(operand.terms for operand in operands):
            return Linear({}, self.value(*[operand.constant for operand in operands]))
        return lowering.related(type(self), operands)

    # The planner

    @classmethod
    def same_as(cls, *operands: Bounds) -> int | None:
        """The number of the operand that it equals for all operands within bounds, if there is one."""
        return None

    @classmethod
    def column(cls, operands: Sequence[Any], bounds: Sequence[Bounds]) -> Any:
        """The values for columns of operands, which are numpy's arrays or numbers and have values there."""
        import numpy as np

        dtype = np.result_type(*operands)
        return np.asarray(np.frompyfunc(cls.value, len(operands), 1)(*operands)).astype(dtype)

    @classmethod
    def known(cls, ranges: RangesProtocol, *operands: Known) -> Known:
        """The range of the value, for operands that have a value."""
        if all(operand.is_fixed for operand in operands):
            return fixed(cls.value(*[operand.lo for operand in operands]))
        return between(*cls.bounds(*[(operand.lo, operand.hi) for operand in operands]))


def function(cls: Class) -> Class:
    """Register a function."""
    with_parts(cls)
    FUNCTIONS[cls.name] = cls
    return cls


@record(eq=False)
class Unary(IntFunction):
    """A function of one operand."""

    arg: IntExpr
    most: ClassVar[int | None] = 1

    @classmethod
    def of(cls, operands: tuple[IntExpr, ...]) -> IntExpr:
        return cls(*operands)

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.arg,)

    def meaning(self, assignment: Assignment) -> int:
        return self.value(self.arg.meaning(assignment))


@record(eq=False)
class Binary(IntFunction):
    """A function of two operands."""

    left: IntExpr
    right: IntExpr
    fewest: ClassVar[int] = 2
    most: ClassVar[int | None] = 2

    @classmethod
    def of(cls, operands: tuple[IntExpr, ...]) -> IntExpr:
        return cls(*operands)

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.left, self.right)

    def meaning(self, assignment: Assignment) -> int:
        return self.value(self.left.meaning(assignment), self.right.meaning(assignment))


@record(eq=False)
class Nary(IntFunction):
    """A function of one or more operands."""

    args: tuple[IntExpr, ...]

    def meaning(self, assignment: Assignment) -> int:
        return self.value(*[arg.meaning(assignment) for arg in self.args])

    @classmethod
    def of(cls, operands: tuple[IntExpr, ...]) -> IntExpr:
        return cls(operands)

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return self.args


def domain_of(expr: IntExpr) -> Domain | None:
    """The possible values of a constant or variable; None for other expressions."""
    if isinstance(expr, Const):
        return Domain(expr.value, expr.value)
    return expr.domain if isinstance(expr, IntVar) else None


def unless_known(expr: IntExpr, way: str) -> tuple[BoolExpr, ...]:
    """The comparison of an operand with 0, unless its domain implies it."""
    domain = domain_of(expr)
    if domain is not None:
        if way == "!=" and 0 not in domain:
            return ()
        if way == ">=" and domain.lo is not None and domain.lo >= 0:
            return ()
    return (Comparison(way, expr, Const(0)),)
