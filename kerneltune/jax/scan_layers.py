"""Layers of flax: a projection and a scan or diagonal cell over the second axis."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen

from kerneltune.errors import InputError
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.jax.scans import diagonal, scan


class _ProjectedCell(linen.Module):  # type: ignore[misc] # flax has no types here
    """A cell with its projection.

    Attributes:
        features: Channels of h.
        cell: Name of the cell.
        dtype: Of the computation; by default that of x.
        kernels: Whether kernels run; see `scan`.
    """

    features: int
    cell: str = ""
    dtype: object = None
    kernels: bool | None = None

    def projected(self, x: jax.Array) -> list[jax.Array]:
        """The cell's inputs, `[B, T, features]` each."""
        if x.ndim != 3:
            raise InputError(f"x is [B, T, input features], not {x.shape}")
        gates = len(discover_scans().cell(self.cell).spec.gates)
        projection = linen.Dense(gates * self.features, dtype=self.dtype or x.dtype, name="projection")
        return list(jnp.split(projection(x), gates, axis=-1))

    @linen.compact  # type: ignore[untyped-decorator]
    def __call__(
        self, x: jax.Array, initial: jax.Array | None = None, **options: Any
    ) -> tuple[jax.Array, jax.Array]:
        """Run the layer.

        Args:
            x: `[B, T, input features]`.
            initial: The states before the first step; zeros if not given.
            options: `lengths`, `resets` and `reverse`, as for `scan`.

        Returns:
            The states after the last step, and h after each, `[B, T, features]`, with the carry first, as
            flax's own cells have it.
        """
        hidden, last = self.computed(self.projected(x), {**options, "initial": initial})
        return last, hidden

    def computed(self, parts: list[jax.Array], options: dict[str, Any]) -> tuple[jax.Array, jax.Array]:
        """H after each step, and the last."""
        return scan(self.cell, *parts, **options, kernels=self.kernels)


class MinGRU(_ProjectedCell):
    """minGRU (Feng et al. 2024): z = sigmoid(k), h' = (1 - z) h + z g(n)."""

    cell: str = "mingru"


class MinLSTM(_ProjectedCell):
    """minLSTM with normalised gates (Feng et al. 2024)."""

    cell: str = "minlstm"


class LinearRecurrence(_ProjectedCell):
    """h' = a h + sqrt(1 - a^2) b with a = sigmoid(decay), both projected from x."""

    cell: str = "linear"

    def computed(self, parts: list[jax.Array], options: dict[str, Any]) -> tuple[jax.Array, jax.Array]:
        """With this factor h has the variance of b, whatever a is."""
        decay, b = parts
        # 1 - a^2 = (1 - a) (1 + a), from sigmoid(-decay), keeps its digits where a is near 1.
        rest = jax.nn.sigmoid(-decay.astype(jnp.promote_types(decay.dtype, jnp.float32)))
        scaled = (b * jnp.sqrt(rest * (2.0 - rest) + 1e-6)).astype(b.dtype)
        return scan(self.cell, jax.nn.sigmoid(decay), scaled, **options, kernels=self.kernels)


class _DiagonalCell(_ProjectedCell):
    def computed(self, parts: list[jax.Array], options: dict[str, Any]) -> tuple[jax.Array, jax.Array]:
        """With recurrent weights `[W, features]` in float32."""
        count = discover_scans().cell(self.cell).constants()["weights"]
        weights = self.param("recurrent", linen.initializers.normal(0.5), (count, self.features))
        return diagonal(self.cell, *parts, weights=weights, **options, kernels=self.kernels)


class DiagonalGRU(_DiagonalCell):
    """The diagonal GRU: z and r of x and u h, n = tanh(x + u r h), h' = (1 - z) h + z n."""

    cell: str = "diag_gru"


class DiagonalLSTM(_DiagonalCell):
    """The diagonal LSTM with coupled input and forget gates and peepholes."""

    cell: str = "diag_lstm"


class DiagonalSLSTM(_DiagonalCell):
    """The diagonal sLSTM (xLSTM), with an exponential input gate."""

    cell: str = "diag_slstm"
