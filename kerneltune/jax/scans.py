"""Scans and diagonal cells in JAX: kernels on a GPU, JAX's own operations elsewhere, gradients in both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax

from kerneltune.errors import InputError, nearest
from kerneltune.inputs.descriptions import MARK
from kerneltune.inputs.equation_cell import EquationCell, named
from kerneltune.inputs.scan_descriptions import ScanCell, discover_scans, is_nonlinear
from kerneltune.jax.differentiable import DTYPES, by_kernels
from kerneltune.jax.scan_kernels import ScanPasses
from kerneltune.running.scan_arrays import widths_of

Arrays: TypeAlias = tuple[jax.Array, jax.Array]


def scan(
    cell: str | EquationCell,
    *inputs: jax.Array,
    initial: jax.Array | None = None,
    lengths: jax.Array | None = None,
    resets: jax.Array | None = None,
    reverse: bool = False,
    kernels: bool | None = None,
) -> Arrays:
    """A cell that is linear in its state over all steps; gradients flow to its inputs and to `initial`.

    Args:
        cell: `linear`, `mingru` or `minlstm`; or the file of the equations of a cell that is linear in its
            state, or a `kerneltune.Cell`. `complex` and `matrix2` are there by `linear_recurrence`.
        inputs: Those of the cell, `[B, T, D]` each, of one dtype.
        initial: h before the first step, `[B, D]`; zeros if not given.
        lengths: Steps of each row that count, `[B]`; h is 0 at the others, which leave the state as it is.
        resets: `[B, T]`: true where h before the step is dropped.
        reverse: Whether the scan begins at the last step that counts.
        kernels: Whether kernels run; by default where JAX's default backend is a GPU and the dtype is one
            that they know.

    Returns:
        h after each step, `[B, T, D]`, and after the last, `[B, D]` in float32, or in float64 where the
        inputs are. Raises `InputError` for arrays that do not fit each other.
    """
    passes = _passes(cell, lengths, resets, reverse, nonlinear=False)
    _check(passes, inputs)
    batch, _, numbers = inputs[-1].shape
    return _run(passes, inputs, {"initial": (initial, (batch, numbers))}, (lengths, resets), kernels)


def diagonal(
    cell: str | EquationCell,
    *inputs: jax.Array,
    weights: jax.Array | None = None,
    initial: jax.Array | None = None,
    lengths: jax.Array | None = None,
    resets: jax.Array | None = None,
    reverse: bool = False,
    kernels: bool | None = None,
) -> Arrays:
    """A diagonal cell over all steps; gradients flow to its inputs, to its weights and to `initial`.

    Args:
        cell: `diag_gru`, `diag_lstm` or `diag_slstm`; the file of the equations of a cell without R, or a
            `kerneltune.Cell`.
        inputs: As for `scan`.
        weights: The weights of each channel, `[W, D]`, in the cell's order; for a cell without, none.
        initial: The states before the first step, `[S, B, D]`; by default zeros, and ones for states that
            must be positive.
        lengths: As for `scan`.
        resets: As for `scan`.
        reverse: As for `scan`.
        kernels: As for `scan`.

    Returns:
        h after each step, `[B, T, D]`, and the states after the last, `[S, B, D]`, as for `scan`.
    """
    passes = _passes(cell, lengths, resets, reverse, nonlinear=True)
    _check(passes, inputs)
    batch, _, channels = inputs[0].shape
    spec = passes.about.spec
    if initial is None and spec.positive:
        rows = jnp.array([float(name in spec.positive) for name in spec.states])
        initial = jnp.broadcast_to(rows[:, None, None], (len(rows), batch, channels))
    others = {
        "weights": (weights, (passes.about.constants()["weights"], channels)),
        "initial": (initial, (len(passes.about.spec.states), batch, channels)),
    }
    return _run(passes, inputs, others, (lengths, resets), kernels)


def linear_recurrence(a: jax.Array, b: jax.Array, **options: Any) -> Arrays:
    """H' = a h + b, by a number, a complex number or a matrix for each channel.

    Args:
        a: `[B, T, D]`, real or complex; or matrices `[B, T, D, 2, 2]`, with `b` `[B, T, D, 2]`.
        b: `[B, T, D]`.
        options: As for `scan`; states are complex where `a` is, and `[B, D, 2]` with matrices.

    Returns:
        h after each step, as `b`, and after the last.
    """
    if jnp.iscomplexobj(a) != jnp.iscomplexobj(b):
        raise InputError(f"a is {a.dtype}, but b is {b.dtype}: both are complex or none is")
    if jnp.iscomplexobj(a):
        return _of_pairs("complex", _apart, _together, (a, b), options)
    if a.ndim == 5:
        if a.shape[3:] != (2, 2) or b.shape != a.shape[:4]:
            raise InputError(f"a is [B, T, D, 2, 2] and b [B, T, D, 2], not {a.shape} and {b.shape}")
        return _of_pairs("matrix2", jnp.asarray, jnp.asarray, (a, b), options)
    return scan("linear", a, b, **options)


def _apart(numbers: jax.Array) -> jax.Array:
    return jnp.stack([numbers.real, numbers.imag], -1)


def _together(pairs: jax.Array) -> jax.Array:
    return lax.complex(pairs[..., 0], pairs[..., 1])


def _of_pairs(
    cell: str,
    apart: Callable[[jax.Array], jax.Array],
    together: Callable[[jax.Array], jax.Array],
    inputs: Arrays,
    options: dict[str, Any],
) -> Arrays:
    """The numbers of a channel side by side along the last axis, and back."""
    initial = options.get("initial")
    if initial is not None:
        options = {**options, "initial": apart(initial).reshape(initial.shape[0], -1)}
    read = (apart(one).reshape(*one.shape[:2], -1) for one in inputs)
    h, last = scan(cell, *read, **options)
    return together(h.reshape(*h.shape[:2], -1, 2)), together(last.reshape(len(last), -1, 2))


def _passes(
    cell: str | EquationCell, lengths: Any, resets: Any, reverse: bool, *, nonlinear: bool
) -> ScanPasses:
    cell = named(cell)
    cells = {name: one for name, one in discover_scans().cells.items() if is_nonlinear(one) == nonlinear}
    if MARK in cell:
        found = discover_scans().cell(cell)
        if not isinstance(found, ScanCell):
            raise InputError(f"{found.spec.name} has R h: it is for kerneltune.jax.recurrence")
        if found.nonlinear != nonlinear:
            other = "scan" if nonlinear else "diagonal"
            raise InputError(f"{found.spec.name} is for kerneltune.jax.{other}, not for this function")
    elif cell not in cells:
        raise InputError(
            f"unknown {'diagonal cell' if nonlinear else 'scan'} '{cell}': {nearest(cell, cells)}"
        )
    given = zip(("lengths", "resets"), (lengths, resets), strict=True)
    return ScanPasses(cell, reverse, tuple(name for name, one in given if one is not None))


def _check(passes: ScanPasses, inputs: Sequence[jax.Array]) -> None:
    """Raise `InputError` for inputs that do not fit each other or the cell."""
    gates, widths = passes.about.spec.gates, widths_of(passes.about)
    if len(inputs) != len(gates):
        raise InputError(f"the cell reads {', '.join(gates)}: {len(inputs)} arrays were given")
    first = inputs[0]
    if first.ndim != 3 or 0 in first.shape or not jnp.issubdtype(first.dtype, jnp.floating):
        raise InputError(
            f"{gates[0]} is [B, T, D], floats and none of them 0, not {first.shape} {first.dtype}"
        )
    batch, steps, numbers = first.shape
    for name, one, width in zip(gates, inputs, widths, strict=True):
        shape = batch, steps, numbers // widths[0] * width
        if one.shape != shape or one.dtype != first.dtype:
            raise InputError(
                f"{name} is {one.shape} in {one.dtype}, but {gates[0]} asks for {shape} in {first.dtype}"
            )


def _run(
    passes: ScanPasses,
    inputs: Sequence[jax.Array],
    others: dict[str, tuple[jax.Array | None, tuple[int, ...]]],
    marks: tuple[jax.Array | None, jax.Array | None],
    kernels: bool | None,
) -> Arrays:
    first = inputs[0]
    known = str(first.dtype) in DTYPES
    if kernels is None:
        kernels = known and jax.default_backend() == "gpu"
    if kernels and not known:
        raise InputError(f"kernels do not support {first.dtype}, but {', '.join(DTYPES)}")
    wide, arrays = jnp.promote_types(first.dtype, jnp.float32), list(inputs)
    for name, (one, shape) in others.items():
        if one is not None and one.shape != shape:
            raise InputError(f"{name} is {shape} here, not {one.shape}")
        arrays.append(jnp.zeros(shape, wide) if one is None else one.astype(wide))
    batch, steps, _ = first.shape
    shapes, dtypes = ((batch,), (batch, steps)), (jnp.int32, jnp.uint8)
    for name, one, shape, dtype in zip(("lengths", "resets"), marks, shapes, dtypes, strict=True):
        if one is None:
            continue
        if one.shape != shape:
            raise InputError(f"{name} is {shape} here, not {one.shape}")
        arrays.append((one != 0 if name == "resets" else one).astype(dtype))
    found: Arrays = by_kernels(passes, *arrays) if kernels else passes.native(*arrays)
    return found
