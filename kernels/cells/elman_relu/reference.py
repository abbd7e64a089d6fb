"""The Elman network with relu in float64."""

from __future__ import annotations

import numpy as np

from kerneltune.running.recurrence import EXACT, Array, GradientOptions, Gradients, bounded


def forward(wx: Array, r: Array, bias: Array, initial: Array, forward_clip: float = 0.0) -> Array:
    """Run an Elman network whose heads recur apart from one another.

    Args:
        wx: input products W x, `[T, B, H, D, 1]`.
        r: recurrent matrices, `[H, 1, D, D]`; row = output unit.
        bias: `[H, 1, D]`.
        initial: h before the first step, `[1, B, H, D]`.
        forward_clip: Bound of h after each step; 0 for none.

    Returns:
        All states, `[1, T + 1, B, H, D]`; index 0 of time holds `initial`.
    """
    states = np.empty((1, wx.shape[0] + 1, *wx.shape[1:4]))
    states[:, 0] = initial
    weights = r[:, 0].transpose(0, 2, 1)  # [H, D, D]
    hidden = np.ascontiguousarray(initial[0].transpose(1, 0, 2))  # [H, B, D]: one matrix product a head
    for step in range(wx.shape[0]):
        total = hidden @ weights + wx[step, ..., 0].transpose(1, 0, 2) + bias
        hidden = bounded(np.maximum(total, 0.0), forward_clip)
        states[0, step + 1] = hidden.transpose(1, 0, 2)
    return states


def saved(wx: Array, _r: Array, _bias: Array, states: Array) -> tuple[Array, Array]:
    """What the backward kernel reads besides h: nothing, `[T, B, H, D, 0]` and `[T + 1, B, H, D, 0]`."""
    return np.empty((*wx.shape[:4], 0)), np.empty((*states.shape[1:], 0))


def backward(
    wx: Array,
    r: Array,
    bias: Array,
    states: Array,
    output_gradient: Array,
    last_gradient: Array,
    options: GradientOptions = EXACT,
) -> Gradients:
    """Gradients by all inputs, given those by h after each step and by the states after the last.

    Args:
        wx: As for `forward`.
        r: As for `forward`.
        bias: As for `forward`.
        states: What `forward` gave.
        output_gradient: `[T, B, H, D]`.
        last_gradient: `[1, B, H, D]`, on top of that by h after the last step.
        options: Clipping and cutting, if any.
    """
    gradient = np.empty_like(wx)
    by_hidden = last_gradient[0]
    for step in reversed(range(len(wx))):
        by_hidden = options.before_clip(by_hidden + output_gradient[step], states[0, step + 1])
        gradient[step, ..., 0] = by_hidden * (states[0, step + 1] > 0)
        gradient[step] = options.clipped(gradient[step])
        by_hidden = options.pulled_back(r, gradient[step])
    return Gradients(gradient, gradient, by_hidden[None])
