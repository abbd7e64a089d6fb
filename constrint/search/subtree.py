"""Parts of a search tree as data: the remaining tree of a search, cutting it in two, and resuming it.

The remaining tree of a depth-first search is its present node and, for each decision on the path to it, the
opposite. A part is therefore named by decisions alone: those that hold in all of it, and the path to its
first node, whose open decisions also have their opposites left. A search resumes by following the path with a
fixpoint at each open decision. Membership depends on decisions only, never on what propagation derived: parts
are disjoint, and together they cover the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from constrint.engine.dfs import leave
from constrint.engine.fixpoint import clear
from constrint.store.state import (
    FAILURE_LIMIT,
    FAILURES,
    LEVEL,
    NODES,
    PHASE,
    PROPAGATE,
    PROPAGATIONS,
    REFUTED,
    SPENT,
    State,
)

Item: TypeAlias = tuple[int, int, int, int]
"""(variable, decision, value, whether it was refuted: then its opposite holds)."""


class Subtree(NamedTuple):
    """A part of a search tree.

    Attributes:
        fixed: Decisions that hold in all of it.
        path: Decisions that hold at its first node; the opposites of those not refuted are part of it, too.
    """

    fixed: list[Item]
    path: list[Item]

    @property
    def open(self) -> int:
        """Number of decisions whose opposites are left."""
        return sum(1 for item in self.path if not item[3])

    def cut(self) -> tuple[Subtree, Subtree]:
        """Two parts: below the first open decision, and below its opposite, which is often larger."""
        place = next(place for place, item in enumerate(self.path) if not item[3])
        above = [*self.fixed, *self.path[:place]]
        item = self.path[place]
        return Subtree([*above, item], self.path[place + 1 :]), Subtree([*above, _refuted(item)], [])


def _refuted(item: Item) -> Item:
    v, decision, value, _ = item
    return v, decision, value, 1


def decisions_of(state: State) -> list[Item]:
    """The decisions in force and those refuted below them, in order."""
    levels, refuted = int(state.scalar[LEVEL]), int(state.scalar[REFUTED])
    path: list[Item] = []
    place = 0
    for level in range(levels + 1):
        while place < refuted and state.refuted_level[place] == level:
            v, decision = int(state.refuted_variable[place]), int(state.refuted_decision[place])
            path.append((v, decision, int(state.refuted_value[place]), 1))
            place += 1
        if level < levels:
            v, decision = int(state.level_variable[level]), int(state.level_decision[level])
            path.append((v, decision, int(state.level_value[level]), 0))
    return path


def left_of(state: State, fixed: Sequence[Item]) -> Subtree | None:
    """The remaining tree of a search that is between two nodes; None if it is finished.

    Args:
        state: The search, which has recorded refuted decisions.
        fixed: Decisions that hold in all of the search.
    """
    path = decisions_of(state)
    if state.scalar[PHASE] != PROPAGATE:
        # The node is finished: the remaining tree starts at the opposite of the last decision.
        while path and path[-1][3]:
            path.pop()
        if not path:
            return None
        path[-1] = _refuted(path[-1])
    # Decisions refuted before the first open decision hold in all that is left.
    first = next((place for place, item in enumerate(path) if not item[3]), len(path))
    return Subtree([*fixed, *path[:first]], path[first:])


def to_root(state: State) -> bool:
    """Leave all levels for good, and reset the work counters; returns whether the root is at its fixpoint."""
    scalar = state.scalar
    is_settled = bool(scalar[LEVEL] > 0 and state.level_creeps[0] == 0)
    clear(state)
    while scalar[LEVEL] > 0:
        leave(state)
    for index in (NODES, FAILURES, PROPAGATIONS, REFUTED, SPENT, FAILURE_LIMIT):
        scalar[index] = 0
    scalar[PHASE] = PROPAGATE
    return is_settled
