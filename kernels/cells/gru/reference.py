"""The GRU in float64, with the reset gate applied to R_n h + b_n as PyTorch does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def sigmoid(x: Array) -> Array:
    """Logistic function, written with tanh so that large arguments do not overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def forward(wx: Array, r: Array, bias: Array, initial: Array) -> Array:
    """Run a GRU whose heads recur apart from one another.

    Args:
        wx: input products W x, `[T, B, H, D, G]`, gates in the order r, z, n.
        r: recurrent matrices, `[H, G, D, D]`; row = output unit.
        bias: `[H, G, D]`, added to R h.
        initial: h before the first step, `[1, B, H, D]`.

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
        hidden = (1.0 - update) * candidate + update * hidden
        states[0, step + 1] = hidden.transpose(1, 0, 2)
    return states
