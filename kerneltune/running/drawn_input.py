"""Random input of a launch, of realistic size; equal seeds give equal bits."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kerneltune.compiling.halffloat import encode
from kerneltune.inputs.descriptions import Cell
from kerneltune.inputs.problem import Problem
from kerneltune.running.reference import storage

Shape: TypeAlias = tuple[int, ...]
Allocate: TypeAlias = Callable[[str, Shape, np.dtype[np.generic]], NDArray[np.generic]]

PART = 1 << 20  # elements drawn from one generator, so that threads share the work


def in_memory(_: str, shape: Shape, dtype: np.dtype[np.generic]) -> NDArray[np.generic]:
    """An array in this process's memory."""
    return np.empty(shape, dtype)


def random_arrays(
    problem: Problem, cell: Cell, seed: int, allocate: Allocate = in_memory, part: int = PART
) -> dict[str, NDArray[np.generic]]:
    """All random arrays of a launch of the problem's pass, as bits.

    Args:
        problem: The request.
        cell: Its cell.
        seed: Seed of the generators.
        allocate: Makes an array of a given name, shape and type.
        part: Elements drawn from one generator; other parts, other numbers.

    Returns:
        ``input`` (W x, unit variance; of an option its value), ``recurrent`` (R, variance 1 / head_dim),
        ``bias``, ``weights`` of single units if the cell has some, ``initial`` (the states before the first
        step), and for the backward pass ``output_gradient`` and ``last_gradient``.
    """
    heads, dim, gates = problem.heads, problem.head_dim, len(cell.spec.gates)
    states, row = len(cell.spec.states), (problem.batch, problem.heads, problem.head_dim)
    shapes: dict[str, tuple[Shape, float]] = {
        "input": ((problem.steps, *row, gates), 1.0),
        "recurrent": ((heads, gates, dim, dim), cell.spec.recurrent_gain * dim**-0.5),
        "bias": ((heads, gates, dim), 0.5),
    }
    if cell.spec.weights:
        # Small: a state that feeds its own gate by a large one has two ends, and rounding decides which.
        shapes["weights"] = ((heads, len(cell.spec.weights), dim), 0.1)
    random, found = np.random.default_rng(seed), {}
    initial = random.standard_normal((states, *row), dtype=np.float32) * np.float32(0.5)
    for state, name in enumerate(cell.spec.states):
        if name in cell.spec.positive:
            initial[state] = 0.5 + np.abs(initial[state])
    found["initial"] = allocate("initial", initial.shape, storage(problem))
    found["initial"][...] = encode(initial, problem.dtype)
    gradients: dict[str, tuple[Shape, float]] = {}
    if problem.direction == "backward":
        gradients = {"output_gradient": ((problem.steps, *row), 1.0), "last_gradient": ((states, *row), 1.0)}
    for generator, group in ((random, shapes), (np.random.default_rng([seed, 1]), gradients)):
        for name, (shape, scale) in group.items():
            array = allocate(name, shape, storage(problem))
            number = len(found)
            _draw(array, scale, problem.dtype, generator, [seed, 2, number], part)
            found[name] = array
    for number, (_, value) in enumerate(reversed(cell.spec.learnable)):  # the last gates
        found["input"][..., gates - 1 - number] = encode(np.full(1, value, np.float32), problem.dtype)[0]
    return found


def _draw(
    array: NDArray[np.generic],
    scale: float,
    dtype: str,
    random: np.random.Generator,
    key: list[int],
    size: int,
) -> None:
    """Fill an array: its first part from ``random``, every other part from a generator of its own."""
    flat = array.reshape(-1)

    def draw(start: int) -> None:
        part = flat[start : start + size]
        generator = np.random.default_rng([*key, start // size]) if start else random
        numbers = generator.standard_normal(part.size, dtype=np.float32) * np.float32(scale)
        part[...] = encode(numbers, dtype)

    starts = range(0, flat.size, size)
    if len(starts) == 1:
        draw(0)
        return
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(draw, starts))
