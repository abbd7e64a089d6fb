"""The argument structs of ``kernels/common/arguments.cuh``, with their memory layout."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kerneltune.compiling.scan_arguments import packed_scan
from kerneltune.inputs.request import Request
from kerneltune.inputs.scan_problem import ScanProblem

STRUCTS = {"forward": "ForwardArguments", "training": "ForwardArguments", "backward": "BackwardArguments"}

SIZES = ("steps", "batch", "heads", "step")
# Fields in order. Arrays are pointers, sizes are ints.
FIELDS = {
    "ForwardArguments": (
        *("input", "recurrent", "bias", "states", "workspace"),
        *SIZES,
        *("saved_values", "saved_states"),
    ),
    "BackwardArguments": (
        *("saved_values", "saved_states", "states", "output_gradient", "last_gradient", "recurrent"),
        *("input_gradient", "recurrent_gradient", "initial_gradient", "workspace"),
        *SIZES,
    ),
}


FIELDS |= {f"Weighted{name}": (*fields, "weights") for name, fields in FIELDS.items()}


def struct_of(direction: str, weighted: bool) -> str:
    """The struct of a pass, of a cell with weights of single units or without."""
    return f"Weighted{STRUCTS[direction]}" if weighted else STRUCTS[direction]


def layout(struct: str) -> np.dtype[np.void]:
    """The memory layout of a struct, by the C++ alignment rules."""
    fields = [(name, np.int32 if name in SIZES else np.uint64) for name in FIELDS[struct]]
    return np.dtype(fields, align=True)


def packed(
    problem: Request,
    addresses: Mapping[str, int],
    strides: Mapping[str, tuple[int, int]] | None = None,
) -> bytes:
    """The struct of the problem's pass; arrays without an address are null. Strides are of a scan's."""
    if isinstance(problem, ScanProblem):
        return packed_scan(problem, addresses, strides)
    struct = struct_of(problem.direction, "weights" in addresses)
    values = np.zeros(1, layout(struct))
    for name in FIELDS[struct]:
        values[name] = getattr(problem, name, 0) if name in SIZES else addresses.get(name, 0)
    return values.tobytes()
