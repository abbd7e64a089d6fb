"""Cases: the input of a launch, drawn by a seed, its expected output, and the verdict on its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kerneltune.cells.recurrence import Array, parameter_gradients
from kerneltune.compiling.halffloat import decode
from kerneltune.inputs.descriptions import Cell
from kerneltune.inputs.problem import Problem
from kerneltune.running.drawn_input import random_arrays
from kerneltune.running.reference import AT_A_TIME, Arrays, reference, storage
from kerneltune.running.rounding import can_be_moved, moved_by_rounding
from kerneltune.running.verify import (
    GRADIENT_TOLERANCE,
    LEAST_NORMAL,
    TOLERANCE,
    Pair,
    Verdict,
    distance,
    judged,
)

Shape: TypeAlias = tuple[int, ...]

CANCELLED = 2.0**-20
"""A gradient by a state that is so much smaller than the largest one is what is left of sums that cancel."""
MOVED = 2.0
"""How many times as far as rounded input moves the reference a right result may be off."""


@dataclass(frozen=True)
class Output:
    """An array that a launch writes.

    Attributes:
        shape: Its shape.
        dtype: Its element type: bits of the storage type, or float32.
        initial: Content of index 0 of its second axis before a launch, or None.
    """

    shape: Shape
    dtype: np.dtype[np.generic]
    initial: NDArray[np.generic] | None = None

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return int(np.prod(self.shape)) * self.dtype.itemsize


@dataclass(frozen=True)
class LayerCase:
    """One launch: arrays by the field names of the kernel's argument struct.

    Attributes:
        problem: The request.
        cell: Its cell.
        inputs: The arrays that the launch reads.
        initial: The states before the first step, `[S, B, H, D]`, as bits.
        expected: The float64 results, by the names that `reference.reference` uses.
        at_a_time: Elements of an array that are widened to float64 at a time.
    """

    problem: Problem
    cell: Cell
    inputs: Arrays
    initial: NDArray[np.generic]
    expected: Arrays
    at_a_time: int = AT_A_TIME

    @property
    def outputs(self) -> Mapping[str, Output]:
        """The arrays that the launch writes."""
        if self.problem.direction == "backward":
            return _backward_outputs(self.problem, self.cell)
        return _forward_outputs(self.problem, self.cell, self.initial)

    def judge(self, results: Arrays) -> Verdict:
        """Compare the launch's results with the float64 reference.

        If a pass forward seems wrong, rounding may be the reason: a cell that compares numbers, or that
        enlarges small differences from step to step, comes elsewhere after a difference that is no error. So
        the reference of W x that is rounded otherwise shows how far the results may be off.
        """
        if self.problem.direction == "backward":
            return self._judged_backward(results)
        verdict = self._judged_forward(results)
        if verdict.right or verdict.unwritten or not can_be_moved(self.problem):
            return verdict
        return self._judged_forward(results, list(moved_by_rounding(self)))

    def _judged_backward(self, results: Arrays) -> Verdict:
        dtype, tolerance = self.problem.dtype, GRADIENT_TOLERANCE[self.problem.dtype]
        pairs = [
            *_gradient_pairs(results, self.expected, dtype, self.at_a_time),
            *self._weight_pairs(results),
        ]
        verdict = judged(iter(pairs), tolerance, dtype=dtype)
        initial = self.expected["initial_gradient"]
        largest = max((float(np.sqrt(np.mean(one**2))) for one in initial), default=0.0)
        by_initial = _initial_pairs(results, self.expected, dtype)
        return judged(by_initial, tolerance, verdict, dtype=dtype, least=CANCELLED * largest)

    def _judged_forward(self, results: Arrays, moved: Sequence[Arrays] = ()) -> Verdict:
        """The verdict; `moved` are results that are as right, by which each array may be off, too."""
        dtype = self.problem.dtype
        verdict = Verdict(0.0, TOLERANCE[dtype], 0)
        for number, by_share in enumerate((False, True)):
            least = LEAST_NORMAL.get(dtype, 0.0)
            found = [
                [distance(pair, least, by_share=by_share)[0] for pair in self._pairs(one)[number]]
                for one in moved
            ]
            bounds = [MOVED * max(errors) for errors in zip(*found, strict=True)]
            verdict = judged(
                self._pairs(results)[number],
                TOLERANCE[dtype],
                verdict,
                dtype=dtype,
                by_share=by_share,
                bounds=bounds,
            )
        return verdict

    def _pairs(self, results: Arrays) -> tuple[Iterator[Pair], Iterator[Pair]]:
        """Pairs of states and saved values of a pass forward, and those of saved values that jump."""
        steady = _state_pairs(results["states"], self.expected, self.problem.dtype, self.at_a_time)
        if self.problem.direction != "training":
            return steady, iter(())
        jumping = self._value_pairs(results, self._jumping) if self._jumping else iter(())
        return chain(steady, self._saved_pairs(results)), jumping

    def _weight_pairs(self, results: Arrays) -> Iterator[Pair]:
        """The gradients by weights of single units, from those by the gates that the kernel wrote."""
        if "by_weights" in self.expected:
            by_recurrent = results.get("recurrent_gradient", results["input_gradient"])
            saved = self.inputs.get("saved_states")
            kept = [] if saved is None else list(np.moveaxis(saved, -1, 0))
            before = self.expected["hidden_before"]
            hidden = np.concatenate([before, np.full_like(before[:1], np.nan)])  # none is read after a step
            states = np.stack([hidden, *kept])
            found = self.cell.reference_module().summed(_wide(by_recurrent, self.problem.dtype), states)
            yield iter([(found, self.expected["by_weights"])])

    @property
    def _jumping(self) -> list[int]:
        """The numbers of the saved values that jump: rounding decides on which side."""
        return list(getattr(self.cell.reference_module(), "jumping", ()))

    def _saved_pairs(self, results: Arrays) -> Iterator[Pair]:
        """Pairs of what training saves, without the values that jump."""
        steady = sorted(set(range(self.cell.spec.saved_values)) - set(self._jumping))
        if not self._jumping:
            yield from self._value_pairs(results, slice(None))
        elif steady:
            yield from self._value_pairs(results, steady)
        if "saved_states" in self.expected:
            got, wanted = results["saved_states"], self.expected["saved_states"]
            yield ((got[part], wanted[part]) for part in _blocks(wanted, self.at_a_time))

    def _value_pairs(self, results: Arrays, chosen: list[int] | slice) -> Iterator[Pair]:
        """Pairs of the chosen ones of the saved values."""
        if "saved_values" not in self.expected:
            return
        got, wanted, dtype = results["saved_values"], self.expected["saved_values"], self.problem.dtype
        yield (
            (_wide(got[part], dtype)[..., chosen], wanted[part][..., chosen])
            for part in _blocks(wanted, self.at_a_time)
        )


def random_case(problem: Problem, cell: Cell, seed: int, at_a_time: int = AT_A_TIME) -> LayerCase:
    """A launch of the problem's pass with random input of realistic size."""
    arrays = random_arrays(problem, cell, seed)
    found = reference(problem, cell, arrays, at_a_time)
    return replace(made_case(problem, cell, {**arrays, **found.inputs}, found.expected), at_a_time=at_a_time)


def made_case(problem: Problem, cell: Cell, arrays: Arrays, expected: Arrays) -> LayerCase:
    """A case from drawn arrays and the reference's results."""
    backward = problem.direction == "backward"
    left_out = {"input", "bias", "initial"} if backward else {"initial"}
    inputs = {name: array for name, array in arrays.items() if name not in left_out}
    return LayerCase(problem, cell, inputs, arrays["initial"], expected)


def _forward_outputs(problem: Problem, cell: Cell, initial: NDArray[np.generic]) -> dict[str, Output]:
    spec, bits = cell.spec, storage(problem)
    row = (problem.batch, problem.heads, problem.head_dim)
    found = {"states": Output((len(spec.states), problem.steps + 1, *row), bits, initial)}
    if problem.direction == "training" and spec.saved_values:
        found["saved_values"] = Output((problem.steps, *row, spec.saved_values), bits)
    if problem.direction == "training" and spec.saved_states:
        shape = (problem.steps + 1, *row, spec.saved_states)
        found["saved_states"] = Output(shape, np.dtype(np.float32))
    return found


def _backward_outputs(problem: Problem, cell: Cell) -> dict[str, Output]:
    spec, bits = cell.spec, storage(problem)
    row = (problem.batch, problem.heads, problem.head_dim)
    gates = (problem.steps, *row, len(spec.gates))
    found = {
        "input_gradient": Output(gates, bits),
        "initial_gradient": Output((len(spec.states), *row), bits),
    }
    if spec.separate_gradients:
        found["recurrent_gradient"] = Output(gates, bits)
    return found


def _state_pairs(states: NDArray[Any], expected: Arrays, dtype: str, at_a_time: int) -> Iterator[Pair]:
    """Pairs of states: h of every step, the other states after the last."""
    hidden, last = expected["hidden"], expected["last"]
    yield ((decode(states[0, 1:][part], dtype), hidden[part]) for part in _blocks(hidden, at_a_time))
    yield iter([(decode(np.ascontiguousarray(states[1:, -1]), dtype), last)])


def _initial_pairs(results: Arrays, expected: Arrays, dtype: str) -> Iterator[Pair]:
    """Pairs of the gradients by the states before the first step."""
    for state, gradient in enumerate(expected["initial_gradient"]):
        yield iter([(_wide(results["initial_gradient"][state], dtype), gradient)])


def _gradient_pairs(results: Arrays, expected: Arrays, dtype: str, at_a_time: int) -> Iterator[Pair]:
    """Pairs of gradients: those that the kernel wrote, and those by R and bias that follow from them."""
    by_input, hidden = results["input_gradient"], expected["hidden_before"]
    by_recurrent = results.get("recurrent_gradient", by_input)
    wanted = expected["input_gradient"]
    yield ((_wide(by_input[part], dtype), wanted[part]) for part in _blocks(wanted, at_a_time))
    if by_recurrent is not by_input:
        other = expected["recurrent_gradient"]
        yield ((_wide(by_recurrent[part], dtype), other[part]) for part in _blocks(other, at_a_time))
    by_r, by_bias = np.zeros_like(expected["by_r"]), np.zeros_like(expected["by_bias"])
    for part in _blocks(wanted, at_a_time):
        more = parameter_gradients(_wide(by_recurrent[part], dtype), hidden[part])
        by_r, by_bias = by_r + more[0], by_bias + more[1]
    yield iter([(by_r, expected["by_r"])])
    yield iter([(by_bias, expected["by_bias"])])


def _blocks(array: NDArray[np.generic], at_a_time: int) -> Iterator[slice]:
    """Slices of the first axis with about so many elements each."""
    length = max(1, at_a_time // max(1, array[:1].size))
    return (slice(start, start + length) for start in range(0, len(array), length))


def _wide(bits: NDArray[Any], dtype: str) -> Array:
    return decode(np.ascontiguousarray(bits), dtype).astype(np.float64)
