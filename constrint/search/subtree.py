"""Parts of a search tree as data: what is left of a search, cutting that in two, and going on with it.

What is left of a depth-first search is the node where it stands and, for each decision on the way there, the
opposite. So a part is named by decisions alone: those that hold in all of it, and then those of the way, of
which some are open: their opposites are left, too. Whoever goes on takes the same way down, with a fixpoint
at each open decision, and then searches as if it had always been there. Only the decisions say what belongs
to a part, never what propagation made of them: two parts have no solution in common, and together have all.
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
"""Variable, decision, value, and whether it was refuted: its opposite holds."""


class Subtree(NamedTuple):
    """A part of a search tree.

    Attributes:
        fixed: What holds in all of it.
        path: What holds at its first node; the opposites of those that were not refuted are left, too.
    """

    fixed: list[Item]
    path: list[Item]

    @property
    def open(self) -> int:
        """How many decisions have their opposite left."""
        return sum(1 for item in self.path if not item[3])

    def cut(self) -> tuple[Subtree, Subtree]:
        """What is below the first open decision, and what is below its opposite, often the larger part."""
        place = next(place for place, item in enumerate(self.path) if not item[3])
        above = [*self.fixed, *self.path[:place]]
        item = self.path[place]
        return Subtree([*above, item], self.path[place + 1 :]), Subtree([*above, _refuted(item)], [])


def _refuted(item: Item) -> Item:
    v, decision, value, _ = item
    return v, decision, value, 1


def decisions_of(state: State) -> list[Item]:
    """The decisions in force and those refuted below them, in the order in which they were made."""
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
    """What is left of a search that stands between two nodes; None for nothing.

    Args:
        state: The search; it has recorded what it refuted.
        fixed: What has held in all of it.
    """
    path = decisions_of(state)
    if state.scalar[PHASE] != PROPAGATE:
        # The node is done: what is left begins at the opposite of the last decision.
        while path and path[-1][3]:
            path.pop()
        if not path:
            return None
        path[-1] = _refuted(path[-1])
    # What was refuted before the first decision holds in all that is left.
    first = next((place for place, item in enumerate(path) if not item[3]), len(path))
    return Subtree([*fixed, *path[:first]], path[first:])


def to_root(state: State) -> bool:
    """Leave all levels for good, and forget the work; tells whether the root is at its fixpoint."""
    scalar = state.scalar
    is_settled = bool(scalar[LEVEL] > 0 and state.level_creeps[0] == 0)
    clear(state)
    while scalar[LEVEL] > 0:
        leave(state)
    for index in (NODES, FAILURES, PROPAGATIONS, REFUTED, SPENT, FAILURE_LIMIT):
        scalar[index] = 0
    scalar[PHASE] = PROPAGATE
    return is_settled
