"""The Elman network with tanh in float64."""

from __future__ import annotations

import numpy as np

from kerneltune.cells.recurrence import (
    EXACT,
    Array,
    GradientOptions,
    Gradients,
    elman_forward,
    recurrent_products,
)


def forward(wx: Array, r: Array, bias: Array, initial: Array, forward_clip: float = 0.0) -> Array:
    """All states; `elman_forward` in `kerneltune.cells.recurrence` describes arguments and result."""
    return elman_forward(wx, r, bias, initial, forward_clip, np.tanh)


def saved(wx: Array, r: Array, bias: Array, states: Array) -> tuple[Array, Array]:
    """What the backward kernel reads, from the states that `forward` gave.

    Returns:
        The slope of tanh, `[T, B, H, D, 1]`, and nothing, `[T + 1, B, H, D, 0]`.
    """
    total = wx + recurrent_products(r, bias, states[0, :-1])
    return 1.0 - np.tanh(total) ** 2, np.empty((*states.shape[1:], 0))


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
    slope, _ = saved(wx, r, bias, states)
    gradient = np.empty_like(wx)
    by_hidden = last_gradient[0]
    for step in reversed(range(len(wx))):
        by_hidden = options.before_clip(by_hidden + output_gradient[step], states[0, step + 1])
        gradient[step] = by_hidden[..., None] * slope[step]
        gradient[step] = options.clipped(gradient[step])
        by_hidden = options.pulled_back(r, gradient[step])
    return Gradients(gradient, gradient, by_hidden[None])
