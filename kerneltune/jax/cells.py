"""The recurrence by lax.scan."""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

import jax
import jax.numpy as jnp
from jax import lax

from kerneltune.errors import InputError
from kerneltune.jax.equation_steps import update_of

Arrays: TypeAlias = tuple[jax.Array, jax.Array]


def scanned(
    cell: str, product: jax.Array, recurrent: jax.Array, bias: jax.Array, initial: jax.Array
) -> Arrays:
    """The recurrence by lax.scan, on any device and in any floating-point type.

    Sums are in float32 at least, and h is rounded after each step, as in the kernels. The weights of single
    units stand behind the biases.
    """
    wide = jnp.promote_types(product.dtype, jnp.float32)
    gates, derived = recurrent.shape[1], update_of(cell)
    if derived is None:
        raise InputError(f"{cell} is written in CUDA: JAX's own operations need its equations")
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
