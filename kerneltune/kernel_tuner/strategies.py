"""Kernel Tuner's strategies: the kind of search that replaces each, and the options that each takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kerneltune.errors import nearest


@dataclass(frozen=True, slots=True)
class KnownStrategy:
    """A strategy of Kernel Tuner 1.5.

    Attributes:
        kind: The kind of search that stands for it.
        options: The names of its own options.
        takes_start: Whether it takes a starting point, `x0`.
        takes_budget: Whether it takes limits, such as `max_fevals`.
    """

    kind: str
    options: str = ""
    takes_start: bool = True
    takes_budget: bool = True

    @property
    def accepted(self) -> list[str]:
        """All options that it takes."""
        budget = ["max_fevals", "time_limit", "searchspace_construction_options"]
        start = ["x0"] if self.takes_start else []
        return [*self.options.split(), *(budget if self.takes_budget else []), *start]


_GREEDY = "neighbor restart order randomize"
_FRONT = "popsize crossover_operator crossover_prob mutation_prob ref_dirs_list"

STRATEGIES = {
    "brute_force": KnownStrategy("exhaustive", takes_start=False, takes_budget=False),
    "random_sample": KnownStrategy("random", "fraction", takes_start=False),
    "minimize": KnownStrategy("neighbours", "method"),
    "basinhopping": KnownStrategy("neighbours", "method T"),
    "diff_evo": KnownStrategy(
        "evolution", "popsize popsize_times_dimensions maxiter F CR method constraint_aware"
    ),
    "genetic_algorithm": KnownStrategy(
        "evolution", "popsize maxiter method mutation_chance constraint_aware"
    ),
    "greedy_mls": KnownStrategy("neighbours", _GREEDY),
    "ordered_greedy_mls": KnownStrategy("neighbours", _GREEDY),
    "greedy_ils": KnownStrategy("neighbours", "neighbor restart no_improvement random_walk"),
    "mls": KnownStrategy("neighbours", _GREEDY),
    "dual_annealing": KnownStrategy("annealing", "method"),
    "simulated_annealing": KnownStrategy("annealing", "T T_min alpha maxiter constraint_aware"),
    "pso": KnownStrategy("evolution", "popsize maxiter w c1 c2 constraint_aware"),
    "firefly_algorithm": KnownStrategy("evolution", "popsize maxiter B0 gamma alpha constraint_aware"),
    "skopt": KnownStrategy(
        "gaussian", "learner acq_func lie_strategy kappa num_initial batch_size skopt_kwargs"
    ),
    "bayes_opt": KnownStrategy(
        "gaussian", "covariancekernel covariancelengthscale method samplingmethod popsize", takes_start=False
    ),
    "pyatf_strategies": KnownStrategy("auto", "searchtechnique use_searchspace_cache", takes_start=False),
    "hybrid_vndx": KnownStrategy(
        "auto",
        "budget k cand_pool restart_iter tabu_size elite_size temp0 cooling constraint_aware",
        takes_start=False,
    ),
    "adaptive_tabu_greywolf": KnownStrategy(
        "auto",
        "budget pack_size tabu_factor shake_rate jump_rate stagn_limit restart_ratio t0 t_decay t_min "
        "constraint_aware",
        takes_start=False,
    ),
    "nsga2": KnownStrategy("evolution", _FRONT, takes_start=False),
    "nsga3": KnownStrategy("evolution", _FRONT, takes_start=False),
}
"""By name."""


def __getattr__(name: str) -> str:
    """The name of a strategy, which Kernel Tuner has as a module: `kernel_tuner.strategies.minimize`."""
    if name in STRATEGIES:
        return name
    raise AttributeError(f"Kernel Tuner has no strategy '{name}': {nearest(name, STRATEGIES)}")


def check_strategy(name: str, options: Mapping[str, object]) -> None:
    """Raise `ValueError` for a strategy or an option that Kernel Tuner does not have."""
    if name not in STRATEGIES:
        raise ValueError(f"unknown strategy {name}; there are: {', '.join(STRATEGIES)}")
    known = STRATEGIES[name]
    if "x0" in options and not known.takes_start:
        raise ValueError(f"the strategy {name} takes no starting point x0")
    for option in options:
        if option not in known.accepted:
            has = ", ".join(known.accepted) or "none"
            raise ValueError(f"strategy_options: {name} has no option {option!r}; it has: {has}")
