"""A search that resumes in a given part of a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from constrint.engine.dfs import has_room, tighten_goal
from constrint.engine.fixpoint import clear
from constrint.engine.nogoods import apply, deny
from constrint.preparing.search_protocol import Outcome
from constrint.search.sliced import WORK_OF_NODE, Stepper
from constrint.search.subtree import Item, Subtree
from constrint.store.domains import push_level
from constrint.store.state import (
    ASK,
    ASKED_FROM,
    AT_LEAST,
    AT_MOST,
    BACKTRACK,
    FAILURE_LIMIT,
    LEVEL,
    NODES,
    PHASE,
    PROPAGATIONS,
    RECORDING,
    REFUTED,
    SOLUTION,
    WEIGHING,
)


class SubtreeSearch(Stepper):
    """A search that resumes in a given part of a tree."""

    def allow(self, work: int) -> None:
        """Stop after this much work from now on."""
        scalar = self._state.scalar
        spent = int(scalar[PROPAGATIONS]) + WORK_OF_NODE * int(scalar[NODES])
        self._limits = replace(self._limits, work=spent + work)
        self._next_work_check = int(scalar[NODES])

    def descend(self, subtree: Subtree) -> int | Outcome | None:
        """Go to the first node of a part; returns what `_advance` does if it ends before that.

        The search must not have begun. If the first node has no solution, the search may be elsewhere in the
        part afterwards. No work limit may take effect before the first node is reached.
        """
        scalar = self._state.scalar
        scalar[RECORDING] = 1
        scalar[FAILURE_LIMIT] = 0
        if not (tighten_goal(self._state) and self._impose(subtree.fixed)):
            self._fail()
            return None
        weighing, scalar[WEIGHING] = scalar[WEIGHING], 0  # these nodes were counted before
        scalar[ASKED_FROM] = 0
        outcome = self._walk(subtree.path)
        scalar = self._state.scalar
        scalar[WEIGHING], scalar[ASKED_FROM] = weighing, -1
        return outcome

    def _walk(self, path: Sequence[Item]) -> int | Outcome | None:
        place = 0
        while True:
            # No fixpoint is needed before the next open decision.
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
            # Otherwise the node failed, and this is an opposite.
            is_there = self._state.scalar[LEVEL] == depth
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
        """Apply decisions, or their opposites; False if they contradict the domains."""
        state = self._state
        return all(
            deny(state, v, decision, value) if refuted else apply(state, v, decision, value)
            for v, decision, value, refuted in items
        )

    def _refute(self, items: Sequence[Item]) -> bool:
        """Apply the opposites of decisions at the present node, and record them as refuted."""
        while int(self._state.scalar[REFUTED]) + len(items) >= len(self._state.refuted_variable):
            self._grow(len(items))
        state, scalar = self._state, self._state.scalar
        for v, decision, value, _ in items:
            top = scalar[REFUTED]
            state.refuted_variable[top], state.refuted_decision[top] = v, decision
            state.refuted_value[top], state.refuted_level[top] = value, scalar[LEVEL]
            scalar[REFUTED] = top + 1
        return self._impose(items)

    def _decide(self, item: Item) -> bool:
        """Open a level with a decision; False if it contradicts the domains."""
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
        """Continue with the opposite of the last decision."""
        clear(self._state)
        self._state.scalar[PHASE] = BACKTRACK

    def _is_left(self, path: Sequence[Item]) -> bool:
        """Whether the present solution belongs to the open part above the end of the path."""
        for v, decision, value, refuted in path:
            x = self.value(v)
            holds = x <= value if decision == AT_MOST else x >= value if decision == AT_LEAST else x == value
            if holds and refuted:
                return False
            if not holds and not refuted:
                return True  # on the open side of an opposite
        return True
