"""The recurrence by lax.scan, and the cells' equations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import jax
import jax.numpy as jnp
from jax import lax

from kerneltune.errors import InputError, nearest
from kerneltune.jax.equation_steps import update_of

Arrays: TypeAlias = tuple[jax.Array, jax.Array]
Gates: TypeAlias = jax.Array  # [B, H, D, G]


def scanned(
    cell: str, product: jax.Array, recurrent: jax.Array, bias: jax.Array, initial: jax.Array
) -> Arrays:
    """The recurrence by lax.scan, on any device and in any floating-point type.

    Sums are in float32 at least, and h is rounded after each step, as in the kernels. The weights of single
    units stand behind the biases.
    """
    wide = jnp.promote_types(product.dtype, jnp.float32)
    gates, update = recurrent.shape[1], CELLS.get(cell)
    if update is None:
        derived = update_of(cell)
        if derived is None:
            raise InputError(f"unknown cell '{cell}': {nearest(cell, list(CELLS))}")
        units = bias[:, gates:].astype(wide) if bias.shape[1] > gates else None
        update = partial(derived, weights=units)

    def step(states: jax.Array, x: jax.Array) -> Arrays:
        h = states[0]
        r = jnp.einsum("hgdk,bhk->bhdg", recurrent, h, preferred_element_type=wide).astype(wide)
        r = r + bias[:, :gates].transpose(0, 2, 1).astype(wide)
        after = jnp.stack(update(x.astype(wide), r, states.astype(wide)))
        rounded = after.astype(product.dtype)
        return jnp.concatenate([rounded[:1].astype(wide), after[1:]]), rounded[0]

    last, output = lax.scan(step, initial.astype(wide), product)
    return output, last.astype(product.dtype)


def _lstm(x: Gates, r: Gates, states: jax.Array) -> tuple[jax.Array, ...]:
    i, f, z, o = jnp.moveaxis(x + r, -1, 0)
    c = jax.nn.sigmoid(f) * states[1] + jax.nn.sigmoid(i) * jnp.tanh(z)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def _gru(x: Gates, r: Gates, states: jax.Array) -> tuple[jax.Array, ...]:
    reset, update = jax.nn.sigmoid((x + r)[..., 0]), jax.nn.sigmoid((x + r)[..., 1])
    candidate = jnp.tanh(x[..., 2] + reset * r[..., 2])
    return ((1 - update) * candidate + update * states[0],)


def _slstm(x: Gates, r: Gates, states: jax.Array) -> tuple[jax.Array, ...]:
    i, f, z, o = jnp.moveaxis(x + r, -1, 0)
    _, c, n, m = states
    kept = m + jax.nn.log_sigmoid(f)
    after = jnp.maximum(kept, i)
    grow, keep = jnp.exp(i - after), jnp.exp(kept - after)
    c, n = keep * c + grow * jnp.tanh(z), keep * n + grow
    return jax.nn.sigmoid(o) * c / n, c, n, after


def _elman(activation: Callable[[jax.Array], jax.Array]) -> Callable[..., tuple[jax.Array, ...]]:
    def update(x: Gates, r: Gates, states: jax.Array) -> tuple[jax.Array, ...]:
        return (activation((x + r)[..., 0]),)

    return update


CELLS: dict[str, Callable[..., tuple[jax.Array, ...]]] = {
    "lstm": _lstm,
    "gru": _gru,
    "slstm": _slstm,
    "elman": _elman(jnp.tanh),
    "elman_relu": _elman(jax.nn.relu),
}
