"""The GRU in float64, with the reset gate applied to R_n h + b_n as PyTorch does."""

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
    """Run a GRU whose heads recur apart from one another.

    Args:
        wx: Input products W x, `[T, B, H, D, G]`, gates in the order r, z, n.
        r: Recurrent matrices, `[H, G, D, D]`; row = output unit.
        bias: `[H, G, D]`, added to R h.
        initial: h before the first step, `[1, B, H, D]`.
        forward_clip: Bound of h after each step; 0 for none.

    Returns:
        All states, `[1, T + 1, B, H, D]`; index 0 of time holds `initial`.
    """
    steps, batch, heads, dim, gates = wx.shape
    states = np.empty((1, steps + 1, batch, heads, dim))
    states[:, 0] = initial
    hidden = np.ascontiguousarray(initial[0].transpose(1, 0, 2))  # [H, B, D]: one matrix product a head
    stacked = r.reshape(heads, gates * dim, dim).transpose(0, 2, 1)  # [H, D, G * D]
    for step in range(steps):
        recurrent = (hidden @ stacked).reshape(heads, batch, gates, dim) + bias[:, None]
        x = wx[step].transpose(1, 0, 3, 2)
        reset = sigmoid(x[:, :, 0] + recurrent[:, :, 0])
        update = sigmoid(x[:, :, 1] + recurrent[:, :, 1])
        candidate = np.tanh(x[:, :, 2] + reset * recurrent[:, :, 2])
        hidden = bounded((1.0 - update) * candidate + update * hidden, forward_clip)
        states[0, step + 1] = hidden.transpose(1, 0, 2)
    return states


def saved(wx: Array, r: Array, bias: Array, states: Array) -> tuple[Array, Array]:
    """What the backward kernel reads besides h, from the states that `forward` gave.

    Returns:
        The activated gates and R_n h + b_n, `[T, B, H, D, 4]`, and nothing, `[T + 1, B, H, D, 0]`.
    """
    recurrent = recurrent_products(r, bias, states[0, :-1])
    reset = sigmoid(wx[..., 0] + recurrent[..., 0])
    update = sigmoid(wx[..., 1] + recurrent[..., 1])
    candidate = np.tanh(wx[..., 2] + reset * recurrent[..., 2])
    values = np.stack([reset, update, candidate, recurrent[..., 2]], axis=-1)
    return values, np.empty((*states.shape[1:], 0))


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
    by_input, by_recurrent = np.empty_like(wx), np.empty_like(wx)
    by_hidden = last_gradient[0]
    for step in reversed(range(len(wx))):
        reset, update, candidate, product = np.moveaxis(values[step], -1, 0)
        by_hidden = options.before_clip(by_hidden + output_gradient[step], states[0, step + 1])
        by_candidate = by_hidden * (1.0 - update) * (1.0 - candidate**2)
        by_input[step, ..., 0] = by_candidate * product * reset * (1.0 - reset)
        by_input[step, ..., 1] = by_hidden * (states[0, step] - candidate) * update * (1.0 - update)
        by_input[step, ..., 2] = by_candidate
        by_recurrent[step] = by_input[step]
        by_recurrent[step, ..., 2] = by_candidate * reset
        by_input[step] = options.clipped(by_input[step])
        by_recurrent[step] = options.clipped(by_recurrent[step])
        by_hidden = by_hidden * update + options.pulled_back(r, by_recurrent[step])
    return Gradients(by_input, by_recurrent, by_hidden[None])
