"""How far the results of a pass forward move if W x is rounded otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from kerneltune.compiling.halffloat import decode, encode
from kerneltune.inputs.problem import Problem
from kerneltune.running.reference import Arrays, reference, storage
from kerneltune.running.verify import ROUNDING

if TYPE_CHECKING:
    from kerneltune.running.case import LayerCase

MOST_WORK = 1 << 30
"""The most products with R in a reference that is computed again: a second or two for each."""
TIMES = 4
"""How often W x is moved."""
UNITS = 2.0
"""How far, in what rounding is at most: R h has the error of h and that of its products."""


def can_be_moved(problem: Problem) -> bool:
    """Whether the problem's reference is computed again."""
    products = problem.batch * problem.heads * problem.head_dim**2
    return problem.direction != "backward" and problem.steps * products <= MOST_WORK


def moved_by_rounding(case: LayerCase) -> Iterator[Arrays]:
    """The results of moved input, as a launch would write them."""
    problem, inputs = case.problem, {**case.inputs, "initial": case.initial}
    product = decode(np.ascontiguousarray(inputs["input"]), problem.dtype).astype(np.float64)
    unit = UNITS * ROUNDING[problem.dtype] * (1.0 + np.abs(product))
    for time in range(TIMES):
        draw = np.random.default_rng(time)
        moved = encode(product + unit * draw.uniform(-1.0, 1.0, product.shape), problem.dtype)
        found = reference(problem, case.cell, {**inputs, "input": moved}, case.at_a_time).expected
        yield _written(case, found)


def _written(case: LayerCase, found: Arrays) -> Arrays:
    states = np.zeros(case.outputs["states"].shape, storage(case.problem))
    states[0, 1:] = encode(found["hidden"], case.problem.dtype)
    states[1:, -1] = encode(found["last"], case.problem.dtype)
    written = {"states": states}
    if "saved_values" in found:
        values = np.where(
            np.isnan(found["saved_values"]), case.expected["saved_values"], found["saved_values"]
        )
        written["saved_values"] = encode(values, case.problem.dtype)
    if "saved_states" in found:
        written["saved_states"] = found["saved_states"].astype(np.float32)
    return written
