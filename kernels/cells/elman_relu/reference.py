"""The Elman network with relu in float64."""

from __future__ import annotations

import numpy as np

from kerneltune.cells.recurrence import EXACT, Array, GradientOptions, Gradients, elman_forward


def forward(wx: Array, r: Array, bias: Array, initial: Array, forward_clip: float = 0.0) -> Array:
    """All states; `elman_forward` in `kerneltune.cells.recurrence` describes arguments and result."""
    return elman_forward(wx, r, bias, initial, forward_clip, lambda total: np.maximum(total, 0.0))


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
    """Gradients by all inputs; `Backward` in `kerneltune.cells.recurrence` describes the arguments."""
    gradient = np.empty_like(wx)
    by_hidden = last_gradient[0]
    for step in reversed(range(len(wx))):
        by_hidden = options.before_clip(by_hidden + output_gradient[step], states[0, step + 1])
        gradient[step, ..., 0] = by_hidden * (states[0, step + 1] > 0)
        gradient[step] = options.clipped(gradient[step])
        by_hidden = options.pulled_back(r, gradient[step])
    return Gradients(gradient, gradient, by_hidden[None])
