"""The search that a run uses, by name, and what it learns from earlier runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

from constrint.solutions.solutionset import SolutionSet
from kerneltune.errors import InputError
from kerneltune.searching.launched import LaunchModel
from kerneltune.searching.protocol import Configuration, Outcome, Strategy
from kerneltune.searching.strategies import strategy
from kerneltune.sources.kernel import BLOCK, CUDA, GRID, TRITON, Kernel
from kerneltune.tiling.occupancy import blocks_per_sm
from kerneltune.tuning.kernel_run import RunOptions
from kerneltune.tuning.store import Store


def search(
    name: str,
    space: SolutionSet,
    options: RunOptions,
    seed: int,
    prior: Sequence[Outcome] = (),
    launch: LaunchModel | None = None,
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
        launch=launch,
    )


def launch_of(kernel: Kernel) -> LaunchModel | None:
    """How a CUDA kernel is launched on its GPU; None of others, whose compilers report no registers."""
    profile = kernel.profile
    if kernel.kind != CUDA or profile is None:
        return None

    def numbers(configuration: Configuration) -> tuple[int, int, int]:
        try:
            found = kernel.numbers.of(configuration)
        except InputError:  # its order says what is wrong
            return 1, 1, 0
        threads, blocks = (math.prod(found.get(axis, 1) for axis in axes) for axes in (BLOCK, GRID))
        return max(1, threads), max(1, blocks), max(0, found.get("shared_memory", 0))

    return LaunchModel(numbers, partial(blocks_per_sm, profile), profile.sm_count)


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
