"""The recurrence by kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import jax
import jax.numpy as jnp

from kerneltune.inputs.descriptions import CellSpec, discover
from kerneltune.inputs.problem import Problem
from kerneltune.jax.cells import scanned
from kerneltune.jax.differentiable import DTYPES, Arrays, Places, launched, mapped

# R and its bias have no batch: where they are mapped, all are by their heads.
PLACES: Places = {
    **dict.fromkeys(("product", "initial", "output", "last", "values", "floats", "gradient"), (1, 2)),
    "states": (2, 3),
    "recurrent": (None, 0),
    "bias": (None, 0),
}


@dataclass(frozen=True)
class RecurrentPasses:
    """Those of a recurrent cell."""

    cell: str
    arrays: ClassVar[tuple[str, ...]] = ("product", "recurrent", "bias", "initial")
    marks: ClassVar[tuple[str, ...]] = ()
    results: ClassVar[tuple[str, str]] = ("output", "last")
    places: ClassVar[Places] = PLACES

    @property
    def kept(self) -> tuple[str, ...]:
        """The states, and what the training kernel saves besides."""
        return ("states", *_saved(self.cell))

    def native(self, *arrays: jax.Array) -> Arrays:
        """By lax.scan."""
        return scanned(self.cell, *arrays)

    def forward(self, *arrays: jax.Array) -> Arrays:
        """By the forward kernel."""
        (states,) = _forward(self.cell, "forward")(*arrays)
        return states[0, 1:], states[:, -1]

    def training(self, *arrays: jax.Array) -> Arrays:
        """By the training kernel."""
        states, *saved = _forward(self.cell, "training")(*arrays)
        return states[0, 1:], states[:, -1], states, *saved

    def backward(self, *arrays: jax.Array) -> Arrays:
        """By the backward kernel, and two products for R and its bias."""
        _, recurrent, bias, _, states, *others = arrays
        by_input, *rest = _backward(self.cell)(recurrent, bias, states, *others)
        by_initial, by_recurrent = rest[-1], rest[0] if len(rest) > 1 else by_input
        wide, dtype = jnp.float32, states.dtype
        by_r = jnp.einsum("tbhdg,tbhk->hgdk", by_recurrent, states[0, :-1], preferred_element_type=wide)
        by_bias = by_recurrent.astype(wide).sum((0, 1)).transpose(0, 2, 1)
        sums = discover().cell(self.cell).spec.weight_sums
        if sums:
            saved = dict(zip(_saved(self.cell), others, strict=False)).get("floats")
            by_bias = jnp.concatenate([by_bias, _by_units(sums, by_recurrent, states[0], saved)], axis=1)
        return by_input, by_r.astype(dtype), by_bias.astype(dtype), by_initial


def _by_units(
    sums: Sequence[tuple[int, int, bool]],
    by_recurrent: jax.Array,
    hidden: jax.Array,
    saved: jax.Array | None,
) -> jax.Array:
    """The gradients by weights of single units, `[H, P, D]`: sums of a gate's gradients times a state."""
    found = []
    for gate, state, is_after in sums:
        kept = hidden if saved is None or not state else saved[..., state - 1]
        times = (kept[1:] if is_after else kept[:-1]).astype(jnp.float32)
        found.append((by_recurrent[..., gate].astype(jnp.float32) * times).sum((0, 1)))
    return jnp.stack(found, axis=1)


def _given(spec: CellSpec, recurrent: jax.Array, bias: jax.Array, *, biased: bool) -> dict[str, jax.Array]:
    """R, and what stands in the bias as kernels take it."""
    gates = len(spec.gates)
    found = {"recurrent": recurrent, **({"bias": bias[:, :gates]} if biased else {})}
    return {**found, "weights": bias[:, gates:]} if spec.weights else found


def _saved(cell: str) -> tuple[str, ...]:
    """Arrays that the training kernel saves besides the states."""
    spec = discover().cell(cell).spec
    return ("values",) * bool(spec.saved_values) + ("floats",) * bool(spec.saved_states)


@cache
def _forward(cell: str, direction: str) -> Callable[..., Arrays]:
    """All states, `[S, T + 1, B, H, D]`, and what the backward pass reads besides."""
    spec = discover().cell(cell).spec
    saved = _saved(cell) if direction == "training" else ()

    def run(product: jax.Array, recurrent: jax.Array, bias: jax.Array, initial: jax.Array) -> Arrays:
        steps, *rest = product.shape[:4]
        shape = (len(spec.states), steps + 1, *rest)
        wanted = {"states": jax.ShapeDtypeStruct(shape, product.dtype)}
        if "values" in saved:
            wanted["saved_values"] = jax.ShapeDtypeStruct((steps, *rest, spec.saved_values), product.dtype)
        if "floats" in saved:
            wanted["saved_states"] = jax.ShapeDtypeStruct((steps + 1, *rest, spec.saved_states), jnp.float32)
        given = {"input": product, "initial": initial, **_given(spec, recurrent, bias, biased=True)}
        found = launched(_problem(cell, direction, product.shape, product.dtype), given, wanted)
        return tuple(found[name] for name in wanted)

    return mapped(run, ("product", "recurrent", "bias", "initial"), ("states", *saved), PLACES)


@cache
def _backward(cell: str) -> Callable[..., Arrays]:
    """Gradients by W x, by R h + bias where it differs, and by the first states."""
    spec = discover().cell(cell).spec
    saved = _saved(cell)

    def run(recurrent: jax.Array, bias: jax.Array, states: jax.Array, *others: jax.Array) -> Arrays:
        *values, by_output, by_last = others
        names = {"values": "saved_values", "floats": "saved_states"}
        given = {names[name]: one for name, one in zip(saved, values, strict=True)}
        given |= {"states": states, "output_gradient": by_output, "last_gradient": by_last}
        given |= _given(spec, recurrent, bias, biased=False)
        wide = jax.ShapeDtypeStruct((*by_output.shape, len(spec.gates)), states.dtype)
        wanted = {"input_gradient": wide}
        if spec.separate_gradients:
            wanted["recurrent_gradient"] = wide
        wanted["initial_gradient"] = jax.ShapeDtypeStruct(by_last.shape, states.dtype)
        found = launched(_problem(cell, "backward", by_output.shape, states.dtype), given, wanted)
        return tuple(found[name] for name in wanted)

    results = ("gradient",) * (2 if spec.separate_gradients else 1)
    names = ("recurrent", "bias", "states", *saved, "output", "last")
    return mapped(run, names, (*results, "initial"), PLACES)


def _problem(cell: str, direction: str, shape: tuple[int, ...], dtype: object) -> Problem:
    steps, batch, heads, dim = shape[:4]
    return Problem(cell, heads, dim, batch, DTYPES[str(dtype)], steps, direction)
