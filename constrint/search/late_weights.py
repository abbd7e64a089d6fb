"""Failure weighting after some failures: short searches need no lists of credits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from constrint.engine.select import BY_SCORE
from constrint.preparing.branching import credits_of
from constrint.store.state import COUNT_FAILURES, FAILURE_LIMIT, WEIGHING, State

if TYPE_CHECKING:
    from constrint.preparing.structure import Structure
    from constrint.presolve import Root


class LateWeights:
    """Starts the failure weighting of one search after a number of failures."""

    def __init__(
        self, variables: Sequence[int], root: Root, structure: Structure, groups: Sequence[int]
    ) -> None:
        """Make the steering.

        Args:
            variables: The decision variables.
            root: The root of the search.
            structure: The structure of the root's constraints.
            groups: Numbers of the groups that change to failure weighting.
        """
        self._variables = variables
        self._root = root
        self._structure = structure
        self._groups = groups

    def begin(self, state: State) -> State:
        """Prepare the state of a search that has not begun."""
        state.scalar[FAILURE_LIMIT] = self._root.settings.search.failures_before_weights
        return state

    def solved(self) -> None:
        """Note a solution."""

    def cut(self, state: State) -> State:
        """Turn failure weighting on."""
        reached = self._structure.reached(self._root)
        credits = credits_of(self._variables, reached, len(state.kind))
        for group in self._groups:
            state.group_rule[group] = BY_SCORE
        state.scalar[WEIGHING] = COUNT_FAILURES
        state.scalar[FAILURE_LIMIT] = 0
        return state._replace(
            score=[int(degree) for degree in state.degree],
            credit_start=[0, *accumulate(map(len, credits))],
            credit_entry=[place for places in credits for place in places],
        )

    def exhausted(self, state: State) -> bool:
        """True: nothing is left."""
        return True
