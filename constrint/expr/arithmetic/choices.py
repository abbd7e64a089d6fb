"""Choices: element on a table or a list of expressions, and if-then-else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast, overload

from constrint.errors import ModelError, Undefined
from constrint.expr.arithmetic.arguments import flat
from constrint.expr.arithmetic.base import IntFunction, domain_of, function
from constrint.expr.base import Assignment, BoolExpr, IntExpr, IntLike, Operands, Summand
from constrint.expr.build import NotWhole, as_bool, as_expr
from constrint.expr.conditions import Comparison, Member
from constrint.expr.domain import Domain
from constrint.expr.integers import Const, Sum
from constrint.expr.sums import Linear
from constrint.propagators import Element as ElementOfTable
from constrint.support.record import record

if TYPE_CHECKING:
    from constrint.expr.arithmetic.protocols import LoweringProtocol, ProblemProtocol
    from constrint.expr.enumerated import EnumExpr
    from constrint.expr.rational import Rational

TRUE, FALSE = 0, 1  # literals
MOST_UNCHOSEN = 16  # values before the first of a list, in place of a variable for its index


def inside(index: IntExpr, last: int) -> tuple[BoolExpr, ...]:
    """The condition that an index lies between 0 and a last one, unless its domain implies it."""
    domain = domain_of(index)
    if domain is None or domain.lo is None or domain.hi is None or domain.lo < 0 or domain.hi > last:
        return (Member(index, Domain.of_range(0, last)),)
    return ()


def from_zero(
    problem: ProblemProtocol, index: Linear, values: tuple[int, ...]
) -> tuple[int, tuple[int, ...]]:
    """The variable of an index into a list, which is kept inside, and the list from that variable's 0 on.

    Where the index is a variable and a small number, as for lists that count from 1, the list begins with
    values that are never chosen, so that the sum needs no variable of its own.
    """
    if len(index.terms) == 1 and -MOST_UNCHOSEN <= index.constant < 0:
        ((v, factor),) = index.terms.items()
        if factor == 1:
            first = -index.constant
            problem.keep_between(v, first, first + len(values) - 1)
            return v, values[:1] * first + values
    i = problem.of_linear(index)
    problem.keep_between(i, 0, len(values) - 1)
    return i, values


@function
@record(eq=False)
class Element(IntFunction):
    """``values[index]`` for a table of constants; undefined for an index outside 0 … len - 1."""

    values: tuple[int, ...]
    index: IntExpr
    name: ClassVar[str] = "element"
    infix: ClassVar[bool] = True

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.index,)

    def needs(self) -> tuple[BoolExpr, ...]:
        return inside(self.index, len(self.values) - 1)

    def meaning(self, assignment: Assignment) -> int:
        index = self.index.meaning(assignment)
        if not 0 <= index < len(self.values):
            raise Undefined("index out of range")
        return self.values[index]

    def lower(self, lowering: LoweringProtocol) -> Linear:
        problem, table = lowering.problem, self.values
        count = len(table)
        index = lowering.index(lowering.sum_of(self.index), count)
        for value in table:
            lowering.check(value)
        if not index.terms:
            return Linear({}, table[index.constant] if count else 0)
        if table == tuple(range(count)):
            i = problem.of_linear(index)
            problem.keep_between(i, 0, count - 1)
            return lowering.known(i)
        i, table = from_zero(problem, index, table)
        known = problem.shared(("element", table, i))
        if known is not None:
            return lowering.known(known)
        entries = Domain.of_values(table[problem.lo[i] : problem.hi[i] + 1])
        return lowering.known(
            problem.function(("element", table, i), entries, ((i, 0),), lambda z: ElementOfTable(table, i, z))
        )


@function
@record(eq=False)
class Selection(IntFunction):
    """``entries[index]`` for a list of expressions, all of which must have values.

    Undefined for an index outside 0 … len - 1.
    """

    entries: tuple[IntExpr, ...]
    index: IntExpr
    name: ClassVar[str] = "selection"
    infix: ClassVar[bool] = True

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (*self.entries, self.index)

    def needs(self) -> tuple[BoolExpr, ...]:
        return inside(self.index, len(self.entries) - 1)

    def meaning(self, assignment: Assignment) -> int:
        values = [entry.meaning(assignment) for entry in self.entries]
        index = self.index.meaning(assignment)
        if not 0 <= index < len(values):
            raise Undefined("index out of range")
        return values[index]

    def decomposed(self) -> IntExpr:
        """A chain of choices by the index, which the table of all indices keeps inside."""
        places = Element(tuple(range(len(self.entries))), self.index)
        chosen = self.entries[-1]
        for i in range(len(self.entries) - 2, -1, -1):
            chosen = IfThenElse(Comparison("==", places, Const(i)), self.entries[i], chosen)
        # What is not chosen, and the index for a single entry, must have a value too.
        return Sum((*[(0, part) for part in (places, *self.entries) if part.children], (1, chosen)), 0)

    def lower(self, lowering: LoweringProtocol) -> Linear:
        if len(self.entries) <= 2:
            return lowering.sum_of(lowering.kept(self.decomposed()))
        problem = lowering.problem
        sums = [lowering.sum_of(entry) for entry in self.entries]
        index = lowering.index(lowering.sum_of(self.index), len(sums))
        if not index.terms:
            return sums[index.constant]
        xs = tuple([problem.of_linear(value) for value in sums])
        i, xs = from_zero(problem, index, xs)
        return lowering.known(problem.selection(xs, i))


@function
@record(eq=False)
class IfThenElse(IntFunction):
    """One of two values, as a condition has it; the other one need not be defined."""

    condition: BoolExpr
    then: IntExpr
    otherwise: IntExpr
    name: ClassVar[str] = "if_then_else"
    symbol: ClassVar[str] = "if"
    fewest: ClassVar[int] = 3
    most: ClassVar[int | None] = 3
    conditions: ClassVar[int] = 1

    @classmethod
    def of(cls, operands: tuple[IntExpr, ...]) -> IntExpr:
        condition, then, otherwise = operands
        return cls(cast("BoolExpr", condition), then, otherwise)

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.condition, self.then, self.otherwise)

    def meaning(self, assignment: Assignment) -> int:
        chosen = self.then if self.condition.meaning(assignment) else self.otherwise
        return int(chosen.meaning(assignment))

    def lower(self, lowering: LoweringProtocol) -> Linear:
        literal = lowering.literal(self.condition)
        if literal in (TRUE, FALSE):
            return lowering.sum_of(self.then if literal == TRUE else self.otherwise)
        return lowering.chosen(literal, self.then, self.otherwise)


@overload
def element(values: Operands, index: IntLike | EnumExpr) -> IntExpr: ...  # type: ignore[overload-overlap] # whole numbers are both
@overload
def element(values: Iterable[EnumExpr | str], index: IntLike | EnumExpr) -> EnumExpr: ...
@overload
def element(values: Iterable[Summand], index: IntLike | EnumExpr) -> Rational: ...
def element(values: Iterable[object], index: IntLike | EnumExpr) -> IntExpr | EnumExpr | Rational:
    """``values[index]``, counted from 0; undefined for an index outside.

    The values may be expressions; where one of them is undefined, the element is, whichever is chosen. They
    may be enumerations and their labels; the element is then an enumeration.

    Args:
        values: The values.
        index: The place of one; an enumeration selects by the number of its value, from an array with
            labels by its value.
    """
    if isinstance(values, Mapping):
        raise ModelError("element takes a list of values: of an enumeration, write index.map({…})")
    if isinstance(values, IntExpr | int) and isinstance(index, list | tuple):
        raise ModelError(f"element takes the list first: write element([…], {values})")
    if hasattr(values, "to_numpy"):  # a series, which may have labels
        from constrint.expr.arrays import array

        values = array(values)
    if type(index) is not int and not isinstance(index, IntExpr):
        from constrint.expr.enumerated import positions

        kept: Any = values if hasattr(values, "__len__") else list(flat(values))
        (index,) = positions([index], kept)
        values = kept
    found: IntExpr | EnumExpr | Rational = element_of(flat(values), as_expr(index))
    return found


def element_of(values: Iterable[Any], index: IntExpr) -> Any:
    """The element of a table where all entries are constants, else the one of a list of expressions."""
    values = values if isinstance(values, tuple | list) else list(values)
    try:
        entries = tuple([as_expr(value) for value in values])
    except ModelError as problem:
        from constrint.expr.enumerated import chosen_label

        chosen = chosen_label(values, index)
        if chosen is not None:
            return chosen
        if not isinstance(problem, NotWhole):
            raise
        from constrint.expr.rational import common

        numerators, divided = common(values)
        return divided(element_of(numerators, index))
    if not entries:
        raise ModelError("element needs at least one value: write element([a, b], index)")
    constants = [entry.value for entry in entries if isinstance(entry, Const)]
    if len(constants) == len(entries):
        return Element(tuple(constants), index)
    return Selection(entries, index)


@overload
def if_then_else(condition: object, then: IntLike, otherwise: IntLike) -> IntExpr: ...  # type: ignore[overload-overlap] # whole numbers are both
@overload
def if_then_else(condition: object, then: EnumExpr | str, otherwise: EnumExpr | str) -> EnumExpr: ...
@overload
def if_then_else(condition: object, then: Summand, otherwise: Summand) -> Rational: ...
def if_then_else(condition: object, then: object, otherwise: object) -> IntExpr | EnumExpr | Rational:
    """`then` where the condition holds, else `otherwise`; the one that is not chosen need not be defined.

    They are numbers, or enumerations and their labels.
    """
    test = as_bool(condition)
    try:
        return IfThenElse(test, as_expr(then), as_expr(otherwise))
    except ModelError as problem:
        from constrint.expr.enumerated import EnumExpr, common_numbers

        numbers = common_numbers([then, otherwise])
        if numbers is not None:
            codes = [as_expr(numbers.of(one)) for one in (then, otherwise)]
            return EnumExpr(numbers.values, IfThenElse(test, *codes))
        if not isinstance(problem, NotWhole):
            raise
        from constrint.expr.rational import common

        (first, second), divided = common((then, otherwise))
        return divided(IfThenElse(test, first, second))
