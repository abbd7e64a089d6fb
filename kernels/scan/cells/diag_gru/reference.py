"""The diagonal GRU in float64."""

from __future__ import annotations

from kerneltune.running.diagonal_functions import Numbers, sigmoid, tanh


def step(x: Numbers, u: Numbers, state: Numbers) -> Numbers:
    """Z, r = sigmoid(x + u h), n = tanh(x + u r h), h' = (1 - z) h + z n."""
    h = state[0]
    z, r = sigmoid(x[0] + u[0] * h), sigmoid(x[1] + u[1] * h)
    n = tanh(x[2] + u[2] * r * h)
    return ((1.0 - z) * h + z * n,)


def backward(x: Numbers, u: Numbers, before: Numbers, gradient: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """By the state before, the inputs and the weights, from the gradient by the state after."""
    h, g = before[0], gradient[0]
    z, r = sigmoid(x[0] + u[0] * h), sigmoid(x[1] + u[1] * h)
    n = tanh(x[2] + u[2] * r * h)
    by_n = g * z * (1.0 - n * n)
    by_r = by_n * u[2] * h * r * (1.0 - r)
    by_z = g * (n - h) * z * (1.0 - z)
    by_h = (1.0 - z) * g + u[0] * by_z + u[1] * by_r + u[2] * r * by_n
    return (by_h,), (by_z, by_r, by_n), (by_z * h, by_r * h, by_n * r * h)
