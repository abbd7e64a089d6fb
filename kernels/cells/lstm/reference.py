"""The LSTM in float64: the definition that every kernel is checked against."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def sigmoid(x: Array) -> Array:
    """Logistic function, written with tanh so that large arguments do not overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def forward(wx: Array, r: Array, bias: Array, initial: Array) -> Array:
    """Run an LSTM whose heads recur apart from one another.

    Args:
        wx: input products W x, `[T, B, H, D, G]`, gates in the order i, f, z, o.
        r: recurrent matrices, `[H, G, D, D]`; row = output unit.
        bias: `[H, G, D]`.
        initial: h and c before the first step, `[2, B, H, D]`.

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
        hidden = sigmoid(o) * np.tanh(cell)
        states[0, step + 1] = hidden.transpose(1, 0, 2)
        states[1, step + 1] = cell.transpose(1, 0, 2)
    return states
