"""The base class of propagators, and helpers for their watches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeAlias

from constrint.store.state import ANY, BOUNDS

Watch: TypeAlias = tuple[int, int]


class Propagator:
    """A propagator over variables numbered from 0; each subclass is one row of the registry.

    It is no `ABC`: `isinstance` would cost four times as much, and presolve asks it of every constraint.

    Attributes:
        kind: Number of its propagation function in the dispatch.
        wakes: The events of its variables that wake it, if they are the same for all.
        priority: Its queue; 0 is the cheapest.
        idempotent: Whether a second run at once would change nothing.
        trailed: Number of words of its own, 0 at first, that backtracking restores. Its last argument is the
            place of the first one in the state's words.
    """

    __slots__ = ()
    kind: ClassVar[int]
    wakes: ClassVar[int] = ANY
    priority: ClassVar[int] = 1
    idempotent: ClassVar[bool] = False
    trailed: ClassVar[int] = 0

    def scope(self) -> tuple[int, ...]:
        """The variables; repetitions are possible."""
        raise NotImplementedError

    def holds(self, values: Sequence[int]) -> bool:
        """The definition: whether an assignment (values by variable number) satisfies the constraint."""
        raise NotImplementedError

    def encode(self) -> list[int]:
        """The arguments of the propagation function: by default the variables."""
        return list(self.scope())

    def watches(self) -> list[Watch]:
        """The events that wake the propagator, as (variable, event mask)."""
        return [(v, self.wakes) for v in self.scope()]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        """An upper bound on the absolute value of every intermediate result, given the variables' bounds."""
        return max([magnitude(lo, hi, v) for v in self.scope()]) + 1


def magnitude(lo: Sequence[int], hi: Sequence[int], v: int) -> int:
    """The greatest absolute value of a variable, given the bounds."""
    return max(-lo[v], hi[v])


def watch_bounds(*variables: int) -> list[Watch]:
    """Watches for changes of bounds."""
    return [(v, BOUNDS) for v in variables]


def watch_all(*variables: int) -> list[Watch]:
    """Watches for every change."""
    return [(v, ANY) for v in variables]


def literal_holds(literal: int, values: Sequence[int]) -> bool:
    """Whether a literal is true under an assignment."""
    return values[literal >> 1] == 1 - (literal & 1)
