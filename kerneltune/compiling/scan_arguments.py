"""``ScanArguments`` of ``kernels/scan/common/arguments.cuh`` as it lies in memory."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from kerneltune.inputs.scan_problem import ScanProblem

HEADER = "scan/common/arguments.cuh"
STRUCT = "ScanArguments"
INPUTS = tuple(f"input{number}" for number in range(6))
OUTPUTS = tuple(f"output{number}" for number in range(6))
ARRAYS = (*INPUTS, "hidden", "gradient", *OUTPUTS)  # [B, T, D], with strides
_OTHERS = (
    *("initial", "first_hidden", "final_state", "lengths", "resets", "boundaries"),
    *("weights", "weight_gradient", "checkpoints", "repaired", "workspace"),
)
POINTERS = (*ARRAYS, *_OTHERS)
_SIZES = ("steps", "batch", "channels", "sequences")
_STRIDES = tuple(f"{name}_{axis}" for name in ARRAYS for axis in ("batch", "step"))
_NUMBERS = (*_STRIDES, *_SIZES)
_PACKED = struct.Struct(f"{len(POINTERS)}Q{len(_STRIDES)}q{len(_SIZES)}i")


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
    return packed([addresses.get(name, 0) for name in POINTERS], numbers(problem, strides or {}))


def packed(addresses: Sequence[int], rest: Sequence[int]) -> bytes:
    """The struct from all pointers in the order of `POINTERS`, and from `numbers`."""
    return _PACKED.pack(*addresses, *rest)


def numbers(problem: ScanProblem, strides: Mapping[str, tuple[int, int]]) -> tuple[int, ...]:
    """The fields that are no pointers, in order; strides as for `packed_scan`."""
    found = scalars(problem, strides)
    return tuple(found[name] for name in _NUMBERS)


def scalars(problem: ScanProblem, strides: Mapping[str, tuple[int, int]]) -> dict[str, int]:
    """The fields that are no pointers, by name."""
    contiguous = problem.steps * problem.channels, problem.channels
    found = {name: int(getattr(problem, name)) for name in _SIZES}
    for name in ARRAYS:
        found[f"{name}_batch"], found[f"{name}_step"] = strides.get(name, contiguous)
    return found
