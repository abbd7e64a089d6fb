"""Cells of equations in JAX's own operations."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from kerneltune.cells.derivation import Derivation
from kerneltune.cells.graph import Node
from kerneltune.cells.numbers import computed
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
        known = {node: _leaf(node, x, product, states, weights) for node in leaves}
        values = computed(after, known, OPERATIONS)
        return tuple(jnp.broadcast_to(values[node], states.shape[1:]) for node in after)

    return update


def _leaf(node: Node, x: Any, product: Any, states: jax.Array, weights: Any) -> Any:
    number = int(node.value)
    if node.op == "total":
        return x[..., number] + product[..., number]
    if node.op == "weight":
        return weights[:, number]
    if node.op == "constant":
        return jnp.asarray(node.value, states.dtype)
    return states[number] if node.op == "before" else (x if node.op == "input" else product)[..., number]


def _surrogate(value: Any, argument: Any, slope: Any) -> Any:
    return lax.stop_gradient(value) + slope * (argument - lax.stop_gradient(argument))


OPERATIONS: dict[str, Callable[..., Any]] = {
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
    "not_above_zero": lambda x: x <= 0,
    "tanh_slope": lambda y: 1 - y * y,
    "sigmoid_slope": lambda y: y * (1 - y),
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
