"""The arrays of a scan's launch: drawn input, and what the float64 reference makes of it.

Of a large scan the reference is held against a sample of the rows and channels; every number of the rest must
still be written.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kerneltune.compiling.halffloat import decode, encode
from kerneltune.compiling.scan_arguments import INPUTS, OUTPUTS
from kerneltune.inputs.descriptions import Cell
from kerneltune.inputs.scan_descriptions import is_nonlinear
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.running.drawn_input import Allocate, in_memory
from kerneltune.running.reference import Arrays, Shape, storage
from kerneltune.running.scan_reference import Array, ScanInputs, backward, forward

SAMPLED_ROWS = 2
SAMPLED_CHANNELS = 64
WHOLE = 1 << 22  # elements up to which all of them are compared
AT_A_TIME = 1 << 24  # elements whose float64 reference is in memory at a time, but a row at least
FLOAT, BYTE = np.dtype(np.float32), np.dtype(np.uint8)

About: TypeAlias = dict[str, tuple[Shape, np.dtype[Any]]]


def drawn_shapes(problem: ScanProblem, cell: Cell) -> About:
    """Shapes and types of what is drawn for a launch."""
    shape, bits = (problem.batch, problem.steps, problem.channels), storage(problem)
    found: About = {name: (shape, bits) for name, _ in zip(INPUTS, cell.spec.gates, strict=False)}
    if problem.direction == "backward":
        found["gradient"] = shape, bits
    diagonal = _diagonal(cell)
    if diagonal:
        found |= diagonal.drawn_shapes(problem, cell)
    else:
        found |= dict.fromkeys((first_state(problem), "initial"), (shape[::2], FLOAT))
    if problem.lengths:
        found["lengths"] = (problem.batch,), np.dtype(np.int32)
    if problem.resets:
        found["resets"] = shape[:2], BYTE
    return found


def made_shapes(problem: ScanProblem, cell: Cell) -> About:
    """Shapes and types of what a launch reads that the reference makes."""
    diagonal = _diagonal(cell)
    if diagonal:
        made: About = diagonal.made_shapes(problem, cell)
        return made
    if problem.direction != "backward":
        return {}
    return {"hidden": ((problem.batch, problem.steps, problem.channels), storage(problem))}


def expected_shapes(problem: ScanProblem, cell: Cell) -> dict[str, Shape]:
    """Shapes of the float64 arrays that a sample of what a launch writes is held against.

    ``after`` is h after each step, ``last`` the last h. Backward, ``by_output0`` and so on are the gradients
    by the cell's inputs, ``by_initial`` those by the h before the first step.
    """
    diagonal = _diagonal(cell)
    if diagonal:
        shapes: dict[str, Shape] = diagonal.expected_shapes(problem, cell)
        return shapes
    rows, channels = sample(problem)
    count = len(range(problem.batch)[rows]), len(range(problem.channels)[channels])
    shape = count[0], problem.steps, count[1]
    if problem.direction != "backward":
        return {"after": shape, "last": count}
    gates = zip(OUTPUTS, cell.spec.gates, strict=False)
    return {**{f"by_{name}": shape for name, _ in gates}, "by_initial": count}


def first_state(problem: ScanProblem) -> str:
    """The name of h before the first step: backward, ``initial`` is the gradient by the last h."""
    return "first_hidden" if problem.direction == "backward" else "initial"


def sample(problem: ScanProblem) -> tuple[slice, slice]:
    """Rows and channels that are compared: all of a small scan, a few of a large one."""
    if problem.batch * problem.steps * problem.channels <= WHOLE:
        return slice(None), slice(None)
    rows = max(1, problem.batch // SAMPLED_ROWS)
    channels = max(1, problem.channels // SAMPLED_CHANNELS)
    return slice(None, None, rows), slice(None, None, channels)


def drawn_arrays(
    problem: ScanProblem, cell: Cell, seed: int, allocate: Allocate = in_memory
) -> dict[str, NDArray[Any]]:
    """All that is drawn for a launch; equal seeds give equal bits.

    The cell's inputs have unit variance, but a coefficient a is below 1.
    """
    random = np.random.default_rng(seed)
    found = {name: allocate(name, *about) for name, about in drawn_shapes(problem, cell).items()}
    for name, gate in zip(INPUTS, cell.spec.gates, strict=False):
        for row in found[name]:
            row[...] = encode(_drawn(random, row.shape, coefficient=gate == "a"), problem.dtype)
    diagonal = _diagonal(cell)
    if diagonal:
        diagonal.draw(cell, random, found, diagonal.drawn_shapes(problem, cell))
    else:
        found[first_state(problem)][...] = _drawn(random, found[first_state(problem)].shape)
    if problem.lengths:
        found["lengths"][...] = random.integers(0, problem.steps + 1, problem.batch, dtype=np.int32)
    if problem.resets:
        found["resets"][...] = random.random(found["resets"].shape) < 0.05
    if problem.direction == "backward":
        for row in found["gradient"]:
            row[...] = encode(_drawn(random, row.shape), problem.dtype)
        if not diagonal:
            found["initial"][...] = _drawn(random, found["initial"].shape)
    return found


def _diagonal(cell: Cell) -> ModuleType | None:
    """What the arrays of a cell that is not linear in its state are."""
    if not is_nonlinear(cell):
        return None
    from kerneltune.running import diagonal_arrays

    return diagonal_arrays


def _drawn(random: np.random.Generator, shape: Shape, *, coefficient: bool = False) -> NDArray[np.float32]:
    if coefficient:
        return random.random(shape, dtype=np.float32) * np.float32(1.2) - np.float32(0.2)
    return random.standard_normal(shape, dtype=np.float32)


def fill(problem: ScanProblem, cell: Cell, arrays: Arrays, out: Arrays) -> None:
    """Compute all that `made_shapes` and `expected_shapes` name."""
    diagonal = _diagonal(cell)
    if diagonal:
        diagonal.fill(problem, cell, arrays, out)
        return
    module = cell.reference_module()
    rows, channels = sample(problem)
    inputs = _inputs(problem, arrays, rows, channels)
    if problem.direction != "backward":
        out["after"][...], out["last"][...] = forward(module, inputs)
        return
    for some in row_blocks(problem):
        hidden, _ = forward(module, _inputs(problem, arrays, some, slice(None)))
        out["hidden"][some] = encode(hidden, problem.dtype)
    gradient = wide(arrays["gradient"][rows, :, channels], problem.dtype)
    last = arrays["initial"][rows, channels].astype(np.float64)
    found, out["by_initial"][...] = backward(module, inputs, gradient, last)
    for name, array in zip(OUTPUTS, found, strict=False):
        out[f"by_{name}"][...] = array


def row_blocks(problem: ScanProblem) -> Iterator[slice]:
    """Rows of a batch, some at a time."""
    count = max(1, AT_A_TIME // (problem.steps * problem.channels))
    return (slice(start, start + count) for start in range(0, problem.batch, count))


def wide(bits: NDArray[Any], dtype: str) -> Array:
    """Stored numbers in float64."""
    return decode(np.ascontiguousarray(bits), dtype).astype(np.float64)


def _inputs(problem: ScanProblem, arrays: Arrays, rows: slice, channels: slice) -> ScanInputs:
    lengths = arrays.get("lengths", np.full(problem.batch, problem.steps, np.int32))
    resets = arrays.get("resets", np.zeros((problem.batch, problem.steps), BYTE))
    return ScanInputs(
        tuple(wide(arrays[name][rows, :, channels], problem.dtype) for name in INPUTS if name in arrays),
        arrays[first_state(problem)][rows, channels].astype(np.float64),
        lengths[rows],
        resets[rows].astype(bool),
        problem.reverse,
    )
