"""``ScanArguments`` of ``kernels/scan/common/arguments.cuh`` as it lies in memory."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kerneltune.inputs.scan_problem import ScanProblem

HEADER = "scan/common/arguments.cuh"
STRUCT = "ScanArguments"
INPUTS = ("input0", "input1", "input2", "input3")
OUTPUTS = ("output0", "output1", "output2", "output3")
ARRAYS = (*INPUTS, "hidden", "gradient", *OUTPUTS)  # [B, T, D], with strides
_OTHERS = (
    *("initial", "first_hidden", "final_state", "lengths", "resets", "boundaries"),
    *("weights", "weight_gradient", "checkpoints", "repaired", "workspace"),
)
_SIZES = ("steps", "batch", "channels", "sequences")
_LAYOUT = np.dtype(
    [(name, np.uint64) for name in (*ARRAYS, *_OTHERS)]
    + [(f"{name}_{axis}", np.int64) for name in ARRAYS for axis in ("batch", "step")]
    + [(name, np.int32) for name in _SIZES],
    align=True,
)


def packed_scan(
    problem: ScanProblem,
    addresses: Mapping[str, int],
    strides: Mapping[str, tuple[int, int]] | None = None,
) -> bytes:
    """The struct of a launch.

    Args:
        problem: The request.
        addresses: Of arrays by the names of the fields; those without one are null.
        strides: From one batch row, and from one step, to the next, in elements; contiguous where not given.
    """
    values = np.zeros(1, _LAYOUT)
    for name in (*ARRAYS, *_OTHERS):
        values[name] = addresses.get(name, 0)
    for name, number in scalars(problem, strides or {}).items():
        values[name] = number
    return values.tobytes()


def scalars(problem: ScanProblem, strides: Mapping[str, tuple[int, int]]) -> dict[str, int]:
    """The fields that are no pointers."""
    contiguous = problem.steps * problem.channels, problem.channels
    found = {name: int(getattr(problem, name)) for name in _SIZES}
    for name in ARRAYS:
        found[f"{name}_batch"], found[f"{name}_step"] = strides.get(name, contiguous)
    return found
