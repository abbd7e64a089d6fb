"""Recorded measurements: cache files of Kernel Tuner and T4 results files, read, written and replayed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from constrint.errors import ConstrintError
from constrint.solutions.solutionset import SolutionSet
from constrint.tuning.spaces import from_tune_params
from kerneltune.errors import InputError
from kerneltune.inputs.files import json_text_of
from kerneltune.searching.base import Search, SearchBudget
from kerneltune.searching.protocol import Configuration, Outcome
from kerneltune.searching.strategies import strategy
from kerneltune.tuning.cache_files import MILLISECONDS, is_number, key_of, outcome_of, parsed

DAMAGES = (KeyError, TypeError, ValueError, AttributeError, RecursionError)
FAILED = "failed"
T4_VERSION = "1.0.0"
INVALIDITY = {"compile", "runtime", "correctness", "timeout", "constraints"}


@dataclass(frozen=True)
class Recording:
    """The measurements of a kernel on a device.

    Attributes:
        kernel: The kernel's name.
        device: The device's name.
        tune_params: The parameters and their values.
        outcomes: A result for each configuration; times in milliseconds.
    """

    kernel: str
    device: str
    tune_params: dict[str, list[object]]
    outcomes: tuple[Outcome, ...]

    def space(self) -> SolutionSet:
        """The recorded configurations, as a set."""
        names = list(self.tune_params)
        rows = {tuple(one.configuration[name] for name in names) for one in self.outcomes}
        try:
            return from_tune_params(self.tune_params, [lambda p: tuple(p[name] for name in names) in rows])
        except ConstrintError as error:
            raise InputError(f"the space of {self.kernel}: {error}") from None

    def best(self, objective: str = "time") -> Outcome:
        """The outcome of the least objective; raises `InputError` if none has it."""
        passed = [one for one in self.outcomes if one.failure is None and objective in one.objectives]
        if not passed:
            raise InputError(f"no recorded result of {self.kernel} has the objective '{objective}'")
        return min(passed, key=lambda one: one.objectives[objective])

    def cache_file(self) -> dict[str, object]:
        """The measurements as a cache file of Kernel Tuner, as data for JSON."""
        cache = {}
        for one in self.outcomes:
            row = {
                **one.configuration,
                "time": "RuntimeFailedConfig",
                **one.objectives,
                "compile_time": one.compile_seconds / MILLISECONDS,
                "verification_time": 0,
                "benchmark_time": one.run_seconds / MILLISECONDS,
                "strategy_time": 0,
                "framework_time": 0,
            }
            cache[key_of(one.configuration, list(self.tune_params))] = row
        return {
            "device_name": self.device,
            "kernel_name": self.kernel,
            "problem_size": [],
            "tune_params_keys": list(self.tune_params),
            "tune_params": self.tune_params,
            "objective": "time",
            "cache": cache,
        }

    def results_file(self) -> dict[str, object]:
        """The measurements as a T4 results file, as data for JSON."""
        return {
            "schema_version": T4_VERSION,
            "metadata": {"timeunit": "milliseconds"},
            "results": [
                {
                    "configuration": one.configuration,
                    "times": {
                        "compilation_time": one.compile_seconds / MILLISECONDS,
                        "benchmark": one.run_seconds / MILLISECONDS,
                        "runtimes": [],
                    },
                    "invalidity": "correct" if one.failure is None else invalidity_of(one.failure),
                    "correctness": 1 if one.failure is None else 0,
                    "measurements": [
                        {"name": name, "value": value, "unit": "milliseconds" if name == "time" else ""}
                        for name, value in one.objectives.items()
                    ],
                    "objectives": list(one.objectives),
                }
                for one in self.outcomes
            ],
        }


def read_recording(path: Path) -> Recording:
    """The measurements of a cache file of Kernel Tuner or of a T4 results file.

    Raises:
        InputError: The file cannot be read, or is neither; the text names it.
    """
    text = json_text_of(path)
    try:
        cache = parsed(text)
        if cache is not None:
            return _of_cache(cache)
        data = json.loads(text)
        if isinstance(data, dict) and "results" in data:
            return _of_results(data, path.stem)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}:{error.colno}: no JSON: {error.msg}") from None
    except DAMAGES as error:
        said = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{path} is damaged: {said}") from None
    raise InputError(f"{path} is neither a cache file of Kernel Tuner nor a T4 results file")


def _of_cache(data: Mapping[str, Any]) -> Recording:
    names = list(data["tune_params"])
    outcomes = []
    for row in data["cache"].values():
        found = outcome_of(row, names)
        measured = {name: value for name, value in found.objectives.items() if not name.endswith("_time")}
        outcomes.append(replace(found, objectives=measured))
    params = {name: list(values) for name, values in data["tune_params"].items()}
    return _checked(str(data["kernel_name"]), str(data["device_name"]), params, outcomes)


def _of_results(data: Mapping[str, Any], name: str) -> Recording:
    outcomes = []
    for one in data["results"]:
        measured = {
            m["name"]: float(m["value"]) for m in one.get("measurements", []) if is_number(m["value"])
        }
        failure = None if one["invalidity"] == "correct" and measured else str(one["invalidity"])
        times = one["times"]
        compiled = float(times.get("compilation_time", times.get("compilation", 0.0))) * MILLISECONDS
        ran = float(times.get("benchmark", sum(times.get("runtimes", [])))) * MILLISECONDS
        configuration = dict(one["configuration"])
        outcomes.append(Outcome(configuration, {} if failure else measured, failure, compiled, ran))
    params: dict[str, list[Any]] = {}
    for outcome in outcomes:
        for key, value in outcome.configuration.items():
            if value not in params.setdefault(key, []):
                params[key].append(value)
    return _checked(name, "", params, outcomes)


def _checked(
    kernel: str, device: str, params: dict[str, list[object]], outcomes: Sequence[Outcome]
) -> Recording:
    if not outcomes:
        raise ValueError("it has no result")
    for outcome in outcomes:
        if set(outcome.configuration) != set(params):
            raise ValueError(f"{outcome.configuration} has other parameters than {', '.join(params)}")
        for name, value in outcome.configuration.items():
            if not isinstance(value, bool | int | float | str) or value not in params[name]:
                raise ValueError(f"{value!r} is not a value of {name}")
    return Recording(kernel, device, params, tuple(outcomes))


def invalidity_of(failure: str) -> str:
    """T4's word for a failure."""
    if failure in INVALIDITY:
        return failure
    if failure.startswith("wrong result"):
        return "correctness"
    return "compile" if "ompil" in failure or "NVRTC" in failure else "runtime"


@dataclass(frozen=True)
class Replayed:
    """A search that ran on recorded measurements.

    Attributes:
        outcomes: What it asked for, in order.
        search: The search, with what it learned.
        objective: What was minimised.
    """

    outcomes: tuple[Outcome, ...]
    search: Search
    objective: str

    @property
    def best(self) -> Outcome | None:
        """The best that was found."""
        passed = [one for one in self.outcomes if self.objective in one.objectives]
        return min(passed, key=lambda one: one.objectives[self.objective], default=None)

    def until(self, value: float) -> int | None:
        """The number of configurations until one was at most this; None if none was."""
        reached = (
            place + 1
            for place, one in enumerate(self.outcomes)
            if one.objectives.get(self.objective, math.inf) <= value
        )
        return next(reached, None)


def replay(
    recording: Recording,
    name: str = "auto",
    *,
    objective: str = "time",
    seed: int = 0,
    budget: SearchBudget | None = None,
    prior: Sequence[Outcome] = (),
) -> Replayed:
    """Run a search on recorded measurements: no GPU, the same each time.

    Args:
        recording: The measurements.
        name: The strategy.
        objective: What is minimised.
        seed: The search's seed.
        budget: When it ends; its seconds are those that were recorded.
        prior: Outcomes of another recording.
    """
    spent = [0.0]
    space = recording.space()
    search = strategy(
        *(name, space), objective=objective, seed=seed, budget=budget, prior=prior, clock=lambda: spent[0]
    )
    known = {_key(one.configuration): one for one in recording.outcomes}
    outcomes: list[Outcome] = []
    while asked := search.ask(1):
        outcome = known[_key(asked[0])]
        spent[0] += outcome.compile_seconds + outcome.run_seconds
        outcomes.append(outcome)
        search.tell(outcome)
    return Replayed(tuple(outcomes), search, objective)


def _key(configuration: Configuration) -> tuple[object, ...]:
    return tuple(sorted(configuration.items()))
