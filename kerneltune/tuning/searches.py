"""The search that a run uses, by name."""

from __future__ import annotations

import importlib
import random
from typing import Any

from constrint.solutions.solutionset import SolutionSet
from kerneltune.errors import InputError
from kerneltune.searching.protocol import Configuration, Outcome, Strategy
from kerneltune.tuning.kernel_run import RunOptions

UNIFORM = ("auto", "random", "exhaustive")


class Uniform:
    """All configurations in a drawn order, each once."""

    def __init__(self, space: SolutionSet, seed: int) -> None:
        self._space = space
        self._left = list(range(space.size))
        random.Random(seed).shuffle(self._left)

    def ask(self, count: int) -> list[Configuration]:
        """The next configurations."""
        taken, self._left = self._left[:count], self._left[count:]
        return [dict(self._space[place]) for place in taken]

    def tell(self, outcome: Outcome) -> None:
        """The order stays."""


def nearest_kind(name: str) -> str:
    """The name itself where strategies are present, else a uniform order."""
    try:
        importlib.import_module("kerneltune.searching.strategies")
    except ModuleNotFoundError:
        return "random"
    return name


def search(name: str, space: SolutionSet, options: RunOptions, seed: int) -> Strategy:
    """The search with a name: one of `kerneltune.searching.strategies`, where that is present.

    Raises:
        InputError: The name is unknown.
    """
    try:
        module: Any = importlib.import_module("kerneltune.searching.strategies")
    except ModuleNotFoundError as error:
        if error.name != "kerneltune.searching.strategies":
            raise
        if name not in UNIFORM:
            raise InputError(f"no strategy is named '{name}': known are {', '.join(UNIFORM)}") from None
        return Uniform(space, seed)
    found: Strategy = module.strategy(
        name, space, objective=options.objective, seed=seed, budget=options.budget
    )
    return found
