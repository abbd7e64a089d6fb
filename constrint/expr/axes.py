"""The axes of arrays that are declared: lengths, or labels such as names of people."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from enum import Enum
from typing import Any, TypeAlias

from constrint.errors import ModelError
from constrint.expr.array_shapes import Shape, shape_of
from constrint.expr.arrays import ExprArray
from constrint.expr.enumerated import distinct
from constrint.support.record import record

Labels: TypeAlias = "tuple[tuple[Any, ...] | None, ...]"
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

    def array(self, elements: Sequence[Any]) -> ExprArray:
        """The array of these elements."""
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


def _is_labels(part: Any) -> bool:
    """Whether a part of a shape lists labels: an iterable whose first member is no number and no list."""
    if isinstance(part, type):
        return issubclass(part, Enum)
    if isinstance(part, str) or not isinstance(part, Iterable) or isinstance(part, ExprArray):
        return False
    if not hasattr(part, "__len__"):
        raise ModelError(f"a shape is a length or a list of labels, not {part!r}: write list(…)")
    if isinstance(part, set | frozenset):
        raise ModelError(f"labels stand in an order, and the set {part!r} has none: give a list")
    first = next(iter(part), None)
    is_axis = isinstance(first, list | tuple | range | type)
    return first is not None and not is_axis and not hasattr(first, "__index__")


def _labels(name: str, part: Iterable[Hashable]) -> tuple[Any, ...]:
    labels = distinct(part, f"the labels of '{name}'")
    number = next((label for label in labels if hasattr(label, "__index__")), None)
    if number is not None:
        raise ModelError(f"the labels of '{name}' are strings or the like, not numbers such as {number!r}")
    texts = [label_text(label) for label in labels]
    if len(set(texts)) < len(texts):
        twice = next(text for place, text in enumerate(texts) if text in texts[:place])
        raise ModelError(f"the labels of '{name}' have the text {twice!r} twice: variables need other names")
    return labels
