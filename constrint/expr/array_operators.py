"""Python's operators on arrays of expressions, element by element, with numpy's broadcasting."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from constrint.errors import ModelError
from constrint.expr import BoolExpr, IntExpr, as_bool

if TYPE_CHECKING:
    from constrint.expr.arrays import ExprArray


class Elementwise:
    """The operators of `ExprArray`."""

    __slots__ = ("flat", "shape")
    flat: tuple[IntExpr, ...]
    shape: tuple[int, ...]

    def _each(self, function: Callable[[Any], IntExpr]) -> ExprArray:
        from constrint.expr.arrays import made

        return made([function(element) for element in self.flat], self.shape)

    def __add__(self, other: object) -> ExprArray:
        return elementwise(operator.add, self, other)

    def __radd__(self, other: object) -> ExprArray:
        return elementwise(operator.add, other, self)

    def __sub__(self, other: object) -> ExprArray:
        return elementwise(operator.sub, self, other)

    def __rsub__(self, other: object) -> ExprArray:
        return elementwise(operator.sub, other, self)

    def __mul__(self, other: object) -> ExprArray:
        return elementwise(operator.mul, self, other)

    def __rmul__(self, other: object) -> ExprArray:
        return elementwise(operator.mul, other, self)

    def __floordiv__(self, other: object) -> ExprArray:
        return elementwise(operator.floordiv, self, other)

    def __rfloordiv__(self, other: object) -> ExprArray:
        return elementwise(operator.floordiv, other, self)

    def __mod__(self, other: object) -> ExprArray:
        return elementwise(operator.mod, self, other)

    def __rmod__(self, other: object) -> ExprArray:
        return elementwise(operator.mod, other, self)

    def __pow__(self, other: object) -> ExprArray:
        return elementwise(operator.pow, self, other)

    def __rpow__(self, other: object) -> ExprArray:
        return elementwise(operator.pow, other, self)

    def __truediv__(self, other: object) -> ExprArray:
        return elementwise(operator.truediv, self, other)

    def __rtruediv__(self, other: object) -> ExprArray:
        return elementwise(operator.truediv, other, self)

    def __matmul__(self, other: object) -> Any:
        from constrint.expr.array_functions import matrix_product

        return matrix_product(self, other)

    def __rmatmul__(self, other: object) -> Any:
        from constrint.expr.array_functions import matrix_product

        return matrix_product(other, self)

    def __and__(self, other: object) -> ExprArray:
        return elementwise(both, self, other)

    def __rand__(self, other: object) -> ExprArray:
        return elementwise(both, other, self)

    def __or__(self, other: object) -> ExprArray:
        return elementwise(either, self, other)

    def __ror__(self, other: object) -> ExprArray:
        return elementwise(either, other, self)

    def __xor__(self, other: object) -> ExprArray:
        return elementwise(one_of, self, other)

    def __rxor__(self, other: object) -> ExprArray:
        return elementwise(one_of, other, self)

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

    def __lt__(self, other: object) -> ExprArray:
        return elementwise(operator.lt, self, other)

    def __le__(self, other: object) -> ExprArray:
        return elementwise(operator.le, self, other)

    def __gt__(self, other: object) -> ExprArray:
        return elementwise(operator.gt, self, other)

    def __ge__(self, other: object) -> ExprArray:
        return elementwise(operator.ge, self, other)

    __hash__ = object.__hash__

    # Comparisons build conditions, so these two methods cannot have object's signature.
    def __eq__(self, other: object) -> ExprArray:  # type: ignore[override]
        return elementwise(operator.eq, self, other)

    def __ne__(self, other: object) -> ExprArray:  # type: ignore[override]
        return elementwise(operator.ne, self, other)


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


def condition(value: Any) -> BoolExpr:
    """An element of an array as a condition; raises `ModelError` for a number."""
    return as_bool(value)


def both(left: Any, right: Any) -> BoolExpr:
    """Both conditions."""
    return condition(left) & condition(right)


def either(left: Any, right: Any) -> BoolExpr:
    """One condition or both."""
    return condition(left) | condition(right)


def one_of(left: Any, right: Any) -> BoolExpr:
    """One condition, and not the other."""
    return condition(left) ^ condition(right)


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
