"""The search that a run uses, by name, and what it learns from earlier runs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from constrint.solutions.solutionset import SolutionSet
from kerneltune.searching.protocol import Outcome, Strategy
from kerneltune.searching.strategies import strategy
from kerneltune.sources.kernel import Kernel
from kerneltune.tuning.kernel_run import RunOptions
from kerneltune.tuning.kernel_store import KernelStore


def search(
    name: str, space: SolutionSet, options: RunOptions, seed: int, prior: Sequence[Outcome] = ()
) -> Strategy:
    """The search with a name: one of `kerneltune.searching.strategies`.

    Raises:
        InputError: The name is unknown.
    """
    objective, budget = options.objective, options.budget
    return strategy(name, space, objective=objective, seed=seed, budget=budget, prior=prior)


def earlier(kernel: Kernel, options: RunOptions) -> list[Outcome]:
    """What the store has of a kernel by this name with the same parameters, of whatever sizes and devices.

    Objectives are as a search sees them: the least is the best.
    """
    with closing(KernelStore(options.store)) as store:
        rows = store.rows(kernel.name)
    names = set(kernel.space.names)
    found = [row.trial.outcome for row in rows if set(row.trial.configuration) == names]
    if not options.is_maximised:
        return found
    return [_turned(outcome, options.objective) for outcome in found]


def _turned(outcome: Outcome, objective: str) -> Outcome:
    objectives = {name: -value if name == objective else value for name, value in outcome.objectives.items()}
    return replace(outcome, objectives=objectives)
