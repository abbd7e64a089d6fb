"""Is a kernel's result right? Random input, a float64 reference, and how far the two are apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kerneltune.halffloat import Bits, decode, encode
from kerneltune.kernel import Cell
from kerneltune.problem import Problem

Wide: TypeAlias = NDArray[np.float64]

# Relative L2 error over all steps: h passes through 16 bits at every step.
TOLERANCE = {"bf16": 5e-3, "fp16": 2e-3}


@dataclass(frozen=True)
class Inputs:
    """Random input as the bits that the kernel reads. Shapes as in ``ForwardArguments``."""

    problem: Problem
    wx: Bits
    r: Bits
    bias: Bits
    initial: Bits

    @property
    def states_shape(self) -> tuple[int, ...]:
        """Shape of the output: states, steps + 1, batch, heads, head_dim."""
        count, batch, heads, head_dim = self.initial.shape
        return count, self.problem.steps + 1, batch, heads, head_dim


@dataclass(frozen=True)
class Verdict:
    """How one result compares to the reference: the larger relative L2 error of h and of the other states."""

    relative_error: float
    tolerance: float
    unwritten: int

    @property
    def right(self) -> bool:
        """Whether the result counts as correct; a NaN anywhere does not."""
        return self.unwritten == 0 and self.relative_error <= self.tolerance

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        if self.unwritten:
            return f"{self.unwritten} values were left unwritten or are NaN"
        mark = "within" if self.right else "above"
        return f"relative error {self.relative_error:.2e}, {mark} {self.tolerance:.0e}"


def random_inputs(problem: Problem, cell: Cell, seed: int) -> Inputs:
    """Input of the size that a trained layer sees: unit inputs, weights of variance 1 / head_dim."""
    random = np.random.default_rng(seed)
    heads, dim, gates = problem.heads, problem.head_dim, len(cell.spec.gates)
    states = len(cell.spec.states)

    def normal(shape: tuple[int, ...], scale: float) -> NDArray[np.float32]:
        return random.standard_normal(shape, dtype=np.float32) * np.float32(scale)

    def draw(shape: tuple[int, ...], scale: float) -> Bits:
        return encode(normal(shape, scale), problem.dtype)

    initial = normal((states, problem.batch, heads, dim), 0.5)
    for state, name in enumerate(cell.spec.states):
        if name in cell.spec.positive:
            initial[state] = 0.5 + np.abs(initial[state])

    return Inputs(
        problem=problem,
        wx=draw((problem.steps, problem.batch, heads, dim, gates), 1.0),
        r=draw((heads, gates, dim, dim), cell.spec.recurrent_gain * dim**-0.5),
        bias=draw((heads, gates, dim), 0.5),
        initial=encode(initial, problem.dtype),
    )


def reference_states(inputs: Inputs, cell: Cell) -> Wide:
    """The float64 reference on exactly the numbers that the kernel is given."""
    dtype = inputs.problem.dtype
    wx, r, bias, initial = (
        decode(bits, dtype).astype(np.float64) for bits in (inputs.wx, inputs.r, inputs.bias, inputs.initial)
    )
    return cell.reference()(wx, r, bias, initial)


def compare(states: Bits, reference: Wide, dtype: str) -> Verdict:
    """Hold a kernel's states against the reference: h of every step, the other states after the last."""
    worst, unwritten = 0.0, 0
    parts = [(states[0, 1:], reference[0, 1:]), (states[1:, -1:], reference[1:, -1:])]
    for got_bits, expected in parts:
        if not expected.size:
            continue
        got = decode(np.ascontiguousarray(got_bits), dtype)
        unwritten += int(np.count_nonzero(np.isnan(got)))
        norm = float(np.linalg.norm(expected.ravel()))
        error = float(np.linalg.norm((got - expected).ravel())) / max(norm, 1e-30)
        worst = max(worst, error if math.isfinite(error) else math.inf)
    return Verdict(worst, TOLERANCE[dtype], unwritten)
