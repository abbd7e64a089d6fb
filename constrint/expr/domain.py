"""Domains: the possible values of a variable, as bounds and a residue class, or as an explicit set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import gcd
from typing import Any, Self

from constrint.support.record import record


@record()
class Domain:
    """An immutable set of integers: ``lo..hi`` by ``step``, or exactly ``values``.

    A bound of ``None`` means no bound. The residue class is that of ``lo``, or of ``hi`` if there is no lower
    bound. Bounds are always members, so ``lo > hi`` only in the empty domain.

    Attributes:
        lo: Least member, or None.
        hi: Greatest member, or None.
        step: Distance between neighbours, apart from holes.
        values: The sorted members if the domain has holes; otherwise None.
    """

    lo: int | None
    hi: int | None
    step: int = 1
    values: tuple[int, ...] | None = None

    @staticmethod
    def of_range(lo: int | None, hi: int | None, step: int = 1) -> Domain:
        """The members lo, lo + step, … up to hi (or down from hi, if there is no lo)."""
        if lo is not None and hi is not None:
            if lo > hi:
                return EMPTY
            hi -= (hi - lo) % step
            return Domain(lo, hi, step if lo < hi else 1)
        return Domain(lo, hi, step)

    @staticmethod
    def of_values(values: Iterable[int]) -> Domain:
        """Exactly these members."""
        members = tuple(sorted(set(values)))
        if not members:
            return EMPTY
        least = members[0]
        step = gcd(*[value - least for value in members]) or 1
        plain = (members[-1] - least) // step + 1 == len(members)
        return Domain(least, members[-1], step, None if plain else members)

    @property
    def is_empty(self) -> bool:
        """Whether there is no member."""
        return self.lo is not None and self.hi is not None and self.lo > self.hi

    @property
    def is_finite(self) -> bool:
        """Whether both bounds exist."""
        return self.lo is not None and self.hi is not None

    @property
    def size(self) -> int | None:
        """Number of members; None if infinite."""
        if self.values is not None:
            return len(self.values)
        if self.lo is None or self.hi is None:
            return None
        return max(0, (self.hi - self.lo) // self.step + 1)

    def __contains__(self, value: int) -> bool:
        if self.values is not None:
            return value in self.values
        lo, hi = self.lo, self.hi
        if (lo is not None and value < lo) or (hi is not None and value > hi):
            return False
        if self.step == 1:
            return True
        anchor = lo if lo is not None else hi
        return anchor is None or (value - anchor) % self.step == 0

    def __iter__(self) -> Iterator[int]:
        if self.values is not None:
            return iter(self.values)
        if self.lo is None or self.hi is None:
            raise ValueError("an infinite domain cannot be listed")
        return iter(range(self.lo, self.hi + 1, self.step))

    def __str__(self) -> str:
        if self.values is not None:
            return "{" + ", ".join(map(str, self.values)) + "}"
        if self.is_empty:
            return "{}"
        lo = "" if self.lo is None else str(self.lo)
        hi = "" if self.hi is None else str(self.hi)
        return f"{lo}..{hi}" + (f" step {self.step}" if self.step > 1 else "")


class Label(int):
    """The number of a value of an enumeration, in constants that are written as that value.

    Attributes:
        labels: All values of the enumeration in order.
    """

    labels: tuple[Any, ...]

    def __new__(cls, number: int, labels: tuple[object, ...]) -> Self:
        """The number of one of these labels."""
        found = super().__new__(cls, number)
        found.labels = labels
        return found

    def __reduce__(self) -> tuple[object, ...]:
        return Label, (int(self), self.labels)


def labels_of_all(numbers: Iterable[int]) -> tuple[object, ...] | None:
    """The labels of the enumeration whose numbers these are; None for other numbers, and for none."""
    labels: tuple[Any, ...] | None = None
    for number in numbers:
        if not isinstance(number, Label) or (labels is not None and labels != number.labels):
            return None
        labels = number.labels
    return labels


@record()
class EnumDomain(Domain):
    """The values of an enumeration that a variable may have, by their numbers.

    Attributes:
        labels: All values of the enumeration in order; a member is a place in them.
    """

    lo: int | None
    hi: int | None
    step: int = 1
    values: tuple[int, ...] | None = None
    labels: tuple[Any, ...] = ()

    @staticmethod
    def labelled(labels: tuple[object, ...], members: Domain | None = None) -> EnumDomain:
        """The domain of some members of an enumeration; of all without `members`."""
        found = Domain.of_range(0, len(labels) - 1) if members is None else members
        return EnumDomain(found.lo, found.hi, found.step, found.values, labels)

    @staticmethod
    def of_constants(domain: Domain, numbers: Iterable[int]) -> Domain:
        """The domain with the labels of the constants that it was made of, where all have the same."""
        labels = labels_of_all(numbers)
        return domain if labels is None or domain.is_empty else EnumDomain.labelled(labels, domain)


EMPTY = Domain(1, 0)
BINARY = Domain(0, 1)
