"""The sLSTM in float64: exponential gating with normaliser n and stabiliser m (Beck et al. 2024, "xLSTM")."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def sigmoid(x: Array) -> Array:
    """Logistic function, written with tanh so that large arguments do not overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def forward(wx: Array, r: Array, bias: Array, initial: Array) -> Array:
    """Run an sLSTM whose heads recur apart from one another.

    Args:
        wx: input products W x, `[T, B, H, D, G]`, gates in the order i, f, z, o.
        r: recurrent matrices, `[H, G, D, D]`; row = output unit.
        bias: `[H, G, D]`.
        initial: h, c, n and m before the first step, `[4, B, H, D]`; n > 0, or n = c = 0.

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
        hidden = sigmoid(o) * cell / normaliser
        for state, value in enumerate((hidden, cell, normaliser, stabiliser)):
            states[state, step + 1] = value.transpose(1, 0, 2)
    return states
