"""Diagonal cells on a CPU: the references' own functions, by numba, rows and blocks of channels side by side.

Steps go in order and numbers are float64 between reading and writing, so the answer is the sequential one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.running import diagonal_reference
from kerneltune.running.diagonal_reference import CHECKPOINT_STEPS, DiagonalInputs

Floats: TypeAlias = NDArray[np.float32]
Flags: TypeAlias = NDArray[np.bool_]
Doubles: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.int64]
CHANNELS_AT_ONCE = 16  # that a thread takes together


class CpuInputs(NamedTuple):
    """Inputs of a cell.

    Attributes:
        read: The cell's inputs, `[G, B, T, D]`.
        weights: `[W, D]`.
        lengths: Steps of each row that count, `[B]`.
        resets: `[B, T]`: where the states before the step are dropped.
        reverse: Whether the last step is the first.
    """

    read: Floats
    weights: Floats
    lengths: NDArray[np.int32]
    resets: NDArray[np.bool_]
    reverse: bool


def forward(cell: str, inputs: CpuInputs, initial: Floats) -> tuple[Floats, Floats, Floats]:
    """H after each step, `[B, T, D]`, the last states, `[S, B, D]`, and those before every 16th step."""
    _, batch, steps, channels = inputs.read.shape
    if (derived := _derived(cell)) is not None:
        found = diagonal_reference.forward(derived, _wide(inputs, initial))
        return found.hidden.astype(np.float32), found.last.astype(np.float32), found.kept.astype(np.float32)
    hidden = np.zeros((batch, steps, channels), np.float32)
    kept = np.zeros((-(-steps // CHECKPOINT_STEPS), *initial.shape), np.float32)
    states = np.array(initial, np.float64)
    _compiled(cell)[0](*inputs, states, hidden, kept)
    return hidden, states.astype(np.float32), kept


def backward(
    cell: str, inputs: CpuInputs, kept: Floats, gradient: Floats, last_gradient: Floats
) -> tuple[Floats, Floats, Floats]:
    """Gradients by the inputs, `[G, B, T, D]`, the initial states and each row's weights, `[B, W, D]`."""
    if (derived := _derived(cell)) is not None:
        by_input, start, by_row = diagonal_reference.backward(
            derived, _wide(inputs, kept[0]), gradient.astype(np.float64), last_gradient.astype(np.float64)
        )
        return np.array(by_input, np.float32), start.astype(np.float32), by_row.astype(np.float32)
    found = np.zeros_like(inputs.read)
    carried = np.array(last_gradient, np.float64)
    by_weights = np.zeros((inputs.read.shape[1], *inputs.weights.shape), np.float64)
    # That of a sum is one number with strides of 0, for which numba would compile the loop anew.
    gradient = np.ascontiguousarray(gradient)
    _compiled(cell)[1](*inputs, kept, gradient, carried, found, by_weights)
    return found, carried.astype(np.float32), by_weights.astype(np.float32)


@cache
def _derived(cell: str) -> ModuleType | None:
    """The functions of a cell of equations, on all rows and channels at once; None for any other."""
    found = discover_scans().cell(cell)
    return found.reference_module() if isinstance(found, EquationCell) else None


def _wide(inputs: CpuInputs, initial: Floats) -> DiagonalInputs:
    read = tuple(inputs.read.astype(np.float64))
    rest = inputs.lengths, inputs.resets, inputs.reverse
    return DiagonalInputs(read, inputs.weights.astype(np.float64), initial.astype(np.float64), *rest)


@cache
def _compiled(name: str, root: Path | None = None) -> tuple[Callable[..., None], Callable[..., None]]:
    """Forward and backward of a cell."""
    from kerneltune.running.jit import njit

    cell = discover_scans(root).cell(name)
    module = cell.reference_module()
    for function_name, function in list(vars(module).items()):
        if isinstance(function, FunctionType):
            setattr(module, function_name, njit(function))
    gates, states = len(cell.spec.gates), len(cell.spec.states)
    weights = cell.constants()["weights"]
    return (
        _forward_loop(module.step, gates, weights, states),
        _backward_loop(module.step, module.backward, gates, weights, states),
    )


def _forward_loop(step_of: Callable[..., Any], gates: int, weights: int, states: int) -> Callable[..., None]:
    from kerneltune.running.jit import njit, prange, to_fixed_tuple

    @njit(parallel=True, fastmath=False)
    def loop(
        read: Floats,
        u: Floats,
        lengths: NDArray[np.int32],
        resets: Flags,
        reverse: bool,
        carried: Doubles,
        hidden: Floats,
        kept: Floats,
    ) -> None:
        _, batch, steps, channels = read.shape
        blocks = (channels + CHANNELS_AT_ONCE - 1) // CHANNELS_AT_ONCE
        for job in prange(batch * blocks):
            row, first = job // blocks, job % blocks * CHANNELS_AT_ONCE
            x, w, s = np.empty(gates), np.empty(weights), np.empty(states)
            for i in range(steps):
                step = steps - 1 - i if reverse else i
                for channel in range(first, min(first + CHANNELS_AT_ONCE, channels)):
                    if i % CHECKPOINT_STEPS == 0:
                        kept[i // CHECKPOINT_STEPS, :, row, channel] = carried[:, row, channel]
                    if step >= lengths[row]:
                        continue
                    x[:] = read[:, row, step, channel]
                    w[:] = u[:, channel]
                    s[:] = carried[:, row, channel]
                    if resets[row, step]:
                        s[:] = 0.0
                    after = step_of(
                        to_fixed_tuple(x, gates), to_fixed_tuple(w, weights), to_fixed_tuple(s, states)
                    )
                    for number in range(states):
                        carried[number, row, channel] = after[number]
                    hidden[row, step, channel] = after[0]

    compiled: Callable[..., None] = loop
    return compiled


def _tile_loops(
    step_of: Callable[..., Any], backward_of: Callable[..., Any], gates: int, weights: int, states: int
) -> tuple[Callable[..., None], Callable[..., None]]:
    """A tile of one channel: its steps once more, for the states before each, and their gradients."""
    from kerneltune.running.jit import njit, to_fixed_tuple

    @njit(fastmath=False)
    def forth(read: Floats, resets: Flags, places: Places, w: Doubles, s: Doubles, before: Doubles) -> None:
        x = np.empty(gates)
        for i in range(len(places)):
            step = places[i]
            if step < 0:
                continue
            if resets[step]:
                s[:] = 0.0
            before[i] = s
            x[:] = read[:, step]
            after = step_of(to_fixed_tuple(x, gates), to_fixed_tuple(w, weights), to_fixed_tuple(s, states))
            for number in range(states):
                s[number] = after[number]

    @njit(fastmath=False)
    def back(
        read: Floats,
        resets: Flags,
        places: Places,
        w: Doubles,
        before: Doubles,
        gradient: Floats,
        carried: Doubles,
        found: Floats,
        by: Floats,
    ) -> None:
        x, g = np.empty(gates), np.empty(states)
        for i in range(len(places) - 1, -1, -1):
            step = places[i]
            if step < 0:
                continue
            x[:] = read[:, step]
            g[:] = carried
            g[0] += gradient[step]
            by_state, by_input, by_weight = backward_of(
                to_fixed_tuple(x, gates),
                to_fixed_tuple(w, weights),
                to_fixed_tuple(before[i], states),
                to_fixed_tuple(g, states),
            )
            for number in range(gates):
                found[number, step] = by_input[number]
            for number in range(weights):
                by[number] += by_weight[number]
            for number in range(states):
                carried[number] = 0.0 if resets[step] else by_state[number]

    return forth, back


def _backward_loop(
    step_of: Callable[..., object], backward_of: Callable[..., object], gates: int, weights: int, states: int
) -> Callable[..., None]:
    from kerneltune.running.jit import njit, prange

    forth, back = _tile_loops(step_of, backward_of, gates, weights, states)

    @njit(parallel=True, fastmath=False)
    def loop(
        read: Floats,
        u: Floats,
        lengths: NDArray[np.int32],
        resets: Flags,
        reverse: bool,
        kept: Floats,
        gradient: Floats,
        carried: Doubles,
        found: Floats,
        by_weights: Doubles,
    ) -> None:
        _, batch, steps, channels = read.shape
        for job in prange(batch * channels):
            row, channel = job // channels, job % channels
            w, s = np.empty(weights), np.empty(states)
            before = np.empty((CHECKPOINT_STEPS, states))
            places = np.empty(CHECKPOINT_STEPS, np.int64)  # of the tile's steps; -1 for what does not count
            w[:] = u[:, channel]
            inputs, outputs = read[:, row, :, channel], found[:, row, :, channel]
            for tile in range(kept.shape[0] - 1, -1, -1):
                begin, end = tile * CHECKPOINT_STEPS, min((tile + 1) * CHECKPOINT_STEPS, steps)
                for i in range(begin, end):
                    step = steps - 1 - i if reverse else i
                    places[i - begin] = step if step < lengths[row] else -1
                some = places[: end - begin]
                s[:] = kept[tile, :, row, channel]
                forth(inputs, resets[row], some, w, s, before)
                back(
                    inputs,
                    resets[row],
                    some,
                    w,
                    before,
                    gradient[row, :, channel],
                    carried[:, row, channel],
                    outputs,
                    by_weights[row, :, channel],
                )

    compiled: Callable[..., None] = loop
    return compiled
