"""Parts of a search tree as data: what is left of a search, cutting that in two, and going on with it.

What is left of a depth-first search is the node where it stands and, for each decision on the way there, the
opposite. So a part is named by decisions alone: those that hold in all of it, and then those of the way, of
which some are open: their opposites are left, too. Whoever goes on takes the same way down, with a fixpoint
at each open decision, and then searches as if it had always been there. Only the decisions say what belongs
to a part, never what propagation made of them: two parts have no solution in common, and together have all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from constrint.engine.dfs import has_room, leave, tighten_goal
from constrint.engine.fixpoint import clear
from constrint.engine.nogoods import apply, deny
from constrint.search.sliced import WORK_OF_NODE, Stepper
from constrint.store.domains import push_level
from constrint.store.state import (
    ASK,
    ASKED_FROM,
    AT_LEAST,
    AT_MOST,
    BACKTRACK,
    FAILURE_LIMIT,
    FAILURES,
    LEVEL,
    NODES,
    PHASE,
    PROPAGATE,
    PROPAGATIONS,
    RECORDING,
    REFUTED,
    SOLUTION,
    SPENT,
    WEIGHING,
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


class Walker(Stepper):
    """A search that goes on with a part of a tree."""

    def allow(self, work: int) -> None:
        """Give up after so much work from here on."""
        scalar = self._state.scalar
        spent = int(scalar[PROPAGATIONS]) + WORK_OF_NODE * int(scalar[NODES])
        self._limits = replace(self._limits, work=spent + work)
        self._look = int(scalar[NODES])

    def descend(self, subtree: Subtree) -> int | None:
        """Go to the first node of a part; the outcome of `dfs.run`, if there is one before that.

        The search has not begun. It may be elsewhere in the part afterwards, where its first node has
        no solution. Whatever limits there are to its work must not come before the first node is reached.
        """
        scalar = self._state.scalar
        scalar[RECORDING] = 1
        scalar[FAILURE_LIMIT] = 0
        if not (tighten_goal(self._state) and self._impose(subtree.fixed)):
            self._fail()
            return None
        weighing, scalar[WEIGHING] = scalar[WEIGHING], 0  # these nodes have been counted
        scalar[ASKED_FROM] = 0
        outcome = self._walk(subtree.path)
        scalar = self._state.scalar
        scalar[WEIGHING], scalar[ASKED_FROM] = weighing, -1
        return outcome

    def _walk(self, path: Sequence[Item]) -> int | None:
        place = 0
        while True:
            # Up to the next open decision no fixpoint is needed.
            end = place
            while end < len(path) and path[end][3]:
                end += 1
            if not self._refute(path[place:end]):
                self._fail()
                return None
            if end == len(path):
                return None
            depth = int(self._state.scalar[LEVEL])
            outcome = self._advance()
            is_there = self._state.scalar[LEVEL] == depth  # or the node failed, and this is an opposite
            if outcome == SOLUTION and is_there and not self._is_left(path[end:]):
                return None
            if outcome != ASK:
                return outcome
            if not is_there:
                return None
            if not self._decide(path[end]):
                self._fail()
                return None
            place = end + 1

    def _impose(self, items: Sequence[Item]) -> bool:
        """Make decisions, or their opposites, true; False where they are not."""
        state = self._state
        return all(
            deny(state, v, decision, value) if refuted else apply(state, v, decision, value)
            for v, decision, value, refuted in items
        )

    def _refute(self, items: Sequence[Item]) -> bool:
        """Make the opposites of decisions true at the present node, and note them."""
        while int(self._state.scalar[REFUTED]) + len(items) >= len(self._state.refuted_variable):
            self._grow()
        state, scalar = self._state, self._state.scalar
        for v, decision, value, _ in items:
            top = scalar[REFUTED]
            state.refuted_variable[top], state.refuted_decision[top] = v, decision
            state.refuted_value[top], state.refuted_level[top] = value, scalar[LEVEL]
            scalar[REFUTED] = top + 1
        return self._impose(items)

    def _decide(self, item: Item) -> bool:
        """Open a level with a decision; False where it cannot hold."""
        while not has_room(self._state):
            self._grow()
        state, scalar = self._state, self._state.scalar
        level = scalar[LEVEL]
        v, decision, value, _ = item
        state.level_variable[level], state.level_decision[level] = v, decision
        state.level_value[level], state.level_refuted[level] = value, scalar[REFUTED]
        push_level(state, level)
        scalar[LEVEL] = level + 1
        return apply(state, v, decision, value)

    def _fail(self) -> None:
        """Go on with the opposite of the last decision."""
        clear(self._state)
        self._state.scalar[PHASE] = BACKTRACK

    def _is_left(self, path: Sequence[Item]) -> bool:
        """Whether the solution at hand, above the end of the path, belongs to what is left."""
        for v, decision, value, refuted in path:
            x = self.value(v)
            holds = x <= value if decision == AT_MOST else x >= value if decision == AT_LEAST else x == value
            if holds and refuted:
                return False
            if not holds and not refuted:
                return True  # on the side of the opposite, which is left
        return True
