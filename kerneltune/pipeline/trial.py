"""One candidate's result, as it is stored and shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import msgspec

from kerneltune.searching.protocol import Configuration, Outcome

TIME = "time"  # the objective that every measurement has, in milliseconds


@dataclass(frozen=True)
class Trial:
    """A candidate that was tried.

    Attributes:
        configuration: The values of its parameters.
        objectives: The measured values by name: `time` in milliseconds, and others; empty on failure.
        failure: Why there is no measurement.
        compile_seconds: Time of its compilation.
        run_seconds: Time of its runs, verification included.
        fastest: The least time in milliseconds.
        spread: The distance of the quartiles of its times over the median.
        samples: Number of times; fewer than planned if it was far from the best.
        relative_error: Distance from the reference.
        resources: Registers, static and dynamic shared memory, blocks per SM.
        notes: NVML readings: clocks, temperature, power, throttling.
        device: The name of the device.
        died: Whether its process crashed, hung or gave no answer; of a tiling, also whether it cannot go on.
        limit: The time limit that was exceeded, in seconds.
        predicted: The expected objective, by the search or the cost model, before it was tried.
        stored: Whether it comes from the store.
    """

    configuration: Configuration
    objectives: dict[str, float] = field(default_factory=dict)
    failure: str | None = None
    compile_seconds: float = 0.0
    run_seconds: float = 0.0
    fastest: float | None = None
    spread: float | None = None
    samples: int = 0
    relative_error: float | None = None
    resources: dict[str, int] = field(default_factory=dict)
    notes: dict[str, float] = field(default_factory=dict)
    device: str = ""
    died: bool = False
    limit: float | None = None
    predicted: float | None = None
    stored: bool = field(default=False, compare=False)

    @property
    def passed(self) -> bool:
        """Whether it was measured."""
        return self.failure is None

    @property
    def time(self) -> float | None:
        """Milliseconds of a run; None on failure."""
        return self.objectives.get(TIME)

    @property
    def outcome(self) -> Outcome:
        """The outcome for a search strategy."""
        return Outcome(
            self.configuration,
            self.objectives,
            self.failure,
            self.compile_seconds,
            self.run_seconds,
            self.resources,
        )

    def is_final(self, limit: float) -> bool:
        """Whether another try with this time limit would have the same outcome."""
        return self.limit is None or self.limit >= limit

    def to_json(self) -> dict[str, object]:
        """A JSON object; `from_json` is the inverse."""
        return {one.name: getattr(self, one.name) for one in fields(Trial) if one.name != "stored"}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Trial:
        """The inverse of `to_json`; raises `ValueError` for anything else."""
        known = {one.name for one in fields(Trial)} - {"stored"}
        strange = sorted(set(data) - known)
        if strange:
            raise ValueError(f"unknown field {strange[0][:40]!r}")
        trial = msgspec.convert({**data, "stored": True}, Trial)
        if trial.failure is not None and trial.objectives:
            raise ValueError("a trial has objectives or a failure")
        if not all(math.isfinite(value) for value in trial.objectives.values()):
            raise ValueError("an objective is no number")
        if trial.time is not None and trial.time <= 0:
            raise ValueError("a time is not above 0")
        return trial
