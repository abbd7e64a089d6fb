"""Scans and diagonal cells in JAX's own operations: on any device, in any floating-point type."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax

from kerneltune.cells.array_reference import ArrayReference
from kerneltune.cells.derivation import Derivation
from kerneltune.cells.scan_reference import DerivedScanReference
from kerneltune.errors import InputError
from kerneltune.inputs.equation_cell import EquationCell
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.jax.equation_steps import scan_functions
from kerneltune.running.scan_arrays import state_width

SHUT_GATE = -1e30  # what minus infinity counts as: of two shut gates the difference is known
Arrays: TypeAlias = tuple[jax.Array, jax.Array]


class Marks(NamedTuple):
    """Marks of steps and rows.

    Attributes:
        lengths: Steps of each row that count, `[B]`.
        resets: `[B, T]`: true where the states before the step are dropped.
    """

    lengths: jax.Array | None = None
    resets: jax.Array | None = None


def linear(
    cell: str, inputs: Sequence[jax.Array], initial: jax.Array, marks: Marks, *, reverse: bool
) -> Arrays:
    """H after each step, `[B, T, D]`, and after the last, of a cell that is linear in it, side by side."""
    dtype, wide = inputs[0].dtype, initial.dtype
    counts = _counts(inputs[0], marks)
    read = [one.astype(wide) if counts is None else jnp.where(counts, one, 0).astype(wide) for one in inputs]
    a, b = _coefficients(cell, read)
    start = _pairs_together(initial) if jnp.iscomplexobj(b) else initial.reshape(b.shape[0], *b.shape[2:])

    def along(of: jax.Array, like: jax.Array) -> jax.Array:
        return of.reshape(*of.shape[:2], *(1,) * (like.ndim - 2))

    if counts is not None:  # a step that does not count leaves the state as it is
        one = jnp.eye(2, dtype=a.dtype) if a.ndim == 5 else jnp.ones((), a.dtype)
        a, b = jnp.where(along(counts, a), a, one), jnp.where(along(counts, b), b, 0)
    drops = jnp.zeros(b.shape[:2], bool) if marks.resets is None else marks.resets != 0
    if counts is not None:
        drops = drops & counts[..., 0]
    first = -1 if reverse else 0
    entering = jnp.where(along(drops, b)[:, first], 0, _applied(a[:, first], start))
    b = b.at[:, first].add(entering)

    def joined(earlier: Any, later: Any) -> Any:
        (a1, b1, d1), (a2, b2, d2) = earlier, later
        carried = jnp.where(along(d2, b2), 0, _applied(a2, b1))  # drops what is no number, too
        return _product(a2, a1), carried + b2, d1 | d2

    _, hidden, _ = lax.associative_scan(joined, (a, b, drops), reverse=reverse, axis=1)
    last = hidden[:, 0 if reverse else -1]
    hidden = _flat(hidden, inputs[-1].shape)
    if counts is not None:
        hidden = jnp.where(counts, hidden, 0)
    return hidden.astype(dtype), _flat(last, initial.shape)


def diagonal(
    cell: str,
    inputs: Sequence[jax.Array],
    weights: jax.Array,
    initial: jax.Array,
    marks: Marks,
    *,
    reverse: bool,
) -> Arrays:
    """H after each step, `[B, T, D]`, and the last states, `[S, B, D]`, step by step."""
    wide, module = initial.dtype, _functions(cell)
    counts = _counts(inputs[0], marks)
    read = [one.astype(wide) if counts is None else jnp.where(counts, one, 0).astype(wide) for one in inputs]
    rows = tuple(weights.astype(wide))
    steps = {"read": tuple(jnp.moveaxis(one, 1, 0) for one in read)}
    if marks.resets is not None:
        steps["drops"] = (jnp.moveaxis(marks.resets != 0, 1, 0)[..., None],)
    if counts is not None:
        steps["counts"] = (jnp.moveaxis(counts, 1, 0),)

    def step(states: jax.Array, at: dict[str, Any]) -> Arrays:
        before = states
        if "drops" in at:
            before = jnp.where(at["drops"][0], 0, states)
        after = jnp.stack(jnp.broadcast_arrays(*module.step(at["read"], rows, tuple(before))))
        output = after[0]
        if "counts" in at:
            after = jnp.where(at["counts"][0], after, states)
            output = jnp.where(at["counts"][0], output, 0)
        return after, output.astype(inputs[0].dtype)

    last, hidden = lax.scan(step, initial, steps, reverse=reverse)
    return jnp.moveaxis(hidden, 0, 1), last


def _counts(first: jax.Array, marks: Marks) -> jax.Array | None:
    """Which steps count, `[B, T, 1]`; None if all do."""
    if marks.lengths is None:
        return None
    found: jax.Array = (jnp.arange(first.shape[1]) < marks.lengths[:, None])[..., None]
    return found


def _coefficients(cell: str, inputs: list[jax.Array]) -> Arrays:
    """A and b of h' = a h + b; complex numbers, and matrices with pairs, each as they are."""
    if cell == "linear":
        return inputs[0], inputs[1]
    if arrays := _of_arrays(cell):
        if arrays.kind != "complex":
            a, b = arrays.matrices(*inputs)
            return a, b
        (real, imaginary), pair = arrays.numbers(*inputs)
        return lax.complex(real, imaginary), lax.complex(*pair)
    if cell not in ("mingru", "minlstm"):  # which have 1 - a to all its digits where a is near 1
        a, b = _functions(cell).coefficients(*inputs)
        return a, b
    logit = -inputs[0]
    if cell == "minlstm":
        forget, admit = (jax.nn.log_sigmoid(jnp.maximum(one, SHUT_GATE)) for one in inputs[:2])
        logit = forget - admit
    n = inputs[-1]
    candidate = jnp.where(n >= 0, n + 0.5, jax.nn.sigmoid(jnp.minimum(n, 0)))
    return jax.nn.sigmoid(logit), jax.nn.sigmoid(-logit) * candidate


def _pairs_together(parts: jax.Array) -> jax.Array:
    """Complex numbers, from their parts side by side."""
    found: jax.Array = lax.complex(parts[..., ::2], parts[..., 1::2])
    return found


def _applied(a: jax.Array, h: jax.Array) -> jax.Array:
    if a.ndim == h.ndim:
        return a * h
    return a[..., 0] * h[..., :1] + a[..., 1] * h[..., 1:]


def _product(later: jax.Array, earlier: jax.Array) -> jax.Array:
    if later.ndim < 5:
        return later * earlier
    return later[..., :, :1] * earlier[..., :1, :] + later[..., :, 1:] * earlier[..., 1:, :]


def _flat(numbers: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    """Numbers of a channel side by side."""
    if jnp.iscomplexobj(numbers):
        numbers = jnp.stack([numbers.real, numbers.imag], -1)
    return numbers.reshape(shape)


@cache
def _functions(cell: str) -> DerivedScanReference:
    """The functions of a cell of equations, for JAX's arrays."""
    return scan_functions(_derivation(cell))


@cache
def _of_arrays(cell: str) -> ArrayReference | None:
    """Those of a cell whose h is several numbers; None for any other."""
    if state_width(discover_scans().cell(cell)) == 1:
        return None
    return ArrayReference(_functions(cell), lambda numbers: jnp.stack(tuple(numbers), -1))


def _derivation(cell: str) -> Derivation:
    found = discover_scans().cell(cell)
    if not isinstance(found, EquationCell):
        raise InputError(f"{cell} is written in CUDA: JAX's own operations need its equations")
    return found.derivation
