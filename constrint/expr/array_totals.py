"""Reductions of all elements of an array, without numpy."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar, overload

from constrint.errors import ModelError
from constrint.expr import BoolExpr, Const, IntExpr, as_bool, as_expr
from constrint.expr.arithmetic.extremes import max_, min_
from constrint.expr.array_operators import Elementwise, Item, One, Rank, Two
from constrint.expr.builders import all_of, any_of, sum_

if TYPE_CHECKING:
    from constrint.expr.arrays import ExprArray

    Made_co = TypeVar("Made_co", bound=IntExpr, covariant=True)
    Rank_co = TypeVar("Rank_co", bound=tuple[int, ...], covariant=True)

    class Total(Protocol[Made_co, Rank_co]):
        """A reduction of an array: an element without an axis; along one, an array with an axis less."""

        @overload
        def __call__(self, axis: None = None, *, keepdims: Literal[False] = False) -> Made_co: ...

        @overload
        def __call__(
            self: Total[Made_co, One], axis: int, *, keepdims: Literal[False] = False
        ) -> Made_co: ...

        @overload
        def __call__(
            self: Total[Made_co, Two], axis: int, *, keepdims: Literal[False] = False
        ) -> ExprArray[Made_co, One]: ...

        @overload
        def __call__(self, axis: Axis = None, *, keepdims: bool = False) -> Any: ...


Axis: TypeAlias = int | tuple[int, ...] | None


def truth(value: object) -> BoolExpr:
    """A condition itself, or the condition that a number is not 0."""
    return value if isinstance(value, BoolExpr) else as_bool(as_expr(value) != 0)


TOTALS: dict[str, Callable[[Sequence[IntExpr]], IntExpr]] = {
    "sum": lambda flat: sum_(flat),
    "prod": lambda flat: functools.reduce(operator.mul, flat, Const(1)),
    "min": lambda flat: _extreme("min", min_, flat),
    "max": lambda flat: _extreme("max", max_, flat),
    "any": lambda flat: any_of([truth(element) for element in flat]),
    "all": lambda flat: all_of([truth(element) for element in flat]),
}


def _extreme(name: str, function: Callable[..., IntExpr], flat: Sequence[IntExpr]) -> IntExpr:
    if not flat:
        raise ModelError(f"{name} of no elements has no value")
    return function(list(flat))


class Reducible(Elementwise[Item, Rank]):
    """The reductions of `ExprArray`: of all elements, or along axes."""

    __slots__ = ()

    if TYPE_CHECKING:
        sum: Total[IntExpr, Rank]
        prod: Total[IntExpr, Rank]
        min: Total[IntExpr, Rank]
        max: Total[IntExpr, Rank]
        any: Total[BoolExpr, Rank]
        all: Total[BoolExpr, Rank]
    else:

        def sum(self, axis: Axis = None, *, keepdims: bool = False) -> IntExpr | ExprArray:
            """The sum of all elements, or along axes."""
            return self._reduce("sum", axis, keepdims)

        def prod(self, axis: Axis = None, *, keepdims: bool = False) -> IntExpr | ExprArray:
            """The product of all elements, or along axes."""
            return self._reduce("prod", axis, keepdims)

        def min(self, axis: Axis = None, *, keepdims: bool = False) -> IntExpr | ExprArray:
            """The least element, or along axes."""
            return self._reduce("min", axis, keepdims)

        def max(self, axis: Axis = None, *, keepdims: bool = False) -> IntExpr | ExprArray:
            """The greatest element, or along axes."""
            return self._reduce("max", axis, keepdims)

        def any(self, axis: Axis = None, *, keepdims: bool = False) -> BoolExpr | ExprArray:
            """The condition that an element holds (a number: is not 0), or along axes."""
            return self._reduce("any", axis, keepdims)

        def all(self, axis: Axis = None, *, keepdims: bool = False) -> BoolExpr | ExprArray:
            """The condition that all elements hold (numbers: are not 0), or along axes."""
            return self._reduce("all", axis, keepdims)

    def _reduce(self, name: str, axis: Axis, keepdims: bool) -> IntExpr | ExprArray:
        if axis is None and not keepdims:
            flat: Any = self.flat  # of numbers, which totals ensure
            return TOTALS[name](flat)
        from constrint.expr.array_functions import reduced
        from constrint.expr.arrays import array

        return reduced(name, array(self), axis, keepdims)
