"""Columns of products of independent diagrams."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import Any

import numpy as np

from constrint.diagrams.diagram import Diagram
from constrint.diagrams.terms import Array

LONG_REPETITION = 64  # repetitions from which numpy's broadcast beats repeating first
BLOCK = 1 << 14
Submit = Callable[..., Any]


def product_columns(diagrams: Sequence[Diagram], start: int, stop: int) -> dict[int, Array]:
    """Solutions start … stop - 1 of the product, a column for each variable."""
    columns: dict[int, Array] = {}
    stride = 1
    for diagram in reversed(diagrams):
        size = diagram.size
        if start >= stop:
            found = [layer.value[:0] for layer in diagram.layers]
        else:
            first, last = start // stride, (stop - 1) // stride
            found = _digits(diagram, first, last - first + 1)
            if stride > 1:
                lengths = np.full(last - first + 1, min(stride, stop - start), dtype=np.int64)
                lengths[0] = min((first + 1) * stride, stop) - start
                if last > first:
                    lengths[-1] = stop - last * stride
                found = [np.repeat(column, lengths) for column in found]
        columns.update(zip(diagram.variables, found, strict=True))
        stride *= size
    return columns


def each(column: Array) -> Iterable[Any]:
    """Python's value of each element in turn, in the fastest way.

    Integers up to 255 are taken from bytes, because Python caches them: no list is needed.
    """
    if column.dtype.kind not in "iu" or not len(column):
        values: list[Any] = column.tolist()
        return values
    low, high = int(column.min()), int(column.max())
    if low == high:
        return repeat(low, len(column))
    return column.astype(np.uint8).tobytes() if low >= 0 and high < 256 else column.tolist()


@contextmanager
def without_collection() -> Iterator[None]:
    """Disable garbage collection while millions of tuples are made, and mark them as old afterwards.

    Collections in between would visit all of them again and again, and none is garbage. Freezing and
    unfreezing moves the objects to the oldest generation without visiting any.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # otherwise the caller has frozen objects, which must stay frozen
            gc.freeze()
            gc.unfreeze()
        gc.enable()


def _digits(diagram: Diagram, first: int, count: int) -> list[Array]:
    """`count` solutions from number `first` on, cyclically."""
    size = diagram.size
    begin = first % size
    if begin + count <= size:
        return diagram.columns(begin, begin + count)
    if count < size:
        head, tail = diagram.columns(begin, size), diagram.columns(0, begin + count - size)
        return [np.concatenate(pair) for pair in zip(head, tail, strict=True)]
    order = (begin + np.arange(count)) % size
    return [column[order] for column in diagram.columns(0, size)]


def fill(table: Array, diagrams: Sequence[Diagram], submit: Submit | None = None) -> None:
    """Write all solutions of the product into a table with a column for each variable.

    Args:
        table: The table to fill.
        diagrams: The diagrams; those on the right change faster.
        submit: Runs the writing of a column; by default this thread does.
    """
    if not len(table):
        return
    submit = submit or _at_once
    outer = 1
    inner = len(table)
    for diagram in diagrams:
        size = diagram.size
        inner //= size
        for v, column in zip(diagram.variables, diagram.columns(0, size), strict=True):
            submit(_spread, table[:, v], column.astype(table.dtype, copy=False), outer, inner)
        outer *= size


def _at_once(function: Callable[..., None], *arguments: object) -> None:
    function(*arguments)


def _spread(target: Array, column: Array, outer: int, inner: int) -> None:
    """Write each value `inner` times, and the whole `outer` times."""
    if inner >= LONG_REPETITION:
        target.reshape(outer, len(column), inner)[...] = column[None, :, None]
        return
    pattern = np.repeat(column, inner) if inner > 1 else column
    copies = min(outer, max(1, BLOCK // len(pattern)))
    whole = outer // copies * copies
    if copies > 1:
        long = np.tile(pattern, copies)
        target[: whole * len(pattern)].reshape(-1, len(long))[...] = long
        target[whole * len(pattern) :] = np.tile(pattern, outer - whole)
    else:
        target.reshape(outer, len(pattern))[...] = pattern
