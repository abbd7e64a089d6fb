"""The strategies by name."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

from constrint.solutions.solutionset import SolutionSet
from kerneltune.errors import InputError, nearest
from kerneltune.searching.base import Clock, Model, Search, SearchBudget, SearchOptions
from kerneltune.searching.bayesian import Optuna
from kerneltune.searching.launched import LaunchModel
from kerneltune.searching.local import Annealing, Evolution, Neighbours
from kerneltune.searching.modelled import Gaussian, Ridge, Trees
from kerneltune.searching.points import Features
from kerneltune.searching.protocol import Outcome
from kerneltune.searching.simple import Exhaustive, Predicted, Uniform

DEFAULT = "gaussian"
STRATEGIES: dict[str, Callable[[SolutionSet, SearchOptions], Search]] = {
    "exhaustive": Exhaustive,
    "random": Uniform,
    "model": Predicted,
    "neighbours": Neighbours,
    "adjacent": partial(Neighbours, kind="adjacent"),
    "annealing": Annealing,
    "evolution": Evolution,
    "gaussian": Gaussian,
    "trees": Trees,
    "ridge": Ridge,
    "tpe": partial(Optuna, sampler="tpe"),
    "nsga2": partial(Optuna, sampler="nsga2"),
}
"""Each makes a search; `auto` is `DEFAULT`, or for several objectives `tpe`."""


def strategy(
    name: str,
    space: SolutionSet,
    *,
    objective: str | Sequence[str] = "time",
    seed: int = 0,
    model: Model | None = None,
    budget: object = None,
    features: Features | None = None,
    prior: Sequence[Outcome] = (),
    clock: Clock = time.monotonic,
    launch: LaunchModel | None = None,
) -> Search:
    """The search with a name over a space.

    Args:
        name: One of `STRATEGIES`, or `auto`.
        space: The valid configurations, of any number.
        objective: What is minimised; several names for `tpe` and `nsga2`.
        seed: The same seed and outcomes give the same configurations.
        model: The predicted cost of a configuration, such as cycles: the order of `model`, and where the
            strategies that learn begin.
        budget: Anything with `evaluations`, `seconds` and `no_gain`; None: until all are asked.
        features: Further numbers of a configuration that `trees` and `ridge` learn from.
        prior: Earlier outcomes, of another size or GPU, for the strategies that learn.
        clock: Seconds, for the budget.
        launch: How configurations are launched on a GPU, from which `gaussian` learns, too.

    Raises:
        InputError: The name is unknown, the space is empty, or something is missing.
        MissingExtraError: The strategy needs the extra `tune`.
    """
    objectives = (objective,) if isinstance(objective, str) else tuple(objective)
    if not objectives:
        raise InputError("a search needs an objective")
    if name == "auto":
        name = DEFAULT if len(objectives) == 1 else "tpe"
    if name not in STRATEGIES:
        raise InputError(f"no strategy is named '{name}': {nearest(name, [*STRATEGIES, 'auto'])}")
    if len(objectives) > 1 and name not in ("tpe", "nsga2", "random", "exhaustive"):
        raise InputError(f"the strategy '{name}' has one objective; tpe and nsga2 take several")
    given = {key: getattr(budget, key, None) for key in ("evaluations", "seconds", "no_gain")}
    options = SearchOptions(
        *(objectives, seed, model, features, SearchBudget(**given)),
        clock=clock,
        prior=tuple(prior),
        launch=launch,
    )
    return STRATEGIES[name](space, options)
