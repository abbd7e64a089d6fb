"""Launches that a compiler chose, as Triton does: by the driver, or by Triton."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from kerneltune.errors import MissingExtraError
from kerneltune.measuring.case import Case
from kerneltune.messages import Order, OwnLaunch

if TYPE_CHECKING:
    from kerneltune.measuring.triton_backend import TritonBackend

TYPES = {
    "i1": np.dtype("bool"),
    "fp32": np.dtype("float32"),
    "fp64": np.dtype("float64"),
    **{f"{letter}{8 * size}": np.dtype(f"{letter}{size}") for letter in "iu" for size in (1, 2, 4, 8)},
}


def with_own_launch(order: Order, launch: OwnLaunch | None) -> Order:
    """An order with the block, the shared memory and the arguments of a launch that a compiler chose."""
    if launch is None:
        return order
    takes = tuple(place for place, kind in enumerate(launch.types) if kind)
    return replace(order, block=launch.block, shared_memory=launch.shared_memory, takes=takes)


def as_type(value: object, kind: str) -> object:
    """A number in the type that a compiled function takes; one that stands in the code needs none."""
    return np.asarray(value, TYPES[kind]) if kind in TYPES else value


def launched_by_triton(case: Case) -> TritonBackend:
    """The backend that launches as Triton does; raises `MissingExtraError` without torch or Triton."""
    try:
        from kerneltune.measuring.triton_backend import TritonBackend
    except ImportError:
        raise MissingExtraError("running Triton functions", "torch") from None
    return TritonBackend(case)
