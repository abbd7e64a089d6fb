"""The recurrence in JAX: kernels on a GPU, lax.scan elsewhere, gradients in both."""

from __future__ import annotations

from typing import TypeAlias

import jax
import jax.numpy as jnp

from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import CellSpec, discover
from kerneltune.inputs.equation_cell import EquationCell, named
from kerneltune.jax.cells import scanned
from kerneltune.jax.differentiable import DTYPES, by_kernels
from kerneltune.jax.kernels import RecurrentPasses

Arrays: TypeAlias = tuple[jax.Array, jax.Array]


def recurrence(
    cell: str | EquationCell,
    input_product: jax.Array,
    recurrent: jax.Array,
    bias: jax.Array,
    initial: jax.Array,
    *,
    weights: jax.Array | None = None,
    kernels: bool | None = None,
) -> Arrays:
    """Run a recurrent layer over all steps; gradients flow to all arrays.

    Args:
        cell: Name of the cell, such as "lstm"; the file of its equations, or a `kerneltune.Cell`.
        input_product: W x, `[T, B, H, D, G]`: the gates of a unit side by side.
        recurrent: R, `[H, G, D, D]`; row = output unit.
        bias: `[H, G, D]`, added to R h.
        initial: The states before the first step, `[S, B, H, D]`.
        weights: Of cells with weights of single units, such as peepholes, those: `[H, P, D]`.
        kernels: Whether kernels run; by default where JAX's default backend is a GPU and the dtype is one
            that they know.

    Returns:
        h after each step, `[T, B, H, D]`, and the states after the last, `[S, B, H, D]`. Raises `InputError`
        for arrays that do not fit each other.
    """
    cell = named(cell)
    spec = discover().cell(cell).spec
    if weights is not None:  # operators take both as one array
        bias = jnp.concatenate([bias, weights], axis=1)
    _check(spec, input_product, recurrent, bias, initial)
    known = str(input_product.dtype) in DTYPES
    if kernels is None:
        kernels = known and input_product.shape[3] % 8 == 0 and jax.default_backend() == "gpu"
    if not kernels:
        return scanned(cell, input_product, recurrent, bias, initial)
    if not known:
        raise InputError(f"kernels do not support {input_product.dtype}, but {', '.join(DTYPES)}")
    found: Arrays = by_kernels(RecurrentPasses(cell), input_product, recurrent, bias, initial)
    return found


def _check(
    spec: CellSpec, product: jax.Array, recurrent: jax.Array, bias: jax.Array, initial: jax.Array
) -> None:
    gates, states = len(spec.gates), len(spec.states)
    if product.ndim != 5 or product.shape[-1] != gates or 0 in product.shape:
        raise InputError(
            f"the input product of {spec.name} is [T, B, H, D, {gates}], none of them 0, not {product.shape}"
        )
    _, batch, heads, dim, _ = product.shape
    for name, array, shape in (
        ("recurrent", recurrent, (heads, gates, dim, dim)),
        ("bias", bias, (heads, gates + len(spec.weights), dim)),
        ("initial", initial, (states, batch, heads, dim)),
    ):
        if array.shape != shape or array.dtype != product.dtype:
            given = f"{array.shape} in {array.dtype}"
            raise InputError(f"{name} of {spec.name} is {shape} in {product.dtype} here, not {given}")
