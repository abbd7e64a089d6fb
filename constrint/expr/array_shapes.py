"""Shapes of arrays, the names of their elements, and values in their shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

from constrint.errors import ModelError

if TYPE_CHECKING:
    import numpy as np

Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]


def shape_of(shape: Shape) -> tuple[int, ...]:
    """A shape as a tuple of lengths."""
    if type(shape) is int and shape >= 0:  # the usual case, much cheaper than a protocol check
        return (shape,)
    if isinstance(shape, str) or not isinstance(shape, Sequence | SupportsIndex):
        raise ModelError(f"a shape is a length or a tuple of lengths, not {shape!r}: write 4 or (2, 3)")
    lengths = shape if isinstance(shape, Sequence) else (shape,)
    for length in lengths:
        if type(length) is not int and not isinstance(length, SupportsIndex):
            raise ModelError(f"the lengths of an array are integers, not {length!r}: write 4 or (2, 3)")
    checked = tuple([length.__index__() for length in lengths])
    if min(checked, default=0) < 0:
        raise ModelError(f"the lengths of an array are at least 0, not {checked}")
    return checked


def nested(values: Sequence[object], shape: tuple[int, ...]) -> Any:
    """Values in row-major order as nested lists."""
    if not shape:
        return values[0]
    if len(shape) == 1:
        return list(values)
    part = math.prod(shape[1:])
    return [nested(values[i * part : (i + 1) * part], shape[1:]) for i in range(shape[0])]


def numpy_array(values: Sequence[object], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Integers as a numpy array of int64, or of Python integers where one is larger."""
    import numpy as np

    if all(isinstance(value, int) and -(1 << 63) <= value < 1 << 63 for value in values):
        return np.array(values, dtype=np.int64).reshape(shape)
    objects = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):  # one by one: np.array makes rows of tuples
        objects[place] = value
    return objects.reshape(shape)
