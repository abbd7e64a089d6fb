"""The Elman network with relu in float64."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def forward(wx: Array, r: Array, bias: Array, initial: Array) -> Array:
    """Run an Elman network whose heads recur apart from one another.

    Args:
        wx: input products W x, `[T, B, H, D, 1]`.
        r: recurrent matrices, `[H, 1, D, D]`; row = output unit.
        bias: `[H, 1, D]`.
        initial: h before the first step, `[1, B, H, D]`.

    Returns:
        All states, `[1, T + 1, B, H, D]`; index 0 of time holds `initial`.
    """
    states = np.empty((1, wx.shape[0] + 1, *wx.shape[1:4]))
    states[:, 0] = initial
    weights = r[:, 0].transpose(0, 2, 1)  # [H, D, D]
    hidden = np.ascontiguousarray(initial[0].transpose(1, 0, 2))  # [H, B, D]: one matrix product a head
    for step in range(wx.shape[0]):
        total = hidden @ weights + wx[step, ..., 0].transpose(1, 0, 2) + bias
        hidden = np.maximum(total, 0.0)
        states[0, step + 1] = hidden.transpose(1, 0, 2)
    return states
