"""Measuring one candidate on one GPU: correctness, repeatability, time."""

from __future__ import annotations

import math
import statistics
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from kerneltune.errors import RunError
from kerneltune.inputs.problem import checked
from kerneltune.running.any_case import AnyCase
from kerneltune.running.runner import Runner
from kerneltune.running.verify import Verdict
from kerneltune.tiling.candidate import Candidate


@dataclass(frozen=True)
class Measurement:
    """The result of a trial.

    Times in milliseconds for all steps; the ratio is measured over predicted time.
    """

    device: str
    seed: int
    relative_error: float
    right: bool
    verdict: str
    runs: int
    runs_with_same_bits: int
    milliseconds: float | None = None
    fastest: float | None = None
    microseconds_per_step: float | None = None
    predicted_microseconds_per_step: float | None = None
    ratio: float | None = None

    @property
    def passed(self) -> bool:
        """Whether the result is correct and bitwise equal in every run."""
        return self.right and self.runs_with_same_bits == self.runs

    def to_json(self) -> dict[str, Any]:
        """A JSON object with every field."""
        data = {**asdict(self), "passed": self.passed}
        if not math.isfinite(self.relative_error):
            data["relative_error"] = None  # JSON has no infinity
        return data

    @classmethod
    def from_json(cls, data: Any) -> Measurement:
        """The inverse of `to_json`; raises `ValueError` or `KeyError` for anything else."""
        kinds = {"str": str, "int": int, "float": float, "bool": bool}
        known = {one.name: str(one.type) for one in fields(cls)}
        given = {
            name: value for name, value in checked(data, dict, "measurement").items() if name != "passed"
        }
        if given["relative_error"] is None:
            given["relative_error"] = math.inf
        for name, kind in known.items():
            value = given.get(name) if kind.endswith("| None") else given[name]
            if name != "relative_error" and not (value is None and kind.endswith("| None")):
                checked(value, kinds[kind.partition(" ")[0]], name)
        if given["relative_error"] != math.inf:
            checked(given["relative_error"], float, "relative_error")
        if given.keys() - known.keys():
            raise ValueError(f"measurement: unknown field {min(given.keys() - known.keys())[:40]!r}")
        for name in ("milliseconds", "fastest", "microseconds_per_step", "ratio"):
            if given.get(name) is not None and given[name] <= 0:
                raise ValueError(f"{name} must be above 0")
        return cls(**given)


@dataclass(frozen=True)
class TrialPlan:
    """The work of a trial: runs whose bits are compared, launches that are timed."""

    runs: int = 3
    timed: int = 20
    seed: int = 0


def try_candidate(runner: Runner, candidate: Candidate, case: AnyCase, plan: TrialPlan) -> Measurement:
    """Verify the prepared candidate, repeat it, and time it if it is correct."""
    verdict, same = _verify(runner, case, plan.runs)
    times = runner.time(plan.timed) if plan.timed and verdict.right else []
    measurement = Measurement(
        device=runner.device,
        seed=plan.seed,
        relative_error=verdict.relative_error,
        right=verdict.right,
        verdict=verdict.sentence,
        runs=plan.runs,
        runs_with_same_bits=same,
    )
    return with_times(measurement, candidate, times) if times else measurement


def with_times(measurement: Measurement, candidate: Candidate, times: list[float]) -> Measurement:
    """The measurement with the median of ``times``, compared with the prediction.

    Raises:
        RunError: One of them is NaN, infinite, negative or 0.
    """
    wrong = next((time for time in times if not (0 < time < math.inf)), None)
    if wrong is not None:
        raise RunError(f"the GPU's clock gave {wrong} ms for a launch, which is no time")
    median = statistics.median(times)
    per_step = median * 1e3 / candidate.problem.steps
    predicted = candidate.microseconds_per_step
    timed = {
        "milliseconds": round(median, 5),
        "fastest": round(min(times), 5),
        "microseconds_per_step": round(per_step, 4),
        "predicted_microseconds_per_step": round(predicted, 4),
        "ratio": round(per_step / predicted, 3),
    }
    return Measurement(**{**asdict(measurement), **timed})


def predicted_anew(measurement: Measurement, candidate: Candidate) -> Measurement:
    """The measurement, compared with the present cost model's prediction of the same kernel."""
    if measurement.microseconds_per_step is None:
        return measurement
    predicted = candidate.microseconds_per_step
    ratio = measurement.microseconds_per_step / predicted
    return replace(measurement, predicted_microseconds_per_step=round(predicted, 4), ratio=round(ratio, 3))


def _verify(runner: Runner, case: AnyCase, runs: int) -> tuple[Verdict, int]:
    runner.run_once()
    first = runner.read()
    verdict = case.judge(first)
    same = 1
    for _ in range(runs - 1):
        runner.run_once()
        same += all(
            (again.view(np.uint8) == first[name].view(np.uint8)).all()
            for name, again in runner.read().items()
        )
    return verdict, same
