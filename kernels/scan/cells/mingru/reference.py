"""minGRU in float64."""

from __future__ import annotations

from kerneltune.running.scan_reference import Array, candidate, sigmoid


def coefficients(k: Array, n: Array) -> tuple[Array, Array]:
    """Z = sigmoid(k), h' = (1 - z) h + z g(n)."""
    return sigmoid(-k), sigmoid(k) * candidate(n)[0]


def gradients(k: Array, n: Array, before: Array, gradient: Array) -> tuple[Array, ...]:
    """By k and n, from the gradient by h' and the h before."""
    value, slope = candidate(n)
    z = sigmoid(k)
    return gradient * (value - before) * z * sigmoid(-k), gradient * z * slope
