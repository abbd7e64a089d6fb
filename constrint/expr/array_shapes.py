"""Shapes and labels of arrays, the names of their elements, and values in their shape."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

from constrint.errors import ModelError
from constrint.support.record import record

if TYPE_CHECKING:
    import numpy as np

    from constrint.expr.arrays import ExprArray

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


def nested(values: Sequence[object], shape: tuple[int, ...]) -> object:
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


# ------------------------------------------------------------ axes with labels

Labels: TypeAlias = "tuple[tuple[object, ...] | None, ...]"
"""For each axis its labels, or None where it has numbers only."""
LabelledShape: TypeAlias = "Shape | Iterable[Hashable] | Sequence[int | Iterable[Hashable]] | type[Enum]"
"""A length, a list of labels or an `Enum`, or a tuple of such, one for each axis."""


@record()
class Axes:
    """The axes of an array.

    Attributes:
        shape: The length of each.
        labels: The labels of each; None if no axis has any.
    """

    shape: tuple[int, ...]
    labels: Labels | None = None

    def names(self, name: str) -> list[str]:
        """The names of the elements: name[0], name[1] …, or name[0,0], name[ann] and so on."""
        if not self.shape:
            return [f"{name}[]"]
        names = [f"{name}["]
        for axis, length in enumerate(self.shape):
            ending = "]" if axis == len(self.shape) - 1 else ","
            labels = self.labels[axis] if self.labels is not None else None
            texts = range(length) if labels is None else map(label_text, labels)
            ends = [f"{text}{ending}" for text in texts]
            names = [start + end for start in names for end in ends]
        return names

    def array(self, elements: Sequence[Any]) -> ExprArray[Any, Any]:
        """The array of these elements."""
        from constrint.expr.arrays import ExprArray

        if self.labels is None:
            return ExprArray(elements, self.shape)
        from constrint.expr.labelled_arrays import LabelledArray

        return LabelledArray(elements, self.shape, self.labels)


def label_text(label: object) -> str:
    """A label in the name of an element."""
    return label.name if isinstance(label, Enum) else str(label)


def axes_of(name: str, shape: Any) -> Axes:
    """The axes for the shape of an array that is declared; raises `ModelError` for what is none."""
    if type(shape) is int and shape >= 0:
        return Axes((shape,))
    if isinstance(shape, tuple | list):
        shape = type(shape)([_counted(name, part) for part in shape])
        for part in shape:
            if isinstance(part, list | tuple) and part and all(isinstance(one, int) for one in part):
                raise _not_from_0(name, part)
    else:
        shape = _counted(name, shape)
    if isinstance(shape, str):
        raise ModelError(f"a shape is a length or labels, not {shape!r}: write 4, (2, 3) or [{shape!r}]")
    if _is_labels(shape):
        parts: tuple[Any, ...] = (shape,)
    elif isinstance(shape, list | tuple) and any(_is_labels(part) for part in shape):
        parts = tuple(shape)
    else:
        return Axes(shape_of(shape))
    labels = tuple([_labels(name, part) if _is_labels(part) else None for part in parts])
    lengths = [part if own is None else len(own) for part, own in zip(parts, labels, strict=True)]
    return Axes(shape_of(lengths), labels)


def _counted(name: str, part: Any) -> Any:
    """The length for a range that counts from 0, as an axis does; other axes as they are."""
    if isinstance(part, range) or type(part).__name__ == "RangeIndex":
        if (part.start, part.step) != (0, 1):
            raise _not_from_0(name, part)
        return len(part)
    if not (hasattr(part, "tolist") and getattr(part, "shape", None)):
        return part
    numbers = part.tolist()
    if numbers == list(range(len(numbers))):
        return len(numbers)
    if hasattr(numbers[0], "__index__"):
        raise _not_from_0(name, numbers)
    return part


def _not_from_0(name: str, numbers: Any) -> ModelError:
    return ModelError(
        f"the axes of an array count from 0, so {numbers!r} does not index '{name}': write the length, "
        f"{len(numbers)}, or a dictionary, {{i: m.int_var(f'{name}[{{i}}]', lo, hi) for i in {numbers!r}}}"
    )


def _is_labels(part: object) -> bool:
    """Whether a part of a shape lists labels: an iterable whose first member is no number and no list."""
    if isinstance(part, type):
        return issubclass(part, Enum)
    if isinstance(part, str) or not isinstance(part, Iterable):
        return False
    if not hasattr(part, "__len__"):
        raise ModelError(f"a shape is a length or a list of labels, not {part!r}: write list(…)")
    if isinstance(part, set | frozenset):
        raise ModelError(f"labels stand in an order, and the set {part!r} has none: give a list")
    first = next(iter(part), None)
    is_axis = isinstance(first, list | tuple | range | type)
    return first is not None and not is_axis and not hasattr(first, "__index__")


def _labels(name: str, part: Iterable[Hashable]) -> tuple[object, ...]:
    from constrint.expr.enumerated import distinct

    labels = distinct(part, f"the labels of '{name}'")
    number = next((label for label in labels if hasattr(label, "__index__")), None)
    if number is not None:
        raise ModelError(f"the labels of '{name}' are strings or the like, not numbers such as {number!r}")
    texts = [label_text(label) for label in labels]
    if len(set(texts)) < len(texts):
        twice = next(text for place, text in enumerate(texts) if text in texts[:place])
        raise ModelError(f"the labels of '{name}' have the text {twice!r} twice: variables need other names")
    return labels
