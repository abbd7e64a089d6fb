"""Common parts of the cells' float64 references: types, products with R."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


class Gradients(NamedTuple):
    """The result of a cell's ``backward``, float64.

    Attributes:
        input: Gradient by W x, `[T, B, H, D, G]`.
        recurrent: Gradient by R h + bias, of the same shape; often the same.
        initial: Gradient by the states before the first step, `[S, B, H, D]`.
    """

    input: Array
    recurrent: Array
    initial: Array


@dataclass(frozen=True)
class GradientOptions:
    """Deviations of a backward pass from the exact derivative.

    Attributes:
        gate_gradient_clip: Bound of each gate's gradient, by W x and by R h + bias; 0 for none.
        cut_recurrent_gradient: No gradient passes through R h to the step before; through the cell's other
            states it does.
        forward_clip: The bound of h in the forward pass; 0 for none. No gradient passes through h where h
            reached it.
    """

    gate_gradient_clip: float = 0.0
    cut_recurrent_gradient: bool = False
    forward_clip: float = 0.0

    def clipped(self, gradient: Array) -> Array:
        """The gates' gradients of a step, clipped."""
        bound = self.gate_gradient_clip
        return np.clip(gradient, -bound, bound) if bound else gradient

    def before_clip(self, by_hidden: Array, hidden: Array) -> Array:
        """Gradient by h before clipping, from the gradient by h after clipping."""
        bound = self.forward_clip
        return np.where(np.abs(hidden) >= bound, 0.0, by_hidden) if bound else by_hidden

    def pulled_back(self, r: Array, gradient: Array) -> Array:
        """Gradient by h through R h; zeros if it is cut."""
        return np.zeros(gradient.shape[:-1]) if self.cut_recurrent_gradient else pulled_back(r, gradient)


EXACT = GradientOptions()


class Backward(Protocol):
    """A cell's ``backward``."""

    def __call__(
        self,
        wx: Array,
        r: Array,
        bias: Array,
        states: Array,
        output_gradient: Array,
        last_gradient: Array,
        options: GradientOptions = EXACT,
    ) -> Gradients:
        """Gradients by all inputs.

        Args:
            wx: As for the cell's ``forward``.
            r: As for ``forward``.
            bias: As for ``forward``.
            states: The result of ``forward``.
            output_gradient: Gradient by h after each step, `[T, B, H, D]`.
            last_gradient: Gradient by the states after the last step, `[S, B, H, D]`; added to that by h.
            options: Clipping and cutting.
        """
        ...


def sigmoid(x: Array) -> Array:
    """The logistic function, computed by tanh so that large arguments do not overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def bounded(hidden: Array, forward_clip: float) -> Array:
    """The h of a step, bounded by ``forward_clip``; 0 for no bound."""
    return np.clip(hidden, -forward_clip, forward_clip) if forward_clip else hidden


def recurrent_products(r: Array, bias: Array, hidden: Array) -> Array:
    """R h + bias of every step.

    Args:
        r: `[H, G, D, D]`; row = output unit.
        bias: `[H, G, D]`.
        hidden: h before each step, `[T, B, H, D]`.

    Returns:
        `[T, B, H, D, G]`.
    """
    steps, batch, heads, dim = hidden.shape
    stacked = r.reshape(heads, -1, dim).transpose(0, 2, 1)  # [H, D, G * D]
    flat = hidden.transpose(2, 0, 1, 3).reshape(heads, steps * batch, dim)
    products = (flat @ stacked).reshape(heads, steps, batch, -1, dim) + bias[:, None, None]
    return products.transpose(1, 2, 0, 4, 3)


def pulled_back(r: Array, gradient: Array) -> Array:
    """Gradient by h of one step: R^T times the gradient by R h, `[B, H, D, G]` -> `[B, H, D]`."""
    batch, heads, dim, _ = gradient.shape
    by_head = gradient.transpose(1, 0, 3, 2).reshape(heads, batch, -1)
    return (by_head @ r.reshape(heads, -1, dim)).transpose(1, 0, 2)


def parameter_gradients(recurrent: Array, hidden: Array) -> tuple[Array, Array]:
    """Gradients by R and bias: one matrix product over time and batch, and a sum.

    Args:
        recurrent: Gradient by R h + bias, `[T, B, H, D, G]`.
        hidden: h before each step, `[T, B, H, D]`.

    Returns:
        `[H, G, D, D]` and `[H, G, D]`.
    """
    _, _, heads, dim, gates = recurrent.shape
    left = recurrent.transpose(2, 4, 3, 0, 1).reshape(heads, gates * dim, -1)
    right = hidden.transpose(2, 0, 1, 3).reshape(heads, -1, dim)
    return (left @ right).reshape(heads, gates, dim, dim), left.sum(axis=2).reshape(heads, gates, dim)
