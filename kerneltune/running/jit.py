"""numba's compiler for the scans of a CPU. It is imported with the first of them, and is part of an extra."""

from __future__ import annotations

from typing import Any

from kerneltune.errors import MissingExtraError

try:
    from numba import njit, prange
    from numba.np.unsafe import ndarray
except ModuleNotFoundError:
    raise MissingExtraError("a scan on a CPU", "torch") from None

to_fixed_tuple: Any = ndarray.to_fixed_tuple

__all__ = ["njit", "prange", "to_fixed_tuple"]
