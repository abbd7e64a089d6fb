"""The stand-in cell in float64."""

import numpy as np


def forward(wx, r, bias, states0, forward_clip=0.0):
    steps, batch, heads, head_dim, _ = wx.shape
    states = np.empty((len(states0), steps + 1, batch, heads, head_dim))
    states[:, 0] = states0
    for state in range(len(states0)):
        states[state, 1:] = wx[..., state]
    return states
