"""The diagonal LSTM with coupled gates and peepholes in float64."""

from __future__ import annotations

from kerneltune.running.diagonal_functions import Numbers, sigmoid, tanh


def step(x: Numbers, u: Numbers, state: Numbers) -> Numbers:
    """C' = f c + (1 - f) z, h' = o tanh(c'); f sees c, o sees c'."""
    h, c = state
    f, z = sigmoid(x[0] + u[0] * h + u[3] * c), tanh(x[1] + u[1] * h)
    new = f * c + (1.0 - f) * z
    return sigmoid(x[2] + u[2] * h + u[4] * new) * tanh(new), new


def backward(x: Numbers, u: Numbers, before: Numbers, gradient: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """By the state before, the inputs and the weights, from the gradient by the state after."""
    h, c = before
    f, z = sigmoid(x[0] + u[0] * h + u[3] * c), tanh(x[1] + u[1] * h)
    new = f * c + (1.0 - f) * z
    o, t = sigmoid(x[2] + u[2] * h + u[4] * new), tanh(new)
    by_o = gradient[0] * t * o * (1.0 - o)
    by_new = gradient[1] + gradient[0] * o * (1.0 - t * t) + by_o * u[4]
    by_f = by_new * (c - z) * f * (1.0 - f)
    by_z = by_new * (1.0 - f) * (1.0 - z * z)
    by_h = u[0] * by_f + u[1] * by_z + u[2] * by_o
    return (
        (by_h, f * by_new + u[3] * by_f),
        (by_f, by_z, by_o),
        (by_f * h, by_z * h, by_o * h, by_f * c, by_o * new),
    )
