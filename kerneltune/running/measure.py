"""Measuring one candidate on one GPU: correctness, repeatability, time."""

from __future__ import annotations

import math
import statistics
import sys
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
import numpy as np

from kerneltune.errors import RunError
from kerneltune.inputs.problem import checked
from kerneltune.running.any_case import AnyCase
from kerneltune.running.runner import Runner
from kerneltune.running.verify import Verdict
from kerneltune.tiling.candidate import Candidate

Time = Annotated[float, msgspec.Meta(gt=0, le=sys.float_info.max)]
Predicted = Annotated[float, msgspec.Meta(ge=0, le=sys.float_info.max)]


class Measurement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The result of a trial.

    Times in milliseconds for all steps; the ratio is measured over predicted time.
    """

    device: str
    seed: int
    relative_error: Annotated[float, msgspec.Meta(ge=0)]
    right: bool
    verdict: str
    runs: int
    runs_with_same_bits: int
    milliseconds: Time | None = None
    fastest: Time | None = None
    microseconds_per_step: Time | None = None
    predicted_microseconds_per_step: Predicted | None = None
    ratio: Time | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.runs_with_same_bits <= self.runs:
            raise ValueError("'runs_with_same_bits' is not from 0 to 'runs'")
        (self.device + self.verdict).encode()  # refuses what cannot be written anywhere: lone surrogates

    @property
    def passed(self) -> bool:
        """Whether the result is correct and bitwise equal in every run."""
        return self.right and self.runs_with_same_bits == self.runs

    def to_json(self) -> dict[str, Any]:
        """A JSON object with every field."""
        data = {**msgspec.structs.asdict(self), "passed": self.passed}
        if not math.isfinite(self.relative_error):
            data["relative_error"] = None  # JSON has no infinity
        return data

    @classmethod
    def from_json(cls, data: Any) -> Measurement:
        """The inverse of `to_json`; raises `ValueError` for anything else."""
        given = {k: value for k, value in checked(data, dict, "measurement").items() if k != "passed"}
        if given.get("relative_error", 0.0) is None:
            given["relative_error"] = math.inf
        return msgspec.convert(given, cls)


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
    return msgspec.structs.replace(measurement, **timed)


def predicted_anew(measurement: Measurement, candidate: Candidate) -> Measurement:
    """The measurement, compared with the present cost model's prediction of the same kernel."""
    if measurement.microseconds_per_step is None:
        return measurement
    predicted = candidate.microseconds_per_step
    ratio = measurement.microseconds_per_step / predicted
    return msgspec.structs.replace(
        measurement, predicted_microseconds_per_step=round(predicted, 4), ratio=round(ratio, 3)
    )


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
