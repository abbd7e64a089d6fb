"""Expressions: frozen nodes that Python's operators build, and their exact meaning.

``evaluate`` is the definition of every operator, in Python's unbounded integers; each answer of the
solver is checked against it. Evaluation is strict: where any subexpression is undefined (``x // 0``,
``x % 0``, a negative exponent, an index out of range) the whole raises `Undefined`, and such an
assignment is no solution. Integer nodes fold constants only where that cannot hide an undefined part.
"""

from __future__ import annotations

import linecache
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import NoReturn, SupportsIndex, TypeAlias, Union

from constrint.domain import Domain
from constrint.errors import ModelError, Position, Undefined

Assignment: TypeAlias = Mapping["IntExpr", int]
IntLike: TypeAlias = Union["IntExpr", SupportsIndex]


def _caller() -> tuple[CodeType, int] | None:
    """The instruction in the user's code that is building a node (kept unresolved: that is cheap)."""
    frame = sys._getframe(2)
    while frame.f_globals.get("__name__", "").partition(".")[0] == "constrint":
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


def _resolve(code: CodeType, instruction: int) -> Position | None:
    spans = list(code.co_positions())
    line, end_line, column, end_column = spans[instruction // 2] if instruction >= 0 else (None,) * 4
    if line is None:
        return None
    source = linecache.getline(code.co_filename, line)
    if column is None or end_column is None:
        return Position(code.co_filename, line, 1, text=source.strip())
    # co_positions counts bytes; columns for people count characters.
    raw = source.encode()
    first = len(raw[:column].decode(errors="replace")) + 1
    last = end_column + 1
    text = source[first - 1 :].strip()
    if end_line == line:
        last = len(raw[:end_column].decode(errors="replace")) + 1
        text = source[first - 1 : last - 1]
    return Position(code.co_filename, line, first, end_line, last, text)


def as_expr(value: object) -> IntExpr:
    """Give an expression for an operand: an expression itself, or a constant for an integer."""
    if isinstance(value, IntExpr):
        return value
    if isinstance(value, SupportsIndex):
        return Const(value.__index__())
    raise ModelError(f"{value!r} is no integer expression: use integers and constrint expressions only")


def as_bool(value: object) -> BoolExpr:
    """Give a Boolean expression for an operand; 0, 1, False and True are accepted as constants."""
    if isinstance(value, BoolExpr):
        return value
    if isinstance(value, int) and value in (0, 1):
        return BoolConst(bool(value))
    if isinstance(value, IntExpr):
        raise ModelError("a number is no condition: compare the expression, such as `… != 0`")
    raise ModelError(f"{value!r} is no condition: use comparisons of expressions")


class IntExpr:
    """An integer expression. Operators build new expressions; nothing is computed until a model is solved."""

    __slots__ = ("_where",)
    _where: Position | tuple[CodeType, int] | None

    @property
    def position(self) -> Position | None:
        """Where the expression stands in the user's source, if that is known."""
        where = getattr(self, "_where", None)
        return _resolve(*where) if isinstance(where, tuple) else where

    def at(self, position: Position | None) -> IntExpr:
        """Note where this expression stands, unless that is known already; returns the expression."""
        if getattr(self, "_where", None) is None:
            object.__setattr__(self, "_where", position)
        return self

    @property
    def children(self) -> tuple[IntExpr, ...]:
        """The direct subexpressions, in reading order."""
        raise NotImplementedError

    def evaluate(self, assignment: Assignment) -> int:
        """Value under an assignment of the variables; raises `Undefined` where there is none."""
        raise NotImplementedError

    def variables(self) -> Iterator[IntVar | BoolVar]:
        """The variables that occur, each once, in order of appearance."""
        seen: set[int] = set()
        stack: list[IntExpr] = [self]
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, IntVar | BoolVar):
                yield node
            stack.extend(reversed(node.children))

    def __bool__(self) -> NoReturn:
        raise ModelError(
            "an expression has no truth value while the model is being built. Instead of `a <= x <= b` write "
            "`(a <= x) & (x <= b)`; instead of `and`, `or`, `not` write `&`, `|`, `~`; instead of "
            "`if condition: …` write `condition.implies(…)`; instead of `x in values` write `x.is_in(values)`"
        )

    __hash__ = object.__hash__

    def __add__(self, other: IntLike) -> IntExpr:
        return linear([(1, self), (1, as_expr(other))])

    def __radd__(self, other: IntLike) -> IntExpr:
        return linear([(1, as_expr(other)), (1, self)])

    def __sub__(self, other: IntLike) -> IntExpr:
        return linear([(1, self), (-1, as_expr(other))])

    def __rsub__(self, other: IntLike) -> IntExpr:
        return linear([(1, as_expr(other)), (-1, self)])

    def __neg__(self) -> IntExpr:
        return linear([(-1, self)])

    def __pos__(self) -> IntExpr:
        return self

    def __mul__(self, other: IntLike) -> IntExpr:
        return _product(self, as_expr(other))

    def __rmul__(self, other: IntLike) -> IntExpr:
        return _product(as_expr(other), self)

    def __floordiv__(self, other: IntLike) -> IntExpr:
        return FloorDiv(self, as_expr(other))

    def __rfloordiv__(self, other: IntLike) -> IntExpr:
        return FloorDiv(as_expr(other), self)

    def __mod__(self, other: IntLike) -> IntExpr:
        return Mod(self, as_expr(other))

    def __rmod__(self, other: IntLike) -> IntExpr:
        return Mod(as_expr(other), self)

    def __pow__(self, other: IntLike) -> IntExpr:
        return Pow(self, as_expr(other))

    def __rpow__(self, other: IntLike) -> IntExpr:
        return Pow(as_expr(other), self)

    def __abs__(self) -> IntExpr:
        return Abs(self)

    def __truediv__(self, other: object) -> NoReturn:
        raise ModelError("`/` gives no integer: write `//` (rounds down), or ceildiv(a, b) (rounds up)")

    __rtruediv__ = __truediv__

    def __lt__(self, other: IntLike) -> BoolExpr:
        return _compare("<", self, other)

    def __le__(self, other: IntLike) -> BoolExpr:
        return _compare("<=", self, other)

    def __gt__(self, other: IntLike) -> BoolExpr:
        return _compare(">", self, other)

    def __ge__(self, other: IntLike) -> BoolExpr:
        return _compare(">=", self, other)

    # Comparing builds a condition instead of answering one, so these two cannot have object's signature.
    def __eq__(self, other: IntLike) -> BoolExpr:  # type: ignore[override]
        return _compare("==", self, other)

    def __ne__(self, other: IntLike) -> BoolExpr:  # type: ignore[override]
        return _compare("!=", self, other)

    def is_in(self, values: Iterable[int] | Domain) -> BoolExpr:
        """The condition that the value is one of these."""
        node = Member(self, values if isinstance(values, Domain) else Domain.of_values(values))
        object.__setattr__(node, "_where", _caller())
        return node


class BoolExpr(IntExpr):
    """A condition. Used as an integer it counts 1 where it holds and 0 where it does not."""

    __slots__ = ()

    def evaluate(self, assignment: Assignment) -> bool:
        """Whether the condition holds under an assignment; raises `Undefined` where it has no meaning."""
        raise NotImplementedError

    def __and__(self, other: object) -> BoolExpr:
        return _placed(And(_flat(And, self, as_bool(other))))

    def __rand__(self, other: object) -> BoolExpr:
        return _placed(And(_flat(And, as_bool(other), self)))

    def __or__(self, other: object) -> BoolExpr:
        return _placed(Or(_flat(Or, self, as_bool(other))))

    def __ror__(self, other: object) -> BoolExpr:
        return _placed(Or(_flat(Or, as_bool(other), self)))

    def __xor__(self, other: object) -> BoolExpr:
        return _placed(Not(Iff(self, as_bool(other))))

    def __invert__(self) -> BoolExpr:
        return _placed(Not(self))

    def implies(self, other: object) -> BoolExpr:
        """The condition that `other` holds wherever this does."""
        return _placed(Implies(self, as_bool(other)))

    def iff(self, other: object) -> BoolExpr:
        """The condition that this and `other` hold together or not at all."""
        return _placed(Iff(self, as_bool(other)))


def _placed(node: BoolExpr) -> BoolExpr:
    object.__setattr__(node, "_where", _caller())
    return node


def _compare(operator: str, left: IntExpr, right: object) -> BoolExpr:
    node: BoolExpr
    if operator == "==" and isinstance(left, BoolExpr) and isinstance(right, BoolExpr | bool):
        node = Iff(left, as_bool(right))
    else:
        node = Comparison(operator, left, as_expr(right))
    object.__setattr__(node, "_where", _caller())
    return node


def _flat(kind: type[And] | type[Or], *parts: BoolExpr) -> tuple[BoolExpr, ...]:
    flat: list[BoolExpr] = []
    for part in parts:
        flat.extend(part.args if isinstance(part, kind) else (part,))
    return tuple(flat)


@dataclass(frozen=True, slots=True, eq=False)
class Const(IntExpr):
    """An integer."""

    value: int

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return ()

    def evaluate(self, assignment: Assignment) -> int:
        return self.value


@dataclass(frozen=True, slots=True, eq=False)
class IntVar(IntExpr):
    """An integer variable; made by `Model.int_var`."""

    name: str
    domain: Domain

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return ()

    def evaluate(self, assignment: Assignment) -> int:
        return assignment[self]


@dataclass(frozen=True, slots=True, eq=False)
class Sum(IntExpr):
    """``constant + sum(coefficient * expression)``; zero coefficients stay: terms must be defined."""

    terms: tuple[tuple[int, IntExpr], ...]
    constant: int

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return tuple(term for _, term in self.terms)

    def evaluate(self, assignment: Assignment) -> int:
        total = self.constant
        for coefficient, term in self.terms:
            total += coefficient * term.evaluate(assignment)
        return total


@dataclass(frozen=True, slots=True, eq=False)
class Mul(IntExpr):
    """The product of two or more expressions."""

    args: tuple[IntExpr, ...]

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return self.args

    def evaluate(self, assignment: Assignment) -> int:
        return math.prod([arg.evaluate(assignment) for arg in self.args])


@dataclass(frozen=True, slots=True, eq=False)
class _Binary(IntExpr):
    left: IntExpr
    right: IntExpr

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.left, self.right)


class FloorDiv(_Binary):
    """``left // right``, rounded down; undefined for a zero divisor."""

    __slots__ = ()

    def evaluate(self, assignment: Assignment) -> int:
        left, right = self.left.evaluate(assignment), self.right.evaluate(assignment)
        if right == 0:
            raise Undefined("division by zero")
        return left // right


class Mod(_Binary):
    """``left % right``, with the sign of the divisor; undefined for a zero divisor."""

    __slots__ = ()

    def evaluate(self, assignment: Assignment) -> int:
        left, right = self.left.evaluate(assignment), self.right.evaluate(assignment)
        if right == 0:
            raise Undefined("remainder of a division by zero")
        return left % right


class Pow(_Binary):
    """``left ** right``; undefined for a negative exponent; 0 ** 0 is 1."""

    __slots__ = ()

    def evaluate(self, assignment: Assignment) -> int:
        left, right = self.left.evaluate(assignment), self.right.evaluate(assignment)
        if right < 0:
            raise Undefined("negative exponent")
        power: int = left**right
        return power


@dataclass(frozen=True, slots=True, eq=False)
class Abs(IntExpr):
    """The absolute value."""

    arg: IntExpr

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.arg,)

    def evaluate(self, assignment: Assignment) -> int:
        return abs(self.arg.evaluate(assignment))


@dataclass(frozen=True, slots=True, eq=False)
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


@dataclass(frozen=True, slots=True, eq=False)
class Element(IntExpr):
    """``values[index]`` for a table of constants; undefined for an index outside 0 … len - 1."""

    values: tuple[int, ...]
    index: IntExpr

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.index,)

    def evaluate(self, assignment: Assignment) -> int:
        index = self.index.evaluate(assignment)
        if not 0 <= index < len(self.values):
            raise Undefined("index out of range")
        return self.values[index]


@dataclass(frozen=True, slots=True, eq=False)
class BoolConst(BoolExpr):
    """True or false."""

    value: bool

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return ()

    def evaluate(self, assignment: Assignment) -> bool:
        return self.value


@dataclass(frozen=True, slots=True, eq=False)
class BoolVar(BoolExpr):
    """A Boolean variable; made by `Model.bool_var`."""

    name: str
    domain: Domain

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return ()

    def evaluate(self, assignment: Assignment) -> bool:
        return bool(assignment[self])


_COMPARE = {
    "==": int.__eq__,
    "!=": int.__ne__,
    "<": int.__lt__,
    "<=": int.__le__,
    ">": int.__gt__,
    ">=": int.__ge__,
}


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(BoolExpr):
    """``left operator right`` with one of == != < <= > >=."""

    operator: str
    left: IntExpr
    right: IntExpr

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.left, self.right)

    def evaluate(self, assignment: Assignment) -> bool:
        return _COMPARE[self.operator](self.left.evaluate(assignment), self.right.evaluate(assignment))


@dataclass(frozen=True, slots=True, eq=False)
class Divides(BoolExpr):
    """The divisor divides the dividend; 0 divides only 0."""

    divisor: IntExpr
    dividend: IntExpr

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.divisor, self.dividend)

    def evaluate(self, assignment: Assignment) -> bool:
        divisor, dividend = self.divisor.evaluate(assignment), self.dividend.evaluate(assignment)
        return dividend % divisor == 0 if divisor else dividend == 0


@dataclass(frozen=True, slots=True, eq=False)
class Member(BoolExpr):
    """The value lies in a set of constants."""

    arg: IntExpr
    domain: Domain

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.arg,)

    def evaluate(self, assignment: Assignment) -> bool:
        return self.arg.evaluate(assignment) in self.domain


@dataclass(frozen=True, slots=True, eq=False)
class _Junction(BoolExpr):
    args: tuple[BoolExpr, ...]

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return self.args


class And(_Junction):
    """All hold; every part is evaluated, as each must be defined."""

    __slots__ = ()

    def evaluate(self, assignment: Assignment) -> bool:
        holds = [arg.evaluate(assignment) for arg in self.args]
        return all(holds)


class Or(_Junction):
    """At least one holds; every part is evaluated, as each must be defined."""

    __slots__ = ()

    def evaluate(self, assignment: Assignment) -> bool:
        holds = [arg.evaluate(assignment) for arg in self.args]
        return any(holds)


@dataclass(frozen=True, slots=True, eq=False)
class Not(BoolExpr):
    """The condition does not hold."""

    arg: BoolExpr

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.arg,)

    def evaluate(self, assignment: Assignment) -> bool:
        return not self.arg.evaluate(assignment)


@dataclass(frozen=True, slots=True, eq=False)
class _Pair(BoolExpr):
    left: BoolExpr
    right: BoolExpr

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return (self.left, self.right)


class Implies(_Pair):
    """The right holds wherever the left does; both are evaluated."""

    __slots__ = ()

    def evaluate(self, assignment: Assignment) -> bool:
        left, right = self.left.evaluate(assignment), self.right.evaluate(assignment)
        return right or not left


class Iff(_Pair):
    """Both hold, or neither."""

    __slots__ = ()

    def evaluate(self, assignment: Assignment) -> bool:
        return self.left.evaluate(assignment) == self.right.evaluate(assignment)


def linear(terms: Sequence[tuple[int, IntExpr]], constant: int = 0) -> IntExpr:
    """``constant + sum(coefficient * expression)``, with nested sums and constants merged."""
    flat: list[tuple[int, IntExpr]] = []
    for coefficient, term in terms:
        if type(term) is Const:
            constant += coefficient * term.value
        elif type(term) is Sum:
            constant += coefficient * term.constant
            flat.extend([(coefficient * inner, part) for inner, part in term.terms])
        else:
            flat.append((coefficient, term))
    if not flat:
        return Const(constant)
    if constant == 0 and len(flat) == 1 and flat[0][0] == 1 and not isinstance(flat[0][1], BoolExpr):
        return flat[0][1]
    return Sum(tuple(flat), constant)


def _product(left: IntExpr, right: IntExpr) -> IntExpr:
    if type(left) is Const:
        return linear([(left.value, right)])
    if type(right) is Const:
        return linear([(right.value, left)])
    first = left.args if type(left) is Mul else (left,)
    second = right.args if type(right) is Mul else (right,)
    return Mul(first + second)
