"""Abstract values (bounds, congruence, affine form) while one variable runs over evenly spaced values.

Three things are known: bounds, a congruence, and, where it is one, the affine function of the place k that
the variable has reached. None of them ever excludes a value that is taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


class Unsupported(Exception):  # noqa: N818 - a state of planning, turned into another method or a clear error
    """The planner cannot treat this model; the message has the reason."""


class Never(Exception):  # noqa: N818 - an outcome, not a fault
    """The expression has no value anywhere in the range."""


class Known:
    """An abstract value: ``lo <= value <= hi`` and ``value % modulus == residue``.

    Attributes:
        lo: Lower bound.
        hi: Upper bound.
        modulus: Of the congruence; 0 for a value that is known.
        residue: Of the congruence.
        slope: The value is ``start + slope * k``, where this is given.
        start: See slope.
    """

    __slots__ = ("hi", "lo", "modulus", "residue", "slope", "start")

    def __init__(
        self, lo: int, hi: int, modulus: int = 1, residue: int = 0, slope: int | None = None, start: int = 0
    ) -> None:
        self.lo = lo
        self.hi = hi
        self.modulus = modulus
        self.residue = residue
        self.slope = slope
        self.start = start

    def __repr__(self) -> str:
        affine = "" if self.slope is None else f", {self.start} + {self.slope} k"
        return f"Known({self.lo}..{self.hi}, {self.residue} mod {self.modulus}{affine})"

    @property
    def _all(self) -> tuple[int | None, ...]:
        return self.lo, self.hi, self.modulus, self.residue, self.slope, self.start

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and self._all == other._all

    def __hash__(self) -> int:
        return hash(self._all)

    @property
    def is_fixed(self) -> bool:
        """Whether the value is known."""
        return self.lo == self.hi


TRUE, FALSE, OPEN = Known(1, 1, 0, 1, 0, 1), Known(0, 0, 0, 0, 0, 0), Known(0, 1)


def fixed(value: int) -> Known:
    """The abstract value of a constant."""
    return Known(value, value, 0, value, 0, value)


def between(lo: int, hi: int, modulus: int = 1, residue: int = 0) -> Known:
    """The abstract value with these bounds and this congruence; it is no affine function of the variable."""
    if modulus:
        lo += (residue - lo) % modulus
        hi -= (hi - residue) % modulus
    else:
        lo, hi = max(lo, residue), min(hi, residue)
    if lo > hi:
        raise Never
    return fixed(lo) if lo == hi else Known(lo, hi, modulus, residue % modulus if modulus else residue)


def joined(a: Known, b: Known) -> Known:
    """The join: an abstract value that contains two others."""
    if a == b:
        return a
    return between(
        min(a.lo, b.lo), max(a.hi, b.hi), math.gcd(a.modulus, b.modulus, a.residue - b.residue), a.residue
    )


def total(parts: Sequence[tuple[int, Known]], constant: int = 0) -> Known:
    """The abstract value of a sum of multiples."""
    lo = hi = residue = start = constant
    modulus, slope = 0, 0
    places: tuple[int, int] | None = None
    is_affine = True
    for a, part in parts:
        lo += a * (part.lo if a >= 0 else part.hi)
        hi += a * (part.hi if a >= 0 else part.lo)
        modulus = math.gcd(modulus, a * part.modulus)
        residue += a * part.residue
        if part.slope is None:
            is_affine = is_affine and a == 0
        elif part.slope:
            slope += a * part.slope
            start += a * part.start
            places = (part.lo - part.start) // part.slope, (part.hi - part.start) // part.slope
        else:
            start += a * part.start
    return affine(slope, start, places) if is_affine else between(lo, hi, modulus, residue)


def affine(slope: int, start: int, places: tuple[int, int] | None) -> Known:
    """``start + slope * k`` for k between two places."""
    if slope == 0 or places is None:
        return fixed(start)
    lo, hi = sorted((start + slope * places[0], start + slope * places[1]))
    return fixed(lo) if lo == hi else Known(lo, hi, abs(slope), lo % abs(slope), slope, start)


def product(a: Known, b: Known) -> Known:
    """The abstract value of a product."""
    if a.is_fixed:
        return total([(a.lo, b)])
    if b.is_fixed:
        return total([(b.lo, a)])
    corners = [x * y for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    modulus = math.gcd(a.modulus * b.modulus, a.modulus * b.residue, b.modulus * a.residue)
    return between(min(corners), max(corners), modulus, a.residue * b.residue)
