"""What a search tells whoever writes down its proof; `constrint.learning.proof` writes it to a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from constrint.engine.build import Box
from constrint.propagators import Node


class Proof(Protocol):
    """Takes the steps of a proof, in order. An atom (b, k) bounds the variable b >> 1 by k."""

    def begin(self, box: Box, nodes: Sequence[Node], goal: tuple[int, str] | None) -> None:
        """A search starts from these domains and constraints."""

    def learned(self, atoms: Iterable[tuple[int, int]]) -> None:
        """A clause follows."""

    def clauses(self, cells: Sequence[int]) -> None:
        """The clauses of a learner's log follow, one after the other."""

    def solution(self, values: Iterable[tuple[int, int]]) -> None:
        """A solution was found: (variable, value)."""

    def exhausted(self) -> None:
        """Nothing is left to search."""

    def presolved(self) -> None:
        """Presolve alone proved that there is no solution."""
