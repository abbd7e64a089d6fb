"""A child process whose stand-in for a GPU computes scans in float64; the cubin says how it is wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from kerneltune.compiling.halffloat import decode, encode
from kerneltune.compiling.scan_arguments import INPUTS, OUTPUTS
from kerneltune.inputs.descriptions import discover
from kerneltune.measuring import child
from kerneltune.measuring.loaded import HostChecks
from kerneltune.messages import Built, Facts, Order
from kerneltune.running.case_files import load_case
from kerneltune.running.scan_case import ScanCase
from kerneltune.running.scan_reference import ScanInputs, backward, forward


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


class ScanLoaded(HostChecks[ScanCase]):
    """A kernel that is right, or wrong in one number."""

    def __init__(self, case: ScanCase, cubin: bytes) -> None:
        self.case = case
        self._results = right_results(case)
        if cubin == b"wrong":
            self._results["output0"] = self._results["output0"][:, ::-1]
        if cubin == b"hole":
            self._results["output0"].reshape(-1)[-1:] = ~np.zeros(1, self._results["output0"].dtype)

    def run(self, poison: int) -> None:
        """There is nothing to launch."""

    def read(self) -> dict[str, np.ndarray[Any, Any]]:
        return {name: array.copy() for name, array in self._results.items()}

    def time(self, count: int, *, flush: bool, warm_up: int) -> list[float]:
        return [0.5] * count

    def close(self) -> None:
        """There is nothing to free."""


class ScanBackend:
    """A GPU that is none."""

    facts = Facts(device="pretended", compute_capability="9.0")

    def __init__(self, kernels_root: str) -> None:
        self._kernels = discover(Path(kernels_root))

    def load(self, order: Order, built: Built | None) -> ScanLoaded:
        case = load_case(Path(order.case), self._kernels)
        assert isinstance(case, ScanCase)
        assert built is not None
        return ScanLoaded(case, built.cubin)


if __name__ == "__main__":
    child.backend_of = lambda set_up: ScanBackend(set_up.kernels_root)
    child.main()
    sys.exit(0)
