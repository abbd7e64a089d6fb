"""The float64 reference of a case, computed in blocks of heads and rows, and a few time steps at a time.

Heads and rows of a batch are independent, so each block is a problem of its own. Steps follow from the states
before them, so memory holds float64 numbers of only a few steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kerneltune.cells.recurrence import Array, GradientOptions, parameter_gradients
from kerneltune.compiling.halffloat import WIDE_DTYPES, decode, encode, stored_forward_clip
from kerneltune.inputs.descriptions import Cell
from kerneltune.inputs.problem import Problem
from kerneltune.inputs.request import Request
from kerneltune.running.verify import TOLERANCE

Arrays: TypeAlias = Mapping[str, NDArray[Any]]
Shape: TypeAlias = tuple[int, ...]

AT_A_TIME = 1 << 22  # elements of W x, or of an output, that are widened to float64 at a time
# The axes of batch rows and heads; None if the array has none.
AXES: dict[str, tuple[int | None, int | None]] = {
    "recurrent": (None, 0),
    "bias": (None, 0),
    "states": (2, 3),
    "by_r": (None, 0),
    "by_bias": (None, 0),
    "weights": (None, 0),
    "by_weights": (None, 0),
}
ROWS_AND_HEADS = (1, 2)  # for every other array
SUMS = ("by_r", "by_bias", "by_weights")  # sums over rows: the contributions of row blocks are added


@dataclass(frozen=True)
class Block:
    """A block of heads and batch rows, as half-open ranges."""

    heads: tuple[int, int]
    rows: tuple[int, int]

    def of_problem(self, problem: Problem) -> Problem:
        """The request restricted to these heads and rows."""
        return replace(problem, heads=self.heads[1] - self.heads[0], batch=self.rows[1] - self.rows[0])

    def of(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        """The block's part of an array, as a view; the array's name tells which axes are rows and heads."""
        rows, heads = AXES.get(name, ROWS_AND_HEADS)
        index: list[slice] = [slice(None)] * array.ndim
        if rows is not None:
            index[rows] = slice(*self.rows)
        if heads is not None:
            index[heads] = slice(*self.heads)
        return array[tuple(index)]


@dataclass(frozen=True)
class Referenced:
    """The reference's results: arrays that a backward launch reads, and expected results."""

    inputs: Arrays
    expected: Arrays


def storage(problem: Request) -> np.dtype[np.generic]:
    """The element type of the bits of the problem's storage type."""
    return np.dtype(np.uint32 if problem.dtype in WIDE_DTYPES else np.uint16)


def made_inputs(problem: Problem, cell: Cell) -> dict[str, tuple[Shape, np.dtype[np.generic]]]:
    """Shapes and types of the arrays that a launch reads and the reference makes, by name.

    Only a backward launch reads any. Axes: states, time, batch, heads, head dimension; saved values last.
    """
    if problem.direction != "backward":
        return {}
    spec, bits = cell.spec, storage(problem)
    row = (problem.batch, problem.heads, problem.head_dim)
    found: dict[str, tuple[Shape, np.dtype[Any]]] = {
        "states": ((len(spec.states), problem.steps + 1, *row), bits)
    }
    if spec.saved_values:
        found["saved_values"] = ((problem.steps, *row, spec.saved_values), bits)
    if spec.saved_states:
        found["saved_states"] = ((problem.steps + 1, *row, spec.saved_states), np.dtype(np.float32))
    return found


def expected_shapes(problem: Problem, cell: Cell) -> dict[str, Shape]:
    """Shapes of the expected float64 results.

    ``hidden`` is h after each step, ``last`` the other states after the last step; ``saved_values`` (NaN
    where rounding decides on them) and ``saved_states`` are kept by training. Backward, ``hidden_before`` is
    h before each step; the gradients have the names of the outputs, from which ``by_r`` and ``by_bias``
    follow.
    """
    spec = cell.spec
    row = (problem.batch, problem.heads, problem.head_dim)
    gates, states = len(spec.gates), len(spec.states)
    if problem.direction == "backward":
        by_gates = (problem.steps, *row, gates)
        found = {"hidden_before": (problem.steps, *row), "input_gradient": by_gates}
        if spec.separate_gradients:
            found["recurrent_gradient"] = by_gates
        if spec.weights:
            found["by_weights"] = (problem.heads, len(spec.weights), problem.head_dim)
        return found | {
            "initial_gradient": (states, *row),
            "by_r": (problem.heads, gates, problem.head_dim, problem.head_dim),
            "by_bias": (problem.heads, gates, problem.head_dim),
        }
    found = {"hidden": (problem.steps, *row), "last": (states - 1, *row)}
    if problem.direction == "training" and spec.saved_values:
        found["saved_values"] = (problem.steps, *row, spec.saved_values)
    if problem.direction == "training" and spec.saved_states:
        found["saved_states"] = (problem.steps + 1, *row, spec.saved_states)
    return found


def reference(problem: Problem, cell: Cell, arrays: Arrays, at_a_time: int = AT_A_TIME) -> Referenced:
    """The reference of a whole problem, in this process.

    Args:
        problem: The request.
        cell: Its cell.
        arrays: ``input``, ``recurrent``, ``bias``, ``initial``, and backward ``output_gradient`` and
            ``last_gradient``, as bits.
        at_a_time: Elements of W x that are widened to float64 at a time.
    """
    inputs = {name: np.empty(shape, dtype) for name, (shape, dtype) in made_inputs(problem, cell).items()}
    expected = {name: np.zeros(shape) for name, shape in expected_shapes(problem, cell).items()}
    fill(problem, cell, arrays, {**inputs, **expected}, at_a_time)
    return Referenced(inputs, expected)


def fill(problem: Problem, cell: Cell, arrays: Arrays, out: Arrays, at_a_time: int = AT_A_TIME) -> None:
    """Compute all arrays of ``out``, named by `made_inputs` and `expected_shapes` and zero at first."""
    _Run(problem, cell, arrays, out, at_a_time).fill()


class _Run:
    """One pass of the reference over a problem or a block."""

    def __init__(self, problem: Problem, cell: Cell, arrays: Arrays, out: Arrays, at_a_time: int) -> None:
        self._problem, self._arrays, self._out = problem, arrays, out
        self._at_a_time = at_a_time
        self._module = cell.reference_module()
        if "weights" in arrays:
            self._module = self._module.with_weights(self._wide(arrays["weights"]))
        self._clip = stored_forward_clip(problem)
        self._r, self._bias, self._initial = (
            self._wide(arrays[name]) for name in ("recurrent", "bias", "initial")
        )

    def fill(self) -> None:
        if self._problem.direction == "backward":
            self._fill_backward()
            return
        state = self._initial
        for part, after, wx, states in self._forward():
            self._out["hidden"][part] = states[0, 1:]
            if self._problem.direction == "training":
                self._keep(part, after, *self._decided(wx, states))
            state = states[:, -1]
        self._out["last"][...] = state[1:]

    def _fill_backward(self) -> None:
        problem, out = self._problem, self._out
        states = np.empty(out["states"].shape)
        states[:, 0] = self._initial
        for part, _, _, made in self._forward():
            states[:, 1:][:, part] = made[:, 1:]
        if self._clip:  # whether h reached the bound is visible in its stored value
            states[0] = self._wide(encode(states[0], problem.dtype))
        out["states"][...] = encode(states, problem.dtype)
        out["hidden_before"][...] = states[0, :-1]
        options = GradientOptions(problem.gate_gradient_clip, problem.cut_recurrent_gradient, self._clip)
        carried = self._wide(self._arrays["last_gradient"])
        for part, after in reversed(list(self._parts())):
            wx, made = self._wide(self._arrays["input"][part]), states[:, after]
            self._keep(part, after, *self._module.saved(wx, self._r, self._bias, made), as_bits=True)
            by_output = self._wide(self._arrays["output_gradient"][part])
            found = self._module.backward(wx, self._r, self._bias, made, by_output, carried, options)
            carried = found.initial
            out["input_gradient"][part] = found.input
            if "recurrent_gradient" in out:
                out["recurrent_gradient"][part] = found.recurrent
            by_r, by_bias = parameter_gradients(found.recurrent, made[0, :-1])
            out["by_r"][...] += by_r
            out["by_bias"][...] += by_bias
            if "by_weights" in out:
                out["by_weights"][...] += self._module.summed(found.recurrent, made)
        out["initial_gradient"][...] = carried

    def _forward(self) -> Iterator[tuple[slice, slice, Array, Array]]:
        """Consecutive chunks of steps: their slice, W x, and the states before, between and after them."""
        state = self._initial
        for part, after in self._parts():
            wx = self._wide(self._arrays["input"][part])
            states = self._module.forward(wx, self._r, self._bias, state, self._clip)
            yield part, after, wx, states
            state = np.array(states[:, -1])

    def _parts(self) -> Iterator[tuple[slice, slice]]:
        """The slices of steps that are computed at a time, and the same including the time after them."""
        input_product, steps = self._arrays["input"], self._problem.steps
        length = max(1, self._at_a_time // max(1, input_product[:1].size))
        for start in range(0, steps, length):
            stop = min(start + length, steps)
            yield slice(start, stop), slice(start, stop + 1)

    def _keep(
        self, part: slice, after: slice, values: Array, states: Array, *, as_bits: bool = False
    ) -> None:
        if "saved_values" in self._out:
            kept = encode(values, self._problem.dtype) if as_bits else values
            self._out["saved_values"][part] = kept
        if "saved_states" in self._out:
            self._out["saved_states"][after] = states

    def _decided(self, wx: Array, states: Array) -> tuple[Array, Array]:
        """The values and states that training saves; NaN for values that rounding decides on."""
        values, kept = self._module.saved(wx, self._r, self._bias, states)
        if getattr(self._module, "jumping", ()):
            tolerance = TOLERANCE[self._problem.dtype]
            open_ = self._module.undecided(wx, self._r, self._bias, states, tolerance)
            values = np.where(open_, np.nan, values)
        return values, kept

    def _wide(self, bits: NDArray[Any]) -> Array:
        return decode(np.ascontiguousarray(bits), self._problem.dtype).astype(np.float64)
