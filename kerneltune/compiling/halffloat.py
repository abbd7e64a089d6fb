"""Conversion between float32 and the bits of storage types; numpy has no bfloat16."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kerneltune.errors import InputError
from kerneltune.inputs.problem import Problem

Bits: TypeAlias = NDArray[np.uint16 | np.uint32]
WIDE_DTYPES = ("fp32", "tf32")  # both are stored as float32, but multiplied in different precision

POISON = 0xFF  # memory filled with this byte reads as NaN in every format


def encode(values: NDArray[np.floating], dtype: str) -> Bits:
    """The bits of ``values``, rounded to nearest even."""
    if dtype in WIDE_DTYPES:
        return np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    if dtype == "fp16":
        return values.astype(np.float16).view(np.uint16)
    if dtype == "bf16":
        wide = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
        rounded = wide + (0x7FFF + ((wide >> 16) & 1))
        return (rounded >> 16).astype(np.uint16)
    raise InputError(f"no format is called '{dtype}'")


def decode(bits: Bits, dtype: str) -> NDArray[np.float32]:
    """The values of ``bits``."""
    if dtype in WIDE_DTYPES:
        return bits.view(np.float32)
    if dtype == "fp16":
        return bits.view(np.float16).astype(np.float32)
    if dtype == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32)
    raise InputError(f"no format is called '{dtype}'")


def stored_forward_clip(problem: Problem) -> float:
    """The bound of h in kernels, rounded to the storage type so that stored h can reach it; 0 for none."""
    bound = np.array([problem.forward_clip], dtype=np.float32)
    return float(decode(encode(bound, problem.dtype), problem.dtype)[0])
