"""The inputs and expected outputs of a scan's launch, and the verdict on its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from kerneltune.compiling.halffloat import decode
from kerneltune.compiling.scan_arguments import ARRAYS, OUTPUTS
from kerneltune.inputs.descriptions import Cell
from kerneltune.inputs.scan_descriptions import ScanCell, is_nonlinear
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.running import diagonal_arrays
from kerneltune.running.case import Output
from kerneltune.running.reference import Arrays, storage
from kerneltune.running.scan_arrays import (
    COMPARED,
    ComparedPart,
    chosen,
    drawn_arrays,
    expected_shapes,
    fill,
    made_shapes,
    row_blocks,
    sample,
    state_width,
    states_shape,
    steps_shape,
    wide,
    widths_of,
)
from kerneltune.running.verify import Pair, Verdict, judged

# Relative L2 error: results are rounded to storage, states are float32 throughout.
TOLERANCE = {"bf16": 3e-3, "fp16": 1e-3, "fp32": 3e-6}
# Of diagonal cells: gates pass through approximations of 11 bits at every step, where storage has 16 bits.
DIAGONAL_TOLERANCE = {"bf16": 5e-3, "fp16": 5e-3, "fp32": 3e-5}


@dataclass(frozen=True)
class ScanCase:
    """A launch of a scan.

    Attributes:
        problem: The request.
        cell: Its cell.
        inputs: The arrays that the launch reads.
        expected: The float64 reference of a sample, by the names that `scan_arrays` gives.
        part: What is compared.
    """

    problem: ScanProblem
    cell: Cell
    inputs: Arrays
    expected: Arrays
    part: ComparedPart = COMPARED

    @property
    def outputs(self) -> Mapping[str, Output]:
        """Arrays that the launch writes."""
        widths: tuple[int, ...] = (state_width(self.cell),)
        if self.problem.direction == "backward":
            widths = widths_of(self.cell)
        found = {
            name: Output(steps_shape(self.problem, width), storage(self.problem))
            for name, width in zip(OUTPUTS, widths, strict=False)
        }
        if is_nonlinear(self.cell):
            return found | diagonal_arrays.outputs(self.problem, self.cell)
        return {**found, "final_state": Output(states_shape(self.problem, self.cell), np.dtype(np.float32))}

    @property
    def strides(self) -> dict[str, tuple[int, int]]:
        """From one batch row, and from one step, to the next, of every array `[B, T, D]`, in elements."""
        found: dict[str, tuple[int, ...]] = {name: array.shape for name, array in self.inputs.items()}
        found |= {name: output.shape for name, output in self.outputs.items()}
        return {name: (found[name][1] * found[name][2], found[name][2]) for name in ARRAYS if name in found}

    def judge(self, results: Arrays) -> Verdict:
        """Hold the sample against the float64 reference; of the rest, every number must be one."""
        tolerance = DIAGONAL_TOLERANCE if self._nonlinear else TOLERANCE
        verdict = judged(self._pairs(results), tolerance[self.problem.dtype], dtype=self.problem.dtype)
        return Verdict(verdict.relative_error, verdict.tolerance, self._unwritten(results))

    @property
    def _nonlinear(self) -> bool:
        return is_nonlinear(self.cell)

    def _pairs(self, results: Arrays) -> Iterator[Pair]:
        rows, channels = sample(self.problem, self.part)
        last = "last"
        if self.problem.direction == "backward":
            last = "by_initial"
        for name, expected in self.expected.items():
            if name not in (last, "kept", "by_weights"):
                output = name.removeprefix("by_") if name != "after" else OUTPUTS[0]
                found = chosen(self.problem, results[output], rows, channels)
                yield [(wide(found, self.problem.dtype), expected)]
        if self._nonlinear:
            assert isinstance(self.cell, ScanCell)
            yield from diagonal_arrays.state_pairs(self.problem, self.cell, results, self.expected, self.part)
            return
        found = chosen(self.problem, results["final_state"], rows, channels)
        yield [(found.astype(np.float64), self.expected[last])]

    def _unwritten(self, results: Arrays) -> int:
        count = int(np.count_nonzero(np.isnan(results["final_state"])))
        if self._nonlinear:
            count = diagonal_arrays.unwritten(results)
        for name in results.keys() & set(OUTPUTS):
            for some in row_blocks(self.problem, self.part):
                numbers = decode(np.ascontiguousarray(results[name][some]), self.problem.dtype)
                count += int(np.count_nonzero(np.isnan(numbers)))
        return count


def random_scan(problem: ScanProblem, cell: Cell, seed: int, part: ComparedPart = COMPARED) -> ScanCase:
    """A launch of a scan with random input."""
    arrays = drawn_arrays(problem, cell, seed)
    made = {name: np.empty(*about) for name, about in made_shapes(problem, cell).items()}
    expected = {name: np.zeros(shape) for name, shape in expected_shapes(problem, cell, part).items()}
    fill(problem, cell, arrays, {**made, **expected}, part)
    return ScanCase(problem, cell, {**arrays, **made}, expected, part)
