"""The linear recurrence of pairs in float64; the numbers of a channel lie side by side."""

from __future__ import annotations

import numpy as np

from kerneltune.running.scan_reference import Array


def coefficients(a: Array, b: Array) -> tuple[Array, Array]:
    """H' = A h + b: both as they are."""
    return a, b


def applied(a: Array, h: Array) -> Array:
    """The product A h."""
    return np.einsum("...ij,...j->...i", _matrices(a), _pairs(h)).reshape(h.shape)


def carried(a: Array, gradient: Array) -> Array:
    """The gradient by h, from that by A h."""
    return np.einsum("...ji,...j->...i", _matrices(a), _pairs(gradient)).reshape(gradient.shape)


def gradients(a: Array, b: Array, before: Array, gradient: Array) -> tuple[Array, ...]:
    """By A and b, from the gradient by h' and the h before."""
    return np.einsum("...i,...j->...ij", _pairs(gradient), _pairs(before)).reshape(a.shape), gradient


def _pairs(h: Array) -> Array:
    return h.reshape(*h.shape[:-1], -1, 2)


def _matrices(a: Array) -> Array:
    return a.reshape(*a.shape[:-1], -1, 2, 2)
