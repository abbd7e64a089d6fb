"""The LSTM in float64: the definition that every kernel is checked against."""

from __future__ import annotations

import numpy as np

from kerneltune.cells.recurrence import (
    EXACT,
    Array,
    GradientOptions,
    Gradients,
    bounded,
    recurrent_products,
    sigmoid,
)


def forward(wx: Array, r: Array, bias: Array, initial: Array, forward_clip: float = 0.0) -> Array:
    """Run an LSTM whose heads recur apart from one another.

    Args:
        wx: Input products W x, `[T, B, H, D, G]`, gates in the order i, f, z, o.
        r: Recurrent matrices, `[H, G, D, D]`; row = output unit.
        bias: `[H, G, D]`.
        initial: h and c before the first step, `[2, B, H, D]`.
        forward_clip: Bound of h after each step; 0 for none.

    Returns:
        All states, `[2, T + 1, B, H, D]`; index 0 of time holds `initial`.
    """
    steps, batch, heads, dim, gates = wx.shape
    states = np.empty((2, steps + 1, batch, heads, dim))
    states[:, 0] = initial
    hidden = np.ascontiguousarray(initial[0].transpose(1, 0, 2))  # [H, B, D]: one matrix product a head
    cell = np.ascontiguousarray(initial[1].transpose(1, 0, 2))
    stacked = r.reshape(heads, gates * dim, dim).transpose(0, 2, 1)  # [H, D, G * D]
    for step in range(steps):
        product = (hidden @ stacked).reshape(heads, batch, gates, dim)
        total = product + wx[step].transpose(1, 0, 3, 2) + bias[:, None]
        i, f, z, o = (total[:, :, gate] for gate in range(4))
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(z)
        hidden = bounded(sigmoid(o) * np.tanh(cell), forward_clip)
        states[0, step + 1] = hidden.transpose(1, 0, 2)
        states[1, step + 1] = cell.transpose(1, 0, 2)
    return states


def saved(wx: Array, r: Array, bias: Array, states: Array) -> tuple[Array, Array]:
    """What the backward kernel reads besides h, from the states that `forward` gave.

    Returns:
        The activated gates, `[T, B, H, D, 4]`, and c, `[T + 1, B, H, D, 1]`.
    """
    i, f, z, o = np.moveaxis(wx + recurrent_products(r, bias, states[0, :-1]), -1, 0)
    return np.stack([sigmoid(i), sigmoid(f), np.tanh(z), sigmoid(o)], axis=-1), states[1][..., None]


def backward(
    wx: Array,
    r: Array,
    bias: Array,
    states: Array,
    output_gradient: Array,
    last_gradient: Array,
    options: GradientOptions = EXACT,
) -> Gradients:
    """Gradients by all inputs; `Backward` in `kerneltune.cells.recurrence` describes the arguments."""
    values, _ = saved(wx, r, bias, states)
    cell = states[1]
    gradient = np.empty_like(wx)
    by_hidden, by_cell = last_gradient
    for step in reversed(range(len(wx))):
        i, f, z, o = np.moveaxis(values[step], -1, 0)
        by_hidden = options.before_clip(by_hidden + output_gradient[step], states[0, step + 1])
        squashed = np.tanh(cell[step + 1])
        by_cell = by_cell + by_hidden * o * (1.0 - squashed**2)
        gradient[step, ..., 0] = by_cell * z * i * (1.0 - i)
        gradient[step, ..., 1] = by_cell * cell[step] * f * (1.0 - f)
        gradient[step, ..., 2] = by_cell * i * (1.0 - z**2)
        gradient[step, ..., 3] = by_hidden * squashed * o * (1.0 - o)
        by_cell = by_cell * f
        gradient[step] = options.clipped(gradient[step])
        by_hidden = options.pulled_back(r, gradient[step])
    return Gradients(gradient, gradient, np.stack([by_hidden, by_cell]))
