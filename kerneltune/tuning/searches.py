"""The search that a run uses."""

from __future__ import annotations

import random

from constrint.solutions.solutionset import SolutionSet
from kerneltune.searching.protocol import Configuration, Outcome, Strategy
from kerneltune.tuning.kernel_run import RunOptions


class _Uniform:
    def __init__(self, space: SolutionSet, seed: int) -> None:
        self._space = space
        self._order = list(range(space.size))
        random.Random(seed).shuffle(self._order)

    def ask(self, count: int) -> list[Configuration]:
        taken, self._order = self._order[:count], self._order[count:]
        return [dict(self._space[i]) for i in taken]

    def tell(self, outcome: Outcome) -> None:
        pass


def search(name: str, space: SolutionSet, options: RunOptions, seed: int) -> Strategy:
    """The search with a name."""
    return _Uniform(space, seed)
