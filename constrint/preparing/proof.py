"""The interface between a search and its proof; `constrint.learning.proof` writes proofs to files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from constrint.engine.build import Box
from constrint.propagators import Propagator


class Proof(Protocol):
    """Takes the steps of a proof, in order. An atom (b, k) bounds the variable b >> 1 by k."""

    def begin(self, box: Box, nodes: Sequence[Propagator], goal: tuple[int, str] | None) -> None:
        """A search starts with these domains and constraints."""

    def learned(self, atoms: Iterable[tuple[int, int]]) -> None:
        """A learned clause."""

    def clauses(self, cells: Sequence[int]) -> None:
        """The clauses of a learner's log, one after the other."""

    def solution(self, values: Iterable[tuple[int, int]]) -> None:
        """A solution: (variable, value) pairs."""

    def exhausted(self) -> None:
        """The search space is exhausted."""

    def presolved(self) -> None:
        """PresolveSettings alone proved that there is no solution."""
