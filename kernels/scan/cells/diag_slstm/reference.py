"""The diagonal sLSTM in float64, as the mean v = c / n and l = log n."""

from __future__ import annotations

from kerneltune.running.diagonal_functions import Numbers, log_sigmoid, sigmoid, tanh


def step(x: Numbers, u: Numbers, state: Numbers) -> Numbers:
    """With d = i - log sigmoid(f) - l: v' = v + sigmoid(d) (z - v), l' = i - log sigmoid(d), h' = o v'."""
    h, v, log_n = state
    i, f = x[0] + u[0] * h, x[1] + u[1] * h
    d = i - log_sigmoid(f) - log_n
    new = v + sigmoid(d) * (tanh(x[2] + u[2] * h) - v)
    return sigmoid(x[3] + u[3] * h) * new, new, i - log_sigmoid(d)


def backward(x: Numbers, u: Numbers, before: Numbers, gradient: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """By the state before, the inputs and the weights, from the gradient by the state after."""
    h, v, log_n = before
    i, f = x[0] + u[0] * h, x[1] + u[1] * h
    z, o = tanh(x[2] + u[2] * h), sigmoid(x[3] + u[3] * h)
    d = i - log_sigmoid(f) - log_n
    w, rest = sigmoid(d), sigmoid(-d)
    new = v + w * (z - v)
    by_v = gradient[1] + gradient[0] * o
    by_d = by_v * (z - v) * w * rest - gradient[2] * rest
    by_i, by_f = by_d + gradient[2], -by_d * sigmoid(-f)
    by_z, by_o = by_v * w * (1.0 - z * z), gradient[0] * new * o * (1.0 - o)
    by_h = u[0] * by_i + u[1] * by_f + u[2] * by_z + u[3] * by_o
    return (
        (by_h, by_v * rest, -by_d),
        (by_i, by_f, by_z, by_o),
        (by_i * h, by_f * h, by_z * h, by_o * h),
    )
