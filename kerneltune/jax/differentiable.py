"""Kernels as functions that JAX differentiates in both modes, maps and compiles.

Forward, the kernel runs. Its derivative is a linear map of the tangents, a primitive of its own: evaluated,
it is that of the native computation; transposed, the backward kernel. Derivatives of derivatives are native.
A mapped dimension joins the batch, or another dimension where an array without a batch is mapped, too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol, TypeAlias

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from kerneltune.errors import InputError
from kerneltune.inputs.request import Request

DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
Arrays: TypeAlias = tuple[jax.Array, ...]
# Of each name, the dimension that a mapped one joins, and the one where an array without a batch is mapped.
Places: TypeAlias = Mapping[str, tuple[int | None, int | None]]

_said: set[str] = set()


class KernelPasses(Protocol):
    """The passes of a cell, hashable. All take arrays in the order of `arrays`, then those of `marks`."""

    @property
    def arrays(self) -> tuple[str, ...]:
        """Names of the arrays with gradients."""

    @property
    def marks(self) -> tuple[str, ...]:
        """Names of the others."""

    @property
    def kept(self) -> tuple[str, ...]:
        """Names of what the training pass gives besides its results."""

    @property
    def results(self) -> tuple[str, str]:
        """Names of the two results."""

    @property
    def places(self) -> Places:
        """Where a mapped dimension goes, by the names."""

    def native(self, *arrays: jax.Array) -> Arrays:
        """The results in JAX's own operations."""

    def forward(self, *arrays: jax.Array) -> Arrays:
        """The results by a kernel."""

    def training(self, *arrays: jax.Array) -> Arrays:
        """The results and what is kept, by a kernel."""

    def backward(self, *arrays: jax.Array) -> Arrays:
        """Gradients, by a kernel; what is kept and the gradients by the results follow the marks."""


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def by_kernels(passes: KernelPasses, *arrays: jax.Array) -> Arrays:
    """The results of a forward pass, of arrays and marks."""
    return passes.forward(*arrays)


@by_kernels.defjvp  # type: ignore[untyped-decorator] # jax has no types here
def _(passes: KernelPasses, arrays: Arrays, tangents: Arrays) -> tuple[Arrays, Arrays]:
    found = _trained(passes, *arrays)
    results, kept = found[:2], found[2:]
    return results, _tangents_of(passes, arrays, kept, tangents)


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _trained(passes: KernelPasses, *arrays: jax.Array) -> Arrays:
    """The results and what is kept, of which no derivative is ever asked."""
    return passes.training(*arrays)


@_trained.defjvp  # type: ignore[untyped-decorator]
def _(passes: KernelPasses, arrays: Arrays, tangents: Arrays) -> tuple[Arrays, Arrays]:
    found = _trained(passes, *arrays)
    slopes = _tangents_of(passes, arrays, found[2:], tangents)
    return found, (*slopes, *(jnp.zeros_like(one) for one in found[2:]))


def _tangents_of(passes: KernelPasses, arrays: Arrays, kept: Arrays, tangents: Arrays) -> Arrays:
    return tuple(_TANGENT.bind(*arrays, *kept, *tangents[: len(passes.arrays)], passes=passes))


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _gradients(passes: KernelPasses, *arrays: jax.Array) -> Arrays:
    """Gradients, from arrays, marks, what is kept, and the gradients by the results."""
    return passes.backward(*arrays)


@_gradients.defjvp  # type: ignore[untyped-decorator]
def _(passes: KernelPasses, arrays: Arrays, tangents: Arrays) -> tuple[Arrays, Arrays]:
    _say_once()
    count = len(passes.arrays)
    marks = arrays[count : count + len(passes.marks)]

    def native(*given: jax.Array) -> Arrays:
        found: Arrays = jax.vjp(lambda *parts: passes.native(*parts, *marks), *given[:count])[1](
            given[count:]
        )
        return found

    given, along = ((*parts[:count], *parts[-2:]) for parts in (arrays, tangents))
    return _gradients(passes, *arrays), jax.jvp(native, given, along)[1]


def _say_once() -> None:
    reason = "kernels give no derivatives of derivatives: they are computed by JAX's own operations"
    if reason not in _said:
        _said.add(reason)
        warnings.warn(reason, stacklevel=2)


def folded(array: jax.Array, at: int | None, size: int, where: int) -> jax.Array:
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
    places: Places,
) -> list[jax.Array]:
    """A function of arrays of which some are mapped, of each at a place; results are mapped at 0."""
    way = int(any(places[name][0] is None and at is not None for name, _, at in arrays))
    given = []
    for name, array, at in arrays:
        where = places[name][way]
        if where is None and at is not None:
            raise InputError(f"{name} is mapped together with weights: pass kernels=False")
        given.append(array if where is None else folded(array, at, size, where))
    return [
        _parted(one, size, places[name][way] or 0) for name, one in zip(results, run(*given), strict=True)
    ]


def mapped(
    run: Callable[..., Arrays], names: tuple[str, ...], results: tuple[str, ...], places: Places
) -> Callable[..., Arrays]:
    """The function, which vmap takes by folding."""
    found = custom_vmap(run)

    @found.def_vmap  # type: ignore[untyped-decorator]
    def rule(size: int, are_mapped: list[bool], *arrays: jax.Array) -> tuple[Arrays, tuple[bool, ...]]:
        at = [0 if one else None for one in are_mapped]
        outputs = _by_fold(found, size, list(zip(names, arrays, at, strict=True)), results, places)
        return tuple(outputs), (True,) * len(outputs)

    made: Callable[..., Arrays] = found
    return made


def launched(
    problem: Request, given: dict[str, jax.Array], wanted: dict[str, jax.ShapeDtypeStruct]
) -> dict[str, jax.Array]:
    """A call of the target; see `kerneltune.jax.target`, which is imported where a kernel runs."""
    from kerneltune.jax import target

    return target.called(problem, given, wanted)


_TANGENT = Primitive("kerneltune_tangent")
_TANGENT.multiple_results = True


def _split(
    passes: KernelPasses, arrays: Sequence[object]
) -> tuple[tuple[jax.Array, ...], tuple[jax.Array, ...], tuple[jax.Array, ...]]:
    """The arrays, the marks, and the tangents, which come last."""
    count = len(passes.arrays)
    return tuple(arrays[:count]), tuple(arrays[count : count + len(passes.marks)]), tuple(arrays[-count:])


def _tangent(*arrays: jax.Array, passes: KernelPasses) -> list[jax.Array]:
    """The derivative in the direction of the tangents."""
    at, marks, along = _split(passes, arrays)
    return list(jax.jvp(lambda *parts: passes.native(*parts, *marks), at, along)[1])


def _tangent_shapes(*arrays: jax.core.ShapedArray, passes: KernelPasses) -> list[jax.core.ShapedArray]:
    at, marks, _ = _split(passes, arrays)
    like = [jax.ShapeDtypeStruct(one.shape, one.dtype) for one in (*at, *marks)]
    found = jax.eval_shape(passes.native, *like)
    return [arrays[0].update(shape=one.shape, dtype=one.dtype) for one in found]


def _transposed(
    by: Sequence[jax.Array | ad.Zero], *arrays: jax.Array, passes: KernelPasses
) -> list[jax.Array | None]:
    """Gradients by the tangents, by the backward kernel."""
    count = len(passes.arrays)
    given = [jnp.zeros(one.aval.shape, one.aval.dtype) if type(one) is ad.Zero else one for one in by]
    found = _gradients(passes, *arrays[:-count], *given)
    asked = [ad.is_undefined_primal(one) for one in arrays[-count:]]
    rest: list[jax.Array | None] = [None] * (len(arrays) - count)
    return [*rest, *(one if is_asked else None for one, is_asked in zip(found, asked, strict=True))]


def _batched(
    arrays: Sequence[jax.Array], places: Sequence[int | None], passes: KernelPasses
) -> tuple[list[object], list[int]]:
    size = next(one.shape[at] for one, at in zip(arrays, places, strict=True) if at is not None)
    names = (*passes.arrays, *passes.marks, *passes.kept, *passes.arrays)
    named = list(zip(names, arrays, places, strict=True))
    run = partial(_TANGENT.bind, passes=passes)
    return _by_fold(run, size, named, passes.results, passes.places), [0, 0]


def _again(
    arrays: Sequence[object], tangents: Sequence[object], passes: KernelPasses
) -> tuple[list[object], list[object]]:
    """The derivative of the derivative; what is kept depends on the arrays, and is not asked."""
    found = _TANGENT.bind(*arrays, passes=passes)
    count = len(passes.arrays)
    filled = [
        ad.instantiate_zeros(one) if k < count or k >= len(arrays) - count else one
        for k, one in enumerate(tangents)
    ]
    if all(type(one) is ad.Zero for one in tangents[:count]):
        return found, _TANGENT.bind(*arrays[:-count], *filled[-count:], passes=passes)
    _say_once()
    at, marks, along = _split(passes, arrays)

    def native(*parts: jax.Array) -> list[jax.Array]:
        return _tangent(*parts[:count], *marks, *parts[count:], passes=passes)

    by = jax.jvp(native, (*at, *along), (*filled[:count], *filled[-count:]))[1]
    return found, by


_TANGENT.def_impl(_tangent)
_TANGENT.def_abstract_eval(_tangent_shapes)
mlir.register_lowering(_TANGENT, mlir.lower_fun(_tangent, multiple_results=True))
ad.primitive_transposes[_TANGENT] = _transposed
batching.primitive_batchers[_TANGENT] = _batched
ad.primitive_jvps[_TANGENT] = _again
