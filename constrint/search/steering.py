"""Interruptions of a depth-first search: restarts, neighbourhoods, failure weighting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from constrint.preparing.branching import directions
from constrint.preparing.options import Options
from constrint.preparing.prepared import Prepared
from constrint.presolve import Root
from constrint.store.state import State


class Steering(Protocol):
    """Interrupts a search and chooses where it continues."""

    def begin(self, state: State) -> State:
        """Prepare the state of a search that has not begun."""

    def solved(self) -> None:
        """Note a solution."""

    def cut(self, state: State) -> State:
        """The failure limit is reached: continue, perhaps elsewhere."""

    def exhausted(self, state: State) -> bool:
        """Whether nothing is left at all; otherwise continues elsewhere."""


def steering_of(
    prepared: Prepared, root: Root, options: Options, goal: tuple[int, str] | None, variables: Sequence[int]
) -> Steering | None:
    """The steering that the options ask for; None for a search from left to right."""
    if options.lns and goal is not None:
        from constrint.search.lns import Neighbourhoods

        reached = prepared.structure.reached(root)
        sign = 1 if goal[1] == "min" else -1
        better = directions(goal[0], prepared.inputs)
        return Neighbourhoods(
            options.seed,
            [reached[v] for v in variables],
            [sign * better.get(v, 0) for v in variables],
            root.settings.neighbourhoods,
        )
    if options.restarts is not None:
        from constrint.search.restarts import Restarter

        return Restarter(options.restarts, root.settings.search)
    if options.brancher.learns_later:
        from constrint.search.late_weights import LateWeights

        named = [*(group.variables for group in options.brancher.groups), options.brancher.variables]
        first = 1 if prepared.preferences else 0
        learning = [number for number, selector in enumerate(named, first) if selector == "auto"]
        return LateWeights(variables, root, prepared.structure, learning)
    return None
