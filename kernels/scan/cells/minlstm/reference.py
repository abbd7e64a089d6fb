"""minLSTM with normalised gates in float64."""

from __future__ import annotations

import numpy as np

from kerneltune.running.scan_reference import Array, candidate, sigmoid

LEAST = -1e30  # what minus infinity counts as


def coefficients(k: Array, j: Array, n: Array) -> tuple[Array, Array]:
    """F' = sigmoid(log sigmoid(k) - log sigmoid(j)), h' = f' h + (1 - f') g(n)."""
    difference = _difference(k, j)
    return sigmoid(difference), sigmoid(-difference) * candidate(n)[0]


def gradients(k: Array, j: Array, n: Array, before: Array, gradient: Array) -> tuple[Array, ...]:
    """By k, j and n, from the gradient by h' and the h before."""
    difference = _difference(k, j)
    value, slope = candidate(n)
    by_difference = gradient * (before - value) * sigmoid(difference) * sigmoid(-difference)
    return by_difference * sigmoid(-k), -by_difference * sigmoid(-j), gradient * sigmoid(-difference) * slope


def _difference(k: Array, j: Array) -> Array:
    k, j = np.maximum(k, LEAST), np.maximum(j, LEAST)  # of two shut gates the difference is known
    return np.logaddexp(0.0, -j) - np.logaddexp(0.0, -k)
