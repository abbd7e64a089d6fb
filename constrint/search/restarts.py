"""Restarts: search returns to the root, and keeps nogoods of what was refuted (`engine.nogoods`)."""

from __future__ import annotations

from collections import deque

from constrint.preparing.restart_rules import Restarts
from constrint.search.subtree import Item, decisions_of
from constrint.settings import SearchSettings
from constrint.store.state import (
    FAILURE_LIMIT,
    FAILURES,
    NOGOODS,
    PHASE,
    RECORDING,
    RESTART,
    State,
    write,
)


class Restarter:
    """Restarts one search, and keeps the nogoods of its paths."""

    def __init__(self, restarts: Restarts, rules: SearchSettings) -> None:
        self._most_decisions, self._most_paths = rules.most_decisions, rules.most_paths
        self._limits = restarts.limits()
        self._paths: deque[list[Item]] = deque()
        self._used = 0

    def begin(self, state: State) -> State:
        """Prepare the state of a search that has not begun, with space for nogoods."""
        names = ("path_variable", "path_decision", "path_value", "path_refuted")
        state.scalar[RECORDING] = 1
        state.scalar[FAILURE_LIMIT] = next(self._limits)
        return state._replace(
            **{name: [0] * self._most_decisions for name in names},
            path_start=[0] * (self._most_paths + 1),
        )

    def cut(self, state: State) -> State:
        """Restart: the failure limit is reached."""
        self._keep(state, path_of(state)[: self._most_decisions])
        scalar = state.scalar
        scalar[PHASE] = RESTART
        scalar[FAILURE_LIMIT] = scalar[FAILURES] + next(self._limits)
        return state

    def solved(self) -> None:
        """Note a solution."""

    def exhausted(self, state: State) -> bool:
        """True: nothing is left, because kept paths exclude only what was searched."""
        return True

    def _keep(self, state: State, path: list[Item]) -> None:
        if not path:
            return
        paths = self._paths
        first = len(paths)
        while self._used + len(path) > self._most_decisions or len(paths) >= self._most_paths:
            # Keep the later half. Nogoods are optional: termination rests on growing failure limits.
            for _ in range((len(paths) + 1) // 2):
                self._used -= len(paths.popleft())
            first = 0
        paths.append(path)
        self._used += len(path)
        self._write(state, first)

    def _write(self, state: State, first: int) -> None:
        """Write the paths from index `first` on into the state."""
        top = int(state.path_start[first]) if first else 0
        for number in range(first, len(self._paths)):
            path = self._paths[number]
            state.path_start[number] = top
            columns = (state.path_variable, state.path_decision, state.path_value, state.path_refuted)
            for column, cells in zip(columns, zip(*path, strict=True), strict=True):
                write(column, top, cells)
            top += len(path)
        state.path_start[len(self._paths)] = top
        state.scalar[NOGOODS] = len(self._paths)


def path_of(state: State) -> list[Item]:
    """The decisions in force and those refuted below them, in order.

    Decisions refuted at the root hold for good and are left out, as are decisions after the last refuted one.
    """
    path = decisions_of(state)
    begin = next((place for place, item in enumerate(path) if not item[3]), len(path))
    end = max((place + 1 for place, item in enumerate(path) if item[3]), default=0)
    return path[begin:end]
