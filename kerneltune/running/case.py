"""What a launch of each pass reads and must write: random input by a seed, a verdict on what came out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kerneltune.compiling.halffloat import Bits, decode, encode, stored_forward_clip
from kerneltune.inputs.descriptions import Cell
from kerneltune.inputs.problem import Problem
from kerneltune.running.recurrence import Array, GradientOptions, Gradients, parameter_gradients
from kerneltune.running.verify import (
    GRADIENT_TOLERANCE,
    Inputs,
    Verdict,
    compare,
    judged,
    random_inputs,
    reference_states,
)

Arrays: TypeAlias = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Output:
    """An array that a launch writes.

    Attributes:
        shape: Its shape.
        dtype: Its element type: bits of the storage type, or float32.
        initial: What index 0 of its second axis must hold before a launch, if anything.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    initial: NDArray[Any] | None = None

    @property
    def nbytes(self) -> int:
        """Its size."""
        return int(np.prod(self.shape)) * self.dtype.itemsize


@dataclass(frozen=True)
class Case:
    """One launch: arrays by the names of the fields of the kernel's argument struct.

    Attributes:
        problem: The request.
        inputs: What the launch reads.
        outputs: What it writes.
        judge: Holds what it wrote against the float64 reference.
    """

    problem: Problem
    inputs: Arrays
    outputs: Mapping[str, Output]
    judge: Callable[[Arrays], Verdict]


def random_case(problem: Problem, cell: Cell, seed: int) -> Case:
    """A launch of the problem's pass with input of the size that a trained layer sees."""
    inputs = random_inputs(problem, cell, seed)
    if problem.direction == "backward":
        return _backward(inputs, cell, seed)
    return _forward(inputs, cell)


def _forward(inputs: Inputs, cell: Cell) -> Case:
    problem = inputs.problem
    reference = reference_states(inputs, cell)
    outputs = {"states": Output(inputs.states_shape, inputs.initial.dtype, inputs.initial)}
    saves = problem.direction == "training"
    if saves:
        outputs |= _saved_outputs(inputs, cell)

    def judge(results: Arrays) -> Verdict:
        verdict = compare(results["states"], reference, problem.dtype)
        return _with_saved(verdict, results, inputs, cell, reference) if saves else verdict

    arrays = {"input": inputs.wx, "recurrent": inputs.r, "bias": inputs.bias}
    return Case(problem, arrays, outputs, judge)


def _saved_outputs(inputs: Inputs, cell: Cell) -> dict[str, Output]:
    _, times, *rest = inputs.states_shape
    found = {}
    if cell.spec.saved_values:
        shape = (times - 1, *rest, cell.spec.saved_values)
        found["saved_values"] = Output(shape, inputs.wx.dtype)
    if cell.spec.saved_states:
        found["saved_states"] = Output((times, *rest, cell.spec.saved_states), np.dtype(np.float32))
    return found


def _with_saved(verdict: Verdict, results: Arrays, inputs: Inputs, cell: Cell, reference: Array) -> Verdict:
    """The verdict on the states, made worse by what was saved if that is further off."""
    dtype = inputs.problem.dtype
    wx, r, bias = (_wide(bits, dtype) for bits in (inputs.wx, inputs.r, inputs.bias))
    module = cell.reference_module()
    values, states = module.saved(wx, r, bias, reference)
    unfolded = getattr(
        module, "unfolded", lambda kept: kept
    )  # where equal gates may be kept in other numbers
    pairs = []
    if cell.spec.saved_values:
        pairs.append((unfolded(_wide(results["saved_values"], dtype)), unfolded(values)))
    if cell.spec.saved_states:
        pairs.append((results["saved_states"], states))
    return judged(pairs, verdict.tolerance, verdict)


def _backward(inputs: Inputs, cell: Cell, seed: int) -> Case:
    problem = inputs.problem
    dtype = problem.dtype
    states = reference_states(inputs, cell)
    bound = stored_forward_clip(problem)
    if bound:  # whether h reached the bound is told by what is stored of it
        states[0] = _wide(encode(states[0], dtype), dtype)
    wx, r, bias = (_wide(bits, dtype) for bits in (inputs.wx, inputs.r, inputs.bias))
    module = cell.reference_module()
    values, saved_states = module.saved(wx, r, bias, states)
    random = np.random.default_rng([seed, 1])
    by_output, by_last = (
        encode(random.standard_normal(shape, dtype=np.float32), dtype)
        for shape in (states[0, 1:].shape, states[:, 0].shape)
    )
    options = GradientOptions(problem.gate_gradient_clip, problem.cut_recurrent_gradient, bound)
    expected = module.backward(wx, r, bias, states, _wide(by_output, dtype), _wide(by_last, dtype), options)
    arrays: dict[str, NDArray[Any]] = {
        "states": encode(states, dtype),
        "output_gradient": by_output,
        "last_gradient": by_last,
        "recurrent": inputs.r,
    }
    if cell.spec.saved_values:
        arrays["saved_values"] = encode(values, dtype)
    if cell.spec.saved_states:
        arrays["saved_states"] = np.ascontiguousarray(saved_states, dtype=np.float32)
    outputs = {
        "input_gradient": Output(wx.shape, inputs.wx.dtype),
        "initial_gradient": Output(by_last.shape, inputs.wx.dtype),
    }
    if cell.spec.separate_gradients:
        outputs["recurrent_gradient"] = Output(wx.shape, inputs.wx.dtype)
    hidden = states[0, :-1]
    parameters = parameter_gradients(expected.recurrent, hidden)

    def judge(results: Arrays) -> Verdict:
        return judged(
            _gradient_pairs(results, dtype, hidden, expected, parameters), GRADIENT_TOLERANCE[dtype]
        )

    return Case(problem, arrays, outputs, judge)


def _gradient_pairs(
    results: Arrays, dtype: str, hidden: Array, expected: Gradients, parameters: tuple[Array, Array]
) -> list[tuple[NDArray[Any], Array]]:
    """What the kernel wrote, and what follows from it by R and bias, each beside what was expected."""
    by_input = _wide(results["input_gradient"], dtype)
    by_recurrent = (
        _wide(results["recurrent_gradient"], dtype) if "recurrent_gradient" in results else by_input
    )
    initial = _wide(results["initial_gradient"], dtype)
    pairs = [(by_input, expected.input), *zip(initial, expected.initial, strict=True)]
    if by_recurrent is not by_input:
        pairs.append((by_recurrent, expected.recurrent))
    return [*pairs, *zip(parameter_gradients(by_recurrent, hidden), parameters, strict=True)]


def _wide(bits: Bits, dtype: str) -> Array:
    return decode(np.ascontiguousarray(bits), dtype).astype(np.float64)
