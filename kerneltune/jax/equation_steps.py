"""Cells of equations in JAX's own operations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from kerneltune.cells.derivation import Derivation
from kerneltune.cells.numbers import OPERATORS, Gates, Operations, computed, leaf_value
from kerneltune.cells.scan_reference import DerivedScanReference
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.equation_cell import EquationCell


@cache
def update_of(cell: str) -> Callable[..., tuple[jax.Array, ...]] | None:
    """A step of a cell of equations; None for any other cell.

    Its arguments are W x and R h + b, each `[B, H, D, G]`, the states before the step, `[S, B, H, D]`, and
    the weights of the units, `[H, P, D]` or None.
    """
    found = discover().cell(cell)
    if not isinstance(found, EquationCell):
        return None
    after = found.derivation.equations.after
    nodes = found.derivation.equations.graph.nodes
    leaves = [node for node in nodes if not node.args and node.op != "seed"]

    def update(x: Any, product: Any, states: jax.Array, weights: Any = None) -> tuple[jax.Array, ...]:
        constant = partial(jnp.asarray, dtype=states.dtype)
        gates = Gates(*(jnp.moveaxis(part, -1, 0) for part in (x, product, x + product)))
        known = {node: leaf_value(node, gates, states, weights, constant) for node in leaves}
        values = computed(after, known, OPERATIONS)
        return tuple(jnp.broadcast_to(values[node], states.shape[1:]) for node in after)

    return update


def _surrogate(value: object, argument: object, slope: object) -> object:
    return lax.stop_gradient(value) + slope * (argument - lax.stop_gradient(argument))


OPERATIONS: Operations = {
    **OPERATORS,
    "add": jnp.add,
    "sub": jnp.subtract,
    "mul": jnp.multiply,
    "div": jnp.divide,
    "neg": jnp.negative,
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "exp": jnp.exp,
    "log": jnp.log,
    "sqrt": jnp.sqrt,
    "softplus": jax.nn.softplus,
    "erf": jax.lax.erf,
    "abs": jnp.abs,
    "sign": jnp.sign,
    "relu": jax.nn.relu,
    # As the kernels have it: of equal ones the first has the gradient, and a NaN is kept.
    "max": lambda a, b: jnp.where((a >= b) | (a != a), a, b),
    "min": lambda a, b: jnp.where((a <= b) | (a != a), a, b),
    "at_least": jnp.greater_equal,
    "greater": jnp.greater,
    "select": jnp.where,
    "surrogate": _surrogate,
}
"""The meaning of each operation."""


def scan_functions(derivation: Derivation) -> DerivedScanReference:
    """The functions of a cell without R, for JAX's arrays."""
    return DerivedScanReference(
        derivation,
        OPERATIONS,
        spread=lambda value, like: jnp.broadcast_to(value, like.shape),
        constant=lambda value, like: jnp.asarray(value, like.dtype),
    )
