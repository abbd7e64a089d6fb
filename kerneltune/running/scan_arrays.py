"""The arrays of a scan's launch: drawn input, and the results of the float64 reference.

Of a large scan the reference is held against a sample of the rows and channels; every number of the rest must
still be written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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

FLOAT, BYTE = np.dtype(np.float32), np.dtype(np.uint8)


@dataclass(frozen=True)
class ComparedPart:
    """The part of a scan that is held against the float64 reference.

    Attributes:
        whole: Elements up to which all of them are compared.
        rows: Rows of a larger scan that are compared, about.
        channels: Channels of a larger scan that are compared, about.
        at_a_time: Elements whose float64 values are in memory at a time, but a row at least.
    """

    whole: int = 1 << 22
    rows: int = 2
    channels: int = 64
    at_a_time: int = 1 << 24


COMPARED = ComparedPart()

About: TypeAlias = dict[str, tuple[Shape, np.dtype[Any]]]


def drawn_shapes(problem: ScanProblem, cell: Cell) -> About:
    """Shapes and types of the arrays that are drawn for a launch."""
    bits = storage(problem)
    widths = widths_of(cell)
    found: About = {
        name: (steps_shape(problem, width), bits) for name, width in zip(INPUTS, widths, strict=False)
    }
    if problem.direction == "backward":
        found["gradient"] = steps_shape(problem, state_width(cell)), bits
    diagonal = _diagonal(cell)
    if diagonal:
        found |= diagonal.drawn_shapes(problem, cell)
    else:
        found |= dict.fromkeys((first_state(problem), "initial"), (states_shape(problem, cell), FLOAT))
    if problem.lengths:
        found["lengths"] = (problem.batch,), np.dtype(np.int32)
    if problem.resets:
        found["resets"] = (problem.batch, problem.steps), BYTE
    if problem.sequences:
        found["boundaries"] = (problem.sequences + 1,), np.dtype(np.int32)
    return found


def widths_of(cell: Cell) -> tuple[int, ...]:
    """Numbers of a channel in each input of the cell."""
    return getattr(cell.spec, "input_widths", (1,) * len(cell.spec.gates))


def coefficients_of(cell: Cell) -> tuple[str, ...]:
    """The inputs that h is multiplied with as they are."""
    return tuple(getattr(cell.spec, "coefficients", ()))


def state_width(cell: Cell) -> int:
    """Numbers of a channel in h."""
    return int(getattr(cell.spec, "state_width", 1))


def steps_shape(problem: ScanProblem, width: int) -> Shape:
    """Of an array of every step, with so many numbers a channel."""
    return problem.batch, problem.steps, problem.channels * width


def states_shape(problem: ScanProblem, cell: Cell) -> Shape:
    """Of the states that enter or leave."""
    return problem.rows_of_states, problem.channels * state_width(cell)


def made_shapes(problem: ScanProblem, cell: Cell) -> About:
    """Shapes and types of the inputs that the reference makes."""
    diagonal = _diagonal(cell)
    if diagonal:
        made: About = diagonal.made_shapes(problem, cell)
        return made
    if problem.direction != "backward":
        return {}
    return {"hidden": (steps_shape(problem, state_width(cell)), storage(problem))}


def expected_shapes(problem: ScanProblem, cell: Cell, part: ComparedPart = COMPARED) -> dict[str, Shape]:
    """Shapes of the float64 arrays with which a sample of the outputs is compared.

    ``after`` is h after each step, ``last`` the last h. Backward, ``by_output0`` and so on are the gradients
    by the cell's inputs, ``by_initial`` those by the h before the first step.
    """
    diagonal = _diagonal(cell)
    if diagonal:
        shapes: dict[str, Shape] = diagonal.expected_shapes(problem, cell, part)
        return shapes
    rows, channels = sample(problem, part)
    count, some = len(range(problem.batch)[rows]), len(range(problem.channels)[channels])
    state = state_width(cell)
    last = problem.sequences or count, some * state
    if problem.direction != "backward":
        return {"after": (count, problem.steps, some * state), "last": last}
    shapes = {
        f"by_{name}": (count, problem.steps, some * width)
        for name, width in zip(OUTPUTS, widths_of(cell), strict=False)
    }
    return {**shapes, "by_initial": last}


def first_state(problem: ScanProblem) -> str:
    """The name of h before the first step: backward, ``initial`` is the gradient by the last h."""
    return "first_hidden" if problem.direction == "backward" else "initial"


def sample(problem: ScanProblem, part: ComparedPart = COMPARED) -> tuple[slice, slice]:
    """Rows and channels that are compared: all of a small scan, a few of a large one."""
    if problem.batch * problem.steps * problem.channels <= part.whole:
        return slice(None), slice(None)
    rows = max(1, problem.batch // part.rows)
    channels = max(1, problem.channels // part.channels)
    return slice(None, None, rows), slice(None, None, channels)


def chosen(problem: ScanProblem, array: NDArray[np.generic], rows: slice, channels: slice) -> NDArray[Any]:
    """Rows and channels of an array `[B, T, D]` or `[B, D]`, whose channels may be several numbers."""
    width = array.shape[-1] // problem.channels
    if array.ndim == 2 and problem.sequences:
        rows = slice(None)
    apart = array.reshape(*array.shape[:-1], problem.channels, width)[rows, ..., channels, :]
    return apart.reshape(*apart.shape[:-2], -1)


def drawn_arrays(
    problem: ScanProblem, cell: Cell, seed: int, allocate: Allocate = in_memory
) -> dict[str, NDArray[np.generic]]:
    """All that is drawn for a launch; equal seeds give equal bits.

    The cell's inputs have unit variance, or of a cell without weights its gain, but a coefficient is below 1.
    """
    random = np.random.default_rng(seed)
    found = {name: allocate(name, *about) for name, about in drawn_shapes(problem, cell).items()}
    gain = np.float32(1.0 if cell.spec.weights else cell.spec.recurrent_gain)
    for name, gate in zip(INPUTS, cell.spec.gates, strict=False):
        for row in found[name]:
            drawn = _drawn(random, row.shape, coefficient=_size_of_a(cell, gate))
            row[...] = encode(drawn * gain, problem.dtype)
    diagonal = _diagonal(cell)
    if diagonal:
        diagonal.draw(cell, random, found, diagonal.drawn_shapes(problem, cell))
    else:
        found[first_state(problem)][...] = _drawn(random, found[first_state(problem)].shape)
    if problem.lengths:
        found["lengths"][...] = random.integers(0, problem.steps + 1, problem.batch, dtype=np.int32)
    if problem.sequences:
        inner = random.integers(0, problem.steps + 1, problem.sequences - 1)
        found["boundaries"][...] = [0, *np.sort(inner), problem.steps]
    if problem.resets:
        found["resets"][...] = random.random(found["resets"].shape) < 0.05
    if problem.direction == "backward":
        for row in found["gradient"]:
            row[...] = encode(_drawn(random, row.shape), problem.dtype)
        if not diagonal:
            found["initial"][...] = _drawn(random, found["initial"].shape)
    return found


def _diagonal(cell: Cell) -> ModuleType | None:
    """Shapes of the arrays of a cell that is not linear in its state."""
    if not is_nonlinear(cell):
        return None
    from kerneltune.running import diagonal_arrays

    return diagonal_arrays


def _size_of_a(cell: Cell, gate: str) -> float:
    """Of coefficients that are drawn: those of several numbers are smaller, so that their products decay."""
    return 0.0 if gate not in coefficients_of(cell) else 1.0 if state_width(cell) == 1 else 0.65


def _drawn(random: np.random.Generator, shape: Shape, *, coefficient: float = 0.0) -> NDArray[np.float32]:
    if coefficient:
        drawn = random.random(shape, dtype=np.float32) * np.float32(1.2) - np.float32(0.2)
        return drawn * np.float32(coefficient)
    return random.standard_normal(shape, dtype=np.float32)


def fill(
    problem: ScanProblem, cell: Cell, arrays: Arrays, out: Arrays, part: ComparedPart = COMPARED
) -> None:
    """Compute all that `made_shapes` and `expected_shapes` name."""
    diagonal = _diagonal(cell)
    if diagonal:
        diagonal.fill(problem, cell, arrays, out, part)
        return
    module = cell.reference_module()
    rows, channels = sample(problem, part)
    inputs = _inputs(problem, arrays, rows, channels)
    if problem.direction != "backward":
        out["after"][...], out["last"][...] = forward(module, inputs)
        return
    for some in row_blocks(problem, part):
        hidden, _ = forward(module, _inputs(problem, arrays, some, slice(None)))
        out["hidden"][some] = encode(hidden, problem.dtype)
    gradient = wide(chosen(problem, arrays["gradient"], rows, channels), problem.dtype)
    last = chosen(problem, arrays["initial"], rows, channels).astype(np.float64)
    stored = wide(chosen(problem, out["hidden"], rows, channels), problem.dtype)
    found, out["by_initial"][...] = backward(module, inputs, gradient, last, stored)
    for name, array in zip(OUTPUTS, found, strict=False):
        out[f"by_{name}"][...] = array


def row_blocks(problem: ScanProblem, part: ComparedPart = COMPARED) -> Iterator[slice]:
    """Rows of a batch, some at a time."""
    count = max(1, part.at_a_time // (problem.steps * problem.channels))
    return (slice(start, start + count) for start in range(0, problem.batch, count))


def wide(bits: NDArray[np.generic], dtype: str) -> Array:
    """Stored numbers in float64."""
    return decode(np.ascontiguousarray(bits), dtype).astype(np.float64)


def _inputs(problem: ScanProblem, arrays: Arrays, rows: slice, channels: slice) -> ScanInputs:
    lengths = arrays.get("lengths", np.full(problem.batch, problem.steps, np.int32))
    resets = arrays.get("resets", np.zeros((problem.batch, problem.steps), BYTE))
    return ScanInputs(
        tuple(
            wide(chosen(problem, arrays[name], rows, channels), problem.dtype)
            for name in INPUTS
            if name in arrays
        ),
        chosen(problem, arrays[first_state(problem)], rows, channels).astype(np.float64),
        lengths[rows],
        resets[rows].astype(bool),
        problem.reverse,
        arrays.get("boundaries"),
    )
