"""A child process whose stand-in for a GPU computes scans in float64; the cubin says how it is wrong."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from kerneltune.compiling.halffloat import decode, encode
from kerneltune.compiling.scan_arguments import INPUTS, OUTPUTS
from kerneltune.running import child
from kerneltune.running.scan_case import ScanCase
from kerneltune.running.scan_reference import ScanInputs, backward, forward
from kerneltune.tiling.candidate import Candidate


def right_results(case: ScanCase) -> dict[str, np.ndarray[Any, Any]]:
    """What a perfect kernel writes."""
    problem, arrays = case.problem, case.inputs
    read = [arrays[name] for name in INPUTS if name in arrays]
    back = problem.direction == "backward"
    inputs = ScanInputs(
        tuple(decode(np.ascontiguousarray(bits), problem.dtype).astype(np.float64) for bits in read),
        np.asarray(arrays["first_hidden" if back else "initial"], np.float64),
        arrays.get("lengths", np.full(problem.batch, problem.steps)),
        arrays.get("resets", np.zeros((problem.batch, problem.steps))).astype(bool),
        problem.reverse,
        arrays.get("boundaries"),
    )
    module = case.cell.reference_module()
    if back:
        by_hidden = decode(np.ascontiguousarray(arrays["gradient"]), problem.dtype).astype(np.float64)
        stored = decode(np.ascontiguousarray(arrays["hidden"]), problem.dtype).astype(np.float64)
        last_gradient = np.asarray(arrays["initial"], np.float64)
        found, last = backward(module, inputs, by_hidden, last_gradient, stored)
    else:
        hidden, last = forward(module, inputs)
        found = (hidden,)
    results = {name: encode(part, problem.dtype) for name, part in zip(OUTPUTS, found, strict=False)}
    return {**results, "final_state": last.astype(np.float32)}


class Runner:
    """A GPU that is right, or wrong in one number."""

    device = "pretended"
    compute_capability = "9.0"

    def prepare(self, candidate: Candidate, cubin: bytes, case: ScanCase, *, cooperative: bool) -> None:
        self._results = right_results(case)
        if cubin == b"wrong":
            self._results["output0"] = self._results["output0"][:, ::-1]
        if cubin == b"hole":
            self._results["output0"].reshape(-1)[-1:] = ~np.zeros(1, self._results["output0"].dtype)

    def run_once(self) -> None:
        """There is nothing to launch."""

    def read(self) -> dict[str, np.ndarray[Any, Any]]:
        return {name: array.copy() for name, array in self._results.items()}

    def time(self, count: int) -> list[float]:
        return [0.5] * count


if __name__ == "__main__":
    child._runner = Runner
    child.main()
    sys.exit(0)
