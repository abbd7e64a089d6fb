"""Diagonal cells in float64, step by step: the reference of their kernels."""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kerneltune.running.scan_reference import Array

CHECKPOINT_STEPS = 16  # from one kept state to the next


class DiagonalInputs(NamedTuple):
    """Inputs of a diagonal cell; arrays in float64.

    Attributes:
        read: The cell's inputs, each `[B, T, D]`.
        weights: `[W, D]`.
        initial: The states before the first step, `[S, B, D]`.
        lengths: Steps of each row that count, `[B]`.
        resets: `[B, T]`: where the states before the step are dropped.
        reverse: Whether the last step is the first.
    """

    read: tuple[Array, ...]
    weights: Array
    initial: Array
    lengths: NDArray[np.int32]
    resets: NDArray[np.bool_]
    reverse: bool = False


class DiagonalResults(NamedTuple):
    """Results of a forward pass.

    Attributes:
        hidden: h after each step, `[B, T, D]`, 0 where it does not count.
        last: The states after the last step, `[S, B, D]`.
        kept: The states before every 16th step in the order of computation, `[ceil(T / 16), S, B, D]`.
    """

    hidden: Array
    last: Array
    kept: Array


def forward(cell: ModuleType, inputs: DiagonalInputs) -> DiagonalResults:
    """A cell over all steps."""
    batch, steps, channels = inputs.read[0].shape
    states = tuple(np.array(state) for state in inputs.initial)
    hidden = np.zeros((batch, steps, channels))
    kept = np.zeros((-(-steps // CHECKPOINT_STEPS), *inputs.initial.shape))
    for i, step in enumerate(_order(inputs)):
        if i % CHECKPOINT_STEPS == 0:
            kept[i // CHECKPOINT_STEPS] = states
        counts, before = _counts(inputs, step), _entering(inputs, step, states)
        after = cell.step(_at(inputs, step), tuple(inputs.weights), before)
        states = tuple(np.where(counts, new, old) for new, old in zip(after, states, strict=True))
        hidden[:, step] = np.where(counts, states[0], 0.0)
    return DiagonalResults(hidden, np.array(states), kept)


def backward(
    cell: ModuleType, inputs: DiagonalInputs, gradient: Array, last_gradient: Array
) -> tuple[tuple[Array, ...], Array, Array]:
    """Gradients by the cell's inputs, by the initial states, and by the weights from each row, `[B, W, D]`.

    Args:
        cell: The cell's reference.
        inputs: As for `forward`.
        gradient: By h after each step, `[B, T, D]`.
        last_gradient: By the states after the last step, besides, `[S, B, D]`.
    """
    order, entering = list(_order(inputs)), []
    states = tuple(np.array(state) for state in inputs.initial)
    for step in order:
        before = _entering(inputs, step, states)
        entering.append(before)
        after = cell.step(_at(inputs, step), tuple(inputs.weights), before)
        counts = _counts(inputs, step)
        states = tuple(np.where(counts, new, old) for new, old in zip(after, states, strict=True))
    found = tuple(np.zeros_like(array) for array in inputs.read)
    carried = tuple(np.array(part) for part in last_gradient)
    by_weights = np.zeros((inputs.read[0].shape[0], *inputs.weights.shape))
    for step, before in zip(reversed(order), reversed(entering), strict=True):
        counts, dropped = _counts(inputs, step), inputs.resets[:, step, None]
        whole = (carried[0] + gradient[:, step], *carried[1:])
        by_state, by_input, by_weight = cell.backward(_at(inputs, step), tuple(inputs.weights), before, whole)
        for array, part in zip(found, by_input, strict=True):
            array[:, step] = np.where(counts, part, 0.0)
        for number, part in enumerate(by_weight):
            by_weights[:, number] += np.where(counts, part, 0.0)
        carried = tuple(
            np.where(counts, np.where(dropped, 0.0, new), old)
            for new, old in zip(by_state, carried, strict=True)
        )
    return found, np.array(carried), by_weights


def _at(inputs: DiagonalInputs, step: int) -> tuple[Array, ...]:
    return tuple(array[:, step] for array in inputs.read)


def _entering(inputs: DiagonalInputs, step: int, states: tuple[Array, ...]) -> tuple[Array, ...]:
    dropped = inputs.resets[:, step, None]
    return tuple(np.where(dropped, 0.0, state) for state in states)


def _order(inputs: DiagonalInputs) -> range:
    steps = inputs.read[0].shape[1]
    return range(steps - 1, -1, -1) if inputs.reverse else range(steps)


def _counts(inputs: DiagonalInputs, step: int) -> NDArray[np.bool_]:
    return (step < inputs.lengths)[:, None]
