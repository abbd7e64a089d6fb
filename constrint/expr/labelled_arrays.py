"""Arrays whose elements are found by labels as well as by numbers: ``w["ann"]``, ``w["ann", "mon"]``."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, cast

from constrint.errors import ModelError
from constrint.expr import IntExpr
from constrint.expr.array_shapes import Labels
from constrint.expr.array_totals import Axis
from constrint.expr.arrays import ExprArray, Index, ValueLookup
from constrint.expr.enumerated import EnumExpr, listed_values, position


class LabelledArray(ExprArray):
    """An array with labels along some axes; made by `Model.int_vars` and the like from lists of labels.

    An index may have labels where numpy has numbers, ``w["ann"]``, ``w[["ann", "bob"], 2]``, and
    enumerations, ``w[person]``. Numbers count from 0, as in every array. Operators, parts and sums along an
    axis keep the labels; other functions give plain arrays.

    Attributes:
        labels: For each axis its labels, or None where it has none.
    """

    __slots__ = ("labels",)
    labels: Labels

    def __init__(self, flat: Sequence[IntExpr], shape: tuple[int, ...], labels: Labels) -> None:
        super().__init__(flat, shape)
        self.labels = labels

    def __getitem__(self, key: Index) -> Any:
        """An element, or the array of several, by labels, numbers, enumerations and expressions."""
        keys = self._full(key if type(key) is tuple else (key,))
        if keys is None:
            return super().__getitem__(key)
        parts = tuple([self._place(axis, part) for axis, part in enumerate(keys)])
        found = super().__getitem__(parts if len(parts) > 1 else parts[0])
        kept = self._kept(parts) if isinstance(found, ExprArray) else None
        return found if kept is None else labelled(found, kept)

    def _full(self, keys: tuple[object, ...]) -> list[object] | None:
        """A part of the key for each axis; None where it has new axes or too many parts."""
        dots = [place for place, part in enumerate(keys) if part is Ellipsis]
        missing = self.ndim - len(keys) + len(dots)
        if missing < 0 or len(dots) > 1 or any(part is None for part in keys):
            return None
        at = dots[0] if dots else len(keys)
        return [*keys[:at], *[slice(None)] * missing, *keys[at + len(dots) :]]

    def _place(self, axis: int, part: object) -> object:
        """The numbers for a part of a key."""
        labels = self.labels[axis]
        if isinstance(part, EnumExpr):
            return position(part, labels, self.shape[axis])
        if isinstance(part, list):
            return [self._place(axis, one) for one in part]
        if hasattr(part, "__index__") or isinstance(part, slice | IntExpr) or hasattr(part, "shape"):
            return self._sliced(axis, part) if isinstance(part, slice) else part
        if labels is None:
            raise ModelError(f"axis {axis} of the array has no labels, so {part!r} is no index of it")
        if not isinstance(part, Hashable) or part not in labels:
            raise ModelError(f"the array has no label {part!r}; it has: {listed_values(labels)}")
        return labels.index(part)

    def _sliced(self, axis: int, part: slice) -> slice:
        ends = [end for end in (part.start, part.stop) if end is not None and not hasattr(end, "__index__")]
        if ends:
            raise ModelError(f"a slice has numbers, not {ends[0]!r}: list the labels, as in [['ann', 'bob']]")
        return part

    def _kept(self, parts: Sequence[object]) -> Labels | None:
        """The labels of what parts of a key select; None where the axes are others, or none has labels."""
        lists = [part for part in parts if not isinstance(part, slice | int)]
        if len(lists) > 1 or (lists and any(isinstance(part, int) for part in parts)):
            return None
        kept: list[tuple[Any, ...] | None] = []
        for labels, part in zip(self.labels, parts, strict=True):
            if isinstance(part, slice):
                kept.append(None if labels is None else labels[part])
            elif isinstance(part, list) and all(type(one) is int for one in part):
                kept.append(None if labels is None else tuple([labels[one] for one in part]))
            elif not isinstance(part, int):
                return None
        return tuple(kept)

    @property
    def T(self) -> ExprArray:  # noqa: N802 - numpy's name
        """The array with reversed axes."""
        return labelled(self.transpose(), self.labels[::-1])

    def values(self, result: ValueLookup) -> Any:
        """The values in a result (or in any mapping from expressions), as dictionaries by label."""
        found = [result[element] for element in self.flat]
        for labels, length in zip(reversed(self.labels), reversed(self.shape), strict=True):
            rows = [found[i : i + length] for i in range(0, len(found), length)] if length else []
            found = [row if labels is None else dict(zip(labels, row, strict=True)) for row in rows]
        return found[0] if found else {}

    def _reduce(self, name: str, axis: Axis, keepdims: bool) -> Any:
        found = super()._reduce(name, axis, keepdims)
        if not isinstance(found, ExprArray) or keepdims or not isinstance(axis, int):
            return found
        at = axis % self.ndim
        return labelled(found, (*self.labels[:at], *self.labels[at + 1 :]))


def labelled(array: ExprArray, labels: Labels) -> ExprArray:
    """The array with these labels; a plain one where there are none."""
    if all(own is None for own in labels):
        return array
    return LabelledArray(array.flat, array.shape, labels)


def _keeping(method: Callable[..., object]) -> Callable[..., object]:
    def applied(self: LabelledArray, *others: object) -> object:
        found = method(self, *others)
        is_alike = isinstance(found, ExprArray) and found.shape == self.shape
        return labelled(cast("ExprArray", found), self.labels) if is_alike else found

    return applied


_OPERATORS = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "or",
    "xor",
)
_SINGLE = ("lt", "le", "gt", "ge", "eq", "ne", "neg", "abs", "invert")
for _name in (
    *[f"__{side}{word}__" for word in _OPERATORS for side in ("", "r")],
    *[f"__{word}__" for word in _SINGLE],
    *("implies", "is_in"),
):
    setattr(LabelledArray, _name, _keeping(getattr(ExprArray, _name)))
