"""Arrays of expressions with numpy's indexing and slicing, without numpy."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import EllipsisType
from typing import Any, NoReturn, SupportsIndex, TypeAlias

from constrint.errors import ModelError
from constrint.expr import IntExpr, as_expr, linear

Index: TypeAlias = SupportsIndex | slice | EllipsisType
Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]


_WHOLE = slice(None)


def shape_of(shape: Shape) -> tuple[int, ...]:
    """A shape as a tuple of lengths."""
    lengths = shape if isinstance(shape, Sequence) else (shape,)
    checked = tuple([length.__index__() for length in lengths])
    if min(checked, default=0) < 0:
        raise ModelError(f"the lengths of an array are at least 0, not {checked}")
    return checked


def names_of(name: str, shape: tuple[int, ...]) -> list[str]:
    """The names of the elements: name[0], name[1] …, or name[0,0] and so on."""
    if not shape:
        return [f"{name}[]"]
    names = [f"{name}["]
    for axis, length in enumerate(shape, 1):
        ending = "]" if axis == len(shape) else ","
        numbers = [f"{number}{ending}" for number in range(length)]
        names = [start + number for start in names for number in numbers]
    return names


class ExprArray:
    """An array of expressions. Indices, slices and ``...`` work as in numpy; operators work elementwise.

    Attributes:
        shape: Length of each axis.
        flat: The elements in row-major order.
    """

    __slots__ = ("flat", "shape")

    def __init__(self, flat: Sequence[IntExpr], shape: Shape) -> None:
        self.shape = shape_of(shape)
        self.flat = tuple(flat)
        if math.prod(self.shape) != len(self.flat):
            raise ModelError(f"{len(self.flat)} elements do not fill the shape {self.shape}")

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return len(self.flat)

    @property
    def T(self) -> ExprArray:  # noqa: N802 - numpy's name
        """The array with reversed axes."""
        places = itertools.product(*[range(length) for length in self.shape[::-1]])
        return ExprArray([self.flat[self._place(place[::-1])] for place in places], self.shape[::-1])

    def _place(self, place: Sequence[int]) -> int:
        number = 0
        for length, index in zip(self.shape, place, strict=True):
            number = number * length + index
        return number

    def __getitem__(self, key: Index | tuple[Index, ...]) -> Any:
        """One element if every axis has an index, else an array."""
        # The fast paths: single elements, of which models take thousands, and whole rows and columns.
        if type(key) is tuple:
            if len(key) == 2 == len(self.shape):
                i, j = key
                rows, columns = self.shape
                if type(i) is int and 0 <= i < rows:
                    if type(j) is int and 0 <= j < columns:
                        return self.flat[i * columns + j]
                    if j == _WHOLE:
                        return _array(self.flat[i * columns : (i + 1) * columns], (columns,))
                elif i == _WHOLE and type(j) is int and 0 <= j < columns:
                    return _array(self.flat[j::columns], (rows,))
            keys: tuple[Any, ...] = key
        elif type(key) is int and len(self.shape) == 1 and 0 <= key < self.shape[0]:
            return self.flat[key]
        else:
            keys = (key,)
        places = [0]
        shape: list[int] = []
        for axis, (part, length) in enumerate(zip(self._full(keys), self.shape, strict=True)):
            if isinstance(part, slice):
                chosen = range(length)[part]
                shape.append(len(chosen))
                places = [place * length + index for place in places for index in chosen]
            else:
                index = _position(part, axis, length)
                places = [place * length + index for place in places]
        flat = self.flat
        return _array([flat[place] for place in places], tuple(shape)) if shape else flat[places[0]]

    def _full(self, keys: tuple[Any, ...]) -> list[Any]:
        """Indices and slices for all axes; omitted axes and those of an ellipsis are taken whole."""
        full = list(keys)
        dots = [i for i, part in enumerate(full) if part is Ellipsis]
        if len(dots) > 1:
            raise IndexError("an index may have one ellipsis ('...')")
        missing = self.ndim - len(full) + len(dots)
        if missing < 0:
            raise IndexError(f"{len(full) - len(dots)} indices for an array of {self.ndim} axes")
        at = dots[0] if dots else len(full)
        full[at : at + len(dots)] = [slice(None)] * missing
        return full

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> NoReturn:
        raise ModelError("an array has no truth value while the model is built: write all_of(…) or any_of(…)")

    def reshape(self, *shape: SupportsIndex) -> ExprArray:
        """The same elements in another shape."""
        return ExprArray(self.flat, shape)

    def sum(self) -> IntExpr:
        """The sum of all elements."""
        return linear([(1, element) for element in self.flat])

    def values(self, result: Any) -> Any:
        """The values in a result (or in any mapping from expressions), as nested lists."""
        return _nested([result[element] for element in self.flat], self.shape)

    def _with(self, function: Callable[[Any, Any], Any], other: object) -> ExprArray:
        if isinstance(other, ExprArray):
            if other.shape != self.shape:
                raise ModelError(f"arrays of the shapes {self.shape} and {other.shape} do not match")
            pairs = zip(self.flat, other.flat, strict=True)
            return _array([function(a, b) for a, b in pairs], self.shape)
        operand = as_expr(other)
        return _array([function(a, operand) for a in self.flat], self.shape)

    def __add__(self, other: object) -> ExprArray:
        return self._with(operator.add, other)

    __radd__ = __add__

    def __sub__(self, other: object) -> ExprArray:
        return self._with(operator.sub, other)

    def __rsub__(self, other: object) -> ExprArray:
        return self._with(lambda a, b: b - a, other)

    def __mul__(self, other: object) -> ExprArray:
        return self._with(operator.mul, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: object) -> ExprArray:
        return self._with(operator.floordiv, other)

    def __mod__(self, other: object) -> ExprArray:
        return self._with(operator.mod, other)

    def __neg__(self) -> ExprArray:
        return ExprArray([-a for a in self.flat], self.shape)

    def __lt__(self, other: object) -> ExprArray:
        return self._with(operator.lt, other)

    def __le__(self, other: object) -> ExprArray:
        return self._with(operator.le, other)

    def __gt__(self, other: object) -> ExprArray:
        return self._with(operator.gt, other)

    def __ge__(self, other: object) -> ExprArray:
        return self._with(operator.ge, other)

    __hash__ = object.__hash__

    # Comparisons build conditions, so these two methods cannot have object's signature.
    def __eq__(self, other: object) -> ExprArray:  # type: ignore[override]
        return self._with(operator.eq, other)

    def __ne__(self, other: object) -> ExprArray:  # type: ignore[override]
        return self._with(operator.ne, other)

    def __repr__(self) -> str:
        return f"ExprArray(shape={self.shape})"


def _array(flat: Iterable[IntExpr], shape: tuple[int, ...]) -> ExprArray:
    """An array of elements that are known to fill a shape."""
    array = ExprArray.__new__(ExprArray)
    array.flat, array.shape = tuple(flat), shape
    return array


def _position(part: Any, axis: int, length: int) -> int:
    if isinstance(part, IntExpr):
        raise ModelError("an expression cannot index an array: write element(array, expression)")
    index: int = part.__index__()
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with length {length}")
    return index % length


def _nested(values: list[int], shape: tuple[int, ...]) -> Any:
    if not shape:
        return values[0]
    if len(shape) == 1:
        return values
    part = math.prod(shape[1:])
    return [_nested(values[i * part : (i + 1) * part], shape[1:]) for i in range(shape[0])]
