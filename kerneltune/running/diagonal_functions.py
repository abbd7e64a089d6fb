"""Functions that references of diagonal cells are made of, of float64 numbers or arrays, fit for numba."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Numbers: TypeAlias = tuple[Any, ...]  # one float64 number, or array, for each input, weight or state


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)), for every x."""
    return 0.5 + 0.5 * np.tanh(0.5 * x)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return np.tanh(x)


def log_sigmoid(x: Any) -> Any:
    """log(1 / (1 + exp(-x))), for every x."""
    return np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x)))
