"""Recorded measurements: cache files of Kernel Tuner, T4 results files and others, read and written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from constrint.errors import ConstrintError
from constrint.solutions.solutionset import SolutionSet
from constrint.tuning.spaces import from_tune_params
from kerneltune.errors import InputError
from kerneltune.inputs.files import json_text_of
from kerneltune.searching.protocol import Configuration, Outcome
from kerneltune.tuning.cache_files import MILLISECONDS, is_number, key_of, outcome_of, parsed
from kerneltune.tuning.goals import MAXIMISED

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

    @cached_property
    def mixed(self) -> frozenset[str]:
        """The parameters with values that are equal and of several types, such as 1 and True."""
        each = self.tune_params.items()
        return frozenset(name for name, values in each if len(set(values)) < len(set(map(repr, values))))

    def told(self, configuration: Configuration) -> Configuration:
        """A configuration as searches see it: values of mixed parameters are their texts."""
        mixed = self.mixed
        return {name: repr(one) if name in mixed else one for name, one in configuration.items()}

    def space(self) -> SolutionSet:
        """The recorded configurations, as a set, as searches see them."""
        names = list(self.tune_params)
        values = self.tune_params.items()
        params = {name: [repr(v) if name in self.mixed else v for v in listed] for name, listed in values}
        each = (self.told(one.configuration) for one in self.outcomes)
        rows = {tuple(one[name] for name in names) for one in each}
        try:
            return from_tune_params(params, [lambda p: tuple(p[name] for name in names) in rows])
        except ConstrintError as error:
            raise InputError(f"the space of {self.kernel}: {error}") from None

    def best(self, objective: str = "time") -> Outcome:
        """The outcome of the best objective; raises `InputError` if none has it."""
        passed = [one for one in self.outcomes if one.failure is None and objective in one.objectives]
        if not passed:
            raise InputError(f"no recorded result of {self.kernel} has the objective '{objective}'")
        sign = -1 if objective in MAXIMISED else 1
        return min(passed, key=lambda one: sign * one.objectives[objective])

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
    """The measurements of a cache file of Kernel Tuner, of a T4 results file, or of columns and rows.

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
        if isinstance(data, dict) and "columns" in data and "rows" in data:
            return _of_columns(data)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}:{error.colno}: no JSON: {error.msg}") from None
    except DAMAGES as error:
        said = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{path} is damaged: {said}") from None
    raise InputError(
        f"{path} is neither a cache file of Kernel Tuner nor a T4 results file, nor has it columns and rows "
        "of the parameters of `best`, time_ms and others"
    )


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
            known = params.setdefault(key, [])
            if value not in known or repr(value) not in map(repr, known):  # 1 equals True
                known.append(value)
    return _checked(name, "", params, outcomes)


def _of_columns(data: Mapping[str, Any]) -> Recording:
    """The results that `benchmarks/tuning/examples.py exhaustive` writes, as columns and rows."""
    names, outcomes = list(data["best"]), []
    for row in data["rows"]:
        found = dict(zip(data["columns"], row, strict=True))
        configuration, time = {name: found[name] for name in names}, found["time_ms"]
        measured = {} if time is None else {"time": float(time)}
        failure = FAILED if time is None else None
        compiled, ran = (float(found.get(name) or 0.0) for name in ("compile_seconds", "run_seconds"))
        outcomes.append(Outcome(configuration, measured, failure, compiled, ran))
    params: dict[str, list[object]] = {}
    for name in names:
        params[name] = [*sorted({one.configuration[name] for one in outcomes})]
    return _checked(str(data["kernel"]), str(data["device"]), params, outcomes)


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
