"""The search that a run uses, by name, and what it learns from earlier runs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from constrint.solutions.solutionset import SolutionSet
from kerneltune.searching.protocol import Outcome, Strategy
from kerneltune.searching.strategies import strategy
from kerneltune.sources.kernel import CUDA, TRITON, Kernel
from kerneltune.tuning.kernel_run import RunOptions
from kerneltune.tuning.store import Store


def search(
    name: str, space: SolutionSet, options: RunOptions, seed: int, prior: Sequence[Outcome] = ()
) -> Strategy:
    """The search with a name: one of `kerneltune.searching.strategies`.

    Raises:
        InputError: The name is unknown.
    """
    return strategy(
        name,
        space,
        objective=options.goals.names,
        seed=seed,
        model=options.model,
        features=options.features,
        budget=options.budget,
        prior=prior,
    )


def earlier(kernel: Kernel, options: RunOptions) -> list[Outcome]:
    """Stored results of a kernel of this name with the same parameters, of any sizes and devices.

    Objectives are as a search sees them: the least is the best.
    """
    with closing(Store(options.store)) as store:
        rows = store.rows(kernel.name)
    names = set(kernel.space.names)
    found = [row.trial.outcome for row in rows if set(row.trial.configuration) == names]
    return [options.goals.turned(outcome) for outcome in found]


def with_own_model(kernel: Kernel, options: RunOptions) -> RunOptions:
    """The options, with the kernel's own cost model and numbers where none are given."""
    model, features = options.model, options.features
    if model is None and "cycles" in kernel.numbers.names:
        model = kernel.cycles
    if features is None and kernel.kind in (CUDA, TRITON):
        features = kernel.features
    return replace(options, model=model, features=features)
