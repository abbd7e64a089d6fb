"""Results and facts of a run as Kernel Tuner gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from kerneltune.pipeline.trial import TIME, Trial
from kerneltune.searching.protocol import Configuration, Outcome, Strategy
from kerneltune.tuning.cache_files import TIMES, key_of


class Clock:
    """Measures a run and the search's part of it, in milliseconds."""

    def __init__(self) -> None:
        self._started = perf_counter()
        self.spent = 0.0
        self.strategy: Strategy = self
        self._inner: Strategy | None = None
        self._start: Configuration | None = None

    def searched(self, strategy: Strategy, start: Configuration | None) -> None:
        """The search whose time is measured, and the configuration to begin with."""
        self._inner, self._start = strategy, start

    def ask(self, count: int) -> list[Configuration]:
        """Configurations of the search, after the one to begin with."""
        assert self._inner is not None
        began = perf_counter()
        if self._start is not None:
            first, self._begun, self._start = self._start, self._start, None
            return [first]
        found = self._inner.ask(count)
        self.spent += 1e3 * (perf_counter() - began)
        return [one for one in found if one != getattr(self, "_begun", None)]

    def tell(self, outcome: Outcome) -> None:
        """Tell the search."""
        assert self._inner is not None
        began = perf_counter()
        self._inner.tell(outcome)
        self.spent += 1e3 * (perf_counter() - began)

    @property
    def milliseconds(self) -> float:
        """Since the start."""
        return 1e3 * (perf_counter() - self._started)


def rows_of(
    trials: Sequence[Trial], entries: Mapping[str, Mapping[str, Any]], names: Sequence[str]
) -> list[dict[str, Any]]:
    """A row for each trial: parameters, objectives and times."""
    found = []
    for trial in trials:
        row: dict[str, Any] = dict(trial.configuration)
        entry = entries.get(key_of(trial.configuration, names), {})
        if trial.failure is None:
            row |= trial.objectives
            row["times"] = list(entry.get("times", [trial.objectives[TIME]]))
        else:
            row |= {TIME: trial.failure, "__error__": trial.failure, "times": []}
        recorded = {
            "compile_time": 1e3 * trial.compile_seconds,
            "verification_time": 0.0,
            "benchmark_time": 1e3 * trial.run_seconds,
            "strategy_time": 0.0,
            "framework_time": 0.0,
        }
        row |= {name: entry.get(name, recorded[name]) for name in TIMES}
        row["timestamp"] = str(entry.get("timestamp", datetime.now(UTC)))
        found.append(row)
    return found


def environment_of(
    clock: Clock,
    trials: Sequence[Trial],
    entries: Mapping[str, Mapping[str, Any]],
    names: Sequence[str],
) -> dict[str, Any]:
    """Where the time went, in milliseconds; of a simulation, with the time that its results took."""
    simulated = 0.0
    totals = dict.fromkeys(("compile", "verification", "benchmark"), 0.0)
    for trial in trials:
        entry = entries.get(key_of(trial.configuration, names), {})
        own = {
            "compile": entry.get("compile_time", 1e3 * trial.compile_seconds),
            "verification": entry.get("verification_time", 0.0),
            "benchmark": entry.get("benchmark_time", 1e3 * trial.run_seconds),
        }
        for name, value in own.items():
            totals[name] += float(value)
            simulated += float(value) if entries else 0.0
    whole = clock.milliseconds
    measured = 0.0 if entries else sum(totals.values())
    rest = max(whole - clock.spent - measured, 1e-6)
    found: dict[str, Any] = {
        "total_framework_time": rest / 2,
        "total_strategy_time": max(clock.spent, 1e-6),
        **{f"total_{name}_time": value for name, value in totals.items()},
        "overhead_time": rest / 2,
        "device_name": next((trial.device for trial in trials if trial.device), ""),
    }
    if entries:
        found |= {"simulated_time": simulated, "simulation": True}
    return found
