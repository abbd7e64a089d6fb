"""Strategies with a launch for each step: the library's products between launches, by numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.lib.stride_tricks import as_strided

from kerneltune.compiling.halffloat import decode, encode
from kerneltune.inputs.dtypes import DTYPES
from kerneltune.running.cublas import Product
from kerneltune.running.stepwise import Schedule
from kerneltune.tiling.candidate import Candidate

from .build import Buffer

APART = 2**40  # between the addresses of arrays
WORDS = {2: np.uint16, 4: np.uint32}


def without_library(candidate: Candidate) -> Candidate:
    """The candidate without the library's memory, which only costs time here."""
    size = candidate.parameters["library_bytes"]
    parameters = {**candidate.parameters, "library_bytes": 0}
    values = {**candidate.values, "workspace": candidate.workspace - size}
    return replace(candidate, parameters=parameters, values=values)


def run_steps(
    candidate: Candidate,
    launch: Callable[[Mapping[str, int], Sequence[Buffer], int], dict[str, np.ndarray]],
    sizes: Mapping[str, int],
    buffers: Sequence[Buffer],
    seed: int,
) -> dict[str, np.ndarray]:
    """All launches and products of a pass; each launch in another order of threads."""
    schedule = Schedule.of(candidate)
    arrays = {one.field: one for one in buffers}
    places = {name: (1 + number) * APART for number, name in enumerate(arrays)}
    for number, action in enumerate(schedule.actions(lambda name: {**places, **sizes}[name])):
        if isinstance(action, int):
            written = launch({**sizes, "step": action}, list(arrays.values()), seed + 1000 * number)
            for name, array in written.items():
                arrays[name] = Buffer(name, array.copy(), written=True)
        else:
            names = list(arrays)
            parts = [(arrays[names[place // APART - 1]].data, place % APART) for place in action]
            multiply(schedule.product, parts)
    return {name: one.data for name, one in arrays.items() if one.written}


def multiply(product: Product, parts: Sequence[tuple[np.ndarray, int]]) -> None:
    """C = A B or A^T B of each head, in place; parts are the arrays and the bytes where A, B and C begin."""
    rows, columns, length = product.sizes
    (a, b, c), (leading_a, leading_b, leading_c) = parts, product.leading
    turned = product.transposed[0]
    shape = (length, rows) if turned else (rows, length)
    for head in range(product.heads):
        stride_a, stride_b, stride_c = (head * stride for stride in product.strides)
        left = decode(_matrix(*a, stride_a, shape, leading_a, product.dtype), product.dtype)
        right = decode(_matrix(*b, stride_b, (length, columns), leading_b, product.dtype), product.dtype)
        found = (left.T if turned else left).astype(np.float64) @ right
        target = _matrix(*c, stride_c, (rows, columns), leading_c, product.result)
        target[...] = encode(found.astype(np.float32), product.result)


def _matrix(
    array: np.ndarray, begin: int, first: int, shape: tuple[int, int], leading: int, dtype: str
) -> np.ndarray:
    """A view of a matrix in column order that begins so many bytes, and numbers, into an array."""
    size = DTYPES[dtype]
    flat = array.reshape(-1).view(np.uint8)[begin:].view(WORDS[size])[first:]
    assert shape[0] + (shape[1] - 1) * leading <= flat.size, "a product reaches beyond its array"
    return as_strided(flat, shape, (size, leading * size))
