"""The search that a run uses, by name."""

from __future__ import annotations

from constrint.solutions.solutionset import SolutionSet
from kerneltune.searching.protocol import Strategy
from kerneltune.searching.strategies import strategy
from kerneltune.tuning.kernel_run import RunOptions


def search(name: str, space: SolutionSet, options: RunOptions, seed: int) -> Strategy:
    """The search with a name: one of `kerneltune.searching.strategies`.

    Raises:
        InputError: The name is unknown.
    """
    return strategy(name, space, objective=options.objective, seed=seed, budget=options.budget)
