"""The linear recurrence in complex numbers, in float64; real and imaginary parts alternate."""

from __future__ import annotations

import numpy as np

from kerneltune.running.scan_reference import Array


def coefficients(a: Array, b: Array) -> tuple[Array, Array]:
    """H' = a h + b: both as they are."""
    return a, b


def applied(a: Array, h: Array) -> Array:
    """The product a h."""
    return _parts(_complex(a) * _complex(h))


def carried(a: Array, gradient: Array) -> Array:
    """The gradient by h, from that by a h."""
    return _parts(_complex(a).conj() * _complex(gradient))


def gradients(a: Array, b: Array, before: Array, gradient: Array) -> tuple[Array, ...]:
    """By a and b, from the gradient by h' and the h before."""
    return _parts(_complex(gradient) * _complex(before).conj()), gradient


def _complex(pairs: Array) -> np.ndarray:
    return pairs[..., ::2] + 1j * pairs[..., 1::2]


def _parts(numbers: np.ndarray) -> Array:
    return np.stack([numbers.real, numbers.imag], axis=-1).reshape(*numbers.shape[:-1], -1)
