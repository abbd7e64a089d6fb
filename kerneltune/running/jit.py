"""numba's compiler for the scans of a CPU. It is imported with the first of them, and is part of an extra."""

from __future__ import annotations

from kerneltune.errors import MissingExtraError

try:
    from numba import njit, prange
except ModuleNotFoundError:
    raise MissingExtraError("a scan on a CPU", "torch") from None

__all__ = ["njit", "prange"]
