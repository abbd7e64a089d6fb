"""Bayesian and multi-objective search by optuna, over valid points only.

optuna's samplers know ranges of parameters, not restrictions: what they suggest is moved to the nearest valid
point, and that point is what they are told of.
"""

from __future__ import annotations

import math
from typing import Any

from constrint.solutions.solutionset import SolutionSet
from kerneltune.errors import InputError, MissingExtraError
from kerneltune.searching.base import Search, SearchOptions
from kerneltune.searching.protocol import Outcome

FIRST_POINTS = 10  # random points before the model


class Optuna(Search):
    """A sampler of optuna: a tree of Parzen estimators, or NSGA-II for several objectives."""

    def __init__(self, space: SolutionSet, options: SearchOptions, sampler: str = "tpe") -> None:
        super().__init__(space, options)
        try:
            import optuna
        except ImportError:
            raise MissingExtraError(f"the strategy '{sampler}'", "tune") from None
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        if sampler == "nsga2" and len(options.objectives) < 2:
            raise InputError("the strategy 'nsga2' needs several objectives: objective=['time', 'energy']")
        made: Any
        if sampler == "tpe":
            made = optuna.samplers.TPESampler(seed=options.seed, n_startup_trials=FIRST_POINTS)
        else:
            made = optuna.samplers.NSGAIISampler(seed=options.seed, population_size=20)
        self._optuna = optuna
        self._study = optuna.create_study(directions=["minimize"] * len(options.objectives), sampler=made)
        self._distributions: dict[str, Any] = {
            name: optuna.distributions.IntDistribution(0, max(0, len(values) - 1))
            for name, values in zip(self.points.names, self.points.values, strict=True)
        }
        self._trials: dict[int, Any] = {}

    def _propose(self) -> int | None:
        trial = self._study.ask(self._distributions)
        number = self.points.nearest([trial.params[name] for name in self.points.names], self.random)
        if number in self.asked:
            fresh = [one for one in self.points.neighbours(number) if one not in self.asked]
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
            return self.random.choice(fresh) if fresh else number
        self._trials[number] = trial
        return number

    def _learn(self, number: int, cost: float, outcome: Outcome) -> None:
        waiting = self._trials.pop(number, None)
        if waiting is not None:  # its place is taken by the valid point
            self._study.tell(waiting, state=self._optuna.trial.TrialState.FAIL)
        values = [outcome.objectives.get(name, math.nan) for name in self.options.objectives]
        if outcome.failure is not None or not all(math.isfinite(value) for value in values):
            return
        places = self.points.ordinals([number])[0].tolist()
        self._study.add_trial(
            self._optuna.trial.create_trial(
                params=dict(zip(self.points.names, places, strict=True)),
                distributions=self._distributions,
                values=values,
            )
        )

    def front(self) -> list[dict[str, Any]]:
        """The configurations that no other beats in all objectives."""
        best = self._study.best_trials
        numbers = [self.points.replaced([one.params[name] for name in self.points.names]) for one in best]
        return [self.points.configuration(number) for number in numbers if number is not None]
