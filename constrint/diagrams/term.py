"""A term of the planner, and the numpy types in which terms are computed."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Column: TypeAlias = Any  # an array, or a scalar where the value is constant: numpy computes with both alike
Number = int | float

Type = np.dtype[Any]

INT32: Type = np.dtype(np.int32)
INT64: Type = np.dtype(np.int64)
OBJECT: Type = np.dtype(object)
FLOAT: Type = np.dtype(np.float64)
BOOL: Type = np.dtype(np.bool_)


_SERIALS = itertools.count()


class Term:
    """One expression.

    Attributes:
        op: The operation.
        args: Its operands.
        data: What else defines it: a constant, coefficients, a table, a callable.
        mask: Set of its variables, as bits.
        lo: Least value (integer terms only).
        hi: Greatest value (integer terms only).
        dtype: The numpy type that it is computed in.
        safe: Whether it is defined for all values of its variables.
        serial: A number by which terms are sorted, so that every run does the same.
        uses: How many terms have it as an operand.
    """

    __slots__ = ("args", "data", "dtype", "hi", "lo", "mask", "op", "safe", "serial", "uses")

    def __init__(self, op: str, args: tuple[Term, ...], data: Any, bounds: tuple[Any, Any]) -> None:
        self.uses: int = 0
        self.op = op
        self.args = args
        self.data = data
        self.lo, self.hi = bounds
        mask = 0
        safe = True
        for arg in args:
            mask |= arg.mask
            safe = safe and arg.safe
            arg.uses += 1
        self.mask: int = mask
        self.safe: bool = safe
        self.dtype: Type = BOOL
        self.serial = next(_SERIALS)

    @property
    def is_int(self) -> bool:
        """Whether its values are integers (conditions count as 0 and 1)."""
        return self.dtype is not FLOAT

    @property
    def is_lazy(self) -> bool:
        """Whether an operand may go unevaluated, as in Python's `and` and `or`."""
        return self.op in ("and", "or", "choice") and bool(self.data) and not self.safe

    def __repr__(self) -> str:
        inner = ", ".join(map(repr, self.args))
        return f"{self.op}({inner}{', ' if inner else ''}{self.data!r})"


def int_type(peak: int) -> np.dtype[Any]:
    """The smallest type that holds magnitudes up to `peak`."""
    if peak < 1 << 31:
        return INT32
    return INT64 if peak < 1 << 62 else OBJECT


def peak_of(lo: int, hi: int) -> int:
    """The greatest magnitude between two bounds."""
    return max(-lo, hi, lo, -hi)


def peak_of_sum(coefficients: Iterable[int], args: Iterable[Term], constant: int) -> int:
    """The greatest magnitude met in a sum; an operand counts even where its coefficient is 0."""
    pairs = zip(coefficients, args, strict=True)
    peaks: list[int] = [max(abs(a), 1) * max(-arg.lo, arg.hi, 1) for a, arg in pairs]
    return abs(constant) + sum(peaks)


def bits(mask: int) -> list[int]:
    """The numbers in a set that is held as bits, ascending."""
    found = []
    digits = f"{mask:b}"[::-1]
    v = digits.find("1")
    while v >= 0:
        found.append(v)
        v = digits.find("1", v + 1)
    return found
