"""A request: one recurrent layer's sizes, validated before anything is solved."""

from __future__ import annotations

import math
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any

from kerneltune.errors import InputError, nearest
from kerneltune.inputs.dtypes import DTYPES, dtype_of

# Tensor-core products for one product: float32 accuracy takes three in TF32.
MMA_PRODUCTS = {"bf16": 1, "fp16": 1, "fp32": 3, "tf32": 1}
# Normal numbers; smaller or larger ones may round to 0 or infinity.
NORMAL_RANGE = {"bf16": (2.0**-126, 3.38e38), "fp16": (2.0**-14, 65504.0), "fp32": (2.0**-126, 3.4e38)}
NORMAL_RANGE["tf32"] = NORMAL_RANGE["fp32"]
PASSES = ("forward", "training", "backward")
HEAD_DIM_STEP = 8  # units come in groups of 8: half the rows of a tensor-core tile


@dataclass(frozen=True)
class Problem:
    """A cell with ``heads`` independent heads of ``head_dim`` units, run over ``steps`` steps of a batch.

    ``dtype`` may be any name that `kerneltune.inputs.dtypes` knows.
    """

    cell: str
    heads: int
    head_dim: int
    batch: int
    dtype: str
    steps: int = 1024
    direction: str = "forward"
    gate_gradient_clip: float = 0.0  # backward: bound of each gate's gradient; 0 for none
    cut_recurrent_gradient: bool = False  # backward: no gradient passes through R h
    forward_clip: float = 0.0  # bound of h after each step, rounded to the dtype; 0 for none

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", dtype_of(self.dtype))
        if self.direction not in PASSES:
            raise InputError(f"unknown pass '{self.direction}': {nearest(self.direction, PASSES)}")
        if not (0 <= self.gate_gradient_clip < math.inf):
            raise InputError(
                f"gate_gradient_clip is {self.gate_gradient_clip}: it must be a number, 0 for none"
            )
        if self.direction != "backward" and (self.gate_gradient_clip or self.cut_recurrent_gradient):
            raise InputError(
                "gate_gradient_clip and cut_recurrent_gradient are options of the pass 'backward'"
            )
        smallest, largest = NORMAL_RANGE[self.dtype]
        if self.forward_clip and not (smallest <= self.forward_clip <= largest):
            raise InputError(
                f"forward_clip is {self.forward_clip}: it must be 0 for none, "
                f"or from {smallest:.3g} to {largest:.5g} in {self.dtype}"
            )
        for name in ("heads", "batch", "steps"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}: it must be at least 1")
        if self.head_dim < 1 or self.head_dim % HEAD_DIM_STEP:
            raise InputError(
                f"head_dim is {self.head_dim}: it must be a positive multiple of {HEAD_DIM_STEP}; "
                f"the nearest is {max(HEAD_DIM_STEP, _rounded(self.head_dim, HEAD_DIM_STEP))}"
            )

    @classmethod
    def from_json(cls, data: object) -> Problem:
        """The inverse of `dataclasses.asdict`; raises `ValueError` or `InputError` for anything else."""
        return cls(**checked_fields(cls, data))

    @property
    def modelled_steps(self) -> int:
        """Number of steps that the cost model's cycles cover."""
        return 1

    @property
    def dtype_bytes(self) -> int:
        """Bytes of one stored number."""
        return DTYPES[self.dtype]

    @property
    def label(self) -> str:
        """A short name for tables and messages."""
        direction = "" if self.direction == "forward" else f", {self.direction}"
        return f"{self.cell} {self.heads}×{self.head_dim}, batch {self.batch}, {self.dtype}{direction}"

    def constants(self) -> dict[str, int]:
        """The request's values by their names in constraint files."""
        return {
            "heads": self.heads,
            "head_dim": self.head_dim,
            "batch": self.batch,
            "dtype_bytes": self.dtype_bytes,
            "mma_products": MMA_PRODUCTS[self.dtype],
            "saves": int(self.direction == "training"),
            "forward_clips": int(self.forward_clip > 0),
        }

    def with_head_dim(self, head_dim: int) -> Problem:
        """The same request for another head dimension."""
        return replace(self, head_dim=head_dim)


def checked_fields(kind: type, data: object) -> dict[str, Any]:
    """Fields of a request read from JSON, with checked types; raises `ValueError`."""
    kinds = {"str": str, "int": int, "float": float, "bool": bool}
    known = {one.name: kinds[str(one.type)] for one in fields(kind)}
    given: dict[str, Any] = checked(data, dict, "problem")
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"problem: unknown field {name[:40]!r}")
        checked(value, known[name], name)
    for one in fields(kind):
        if one.default is MISSING and one.name not in given:
            raise ValueError(f"problem: {one.name} is missing")
    return given


def checked(value: Any, kind: type, name: str) -> Any:
    """The value if it has this type; raises `ValueError` with its name otherwise."""
    right = isinstance(value, int | float) if kind is float else isinstance(value, kind)
    if not right or (kind is not bool and isinstance(value, bool)):
        raise ValueError(f"{name} is no {_KINDS[kind]}")
    if kind is str and not value.isascii():
        value.encode()  # raises for a lone surrogate
    if kind is float and not math.isfinite(value):
        raise ValueError(f"{name} is not a finite number")
    if kind in (int, float) and abs(value) > _MOST:
        raise ValueError(f"{name} is too large a number")
    return value


_MOST = 1 << 63
_KINDS = {str: "text", int: "integer", float: "number", bool: "truth value", dict: "object"}


def _rounded(value: int, step: int) -> int:
    return (value + step // 2) // step * step
