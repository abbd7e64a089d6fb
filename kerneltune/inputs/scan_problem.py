"""A request for a scan: its sizes, checked before anything is solved."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kerneltune.errors import InputError, nearest
from kerneltune.inputs.dtypes import DTYPES as BYTES
from kerneltune.inputs.dtypes import dtype_of
from kerneltune.inputs.problem import checked_fields

DTYPES = ("bf16", "fp16", "fp32")  # scans have no products, so none in TF32
DIRECTIONS = ("forward", "training", "backward")  # training is of cells with weights: it keeps states
WIDEST_VECTOR = 16  # bytes that a thread reads at once


@dataclass(frozen=True)
class ScanProblem:
    """A cell over `[batch, steps, channels]`, every channel apart from the others.

    A ``dtype`` may have any name that `kerneltune.inputs.dtypes` knows, except those of TF32.

    Attributes:
        cell: The cell's name, such as linear.
        reverse: Whether the scan begins at the last step.
        lengths: Whether rows have lengths of their own.
        resets: Whether h is dropped before some steps.
        sequences: How many sequences lie one after the other in the one row of the batch, each with a first
            and a last h of its own; 0 if rows are not divided.
        alignment: Bytes that rows of all arrays begin at multiples of; as if they were contiguous if 0.
        family: What tells a scan from other requests in JSON.
    """

    cell: str
    batch: int
    steps: int
    channels: int
    dtype: str
    direction: str = "forward"
    reverse: bool = False
    lengths: bool = False
    resets: bool = False
    alignment: int = 0
    sequences: int = 0
    family: str = "scan"

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", dtype_of(self.dtype))
        if self.dtype not in DTYPES:
            raise InputError(f"a scan has no dtype '{self.dtype}': it takes {', '.join(DTYPES)}")
        if self.family != "scan":
            raise InputError(f"family is '{self.family}': that of a scan is 'scan'")
        if self.direction not in DIRECTIONS:
            raise InputError(f"unknown pass '{self.direction}': {nearest(self.direction, DIRECTIONS)}")
        for name in ("batch", "steps", "channels"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}: it must be at least 1")
        if self.steps >= 2**30:
            raise InputError(f"steps is {self.steps}: it must be below 2^30")
        if self.sequences < 0 or (self.sequences and (self.batch > 1 or self.lengths)):
            raise InputError(
                f"sequences is {self.sequences}: they lie in one row, without lengths, and are at least 0"
            )
        if self.alignment and (self.alignment % self.dtype_bytes or self.alignment < 0):
            raise InputError(
                f"alignment is {self.alignment}: it must be a multiple of {self.dtype_bytes} bytes"
            )

    @classmethod
    def from_json(cls, data: object) -> ScanProblem:
        """The problem that `dataclasses.asdict` gave; for anything else `ValueError` or `InputError`."""
        return cls(**checked_fields(cls, data))

    @property
    def dtype_bytes(self) -> int:
        """Bytes of one stored number."""
        return BYTES[self.dtype]

    @property
    def row_alignment(self) -> int:
        """Bytes that rows begin at multiples of, as far as kernels care."""
        return math.gcd(self.channels * self.dtype_bytes, self.alignment, WIDEST_VECTOR)

    @property
    def rows_of_states(self) -> int:
        """Rows of the first and of the last states: those of the batch, or the sequences."""
        return self.sequences or self.batch

    @property
    def backwards_in_time(self) -> bool:
        """Whether the kernel begins at the last step: the backward pass runs the other way."""
        return self.reverse != (self.direction == "backward")

    @property
    def modelled_steps(self) -> int:
        """Steps that the cost model's cycles are of."""
        return self.steps

    @property
    def label(self) -> str:
        """A short name for tables and messages."""
        options = [name for name in ("reverse", "lengths", "resets", "sequences") if getattr(self, name)]
        extra = "".join(f", {name}" for name in [*options, self.direction] if name != "forward")
        return f"{self.cell} scan {self.batch}×{self.steps}×{self.channels}, {self.dtype}{extra}"

    def constants(self) -> dict[str, int]:
        """The constants of the request in a constraint file."""
        return {
            "batch": self.batch,
            "steps": self.steps,
            "channels": self.channels,
            "dtype_bytes": self.dtype_bytes,
            "row_alignment": self.row_alignment,
            "backward": int(self.direction == "backward"),
            "reverse": int(self.backwards_in_time),
            "lengths": int(self.lengths),
            "resets": int(self.resets),
            "sequences": int(self.sequences > 0),
        }
