"""Results and facts of a run as Kernel Tuner gives them."""

from __future__ import annotations

import sys
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


def with_best(
    rows: Sequence[Mapping[str, Any]],
    facts: dict[str, Any],
    objective: str,
    higher: bool,
    told: Sequence[str] | None,
) -> dict[str, Any]:
    """The facts of a run with `best_config`, the row of the best configuration, if any passed.

    Args:
        rows: The rows.
        facts: The facts.
        objective: What counts.
        higher: Whether the greatest value is the best.
        told: The parameters, if rows are printed.
    """
    passed = [row for row in rows if "__error__" not in row and objective in row]
    if told is not None:
        sys.stdout.write("".join(f"{_line(row, told, objective)}\n" for row in rows))
    if not passed:
        return facts
    best = (max if higher else min)(passed, key=lambda row: float(row[objective]))
    if told is not None:
        sys.stdout.write(f"best configuration for {objective}: {_line(best, told, objective)}\n")
    return {**facts, "best_config": dict(best)}


def _line(row: Mapping[str, object], names: Sequence[str], objective: str) -> str:
    """A row in a line: parameters, then time and objective, or why there is none."""
    shown = [f"{name}={row[name]}" for name in names]
    if "__error__" in row:
        return ", ".join([*shown, str(row["__error__"]).partition("\n")[0]])
    shown.append(f"time={row[TIME]:.3f}ms")
    return ", ".join(
        shown + ([f"{objective}={row[objective]:.6g}"] if objective not in (TIME, *names) else [])
    )
