"""Kernel Tuner's simulation: a search on the results of a cache file, without a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path

from kerneltune.errors import InputError
from kerneltune.messages import Answer, Built, Failed, Order
from kerneltune.pipeline.run import Budget, Pipeline
from kerneltune.pipeline.trial import TIME, Trial
from kerneltune.searching.protocol import Configuration, Strategy
from kerneltune.tuning.cache_files import cache_path, key_of, outcome_of, read_cache
from kerneltune.tuning.kernel_work import Metric


class Simulated:
    """The results of a cache file, as a run's memory.

    Args:
        path: The file.
        names: The parameters.
        metrics: Objectives that are computed anew.
        objective: What is optimised; each result must have it.
    """

    compiles = False

    def __init__(
        self, path: Path, names: Sequence[str], metrics: Mapping[str, Metric], objective: str
    ) -> None:
        self._objective = objective
        self._path, self._names, self._metrics = cache_path(path), list(names), dict(metrics)
        self.entries = read_cache(self._path, self._names)

    def find(self, configuration: Configuration) -> Trial:
        """The result of a configuration."""
        entry = self.entries.get(key_of(configuration, self._names))
        if entry is None:
            return Trial(configuration, failure=f"the cache {self._path} has no such configuration")
        found = outcome_of({TIME: "no time", **entry}, self._names)
        if found.failure is not None:
            return Trial(configuration, failure=found.failure)
        objectives = dict(found.objectives)
        for name, metric in self._metrics.items():
            objectives[name] = float(metric(configuration, objectives))
        if self._objective not in objectives:
            raise InputError(
                f"objective: the cache {self._path} has no '{self._objective}' for {dict(configuration)}; "
                f"it has: {', '.join(objectives)}"
            )
        return Trial(configuration, objectives, stored=True)

    def add(self, trial: Trial) -> None:
        """Nothing is kept."""

    def order(self, configuration: Configuration) -> Order:
        """Never asked for: every configuration is found."""
        raise InputError("a simulation measures nothing")

    def refused(self, order: Order, built: Built) -> str | None:
        """Nothing is built."""
        return None

    def trial(self, order: Order, built: Built | None, answer: Answer | Failed) -> Trial:
        """Never asked for."""
        raise InputError("a simulation measures nothing")


class _NoDevices:
    slots = depth = 1

    def submit(
        self, number: int, order: Order, built: Built | None, best: float | None
    ) -> Future[Answer | Failed]:
        raise InputError("a simulation measures nothing")

    def close(self) -> None:
        """Nothing is open."""


def simulated(
    results: Simulated, strategy: Strategy, budget: Budget, objective: str, higher: bool | None
) -> list[Trial]:
    """The trials of a search on recorded results."""
    sign = -1 if higher else 1

    def better(one: Trial, other: Trial) -> bool:
        return sign * one.objectives[objective] < sign * other.objectives[objective]

    pipeline = Pipeline(results, strategy, results, None, _NoDevices(), better=better)
    return pipeline.run(budget).trials
