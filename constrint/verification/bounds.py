"""Bounds of the variables of a proof, and atoms: ``v >= k`` or ``v <= k``."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from math import lcm
from typing import TypeAlias

Atom: TypeAlias = tuple[int, str, int]
Domain: TypeAlias = range | tuple[int, ...]


class Contradiction(Exception):  # noqa: N818 - an answer, not a fault
    """No value is left."""


class Rejected(Exception):  # noqa: N818 - an answer, not a fault
    """A step does not follow."""


def opposite(atom: Atom) -> Atom:
    """The atom that is true where another is false."""
    v, relation, value = atom
    return (v, "<=", value - 1) if relation == ">=" else (v, ">=", value + 1)


def holds(atom: Atom, value: int) -> bool:
    """Whether an atom is true where its variable has a value."""
    return value >= atom[2] if atom[1] == ">=" else value <= atom[2]


def literal_atom(number: int) -> Atom:
    """The atom of a literal."""
    return (number >> 1, "<=", 0) if number & 1 else (number >> 1, ">=", 1)


def range_of(low: int, high: int) -> Domain:
    """The values from one to another."""
    return range(low, high + 1)


def size(domain: Domain) -> int:
    """The number of values, however great."""
    if isinstance(domain, range):
        return max(0, (domain.stop - domain.start + domain.step - 1) // domain.step)
    return len(domain)


def between(domain: Domain, low: int, high: int) -> Domain:
    """The values of a domain from low to high."""
    if isinstance(domain, tuple):
        return domain[bisect_left(domain, low) : bisect_right(domain, high)]
    start = domain.start + max(0, -(-(low - domain.start) // domain.step)) * domain.step
    return range(start, min(domain.stop, high + 1), domain.step)


def common(one: Domain, other: Domain) -> Domain:
    """The values that two domains share."""
    if isinstance(one, range) and isinstance(other, range):
        if one.step < other.step:
            one, other = other, one
        inside = between(one, other.start, other.stop - 1)
        assert isinstance(inside, range)
        both = lcm(one.step, other.step)
        first = next((x for x in inside[: both // one.step] if x in other), None)
        return range(0) if first is None else range(first, inside.stop, both)
    if isinstance(one, range):
        one, other = other, one
    return tuple([value for value in one if value in other])


class Bounds:
    """Least and greatest value of every variable, within its domain.

    Attributes:
        domains: The values of each variable.
        low: Least value.
        high: Greatest value.
        touched: The variables whose bounds moved since the caller last looked.
        is_cut: Whether some constraint allowed more than could be listed, or propagation was cut short.
        is_thorough: Whether every window of time is looked at.
        most_listed: Assignments of one constraint that are listed at most.
    """

    __slots__ = ("domains", "high", "is_cut", "is_thorough", "low", "most_listed", "touched")

    def __init__(
        self, domains: dict[int, Domain], low: dict[int, int], high: dict[int, int], most_listed: int
    ) -> None:
        self.domains = domains
        self.low = low
        self.high = high
        self.touched: list[int] = []
        self.is_cut = False
        self.is_thorough = False
        self.most_listed = most_listed

    def copy(self) -> Bounds:
        """The same bounds, to be moved further."""
        return Bounds(self.domains, self.low.copy(), self.high.copy(), self.most_listed)

    def at_least(self, v: int, value: int) -> None:
        """Keep the values from one on; raises `Contradiction` where none is left."""
        if value <= self.low[v]:
            return
        if value > self.high[v]:
            raise Contradiction
        domain = self.domains[v]
        if isinstance(domain, range):
            value += (domain.start - value) % domain.step
        else:
            value = domain[bisect_left(domain, value)]
        if value > self.high[v]:
            raise Contradiction
        self.low[v] = value
        self.touched.append(v)

    def at_most(self, v: int, value: int) -> None:
        """Keep the values up to one; raises `Contradiction` where none is left."""
        if value >= self.high[v]:
            return
        if value < self.low[v]:
            raise Contradiction
        domain = self.domains[v]
        if isinstance(domain, range):
            value -= (value - domain.start) % domain.step
        else:
            value = domain[bisect_right(domain, value) - 1]
        if value < self.low[v]:
            raise Contradiction
        self.high[v] = value
        self.touched.append(v)

    def assume(self, atom: Atom) -> None:
        """Make an atom true."""
        v, relation, value = atom
        if relation == ">=":
            self.at_least(v, value)
        else:
            self.at_most(v, value)

    def is_false(self, atom: Atom) -> bool:
        """Whether an atom is false for all values left."""
        v, relation, value = atom
        return self.high[v] < value if relation == ">=" else self.low[v] > value

    def is_true(self, atom: Atom) -> bool:
        """Whether an atom is true for all values left."""
        v, relation, value = atom
        return self.low[v] >= value if relation == ">=" else self.high[v] <= value

    def is_fixed(self, v: int) -> bool:
        """Whether one value is left."""
        return self.low[v] == self.high[v]

    def may_be(self, v: int, value: int) -> bool:
        """Whether a value is left."""
        return self.low[v] <= value <= self.high[v] and value in self.domains[v]

    def values(self, v: int) -> Sequence[int]:
        """The values that are left."""
        return between(self.domains[v], self.low[v], self.high[v])


def domain_of(text: str) -> Domain:
    """The domain that a line names: ``0 .. 9``, ``0 .. 9 step 3`` or ``0 4 6``."""
    words = text.split()
    if ".." in words:
        if len(words) not in (3, 5) or words[1] != ".." or (len(words) == 5 and words[3] != "step"):
            raise ValueError(text)
        step = int(words[4]) if len(words) == 5 else 1
        domain: Domain = range(int(words[0]), int(words[2]) + 1, step)
    else:
        domain = tuple(map(int, words))
        if any(a >= b for a, b in pairwise(domain)):
            raise ValueError(text)
    if not domain or domain[0] > domain[-1]:
        raise ValueError(text)
    return domain
