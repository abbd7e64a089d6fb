"""Scans in float64, step by step: the reference of their kernels."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from types import ModuleType
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


class ScanInputs(NamedTuple):
    """Inputs of a scan; arrays in float64.

    Attributes:
        read: The cell's inputs, each `[B, T, D]`.
        initial: h before the first step, `[B, D]`.
        lengths: Steps of each row that count, `[B]`.
        resets: `[B, T]`: where h before the step is dropped.
        reverse: Whether the scan begins at the last step.
        boundaries: Of sequences one after the other in the one row, `[N + 1]`; then `initial` is `[N, D]`.

    Of a cell whose h is several numbers, the last axes are as many times as long.
    """

    read: tuple[Array, ...]
    initial: Array
    lengths: NDArray[np.int32]
    resets: NDArray[np.bool_]
    reverse: bool = False
    boundaries: NDArray[np.int32] | None = None


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), for every x."""
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0 / (1.0 + e), e / (1.0 + e))


def candidate(x: Array) -> tuple[Array, Array]:
    """g(x) = x + 1/2 from 0 on, sigmoid(x) below, and its slope."""
    value = sigmoid(x)
    return np.where(x >= 0, x + 0.5, value), np.where(x >= 0, 1.0, value * sigmoid(-x))


def forward(cell: ModuleType, inputs: ScanInputs) -> tuple[Array, Array]:
    """The states after each step, `[B, T, D]`, 0 where it does not count; the last that does, `[B, D]`."""
    if inputs.boundaries is not None:
        return _forward_of_sequences(cell, inputs)
    a, b = cell.coefficients(*inputs.read)
    applied = getattr(cell, "applied", np.multiply)
    state = inputs.initial.copy()
    hidden = np.zeros_like(b)
    for step in _order(inputs):
        counts = _counts(inputs, step)
        kept = np.where(inputs.resets[:, step, None], 0.0, applied(a[:, step], state))
        state = np.where(counts, kept + b[:, step], state)
        hidden[:, step] = np.where(counts, state, 0.0)
    return hidden, state


def backward(
    cell: ModuleType,
    inputs: ScanInputs,
    gradient: Array,
    last_gradient: Array,
    hidden: Array | None = None,
) -> tuple[tuple[Array, ...], Array]:
    """Gradients by the cell's inputs and by the initial h.

    Args:
        cell: The cell's reference.
        inputs: As for `forward`.
        gradient: By h after each step, `[B, T, D]`.
        last_gradient: By h after the last step that counts, besides, `[B, D]`.
        hidden: h after each step, as it was stored; computed if not given.
    """
    if inputs.boundaries is not None:
        return _backward_of_sequences(cell, inputs, gradient, last_gradient, hidden)
    if hidden is None:
        hidden, _ = forward(cell, inputs)
    a, _ = cell.coefficients(*inputs.read)
    back = getattr(cell, "carried", np.multiply)
    found = tuple(np.zeros_like(array) for array in inputs.read)
    carried = last_gradient.copy()
    order = list(_order(inputs))
    for i in reversed(range(len(order))):
        step = order[i]
        counts = _counts(inputs, step)
        before = inputs.initial
        if i:
            before = np.where(_counts(inputs, order[i - 1]), hidden[:, order[i - 1]], inputs.initial)
        dropped = inputs.resets[:, step, None]
        whole = gradient[:, step] + carried
        read = (array[:, step] for array in inputs.read)
        for array, part in zip(
            found, cell.gradients(*read, np.where(dropped, 0.0, before), whole), strict=True
        ):
            array[:, step] = np.where(counts, part, 0.0)
        carried = np.where(counts, np.where(dropped, 0.0, back(a[:, step], whole)), carried)
    return found, carried


def _forward_of_sequences(cell: ModuleType, inputs: ScanInputs) -> tuple[Array, Array]:
    steps = inputs.read[-1].shape[1]
    hidden, last = np.zeros((1, steps, inputs.initial.shape[1])), inputs.initial.copy()
    for part, row, one in _rows(inputs):
        hidden[:, part], last[row : row + 1] = forward(cell, one)
    return hidden, last


def _backward_of_sequences(
    cell: ModuleType, inputs: ScanInputs, gradient: Array, last_gradient: Array, hidden: Array | None
) -> tuple[tuple[Array, ...], Array]:
    found = tuple(np.zeros_like(array) for array in inputs.read)
    by_initial = last_gradient.copy()
    for part, row, one in _rows(inputs):
        stored = None if hidden is None else hidden[:, part]
        parts, by_initial[row : row + 1] = backward(
            cell, one, gradient[:, part], last_gradient[row : row + 1], stored
        )
        for array, piece in zip(found, parts, strict=True):
            array[:, part] = piece
    return found, by_initial


def _rows(inputs: ScanInputs) -> Iterator[tuple[slice, int, ScanInputs]]:
    """Each sequence that has steps: where it lies, which it is, and what it reads."""
    assert inputs.boundaries is not None
    for row, (begin, end) in enumerate(pairwise(inputs.boundaries.tolist())):
        if begin < end:
            part = slice(begin, end)
            read = tuple(array[:, part] for array in inputs.read)
            length, dropped = np.array([end - begin], np.int32), inputs.resets[:, part]
            first = inputs.initial[row : row + 1]
            yield part, row, ScanInputs(read, first, length, dropped, inputs.reverse)


def _order(inputs: ScanInputs) -> range:
    steps = inputs.read[0].shape[1]
    return range(steps - 1, -1, -1) if inputs.reverse else range(steps)


def _counts(inputs: ScanInputs, step: int) -> NDArray[np.bool_]:
    return (step < inputs.lengths)[:, None]
