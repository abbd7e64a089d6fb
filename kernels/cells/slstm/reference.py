"""The sLSTM in float64: exponential gating with normaliser n and stabiliser m (Beck et al. 2024, "xLSTM")."""

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
    """Run an sLSTM whose heads recur apart from one another.

    Args:
        wx: Input products W x, `[T, B, H, D, G]`, gates in the order i, f, z, o.
        r: Recurrent matrices, `[H, G, D, D]`; row = output unit.
        bias: `[H, G, D]`.
        initial: h, c, n and m before the first step, `[4, B, H, D]`; n > 0, or n = c = 0.
        forward_clip: Bound of h after each step; 0 for none.

    Returns:
        All states, `[4, T + 1, B, H, D]`; index 0 of time holds `initial`.
    """
    steps, batch, heads, dim, gates = wx.shape
    states = np.empty((4, steps + 1, batch, heads, dim))
    states[:, 0] = initial
    hidden, cell, normaliser, stabiliser = (np.ascontiguousarray(s.transpose(1, 0, 2)) for s in initial)
    stacked = r.reshape(heads, gates * dim, dim).transpose(0, 2, 1)  # [H, D, G * D]
    for step in range(steps):
        product = (hidden @ stacked).reshape(heads, batch, gates, dim)
        total = product + wx[step].transpose(1, 0, 3, 2) + bias[:, None]
        i, f, z, o = (total[:, :, gate] for gate in range(4))
        kept = stabiliser - np.logaddexp(0.0, -f)
        stabiliser = np.maximum(kept, i)
        grow, keep = np.exp(i - stabiliser), np.exp(kept - stabiliser)
        cell = keep * cell + grow * np.tanh(z)
        normaliser = keep * normaliser + grow
        hidden = bounded(sigmoid(o) * cell / normaliser, forward_clip)
        for state, value in enumerate((hidden, cell, normaliser, stabiliser)):
            states[state, step + 1] = value.transpose(1, 0, 2)
    return states


def saved(wx: Array, r: Array, bias: Array, states: Array) -> tuple[Array, Array]:
    """What the backward kernel reads besides h, from the states that `forward` gave.

    Returns:
        The stabilised gate that is below 1 (negative: the input gate), 1 - sigmoid(f), the activated z and o,
        `[T, B, H, D, 4]`, and c and n, `[T + 1, B, H, D, 2]`.
    """
    i, f, z, o = np.moveaxis(wx + recurrent_products(r, bias, states[0, :-1]), -1, 0)
    kept = states[3, :-1] - np.logaddexp(0.0, -f)
    smaller = np.exp(-np.abs(kept - i))
    values = np.stack([np.where(kept < i, smaller, -smaller), sigmoid(-f), np.tanh(z), sigmoid(o)], axis=-1)
    return values, np.moveaxis(states[1:3], 0, -1)


def unfolded(values: Array) -> Array:
    """Saved values as the stabilised gates they stand for: where both are near 1, the sign says little.

    Returns:
        The input gate and the forget gate, 1 - sigmoid(f), and the activated z and o, `[T, B, H, D, 5]`.
    """
    smaller = values[..., 0]
    kept_is_larger = np.signbit(smaller)  # -0 if the input gate underflowed
    grow, keep = np.where(kept_is_larger, -smaller, 1.0), np.where(kept_is_larger, 1.0, smaller)
    return np.concatenate([np.stack([grow, keep], axis=-1), values[..., 1:]], axis=-1)


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
    _, cell, normaliser, _ = states
    gradient = np.empty_like(wx)
    by_hidden, by_cell, by_normaliser, by_stabiliser = last_gradient
    for step in reversed(range(len(wx))):
        kept_is_larger = np.signbit(values[step, ..., 0])
        grow, keep, left, z, o = np.moveaxis(unfolded(values[step]), -1, 0)
        by_hidden = options.before_clip(by_hidden + output_gradient[step], states[0, step + 1])
        ratio = cell[step + 1] / normaliser[step + 1]
        by_cell = by_cell + by_hidden * o / normaliser[step + 1]
        by_normaliser = by_normaliser - by_hidden * o * ratio / normaliser[step + 1]
        # m' moves both exponents the other way, and follows the larger of log f + m and i
        by_maximum = by_stabiliser - by_cell * cell[step + 1] - by_normaliser * normaliser[step + 1]
        by_kept = keep * (by_cell * cell[step] + by_normaliser * normaliser[step])
        by_kept = by_kept + np.where(kept_is_larger, by_maximum, 0.0)
        by_grown = grow * (by_cell * z + by_normaliser) + np.where(kept_is_larger, 0.0, by_maximum)
        gradient[step, ..., 0] = by_grown
        gradient[step, ..., 1] = by_kept * left
        gradient[step, ..., 2] = by_cell * grow * (1.0 - z**2)
        gradient[step, ..., 3] = by_hidden * ratio * o * (1.0 - o)
        by_cell, by_normaliser, by_stabiliser = by_cell * keep, by_normaliser * keep, by_kept
        gradient[step] = options.clipped(gradient[step])
        by_hidden = options.pulled_back(r, gradient[step])
    initial = np.stack([by_hidden, by_cell, by_normaliser, by_stabiliser])
    return Gradients(gradient, gradient, initial)
