"""Indices of arrays of expressions: numpy's own, applied to the numbers of the elements, and expressions.

An array of the elements' numbers goes through numpy, and the numbers that come back name the elements. So
every index, shape and broadcast is what numpy makes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from constrint.errors import ModelError
from constrint.expr import BoolExpr, Element, IntExpr, as_expr, inside, linear
from constrint.expr.arithmetic.choices import element_of
from constrint.expr.array_operators import elements_of
from constrint.expr.arrays import ExprArray, made
from constrint.expr.enumerated import EnumExpr, position

Numbers: TypeAlias = "np.ndarray[Any, Any]"
Elements: TypeAlias = "tuple[Sequence[Any], tuple[int, ...]]"


def numbers_of(shape: tuple[int, ...], start: int = 0) -> Numbers:
    """The numbers of the elements of a shape."""
    return np.arange(start, start + int(np.prod(shape, dtype=np.int64))).reshape(shape)


def taken(flat: Sequence[IntExpr], numbers: Any) -> Any:
    """The elements with these numbers: one of them, or an array."""
    if not isinstance(numbers, np.ndarray):
        return flat[int(numbers)]
    return made([flat[number] for number in numbers.ravel().tolist()], numbers.shape)


def broadcast(*arrays: Elements) -> tuple[list[list[object]], tuple[int, ...]]:
    """The elements of arrays in their common shape; raises `ModelError` if there is none."""
    shapes = [own for _, own in arrays]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise ModelError(f"arrays of the shapes {' and '.join(map(str, shapes))} do not match") from None
    places = [np.broadcast_to(numbers_of(own), shape).ravel().tolist() for own in shapes]
    return [[flat[n] for n in own] for (flat, _), own in zip(arrays, places, strict=True)], shape


def indexed(array: ExprArray[Any, Any], key: Any) -> Any:
    """The elements that an index of any kind selects."""
    keys = key if isinstance(key, tuple) else (key,)
    if any(isinstance(part, EnumExpr) for part in keys):
        full = _full(keys, array.ndim)
        keys = tuple([position(part, None, array.shape[axis]) for axis, part in enumerate(full)])
    if any(_has_expressions(part) for part in keys):
        return _selected(array, keys)
    return taken(array.flat, numbers_of(array.shape)[key])


def _has_expressions(part: object) -> bool:
    if isinstance(part, IntExpr | ExprArray):
        return True
    if isinstance(part, list | tuple):
        return any(map(_has_expressions, part))
    return isinstance(part, np.ndarray) and part.dtype == object


def _selected(array: ExprArray, keys: tuple[object, ...]) -> object:
    """The elements that expressions in the key select; slices and constants may stand beside them."""
    full = _full(keys, array.ndim)
    axes = [axis for axis, part in enumerate(full) if not isinstance(part, slice)]
    indices = [_index(full[axis], array.shape[axis]) for axis in axes]
    flats, shape = broadcast(*indices)
    numbers = numbers_of(array.shape)[
        tuple(part if isinstance(part, slice) else slice(None) for part in full)
    ]
    numbers = np.moveaxis(numbers, axes, range(len(axes)))
    rest = numbers.shape[len(axes) :]
    numbers = numbers.reshape(*numbers.shape[: len(axes)], -1)
    found = []
    for chosen in zip(*flats, strict=True):
        found += _elements(array.flat, numbers, chosen)
    order = numbers_of((*shape, *rest))
    if axes == list(range(axes[0], axes[-1] + 1)):  # numpy's rule: in the place of the first
        order = np.moveaxis(order, range(len(shape)), range(axes[0], axes[0] + len(shape)))
    return taken(found, order) if order.ndim else found[0]


def _elements(flat: Sequence[IntExpr], numbers: Numbers, chosen: Sequence[object]) -> list[IntExpr]:
    """The elements of one choice of indices, for each number along the last axis."""
    numbers = numbers[tuple(part if isinstance(part, int) else slice(None) for part in chosen)]
    variable = [part for part in chosen if isinstance(part, IntExpr)]
    lengths = numbers.shape[:-1]
    if not variable:
        return [flat[number] for number in numbers.tolist()]
    index, stride = [], 1
    for part, length in zip(reversed(variable), reversed(lengths), strict=True):
        known = len(variable) == 1 or not inside(part, length - 1)
        index.append((stride, part if known else Element(tuple(range(length)), part)))
        stride *= length
    place = linear(index[::-1])
    table = numbers.reshape(stride, -1).T.tolist()
    return [element_of(tuple([flat[number] for number in entries]), place) for entries in table]


def _full(keys: tuple[object, ...], ndim: int) -> list[object]:
    """Indices and slices for all axes; omitted axes and those of an ellipsis are taken whole."""
    if any(part is None for part in keys):
        raise ModelError(
            "an index with an expression has no new axes (None): add them afterwards, by reshape"
        )
    full = list(keys)
    dots = [i for i, part in enumerate(full) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index may have one ellipsis ('...')")
    missing = ndim - len(full) + len(dots)
    if missing < 0:
        raise IndexError(f"{len(full) - len(dots)} indices for an array of {ndim} axes")
    at = dots[0] if dots else len(full)
    full[at : at + len(dots)] = [slice(None)] * missing
    return full


def _index(part: object, length: int) -> tuple[list[object], tuple[int, ...]]:
    """The elements and the shape of an index along an axis."""
    flat, shape = elements_of(part) or ([part], ())
    if shape and flat and all(isinstance(one, BoolExpr | bool) for one in flat):
        raise ModelError(
            "which elements a mask of conditions picks is not known while the model is built: "
            "multiply by it, as in (array * mask).sum(), or use if_then_else"
        )
    return [_checked(one, length) for one in flat], shape


def _checked(part: object, length: int) -> object:
    expr = as_expr(part)
    if expr.children or not hasattr(expr, "value"):
        if length == 0:
            raise IndexError("an axis of length 0 has no elements")
        return expr
    index = int(expr.value)
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of bounds for an axis of length {length}")
    return index % length
