"""Is a kernel's result right? Random input, a float64 reference, and how far the two are apart."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kerneltune.compiling.halffloat import Bits, decode, encode, stored_forward_clip
from kerneltune.inputs.descriptions import Cell
from kerneltune.inputs.problem import Problem

Wide: TypeAlias = NDArray[np.float64]

# Relative L2 error over all steps: h passes through the storage type at every step; TF32 has 11 bits.
TOLERANCE = {"bf16": 5e-3, "fp16": 2e-3, "fp32": 1e-5, "tf32": 1e-3}
# Of gradients, which pass through 16 bits at every step too, from what the reference saves in 16 bits.
GRADIENT_TOLERANCE = {"bf16": 1.2e-2, "fp16": 2e-3, "fp32": 3e-5, "tf32": 3e-3}


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
    """How one result compares to the reference: the largest relative L2 error of its parts."""

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
        bound = f"{self.tolerance:.1e}".replace(".0e", "e")
        return f"relative error {self.relative_error:.2e}, {mark} {bound}"


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
    return cell.reference()(wx, r, bias, initial, stored_forward_clip(inputs.problem))


def compare(states: Bits, reference: Wide, dtype: str) -> Verdict:
    """Hold a kernel's states against the reference: h of every step, the other states after the last."""
    parts = [(states[0, 1:], reference[0, 1:]), (states[1:, -1:], reference[1:, -1:])]
    return judged(
        ((decode(np.ascontiguousarray(bits), dtype), expected) for bits, expected in parts), TOLERANCE[dtype]
    )


def judged(
    pairs: Iterable[tuple[NDArray[Any], Wide]], tolerance: float, so_far: Verdict | None = None
) -> Verdict:
    """The verdict on pairs of a result and what was expected, on top of one that there is already."""
    worst = so_far.relative_error if so_far else 0.0
    unwritten = so_far.unwritten if so_far else 0
    for got, expected in pairs:
        if not expected.size:
            continue
        unwritten += int(np.count_nonzero(np.isnan(got)))
        norm = float(np.linalg.norm(expected.ravel()))
        error = float(np.linalg.norm((got - expected).ravel())) / max(norm, 1e-30)
        worst = max(worst, error if math.isfinite(error) else math.inf)
    return Verdict(worst, tolerance, unwritten)
