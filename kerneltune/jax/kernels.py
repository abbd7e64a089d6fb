"""The recurrence by kernels, with derivatives in both modes and vmap for JAX.

Forward, the kernel runs. Its derivative is a linear map of the tangents, a primitive of its own: evaluated,
it is that of the scan; transposed, the backward kernel. A mapped dimension joins the batch, or the heads
where R or its bias is mapped, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.problem import Problem
from kerneltune.jax.cells import scanned

DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
Arrays: TypeAlias = tuple[jax.Array, ...]
# Of each array, where its batch and its heads are; R and its bias have no batch.
PLACES = {
    **dict.fromkeys(("product", "initial", "output", "last", "values", "floats", "gradient"), (1, 2)),
    "states": (2, 3),
    "recurrent": (None, 0),
    "bias": (None, 0),
}


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def by_kernels(
    cell: str, product: jax.Array, recurrent: jax.Array, bias: jax.Array, initial: jax.Array
) -> Arrays:
    """As `kerneltune.jax.recurrence`."""
    states, *_ = _forward(cell, "forward")(product, recurrent, bias, initial)
    return states[0, 1:], states[:, -1]


@by_kernels.defjvp  # type: ignore[untyped-decorator] # jax has no types here
def _by_kernels_jvp(cell: str, primals: Arrays, tangents: Arrays) -> tuple[Arrays, Arrays]:
    kept = _forward(cell, "training")(*primals)
    states = kept[0]
    found = _TANGENT.bind(*primals, *kept, *tangents, cell=cell)
    return (states[0, 1:], states[:, -1]), tuple(found)


def _saved(cell: str) -> tuple[str, ...]:
    """Arrays that the training kernel saves besides the states."""
    spec = discover().cell(cell).spec
    return ("values",) * bool(spec.saved_values) + ("floats",) * bool(spec.saved_states)


def _folded(array: jax.Array, at: int | None, size: int, where: int) -> jax.Array:
    """The array with its mapped dimension joined with the one at `where`; broadcast if it has none."""
    if at is None:
        wide = jnp.broadcast_to(
            jnp.expand_dims(array, where), (*array.shape[:where], size, *array.shape[where:])
        )
    else:
        wide = jnp.moveaxis(array, at, where)
    return wide.reshape(*wide.shape[:where], -1, *wide.shape[where + 2 :])


def _parted(array: jax.Array, size: int, where: int) -> jax.Array:
    """The inverse, with the mapped dimension first."""
    parted = array.reshape(*array.shape[:where], size, -1, *array.shape[where + 1 :])
    return jnp.moveaxis(parted, where, 0)


def _by_fold(
    run: Callable[..., Sequence[jax.Array]],
    size: int,
    arrays: Sequence[tuple[str, jax.Array, int | None]],
    results: Sequence[str],
) -> list[jax.Array]:
    """A function of arrays of which some are mapped, of each at a place; results are mapped at 0."""
    by_heads = int(any(PLACES[name][0] is None and at is not None for name, _, at in arrays))
    given = []
    for name, array, at in arrays:
        where = PLACES[name][by_heads]
        given.append(array if where is None else _folded(array, at, size, where))
    return [
        _parted(one, size, PLACES[name][by_heads] or 0)
        for name, one in zip(results, run(*given), strict=True)
    ]


def _mapped(
    run: Callable[..., Arrays], names: tuple[str, ...], results: tuple[str, ...]
) -> Callable[..., Arrays]:
    """The function, which vmap takes by folding."""
    found = custom_vmap(run)

    @found.def_vmap  # type: ignore[untyped-decorator]
    def rule(size: int, mapped: list[bool], *arrays: jax.Array) -> tuple[Arrays, tuple[bool, ...]]:
        at = [0 if one else None for one in mapped]
        outputs = _by_fold(found, size, list(zip(names, arrays, at, strict=True)), results)
        return tuple(outputs), (True,) * len(outputs)

    made: Callable[..., Arrays] = found
    return made


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
        given = {"input": product, "recurrent": recurrent, "bias": bias, "initial": initial}
        found = _launch(_problem(cell, direction, product.shape, product.dtype), given, wanted)
        return tuple(found[name] for name in wanted)

    return _mapped(run, ("product", "recurrent", "bias", "initial"), ("states", *saved))


@cache
def _backward(cell: str) -> Callable[..., Arrays]:
    """Gradients by W x, by R h + bias where it differs, and by the first states."""
    spec = discover().cell(cell).spec
    saved = _saved(cell)

    def run(recurrent: jax.Array, states: jax.Array, *others: jax.Array) -> Arrays:
        *values, by_output, by_last = others
        names = {"values": "saved_values", "floats": "saved_states"}
        given = {names[name]: one for name, one in zip(saved, values, strict=True)}
        given |= {"states": states, "output_gradient": by_output, "last_gradient": by_last}
        given["recurrent"] = recurrent
        wide = jax.ShapeDtypeStruct((*by_output.shape, len(spec.gates)), states.dtype)
        wanted = {"input_gradient": wide}
        if spec.separate_gradients:
            wanted["recurrent_gradient"] = wide
        wanted["initial_gradient"] = jax.ShapeDtypeStruct(by_last.shape, states.dtype)
        found = _launch(_problem(cell, "backward", by_output.shape, states.dtype), given, wanted)
        return tuple(found[name] for name in wanted)

    results = ("gradient",) * (2 if spec.separate_gradients else 1)
    return _mapped(run, ("recurrent", "states", *saved, "output", "last"), (*results, "initial"))


def _problem(cell: str, direction: str, shape: tuple[int, ...], dtype: object) -> Problem:
    steps, batch, heads, dim = shape[:4]
    return Problem(cell, heads, dim, batch, DTYPES[str(dtype)], steps, direction)


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
    call = target.KernelCall(problem, tuple(given), tuple(wanted))
    made = jax.ffi.ffi_call(target.TARGET, list(wanted.values()))(*given.values(), request=call.text())
    found = dict(zip(wanted, made, strict=True))
    found.pop("workspace", None)
    return found


_TANGENT = Primitive("kerneltune_recurrence_tangent")
_TANGENT.multiple_results = True


def _tangent(*arrays: jax.Array, cell: str) -> list[jax.Array]:
    """The derivative in the direction of the tangents, which come last, by the scan."""
    return list(jax.jvp(partial(scanned, cell), arrays[:4], arrays[-4:])[1])


def _tangent_shapes(*arrays: Any, cell: str) -> list[Any]:
    product, initial = arrays[0], arrays[3]
    return [product.update(shape=product.shape[:4]), initial.update(shape=initial.shape)]


def _transposed(by: Sequence[Any], *arrays: Any, cell: str) -> list[Any]:
    """Gradients by the tangents, which come last, by the backward kernel."""
    recurrent, states, saved = arrays[1], arrays[4], arrays[5:-4]
    shapes = states[0, 1:], states[:, -1]
    by_output, by_last = (
        jnp.zeros(like.shape, like.dtype) if type(one) is ad.Zero else one
        for one, like in zip(by, shapes, strict=True)
    )
    by_input, *others = _backward(cell)(recurrent, states, *saved, by_output, by_last)
    by_initial, by_recurrent = others[-1], others[0] if len(others) > 1 else by_input
    wide, dtype = jnp.float32, states.dtype
    by_r = jnp.einsum("tbhdg,tbhk->hgdk", by_recurrent, states[0, :-1], preferred_element_type=wide)
    by_bias = by_recurrent.astype(wide).sum((0, 1)).transpose(0, 2, 1)
    found = by_input, by_r.astype(dtype), by_bias.astype(dtype), by_initial
    asked = [ad.is_undefined_primal(one) for one in arrays[-4:]]
    rest: list[Any] = [None] * (len(arrays) - 4)
    return [*rest, *(one if is_asked else None for one, is_asked in zip(found, asked, strict=True))]


def _batched(arrays: Sequence[Any], places: Sequence[Any], cell: str) -> tuple[list[Any], list[int]]:
    size = next(one.shape[at] for one, at in zip(arrays, places, strict=True) if at is not None)
    ways = ("product", "recurrent", "bias", "initial")
    named = zip((*ways, "states", *_saved(cell), *ways), arrays, places, strict=True)
    run = partial(_TANGENT.bind, cell=cell)
    return _by_fold(run, size, list(named), ("output", "last")), [0, 0]


def _refused(*_: object, **__: object) -> object:
    raise InputError("kernels give no derivatives of derivatives: pass kernels=False")


_TANGENT.def_impl(_tangent)
_TANGENT.def_abstract_eval(_tangent_shapes)
mlir.register_lowering(_TANGENT, mlir.lower_fun(_tangent, multiple_results=True))
ad.primitive_transposes[_TANGENT] = _transposed
batching.primitive_batchers[_TANGENT] = _batched
ad.primitive_jvps[_TANGENT] = _refused
