"""The recurrence in JAX: kernels on a GPU, lax.scan elsewhere, gradients in both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax

from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import CellSpec, discover
from kerneltune.inputs.problem import Problem

DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
Arrays: TypeAlias = tuple[jax.Array, jax.Array]
Gates: TypeAlias = jax.Array  # [B, H, D, G]


def recurrence(
    cell: str,
    input_product: jax.Array,
    recurrent: jax.Array,
    bias: jax.Array,
    initial: jax.Array,
    *,
    kernels: bool | None = None,
) -> Arrays:
    """Run a recurrent layer over all steps; gradients flow to all four arrays.

    Args:
        cell: Name of the cell, such as "lstm".
        input_product: W x, `[T, B, H, D, G]`: the gates of a unit side by side.
        recurrent: R, `[H, G, D, D]`; row = output unit.
        bias: `[H, G, D]`, added to R h.
        initial: The states before the first step, `[S, B, H, D]`.
        kernels: Whether kernels run; by default where JAX's default backend is a GPU and the dtype is one
            that they know.

    Returns:
        h after each step, `[T, B, H, D]`, and the states after the last, `[S, B, H, D]`. Raises `InputError`
        for arrays that do not fit each other.
    """
    spec = discover().cell(cell).spec
    _check(spec, input_product, recurrent, bias, initial)
    known = str(input_product.dtype) in DTYPES
    if kernels is None:
        kernels = known and input_product.shape[3] % 8 == 0 and jax.default_backend() == "gpu"
    if not kernels:
        return scanned(cell, input_product, recurrent, bias, initial)
    if not known:
        raise InputError(f"kernels do not know {input_product.dtype}: {', '.join(DTYPES)} they do")
    found: Arrays = _by_kernels(cell, input_product, recurrent, bias, initial)
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
        ("bias", bias, (heads, gates, dim)),
        ("initial", initial, (states, batch, heads, dim)),
    ):
        if array.shape != shape or array.dtype != product.dtype:
            given = f"{array.shape} in {array.dtype}"
            raise InputError(f"{name} of {spec.name} is {shape} in {product.dtype} here, not {given}")


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _by_kernels(
    cell: str, product: jax.Array, recurrent: jax.Array, bias: jax.Array, initial: jax.Array
) -> Arrays:
    states, _ = _forward(cell, "forward", product, recurrent, bias, initial)
    return states[0, 1:], states[:, -1]


def _kept(
    cell: str, product: jax.Array, recurrent: jax.Array, bias: jax.Array, initial: jax.Array
) -> tuple[Arrays, Any]:
    states, saved = _forward(cell, "training", product, recurrent, bias, initial)
    return (states[0, 1:], states[:, -1]), (recurrent, states, saved)


def _differentiated(cell: str, kept: Any, gradients: Arrays) -> tuple[jax.Array, ...]:
    recurrent, states, saved = kept
    spec = discover().cell(cell).spec
    by_output, by_last = gradients
    problem = _problem(cell, "backward", by_output.shape, states.dtype)
    given = {**saved, "states": states, "output_gradient": by_output, "last_gradient": by_last}
    given["recurrent"] = recurrent
    wide = jax.ShapeDtypeStruct((*by_output.shape, len(spec.gates)), states.dtype)
    wanted = {"input_gradient": wide}
    if spec.separate_gradients:
        wanted["recurrent_gradient"] = wide
    wanted["initial_gradient"] = jax.ShapeDtypeStruct(by_last.shape, states.dtype)
    found = _launch(problem, given, wanted)
    by_recurrent = found.get("recurrent_gradient", found["input_gradient"])
    by_r = jnp.einsum("tbhdg,tbhk->hgdk", by_recurrent, states[0, :-1], preferred_element_type=jnp.float32)
    by_bias = by_recurrent.astype(jnp.float32).sum((0, 1)).transpose(0, 2, 1)
    dtype = states.dtype
    return found["input_gradient"], by_r.astype(dtype), by_bias.astype(dtype), found["initial_gradient"]


_by_kernels.defvjp(_kept, _differentiated)


def _problem(cell: str, direction: str, shape: tuple[int, ...], dtype: Any) -> Problem:
    steps, batch, heads, dim = shape[:4]
    return Problem(cell, heads, dim, batch, DTYPES[str(dtype)], steps, direction)


def _forward(
    cell: str,
    direction: str,
    product: jax.Array,
    recurrent: jax.Array,
    bias: jax.Array,
    initial: jax.Array,
) -> tuple[jax.Array, dict[str, jax.Array]]:
    """All states, `[S, T + 1, B, H, D]`, and what the backward pass reads besides."""
    spec = discover().cell(cell).spec
    steps, *rest = product.shape[:4]
    shape = (len(spec.states), steps + 1, *rest)
    wanted = {"states": jax.ShapeDtypeStruct(shape, product.dtype)}
    if direction == "training" and spec.saved_values:
        wanted["saved_values"] = jax.ShapeDtypeStruct((steps, *rest, spec.saved_values), product.dtype)
    if direction == "training" and spec.saved_states:
        wanted["saved_states"] = jax.ShapeDtypeStruct((steps + 1, *rest, spec.saved_states), jnp.float32)
    given = {"input": product, "recurrent": recurrent, "bias": bias, "initial": initial}
    found = _launch(_problem(cell, direction, product.shape, product.dtype), given, wanted)
    return found.pop("states"), found


def _launch(
    problem: Problem, given: dict[str, jax.Array], wanted: dict[str, jax.ShapeDtypeStruct]
) -> dict[str, jax.Array]:
    """A call of the target; the workspace is one of its results, so XLA gives its memory."""
    from kerneltune.jax import target

    target.register()
    if problem.direction == "training":
        target.supply().begin(replace(problem, direction="backward"))
    size = target.supply().get(problem).candidate.workspace
    if size:
        wanted = {**wanted, "workspace": jax.ShapeDtypeStruct((size,), jnp.uint8)}
    call = target.Call(problem, tuple(given), tuple(wanted))
    made = jax.ffi.ffi_call(target.TARGET, list(wanted.values()))(*given.values(), request=call.text())
    found = dict(zip(wanted, made, strict=True))
    found.pop("workspace", None)
    return found


def scanned(
    cell: str, product: jax.Array, recurrent: jax.Array, bias: jax.Array, initial: jax.Array
) -> Arrays:
    """The recurrence by lax.scan, on any device and in any floating-point type.

    Sums are in float32 at least, and h is rounded after each step, as in the kernels.
    """
    wide = jnp.promote_types(product.dtype, jnp.float32)
    update = CELLS[cell]

    def step(states: jax.Array, x: jax.Array) -> Arrays:
        h = states[0]
        r = jnp.einsum("hgdk,bhk->bhdg", recurrent, h, preferred_element_type=wide).astype(wide)
        r = r + bias.transpose(0, 2, 1).astype(wide)
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
