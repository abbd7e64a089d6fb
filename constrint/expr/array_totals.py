"""Reductions of all elements of an array, without numpy."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from constrint.errors import ModelError
from constrint.expr import BoolExpr, Const, IntExpr, as_bool, as_expr
from constrint.expr.arithmetic.extremes import max_, min_
from constrint.expr.array_operators import Elementwise, Item, One, Rank, Two
from constrint.expr.builders import all_of, any_of, sum_

if TYPE_CHECKING:
    from constrint.expr.arrays import ExprArray

Axis: TypeAlias = int | tuple[int, ...] | None


def truth(value: Any) -> BoolExpr:
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

    @overload
    def sum(self, axis: None = None, *, keepdims: Literal[False] = False) -> IntExpr: ...
    @overload
    def sum(self: Reducible[Any, One], axis: int, *, keepdims: Literal[False] = False) -> IntExpr: ...
    @overload
    def sum(
        self: Reducible[Any, Two], axis: int, *, keepdims: Literal[False] = False
    ) -> ExprArray[IntExpr, One]: ...
    @overload
    def sum(self, axis: Axis = None, *, keepdims: bool = False) -> Any: ...
    def sum(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """The sum of all elements, or along axes."""
        return self._reduce("sum", axis, keepdims)

    @overload
    def prod(self, axis: None = None, *, keepdims: Literal[False] = False) -> IntExpr: ...
    @overload
    def prod(self: Reducible[Any, One], axis: int, *, keepdims: Literal[False] = False) -> IntExpr: ...
    @overload
    def prod(
        self: Reducible[Any, Two], axis: int, *, keepdims: Literal[False] = False
    ) -> ExprArray[IntExpr, One]: ...
    @overload
    def prod(self, axis: Axis = None, *, keepdims: bool = False) -> Any: ...
    def prod(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """The product of all elements, or along axes."""
        return self._reduce("prod", axis, keepdims)

    @overload
    def min(self, axis: None = None, *, keepdims: Literal[False] = False) -> IntExpr: ...
    @overload
    def min(self: Reducible[Any, One], axis: int, *, keepdims: Literal[False] = False) -> IntExpr: ...
    @overload
    def min(
        self: Reducible[Any, Two], axis: int, *, keepdims: Literal[False] = False
    ) -> ExprArray[IntExpr, One]: ...
    @overload
    def min(self, axis: Axis = None, *, keepdims: bool = False) -> Any: ...
    def min(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """The least element, or along axes."""
        return self._reduce("min", axis, keepdims)

    @overload
    def max(self, axis: None = None, *, keepdims: Literal[False] = False) -> IntExpr: ...
    @overload
    def max(self: Reducible[Any, One], axis: int, *, keepdims: Literal[False] = False) -> IntExpr: ...
    @overload
    def max(
        self: Reducible[Any, Two], axis: int, *, keepdims: Literal[False] = False
    ) -> ExprArray[IntExpr, One]: ...
    @overload
    def max(self, axis: Axis = None, *, keepdims: bool = False) -> Any: ...
    def max(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """The greatest element, or along axes."""
        return self._reduce("max", axis, keepdims)

    @overload
    def any(self, axis: None = None, *, keepdims: Literal[False] = False) -> BoolExpr: ...
    @overload
    def any(self: Reducible[Any, One], axis: int, *, keepdims: Literal[False] = False) -> BoolExpr: ...
    @overload
    def any(
        self: Reducible[Any, Two], axis: int, *, keepdims: Literal[False] = False
    ) -> ExprArray[BoolExpr, One]: ...
    @overload
    def any(self, axis: Axis = None, *, keepdims: bool = False) -> Any: ...
    def any(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """The condition that an element holds (a number: is not 0), or along axes."""
        return self._reduce("any", axis, keepdims)

    @overload
    def all(self, axis: None = None, *, keepdims: Literal[False] = False) -> BoolExpr: ...
    @overload
    def all(self: Reducible[Any, One], axis: int, *, keepdims: Literal[False] = False) -> BoolExpr: ...
    @overload
    def all(
        self: Reducible[Any, Two], axis: int, *, keepdims: Literal[False] = False
    ) -> ExprArray[BoolExpr, One]: ...
    @overload
    def all(self, axis: Axis = None, *, keepdims: bool = False) -> Any: ...
    def all(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """The condition that all elements hold (numbers: are not 0), or along axes."""
        return self._reduce("all", axis, keepdims)

    def _reduce(self, name: str, axis: Any, keepdims: bool) -> Any:
        if axis is None and not keepdims:
            flat: Any = self.flat  # of numbers, which totals ensure
            return TOTALS[name](flat)
        from constrint.expr.array_functions import reduced

        return reduced(name, self, axis, keepdims)
