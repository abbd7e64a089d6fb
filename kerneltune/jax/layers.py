"""Layers of flax: an input projection and a recurrence over the first axis."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from flax import linen

from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.equation_cell import EquationCell, named
from kerneltune.jax.recurrence import recurrence


class RecurrentLayer(linen.Module):  # type: ignore[misc] # flax has no types here
    """A recurrent layer with its input projection; learnable options of its cell are parameters, too.

    Attributes:
        features: Units of all heads together.
        heads: Heads, which recur apart from one another.
        cell: Name of the cell, the file of its equations, or a `kerneltune.Cell`.
        dtype: Of the computation; by default that of x.
        kernels: Whether kernels run; see `recurrence`.
    """

    features: int
    heads: int = 1
    cell: str | EquationCell = "lstm"
    dtype: object = None
    kernels: bool | None = None

    @linen.compact  # type: ignore[untyped-decorator]
    def __call__(self, x: jax.Array, initial: jax.Array | None = None) -> tuple[jax.Array, jax.Array]:
        """Run the layer.

        Args:
            x: `[T, B, input features]`.
            initial: The states before the first step, `[S, B, H, D]`; by default zeros, and ones for states
                that must be positive.

        Returns:
            The states after the last step, `[S, B, H, D]`, and h after each step, `[T, B, features]`,
            with the carry first, as flax's own cells have it.
        """
        if x.ndim != 3 or self.features % self.heads:
            raise InputError(
                f"x is [T, B, input features], not {x.shape}; "
                f"{self.heads} heads must divide {self.features} features"
            )
        spec = discover().cell(named(self.cell)).spec
        dtype = self.dtype or x.dtype
        learnt = spec.learnable  # the last gates: their input is a number, and R h is not read
        dim, gates = self.features // self.heads, len(spec.gates) - len(learnt)
        uniform = linen.initializers.uniform(2 * dim**-0.5)

        def centred(key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
            values: jax.Array = uniform(key, shape, jnp.float32) - dim**-0.5
            return values

        weight = self.param("weight", centred, (x.shape[-1], self.heads, dim, gates))
        input_bias = self.param("input_bias", centred, (self.heads, dim, gates))
        recurrent = self.param("recurrent", centred, (self.heads, gates, dim, dim))
        bias = self.param("bias", centred, (self.heads, gates, dim))
        units = None
        if spec.weights:
            units = self.param("unit_weights", centred, (self.heads, len(spec.weights), dim)).astype(dtype)
        product = jnp.einsum("tbi,ihdg->tbhdg", x.astype(dtype), weight.astype(dtype))
        product = product + input_bias.astype(dtype)
        if learnt:
            start = linen.initializers.constant
            numbers = [self.param(f"option_{name}", start(value), ()) for name, value in learnt]
            rows = jnp.broadcast_to(jnp.stack(numbers).astype(dtype), (*product.shape[:-1], len(learnt)))
            product = jnp.concatenate([product, rows], -1)
            recurrent, bias = (
                jnp.pad(one, [(0, 0), (0, len(learnt)), *[(0, 0)] * (one.ndim - 2)])
                for one in (recurrent, bias)
            )
        if initial is None:
            rows = [float(name in spec.positive) for name in spec.states]
            shape = (len(rows), x.shape[1], self.heads, dim)
            initial = jnp.broadcast_to(jnp.array(rows, dtype)[:, None, None, None], shape)
        output, last = recurrence(
            self.cell,
            *(product, recurrent.astype(dtype), bias.astype(dtype), initial.astype(dtype)),
            weights=units,
            kernels=self.kernels,
        )
        return last, output.reshape(*output.shape[:2], self.features)


class LSTM(RecurrentLayer):
    """Long short-term memory."""

    cell: str = "lstm"


class GRU(RecurrentLayer):
    """Gated recurrent units, with the reset gate applied to R h + bias."""

    cell: str = "gru"


class sLSTM(RecurrentLayer):  # noqa: N801 # the field's spelling
    """The sLSTM of xLSTM: exponential gates with a normaliser and a stabiliser."""

    cell: str = "slstm"
