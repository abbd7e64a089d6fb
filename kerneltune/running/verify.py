"""Verification: the distance of a kernel's result from the float64 reference, and its tolerances."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kerneltune.compiling.halffloat import Bits, decode

Wide: TypeAlias = NDArray[np.float64]
# A result and the expected values, both in blocks.
Pair: TypeAlias = Iterable[tuple[NDArray[Any], NDArray[Any]]]

# Relative L2 error over all steps; h is rounded to the storage type at every step. TF32 has 11 bits.
TOLERANCE = {"bf16": 5e-3, "fp16": 2e-3, "fp32": 1e-5, "tf32": 1e-3}
# For gradients, which are rounded at every step too, and computed from values saved in 16 bits.
GRADIENT_TOLERANCE = {"bf16": 1.2e-2, "fp16": 2e-3, "fp32": 3e-5, "tf32": 3e-3}
# What rounding of a number to the storage type, or of a factor of a product, is at most, relative to it.
ROUNDING = {"bf16": 2.0**-9, "fp16": 2.0**-12, "fp32": 2.0**-24, "tf32": 2.0**-12}
# The least normal number of a storage type in which gradients come below it; those of the others do not.
LEAST_NORMAL = {"fp16": 2.0**-14}


@dataclass(frozen=True)
class Verdict:
    """The distance of one result from the reference: the largest relative L2 error of its parts."""

    relative_error: float
    tolerance: float
    unwritten: int

    @property
    def right(self) -> bool:
        """Whether the result is correct; a NaN anywhere makes it wrong."""
        return self.unwritten == 0 and self.relative_error <= self.tolerance

    @property
    def sentence(self) -> str:
        """The verdict as a sentence."""
        if self.unwritten:
            return f"{self.unwritten} values were left unwritten or are NaN"
        mark = "within" if self.right else "above"
        bound = f"{self.tolerance:.1e}".replace(".0e", "e")
        return f"relative error {self.relative_error:.2e}, {mark} {bound}"


def compare(states: Bits, reference: Wide, dtype: str) -> Verdict:
    """Compare a kernel's states with the reference: h of every step, the other states after the last."""
    parts = [(states[0, 1:], reference[0, 1:]), (states[1:, -1:], reference[1:, -1:])]
    pairs = ([(decode(np.ascontiguousarray(bits), dtype), expected)] for bits, expected in parts)
    return judged(pairs, TOLERANCE[dtype], dtype=dtype)


def judged(
    pairs: Iterable[Pair],
    tolerance: float,
    so_far: Verdict | None = None,
    *,
    dtype: str = "",
    by_share: bool = False,
    least: float = 0.0,
    bounds: Sequence[float] = (),
) -> Verdict:
    """The verdict on pairs of results and expected values, both in blocks.

    Args:
        pairs: They.
        tolerance: The largest relative error of a right result.
        so_far: An earlier verdict that this one is added to.
        dtype: The storage type. The error of an array is relative to one of its least normal numbers at
            least: below that it holds fewer and fewer bits, and at last zeros.
        by_share: Whether sums of distances are compared instead of roots of sums of squares, for values that
            jump: the error is then the share of those that are on the other side of a jump. Values that
            rounding decides on are expected to be NaN, and are not compared.
        least: The error of an array is relative to numbers of this size at least, too.
        bounds: The largest error of a right result in each pair, where that is more than the tolerance.
    """
    worst = so_far or Verdict(0.0, tolerance, 0)
    least = max(least, LEAST_NORMAL.get(dtype, 0.0))
    for number, pair in enumerate(pairs):
        error, unwritten = distance(pair, least, by_share=by_share)
        bound = max(tolerance, bounds[number]) if number < len(bounds) else tolerance
        if error * worst.tolerance > worst.relative_error * bound:
            worst = Verdict(error, bound, worst.unwritten)
        worst = replace(worst, unwritten=worst.unwritten + unwritten)
    return worst


def distance(pair: Pair, least: float, *, by_share: bool = False) -> tuple[float, int]:
    """The relative error of one array, and the number of its values that are NaN."""
    off, norm, count, unwritten = 0.0, 0.0, 0, 0
    for got, expected in pair:
        unwritten += int(np.count_nonzero(np.isnan(got)))
        difference, wanted = (got - expected).ravel(), expected.ravel()
        if by_share:
            decided = ~np.isnan(wanted)
            difference, wanted = difference[decided], wanted[decided]
        off += float(np.abs(difference).sum() if by_share else difference @ difference)
        norm += float(np.abs(wanted).sum() if by_share else wanted @ wanted)
        count += wanted.size
    if not math.isfinite(off):
        return math.inf, unwritten
    if by_share:
        return off / max(norm, least * count, 1e-30), unwritten
    return math.sqrt(off) / max(math.sqrt(norm), least * math.sqrt(count), 1e-30), unwritten
