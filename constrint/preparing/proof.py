"""The interface between a search and its proof; `constrint.learning.proof_log` writes proofs to files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from constrint.engine.state_arrays import Box
from constrint.expr.sums import Linear
from constrint.propagators import Propagator

if TYPE_CHECKING:
    from constrint.expr import IntExpr
    from constrint.lowering.problem import Problem
    from constrint.modelling.declarations import Declarations
    from constrint.modelling.objectives import Goal
    from constrint.modelling.result import Result


class Proof(Protocol):
    """Takes the steps of a proof, in order. An atom (b, k) bounds the variable b >> 1 by k."""

    def lowering(self, model: Declarations, targets: Sequence[Goal]) -> None:
        """Lowering of a model begins; lines about an earlier lowering are void."""

    def declared(self, problem: Problem, variables: dict[IntExpr, int]) -> None:
        """The variables of the model have numbers."""

    def lowers(self, number: int | None) -> None:
        """A constraint of the model is being lowered; None for other expressions."""

    def lowered(self, problem: Problem) -> None:
        """It was lowered."""

    def objective(self, direction: str, value: Linear, goal: tuple[int, str]) -> None:
        """The next target was lowered: its direction, its value, and the variable that stands for it."""

    def presolved(self, rule: str, problem: Problem) -> None:
        """A rule of presolve has changed the problem."""

    def infeasible(self) -> None:
        """Lowering or presolve proved that there is no solution."""

    def begin(self, box: Box, propagators: Sequence[Propagator], goal: tuple[int, str] | None) -> None:
        """A search starts with these domains and constraints."""

    def learned(self, atoms: Iterable[tuple[int, int]]) -> None:
        """A learned clause."""

    def clauses(self, cells: Sequence[int]) -> None:
        """The clauses of a learner's log, one after the other."""

    def solution(self, values: Iterable[tuple[int, int]]) -> None:
        """A solution: (variable, value) pairs."""

    def exhausted(self) -> None:
        """The search space is exhausted."""

    def claim(self, result: Result) -> None:
        """The answer."""
