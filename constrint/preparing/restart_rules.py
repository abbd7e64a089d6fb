"""Restart strategies: sequences of failure limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Literal, TypeAlias

from constrint.errors import ModelError
from constrint.support.record import public_names

RestartRule: TypeAlias = Literal["luby", "geometric"]


@dataclass(frozen=True, slots=True)
class Restarts:
    """A restart strategy.

    Attributes:
        rule: "luby": after 1, 1, 2, 1, 1, 2, 4, 1, … units; "geometric": each limit is `factor` times the
            last.
        unit: Failures before the first restart.
        factor: Growth of the "geometric" limits.
        alone: Whether this search is the only one; otherwise it is the tree search of a portfolio.
    """

    rule: RestartRule = "luby"
    unit: int = 100
    factor: float = 1.5
    alone: bool = True
    _internal = ("limits",)
    __dir__ = public_names

    def __post_init__(self) -> None:
        if self.rule not in ("luby", "geometric"):
            raise ModelError(f'restarts are "luby" or "geometric", not {self.rule!r}')
        if self.unit < 1 or self.factor <= 1:
            raise ModelError("restarts need a unit of at least one failure, and a factor above 1")

    def limits(self) -> Iterator[int]:
        """The failure limits between restarts; they grow without bound, so search ends."""
        if self.rule == "luby":
            return (self.unit * luby(i) for i in count(1))
        return (int(self.unit * self.factor**i) for i in count())


def luby(i: int) -> int:
    """The i-th number, from 1, of Luby's sequence 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8."""
    while (i + 1) & i:
        i -= (1 << (i.bit_length() - 1)) - 1
    return (i + 1) >> 1
