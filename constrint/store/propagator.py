"""What every constraint of the normal form provides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, TypeAlias

from constrint.store.state import ANY, BOUNDS

Watch: TypeAlias = tuple[int, int]


class Node(ABC):
    """A constraint over variables numbered from 0; a subclass is one row of the registry.

    Attributes:
        kind: Number of its kernel in the dispatch.
        priority: Its queue, 0 for the cheapest.
        idempotent: Whether running its kernel a second time at once changes nothing.
        trailed: Words of memory of its own, 0 at first, that backtracking restores; its last argument is
            the place of the first in the state's words.
    """

    __slots__ = ()
    kind: ClassVar[int]
    priority: ClassVar[int] = 1
    idempotent: ClassVar[bool] = False
    trailed: ClassVar[int] = 0

    @abstractmethod
    def scope(self) -> tuple[int, ...]:
        """The variables, possibly with repetitions."""

    @abstractmethod
    def holds(self, values: Sequence[int]) -> bool:
        """The definition: whether an assignment (values by variable number) satisfies the constraint."""

    @abstractmethod
    def encode(self) -> list[int]:
        """The arguments of the kernel."""

    @abstractmethod
    def watches(self) -> list[Watch]:
        """The events that must wake the kernel, as (variable, mask)."""

    @abstractmethod
    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        """A bound on the absolute value of every intermediate of the kernel within the bounds."""


def magnitude(lo: Sequence[int], hi: Sequence[int], v: int) -> int:
    """The greatest absolute value of a variable."""
    return max(-lo[v], hi[v])


def watch_bounds(*variables: int) -> list[Watch]:
    """Wake when bounds move."""
    return [(v, BOUNDS) for v in variables]


def watch_all(*variables: int) -> list[Watch]:
    """Wake on every change."""
    return [(v, ANY) for v in variables]


def literal_holds(literal: int, values: Sequence[int]) -> bool:
    """Whether a literal is true under an assignment."""
    return values[literal >> 1] == 1 - (literal & 1)
