"""All solutions of a small problem in the normal form, and what can be asked of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from constrint.engine.compiled import CompiledSearch
from constrint.engine.select import IN_ORDER, LEAST
from constrint.engine.state_arrays import LIMIT, Box, Branch, build
from constrint.propagators import Propagator
from constrint.store.state import EXHAUSTED, FULL, PAUSED, SOLUTION

MOST_ROWS = 6_000

TALLY: Counter[str] = Counter()
"""How often each kind of inference was checked in this process."""


class Wrong(AssertionError):
    """An inference rules out a solution, or admits what is none."""


class TooMany(Exception):
    """There are more solutions than are listed: parts may leave some of their literals free."""


def solutions_of(box: Box, nodes: Sequence[Propagator]) -> np.ndarray[Any, Any]:
    """All assignments of all variables, by plain search; each satisfies every constraint's definition."""
    n = len(box.lo)
    state = build(box, list(nodes), Branch(range(n), [LEAST] * n, [1] * n, [(n, IN_ORDER)]), LIMIT)
    search = CompiledSearch(state)
    rows: list[list[int]] = []
    while True:
        outcome = search.run(1 << 40, 1 << 40)
        if outcome == SOLUTION:
            rows.append([int(value) for value in search.state.lo])
            if len(rows) > MOST_ROWS:
                raise TooMany
        elif outcome == FULL:
            search.grow()
        elif outcome == EXHAUSTED:
            break
        elif outcome != PAUSED:
            raise ValueError(f"a search for all solutions ended with {outcome}")
    for row in rows:
        for node in nodes:
            if not node.holds(row):
                raise Wrong(f"propagation accepts {row} for {node}")
    return np.array(rows, np.int64).reshape(len(rows), n)


class Solutions:
    """Solutions over numbered variables.

    Attributes:
        rows: The solutions.
        goal: What is optimised, or None.
        count: The number of variables.
        bounds: The values of bounds: of variable v as it is in column 2 v, and negated in the next.
        costs: The values of the goal, negated where it is maximised; 0 without one.
        wanted: Which solutions are still wanted: those better than the best one found.
    """

    def __init__(self, rows: np.ndarray[Any, Any], goal: tuple[int, str] | None) -> None:
        self.rows = rows
        self.goal = goal
        self.count = rows.shape[1]
        self.bounds = np.repeat(rows, 2, axis=1)
        self.bounds[:, 1::2] *= -1
        self.costs = self.costs_of(rows)
        self.wanted = np.ones(len(rows), bool)

    def costs_of(self, rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """What solutions cost."""
        if self.goal is None:
            return np.zeros(len(rows), np.int64)
        return rows[:, self.goal[0]] * (1 if self.goal[1] == "min" else -1)

    def want_better(self, value: int | None) -> None:
        """From now on only solutions better than a value of the goal are wanted; none without a goal."""
        if self.goal is None or value is None:
            self.wanted = np.zeros(len(self.rows), bool)
        else:
            self.wanted = self.costs < value * (1 if self.goal[1] == "min" else -1)

    def better_than(self, value: int) -> np.ndarray[Any, Any]:
        """The solutions that are better than a value of the goal."""
        assert self.goal is not None
        return self.rows[self.costs < value * (1 if self.goal[1] == "min" else -1)]

    def true(self, atom: tuple[int, int]) -> np.ndarray[Any, Any]:
        """In which solutions an atom is true."""
        return self.bounds[:, atom[0]] >= atom[1]

    def truth(self, arc: tuple[int, int] | bool) -> np.ndarray[Any, Any]:
        """In which solutions an atom is true; or a constant."""
        return np.full(len(self.rows), arc) if isinstance(arc, bool) else self.true(arc)

    def clause(self, atoms: Iterable[tuple[int, int]]) -> np.ndarray[Any, Any]:
        """In which solutions some atom of several is true."""
        members = np.array(list(atoms), np.int64).reshape(-1, 2)
        return (self.bounds[:, members[:, 0]] >= members[:, 1]).any(axis=1)  # type: ignore[return-value]

    def sum(self, terms: Sequence[tuple[int, int]]) -> np.ndarray[Any, Any]:
        """The values of a sum of variables, (factor, variable) each."""
        return self.rows[:, [v for _, v in terms]] @ np.array([a for a, _ in terms], np.int64)

    def all_hold(self, holds: np.ndarray[Any, Any], what: str) -> None:
        """Something holds in every solution; raises `Wrong`. The first word of `what` is its kind."""
        TALLY[what.split(" ", 1)[0]] += 1
        if not holds.all():
            raise Wrong(f"{what} rules out {self.rows[~holds][0].tolist()}")

    def wanted_hold(self, holds: np.ndarray[Any, Any], what: str) -> None:
        """Something holds in every solution that is still wanted; raises `Wrong`, as `all_hold`."""
        TALLY[what.split(" ", 1)[0]] += 1
        lost = self.wanted & ~holds
        if lost.any():
            raise Wrong(f"{what} rules out {self.rows[lost][0].tolist()}")

    def all_satisfy(self, node: Propagator, what: str) -> None:
        """Every solution satisfies a constraint; raises `Wrong`."""
        TALLY[what] += 1
        for row in self.rows.tolist():
            if not node.holds(row):
                raise Wrong(f"{what} {node} rules out {row}")

    def within(self, box: Box, rows: np.ndarray[Any, Any], what: str) -> None:
        """Solutions lie within a box; raises `Wrong`."""
        TALLY[what.split(" ", 1)[0]] += 1
        lo, hi, step = (np.array(side, np.int64) for side in (box.lo, box.hi, box.step))
        inside = (rows >= lo) & (rows <= hi) & ((rows - lo) % step == 0)
        for v, values in enumerate(box.values):
            if values is not None:
                inside[:, v] &= np.isin(rows[:, v], np.array(values))
        if not inside.all():
            at, v = np.argwhere(~inside)[0]
            raise Wrong(f"{what}: variable {v} in {box.lo[v]} .. {box.hi[v]} rules out {rows[at].tolist()}")
