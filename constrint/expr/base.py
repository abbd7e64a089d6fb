"""The base classes of expressions: Python's operators, which build nodes, and source positions.

The nodes themselves stand in `integers`, `conditions` and `arithmetic`, the building of them in `build`.
Those modules need these classes, so the operators here reach them as modules, when they are called.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    NoReturn,
    Protocol,
    Self,
    SupportsIndex,
    TypeAlias,
    Union,
    overload,
)

from constrint.errors import ModelError, Position
from constrint.expr.domain import Domain
from constrint.expr.position import Span, caller, kept_place
from constrint.support.arguments import integer_list, with_other_names
from constrint.support.record import public_names

if TYPE_CHECKING:
    from constrint.expr.arrays import ExprArray
    from constrint.expr.rational import Coefficient, Rational


class Assignment(Protocol):
    """Values by variable, such as a dictionary whose keys are of one kind of variable or of several."""

    def __getitem__(self, variable: Any, /) -> int: ...


IntLike: TypeAlias = Union["IntExpr", SupportsIndex]
Operands: TypeAlias = "Iterable[IntLike | ExprArray]"  # an array may have any number of axes
Summand: TypeAlias = Union[IntLike, "Rational", "Coefficient"]
Comparing: TypeAlias = "Callable[[IntExpr, IntLike | Coefficient], BoolExpr]"
Bitwise: TypeAlias = "Callable[[IntExpr, IntLike], IntExpr]"


def _comparison(symbol: str) -> Comparing:
    def compare(self: IntExpr, other: IntLike | Coefficient) -> BoolExpr:
        if type(other) is int:
            other = CONSTANTS[other] if other in CONSTANTS else integers.Const(other)
        elif not isinstance(other, IntExpr):
            return NotImplemented if build.is_array(other) else build.compare(symbol, self, other)
        node = conditions.Comparison(symbol, self, other)
        note_place(node, caller())
        return node

    return compare


def _bitwise(symbol: str, name: str) -> tuple[Bitwise, Bitwise]:
    """An operator on bits, and the same with exchanged operands."""

    def forward(self: IntExpr, other: IntLike) -> IntExpr:
        return NotImplemented if build.is_array(other) else getattr(bits, name)(symbol, self, other)

    def backward(self: IntExpr, other: IntLike) -> IntExpr:
        return NotImplemented if build.is_array(other) else getattr(bits, name)(symbol, other, self)

    return forward, backward


@with_other_names
class IntExpr:
    """An integer expression. Operators build new expressions; nothing is computed until a model is solved."""

    __slots__ = ("_is_light", "_weight", "_where")
    _where: Position | Span | tuple[CodeType, int] | None
    _is_light: bool  # see `evaluation`
    _weight: tuple[int, int]

    @property
    def position(self) -> Position | None:
        """The place of the expression in the user's source; None if unknown."""
        where = kept_place(self)
        return where.resolve() if isinstance(where, Span) else where

    def at(self, position: Position | Span | None) -> Self:
        """Note where this expression stands, unless that is known already; returns the expression."""
        if getattr(self, "_where", None) is None:
            object.__setattr__(self, "_where", position)
        return self

    __getstate__, __setstate__ = kept_place, at  # what copies and pickles keep beside the fields
    _offered: tuple[str, ...] = ("bits", "children", "evaluate", "is_in", "position", "variables")
    __dir__ = public_names

    @property
    def children(self) -> tuple[IntExpr, ...]:
        """The direct subexpressions in reading order."""
        raise NotImplementedError

    def evaluate(self, assignment: Assignment) -> int:
        """The value under an assignment of the variables; raises `Undefined` if there is none.

        It takes time linear in the expression's size, however deep it is and however its parts are shared.
        """
        try:
            is_light = self._is_light
        except AttributeError:
            is_light = evaluation.is_light(self)
        return self.meaning(assignment) if is_light else evaluation.shared_value(self, assignment)

    def meaning(self, assignment: Assignment) -> int:
        """The definition of `evaluate`, by the meaning of each part; for expressions that are light."""
        raise NotImplementedError

    def needs(self) -> tuple[BoolExpr, ...]:
        """The conditions under which the expression is defined, provided that its subexpressions are."""
        return ()

    def variables(self) -> Iterator[integers.IntVar | conditions.BoolVar]:
        """The variables that occur, each once, in order of appearance."""
        seen: set[int] = set()
        stack: list[IntExpr] = [self]
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, integers.IntVar | conditions.BoolVar):
                yield node
            stack.extend(reversed(node.children))

    def __bool__(self) -> NoReturn:
        from constrint.expr.truth import truth_message

        raise ModelError(truth_message(sys._getframe(1)))

    def __index__(self) -> NoReturn:
        raise ModelError(
            f"`{self}` has no value while the model is being built: it is neither an index nor a number. "
            "Instead of `values[x]` write `element(values, x)`; after solving, `result[x]` is its value"
        )

    __int__ = __float__ = __round__ = __trunc__ = __floor__ = __ceil__ = __index__

    def bits(self, count: int) -> IntExpr:
        """The last `count` bits as a number that is at least 0: the remainder by ``2**count``."""
        return bits.last_bits(self, count)

    def __invert__(self) -> IntExpr:
        return build.linear([(-1, self)], -1)

    __and__, __rand__ = _bitwise("&", "joined")
    __or__, __ror__ = _bitwise("|", "joined")
    __xor__, __rxor__ = _bitwise("^", "joined")
    __lshift__, __rlshift__ = _bitwise("<<", "shifted")
    __rshift__, __rrshift__ = _bitwise(">>", "shifted")

    def __divmod__(self, other: IntLike) -> tuple[IntExpr, IntExpr]:
        return self // other, self % other

    def __rdivmod__(self, other: IntLike) -> tuple[IntExpr, IntExpr]:
        return other // self, other % self

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        """The text of the constrint language, with `…` for parts of large expressions."""
        from constrint.expr.shown import show  # it needs all nodes

        return show(self)

    def _repr_latex_(self) -> str:
        from constrint.expr.latex import latex

        return f"${latex(self)}$"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __array_ufunc__(self, ufunc: object, method: str, *inputs: object, **options: object) -> Any:
        """The result of numpy's operators and functions on the expression and an array."""
        from constrint.expr.array_functions import ufunc_of

        return ufunc_of(ufunc, method, inputs, options)

    @overload
    def __add__(self, other: IntLike) -> IntExpr: ...

    @overload
    def __add__(self, other: Coefficient) -> Rational: ...

    def __add__(self, other: IntLike | Coefficient) -> IntExpr | Rational:
        if type(other) is int:
            other = CONSTANTS[other] if other in CONSTANTS else integers.Const(other)
        elif not isinstance(other, IntExpr):
            return build.with_other(operator.add, self, other)
        return build.total(self, other)

    @overload
    def __radd__(self, other: IntLike) -> IntExpr: ...

    @overload
    def __radd__(self, other: Coefficient) -> Rational: ...

    def __radd__(self, other: IntLike | Coefficient) -> IntExpr | Rational:
        if type(other) is int:
            other = CONSTANTS[other] if other in CONSTANTS else integers.Const(other)
        elif not isinstance(other, IntExpr):
            return build.with_other(operator.add, self, other, True)
        return build.total(other, self)

    @overload
    def __sub__(self, other: IntLike) -> IntExpr: ...

    @overload
    def __sub__(self, other: Coefficient) -> Rational: ...

    def __sub__(self, other: IntLike | Coefficient) -> IntExpr | Rational:
        if type(other) is int:
            other = CONSTANTS[other] if other in CONSTANTS else integers.Const(other)
        elif not isinstance(other, IntExpr):
            return build.with_other(operator.sub, self, other)
        return build.total(self, other, -1)

    @overload
    def __rsub__(self, other: IntLike) -> IntExpr: ...

    @overload
    def __rsub__(self, other: Coefficient) -> Rational: ...

    def __rsub__(self, other: IntLike | Coefficient) -> IntExpr | Rational:
        if type(other) is int:
            other = CONSTANTS[other] if other in CONSTANTS else integers.Const(other)
        elif not isinstance(other, IntExpr):
            return build.with_other(operator.sub, self, other, True)
        return build.total(other, self, -1)

    def __neg__(self) -> IntExpr:
        return build.linear([(-1, self)])

    def __pos__(self) -> IntExpr:
        return self

    @overload
    def __mul__(self, other: IntLike) -> IntExpr: ...

    @overload
    def __mul__(self, other: Coefficient) -> Rational: ...

    def __mul__(self, other: IntLike | Coefficient) -> IntExpr | Rational:
        if type(other) is int:
            return build.scaled(self, other)
        if not isinstance(other, IntExpr):
            return build.with_other(operator.mul, self, other)
        return build.product(self, other)

    @overload
    def __rmul__(self, other: IntLike) -> IntExpr: ...

    @overload
    def __rmul__(self, other: Coefficient) -> Rational: ...

    def __rmul__(self, other: IntLike | Coefficient) -> IntExpr | Rational:
        if type(other) is int:
            return build.scaled(self, other)
        if not isinstance(other, IntExpr):
            return build.with_other(operator.mul, self, other, True)
        return build.product(other, self)

    def __floordiv__(self, other: IntLike) -> IntExpr:
        if type(other) is not int and not isinstance(other, IntExpr) and build.is_array(other):
            return NotImplemented
        return division.FloorDiv(self, build.as_expr(other))

    def __rfloordiv__(self, other: IntLike) -> IntExpr:
        if type(other) is not int and not isinstance(other, IntExpr) and build.is_array(other):
            return NotImplemented
        return division.FloorDiv(build.as_expr(other), self)

    def __mod__(self, other: IntLike) -> IntExpr:
        if type(other) is not int and not isinstance(other, IntExpr) and build.is_array(other):
            return NotImplemented
        return division.Mod(self, build.as_expr(other))

    def __rmod__(self, other: IntLike) -> IntExpr:
        if type(other) is not int and not isinstance(other, IntExpr) and build.is_array(other):
            return NotImplemented
        return division.Mod(build.as_expr(other), self)

    def __pow__(self, other: IntLike, modulus: IntLike | None = None) -> IntExpr:
        if type(other) is not int and not isinstance(other, IntExpr) and build.is_array(other):
            return NotImplemented
        value = power.Pow(self, build.as_expr(other))
        return value if modulus is None else value % modulus

    def __rpow__(self, other: IntLike) -> IntExpr:
        if type(other) is not int and not isinstance(other, IntExpr) and build.is_array(other):
            return NotImplemented
        return power.Pow(build.as_expr(other), self)

    def __abs__(self) -> IntExpr:
        return absolute.Abs(self)

    def __truediv__(self, other: object) -> NoReturn:
        raise ModelError(build.no_division(self, other))

    def __rtruediv__(self, other: object) -> NoReturn:
        raise ModelError(build.no_division(other, self))

    __lt__ = _comparison("<")
    __le__ = _comparison("<=")
    __gt__ = _comparison(">")
    __ge__ = _comparison(">=")
    # Comparisons build conditions, so these two methods cannot have object's signature.
    __eq__: ClassVar[Comparing] = _comparison("==")  # type: ignore[assignment]
    __ne__: ClassVar[Comparing] = _comparison("!=")  # type: ignore[assignment]

    def is_in(self, values: Iterable[int] | Domain) -> BoolExpr:
        """The condition that the value is one of these."""
        domain = values if isinstance(values, Domain) else Domain.of_values(integer_list(values, "values"))
        return build.placed(conditions.Member(self, domain))


class BoolExpr(IntExpr):
    """A condition. As an integer it is 1 if it holds, else 0."""

    __slots__ = ()
    _offered = ("iff", "implies")

    def evaluate(self, assignment: Assignment) -> bool:
        """Whether the condition holds under an assignment; it is false if one of its terms is undefined."""
        return bool(super().evaluate(assignment))

    def meaning(self, assignment: Assignment) -> bool:
        """The definition of `evaluate`, as for integers."""
        raise NotImplementedError

    def __eq__(self, other: object) -> BoolExpr:  # type: ignore[override]
        return NotImplemented if build.is_array(other) else build.compare("==", self, other)

    __hash__ = object.__hash__

    def __and__(self, other: object) -> BoolExpr:
        if not isinstance(other, BoolExpr) and not build.may_join(other):
            return NotImplemented
        return build.placed(conditions.And(build.flat(conditions.And, self, build.as_bool(other))))

    def __rand__(self, other: object) -> BoolExpr:
        if not isinstance(other, BoolExpr) and not build.may_join(other):
            return NotImplemented
        return build.placed(conditions.And(build.flat(conditions.And, build.as_bool(other), self)))

    def __or__(self, other: object) -> BoolExpr:
        if not isinstance(other, BoolExpr) and not build.may_join(other):
            return NotImplemented
        return build.placed(conditions.Or(build.flat(conditions.Or, self, build.as_bool(other))))

    def __ror__(self, other: object) -> BoolExpr:
        if not isinstance(other, BoolExpr) and not build.may_join(other):
            return NotImplemented
        return build.placed(conditions.Or(build.flat(conditions.Or, build.as_bool(other), self)))

    def __xor__(self, other: object) -> BoolExpr:
        if not isinstance(other, BoolExpr) and not build.may_join(other):
            return NotImplemented
        return build.placed(conditions.Not(conditions.Iff(self, build.as_bool(other))))

    __rxor__ = __xor__

    def __invert__(self) -> BoolExpr:
        return build.placed(conditions.Not(self))

    def implies(self, other: object) -> BoolExpr:
        """The condition that `other` holds whenever this condition holds."""
        return build.placed(conditions.Implies(self, build.as_bool(other)))

    def iff(self, other: object) -> BoolExpr:
        """The condition that this condition and `other` have the same truth value."""
        return build.placed(conditions.Iff(self, build.as_bool(other)))


note_place = IntExpr.__dict__["_where"].__set__  # sets the place of an immutable node

# At the end, because these modules import the classes above.
from constrint.expr import build, conditions, evaluation, integers  # noqa: E402
from constrint.expr.arithmetic import absolute, bits, division, power  # noqa: E402

CONSTANTS = {value: integers.Const(value) for value in range(-16, 257)}  # shared; nothing is noted on them
