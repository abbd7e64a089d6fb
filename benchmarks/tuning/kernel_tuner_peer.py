"""Kernel Tuner's strategies at default settings, in its simulation mode, until the target is reached."""

from __future__ import annotations

import contextlib
import io
import random
import warnings
from collections.abc import Iterator, Mapping

import numpy as np
from kernel_tuner import util
from kernel_tuner.interface import Options, strategy_map
from kernel_tuner.runners.simulation import SimulationRunner
from kernel_tuner.searchspace import Searchspace
from problems import Problem

STRATEGIES = [
    "random_sample",
    "greedy_ils",
    "greedy_mls",
    "ordered_greedy_mls",
    "mls",
    "simulated_annealing",
    "genetic_algorithm",
    "diff_evo",
    "dual_annealing",
    "basinhopping",
    "pso",
    "firefly_algorithm",
    "hybrid_vndx",
    "adaptive_tabu_greywolf",
    "bayes_opt",
]


class Results(Mapping[str, dict[str, object]]):
    """The cache of a simulation, whose entries are made when asked for."""

    def __init__(self, problem: Problem) -> None:
        self._names = problem.space.names
        listed = problem.space.to_tuples()
        self._rows = {",".join(map(str, row)): (row, n) for n, row in enumerate(listed)}
        self._times = problem.times

    def __getitem__(self, key: str) -> dict[str, object]:
        row, number = self._rows[key]
        found: dict[str, object] = dict(zip(self._names, row, strict=True))
        time = float(self._times[number])
        found |= {"compile_time": 0.0, "verification_time": 0.0, "benchmark_time": 0.0}
        if np.isnan(time):
            error = util.RuntimeFailedConfig()
            return {**found, "time": error, "__error__": error}
        return {**found, "time": time}

    def __contains__(self, key: object) -> bool:
        return key in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class UntilTarget(SimulationRunner):
    """The simulation runner, which counts, and ends the budget once the target is reached."""

    def __init__(self, target: float) -> None:
        device = Options(quiet=True)
        super().__init__(None, Options(kernel_name="replayed"), device, 7, None)
        self.target, self.reached = target, None

    def run(self, parameter_space, tuning_options):  # type: ignore[no-untyped-def]
        results = []
        for element in parameter_space:
            results += super().run([element], tuning_options)
            found = results[-1]
            if found is not None and "__error__" not in found and found["time"] <= self.target:
                self.reached = self.reached or len(self.visited_results)
                tuning_options.budget.max_fevals = min(
                    tuning_options.budget.max_fevals, tuning_options.budget.num_fevals
                )
        return results


class Peer:
    """A problem as Kernel Tuner's own space and cache, made once."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.space = Searchspace(problem.space.tune_params, problem.restrictions, 1_000_000_000)
        if self.space.size != problem.space.size:
            raise SystemExit(f"{problem.name}: Kernel Tuner's space has {self.space.size} configurations")
        self.cache = Results(problem)

    def evaluations(self, strategy: str, seed: int, most: int) -> int | None:
        """How many configurations a strategy tries until the target; None if it ends before."""
        random.seed(seed)
        np.random.seed(seed)
        runner = UntilTarget(self.problem.target)
        options = Options(
            tune_params=self.problem.space.tune_params,
            restrictions=self.space._modified_restrictions,
            restrictions_unmodified=self.problem.restrictions,
            strategy_options=Options(max_fevals=most),
            max_fevals=most,
            objective=["time"],
            objective_higher_is_better=[False],
            metrics=None,
            cache=self.cache,
            cachefile=None,
            simulated_time=0,
            verbose=False,
            snap=True,
            budget=util.TuningBudget(None, min(most, self.space.size)),
        )
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            with contextlib.suppress(util.StopCriterionReached):
                strategy_map[strategy].tune(self.space, runner, options)
        return runner.reached
