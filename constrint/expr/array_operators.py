"""Python's operators on arrays of expressions, element by element, with numpy's broadcasting."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from constrint.errors import ModelError
from constrint.expr import BoolExpr, IntExpr, as_bool

if TYPE_CHECKING:
    from constrint.expr.arrays import ExprArray


def condition(value: Any) -> BoolExpr:
    """An element of an array as a condition; raises `ModelError` for a number."""
    return as_bool(value)


def both(left: Any, right: Any) -> BoolExpr:
    """Both conditions."""
    return condition(left) & condition(right)


def either(left: object, right: object) -> BoolExpr:
    """One condition or both."""
    return condition(left) | condition(right)


def one_of(left: Any, right: Any) -> BoolExpr:
    """One condition, and not the other."""
    return condition(left) ^ condition(right)


def _binary(function: Callable[[Any, Any], Any]) -> tuple[Callable[[Elementwise, object], ExprArray], ...]:
    """An operator of elements as one of arrays, and the same with exchanged operands."""

    def forward(self: Elementwise, other: object) -> ExprArray:
        return elementwise(function, self, other)

    def backward(self: Elementwise, other: object) -> ExprArray:
        return elementwise(function, other, self)

    return forward, backward


class Elementwise:
    """The operators of `ExprArray`."""

    __slots__ = ("flat", "shape")
    flat: tuple[IntExpr, ...]
    shape: tuple[int, ...]

    def _each(self, function: Callable[[Any], IntExpr]) -> ExprArray:
        from constrint.expr.arrays import made

        return made([function(element) for element in self.flat], self.shape)

    __add__, __radd__ = _binary(operator.add)
    __sub__, __rsub__ = _binary(operator.sub)
    __mul__, __rmul__ = _binary(operator.mul)
    __floordiv__, __rfloordiv__ = _binary(operator.floordiv)
    __mod__, __rmod__ = _binary(operator.mod)
    __pow__, __rpow__ = _binary(operator.pow)
    __truediv__, __rtruediv__ = _binary(operator.truediv)
    __and__, __rand__ = _binary(both)
    __or__, __ror__ = _binary(either)
    __xor__, __rxor__ = _binary(one_of)
    __lt__ = _binary(operator.lt)[0]
    __le__ = _binary(operator.le)[0]
    __gt__ = _binary(operator.gt)[0]
    __ge__ = _binary(operator.ge)[0]
    # Comparisons build conditions, so these two methods cannot have object's signature.
    __eq__ = _binary(operator.eq)[0]  # type: ignore[assignment]
    __ne__ = _binary(operator.ne)[0]  # type: ignore[assignment]
    __hash__ = object.__hash__

    def __matmul__(self, other: object) -> Any:
        from constrint.expr.array_functions import matrix_product

        return matrix_product(self, other)

    def __rmatmul__(self, other: object) -> Any:
        from constrint.expr.array_functions import matrix_product

        return matrix_product(other, self)

    def __invert__(self) -> ExprArray:
        return self._each(lambda element: ~condition(element))

    def implies(self, other: object) -> ExprArray:
        """The conditions that `other` holds wherever these hold."""
        return elementwise(lambda a, b: condition(a).implies(b), self, other)

    def __neg__(self) -> ExprArray:
        return self._each(operator.neg)

    def __pos__(self) -> ExprArray:
        return self._each(operator.pos)

    def __abs__(self) -> ExprArray:
        return self._each(abs)


def elements_of(value: Any) -> tuple[Sequence[Any], tuple[int, ...]] | None:
    """The elements and the shape of an array, or of nested lists; None for anything else."""
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
    if hasattr(value, "__array_interface__") and hasattr(value, "tolist") and hasattr(value, "ravel"):
        return value.ravel().tolist(), tuple(value.shape)
    return None


def elementwise(function: Callable[[Any, Any], Any], left: Any, right: Any) -> ExprArray:
    """A function of each pair of elements; shapes are broadcast as numpy does."""
    from constrint.expr.arrays import made

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
