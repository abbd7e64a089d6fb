"""Python's operators on arrays of expressions, element by element, with numpy's broadcasting."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar, overload

from constrint.errors import ModelError
from constrint.expr import BoolExpr, IntExpr, IntLike, as_bool
from constrint.expr.arithmetic.arguments import of_frame

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    from constrint.expr.arrays import ExprArray
    from constrint.expr.enumerated import EnumExpr
    from constrint.expr.rational import Coefficient

    Item = TypeVarWithDefault("Item", bound=IntExpr | EnumExpr, default=IntExpr, covariant=True)
    Rank = TypeVarWithDefault("Rank", bound=tuple[int, ...], default=tuple[int, ...], covariant=True)
    Axes = TypeVar("Axes", bound=tuple[int, ...])
    Made_co = TypeVar("Made_co", bound=IntExpr, covariant=True)

    class Operator(Protocol[Made_co, Axes]):
        """An operator of an array: its result has the array's axes unless the other operand may have more."""

        @overload
        def __call__(self, other: IntLike | Sequence[IntLike], /) -> ExprArray[Made_co, Axes]: ...

        @overload
        def __call__(self, other: ExprArray[IntExpr, Axes], /) -> ExprArray[Made_co, Axes]: ...

        @overload
        def __call__(self, other: Coefficient | Sequence[Coefficient], /) -> ExprArray[Any, Axes]: ...

        @overload
        def __call__(self, other: object, /) -> ExprArray[Made_co]: ...

        def __call__(self, other: Any, /) -> Any: ...

else:
    Item, Rank = TypeVar("Item"), TypeVar("Rank")

One: TypeAlias = tuple[int]
Two: TypeAlias = tuple[int, int]
Three: TypeAlias = tuple[int, int, int]


def condition(value: Any) -> BoolExpr:
    """An element of an array as a condition; raises `ModelError` for a number."""
    return as_bool(value)


def bitwise(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`&`, `|` or `^` of elements; beside a condition, 0 and 1 are conditions."""

    def of_elements(left: object, right: object) -> object:
        if isinstance(left, BoolExpr) and isinstance(right, int):
            right = as_bool(right)
        elif isinstance(right, BoolExpr) and isinstance(left, int):
            left = as_bool(left)
        return function(left, right)

    return of_elements


def _binary(function: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    """An operator of elements as one of arrays, and the same with exchanged operands."""

    def forward(self: Elementwise, other: object) -> ExprArray:
        return elementwise(function, self, other)

    def backward(self: Elementwise, other: object) -> ExprArray:
        return elementwise(function, other, self)

    return forward, backward


class Elementwise(Generic[Item, Rank]):
    """The operators of `ExprArray`."""

    __slots__ = ("flat", "shape")
    __pandas_priority__ = 10_000  # above a data frame's 4000: pandas leaves operators to this class
    flat: tuple[Item, ...]
    shape: Rank

    if not TYPE_CHECKING:
        __class_getitem__ = classmethod(GenericAlias)  # one argument may be left out, as checkers allow

    def _each(self, function: Callable[[Any], Any]) -> Any:
        from constrint.expr.arrays import made

        return made([function(element) for element in self.flat], self.shape)

    __add__: Operator[IntExpr, Rank]
    __radd__: Operator[IntExpr, Rank]
    __sub__: Operator[IntExpr, Rank]
    __rsub__: Operator[IntExpr, Rank]
    __mul__: Operator[IntExpr, Rank]
    __rmul__: Operator[IntExpr, Rank]
    __floordiv__: Operator[IntExpr, Rank]
    __rfloordiv__: Operator[IntExpr, Rank]
    __mod__: Operator[IntExpr, Rank]
    __rmod__: Operator[IntExpr, Rank]
    __lshift__: Operator[IntExpr, Rank]
    __rlshift__: Operator[IntExpr, Rank]
    __rshift__: Operator[IntExpr, Rank]
    __rrshift__: Operator[IntExpr, Rank]
    __pow__: Operator[IntExpr, Rank]
    __rpow__: Operator[IntExpr, Rank]
    __truediv__: Operator[Any, Rank]
    __rtruediv__: Operator[Any, Rank]
    __add__, __radd__ = _binary(operator.add)
    __sub__, __rsub__ = _binary(operator.sub)
    __mul__, __rmul__ = _binary(operator.mul)
    __floordiv__, __rfloordiv__ = _binary(operator.floordiv)
    __mod__, __rmod__ = _binary(operator.mod)
    __pow__, __rpow__ = _binary(operator.pow)
    __truediv__, __rtruediv__ = _binary(operator.truediv)
    __and__, __rand__ = _binary(bitwise(operator.and_))
    __or__, __ror__ = _binary(bitwise(operator.or_))
    __xor__, __rxor__ = _binary(bitwise(operator.xor))
    __lshift__, __rlshift__ = _binary(operator.lshift)
    __rshift__, __rrshift__ = _binary(operator.rshift)
    __lt__: Operator[BoolExpr, Rank] = _binary(operator.lt)[0]
    __le__: Operator[BoolExpr, Rank] = _binary(operator.le)[0]
    __gt__: Operator[BoolExpr, Rank] = _binary(operator.gt)[0]
    __ge__: Operator[BoolExpr, Rank] = _binary(operator.ge)[0]
    # Comparisons build conditions, so these two methods cannot have object's signature.
    __eq__: Operator[BoolExpr, Rank] = _binary(operator.eq)[0]  # type: ignore[assignment]
    __ne__: Operator[BoolExpr, Rank] = _binary(operator.ne)[0]  # type: ignore[assignment]
    __hash__ = object.__hash__

    def __matmul__(self, other: object) -> Any:
        from constrint.expr.array_functions import matrix_product

        return matrix_product(self, other)

    def __rmatmul__(self, other: object) -> Any:
        from constrint.expr.array_functions import matrix_product

        return matrix_product(other, self)

    if TYPE_CHECKING:  # of conditions, conditions; of numbers, numbers

        @overload
        def __invert__(self: Elementwise[BoolExpr, Axes]) -> ExprArray[BoolExpr, Axes]: ...
        @overload
        def __invert__(self) -> ExprArray[IntExpr, Rank]: ...

    def __invert__(self) -> Any:
        return self._each(operator.invert)

    def bits(self, count: int) -> ExprArray[IntExpr, Rank]:
        """The last `count` bits of each element, as numbers that are at least 0."""
        found: ExprArray[IntExpr, Rank] = self._each(lambda element: element.bits(count))
        return found

    def implies(self, other: object) -> ExprArray[BoolExpr]:
        """The conditions that `other` holds wherever these hold."""
        return elementwise(lambda a, b: condition(a).implies(b), self, other)

    def __neg__(self) -> ExprArray[IntExpr, Rank]:
        found: ExprArray[IntExpr, Rank] = self._each(operator.neg)
        return found

    def __pos__(self) -> ExprArray[IntExpr, Rank]:
        found: ExprArray[IntExpr, Rank] = self._each(operator.pos)
        return found

    def __abs__(self) -> ExprArray[IntExpr, Rank]:
        found: ExprArray[IntExpr, Rank] = self._each(abs)
        return found


def plain_numbers(values: Any) -> Any:
    """Python's numbers of a numpy array; floats of fewer than 64 bits are the decimals that numpy prints."""
    if values.dtype.kind == "f" and values.dtype.itemsize < 8:
        values = values.astype(str).astype(float)
    return values.tolist()


def elements_of(value: Any) -> tuple[Sequence[Any], tuple[int, ...]] | None:
    """The elements and the shape of an array, series, range or nested lists; None for anything else."""
    if isinstance(value, Elementwise):
        return value.flat, value.shape
    if isinstance(value, list | tuple):
        parts = [elements_of(one) for one in value]
        if not any(part is not None for part in parts):
            return list(value), (len(value),)
        shapes = {() if part is None else part[1] for part in parts}
        if len(shapes) > 1:
            raise ModelError(f"the rows of an array have one shape, not {' and '.join(map(str, shapes))}")
        flat = [element for part in parts if part is not None for element in part[0]]
        return flat, (len(value), *shapes.pop())
    if isinstance(value, int | IntExpr):
        return None
    if hasattr(value, "__array_interface__") and hasattr(value, "tolist") and hasattr(value, "ravel"):
        return plain_numbers(value.ravel()), tuple(value.shape)
    if isinstance(value, range):
        return value, (len(value),)
    inner = of_frame(value)
    return None if inner is value else elements_of(inner)


def elementwise(function: Callable[[Any, Any], Any], left: Any, right: Any) -> ExprArray[Any]:
    """A function of each pair of elements; shapes are broadcast as numpy does."""
    from constrint.expr.alignment import paired
    from constrint.expr.arrays import made

    left, right = paired(left, right)
    first, second = elements_of(left), elements_of(right)
    if first is None and second is not None:
        return made([function(left, b) for b in second[0]], second[1])
    if second is None and first is not None:
        return made([function(a, right) for a in first[0]], first[1])
    assert first is not None
    assert second is not None
    if first[1] == second[1]:
        return made([function(a, b) for a, b in zip(first[0], second[0], strict=True)], first[1])
    from constrint.expr.array_indices import broadcast

    (one, other), shape = broadcast(first, second)
    return made([function(a, b) for a, b in zip(one, other, strict=True)], shape)
