"""The result of a tiling: a trial with its candidate, compared with the cost model's prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kerneltune.pipeline.trial import TIME, Trial
from kerneltune.running.verify import Verdict
from kerneltune.searching.protocol import Configuration
from kerneltune.tiling.candidate import Candidate

WRONG = "wrong result"  # start of the failure of a kernel that ran
SEED, RUNS, TOLERANCE = "seed", "runs", "tolerance"  # notes of a tiling


def configuration_of(candidate: Candidate) -> Configuration:
    """A tiling as a configuration, which no other tiling of its request has."""
    return {
        "strategy": candidate.strategy,
        **candidate.parameters,
        "blocks_per_sm": candidate.blocks_per_sm,
    }


@dataclass(frozen=True, kw_only=True)
class TilingTrial(Trial):
    """A candidate that was tried; its time is of all steps."""

    candidate: Candidate

    @property
    def microseconds_per_step(self) -> float | None:
        """The measured time of a step."""
        return None if self.time is None else self.time * 1e3 / self.candidate.problem.steps

    @property
    def ratio(self) -> float | None:
        """Measured over predicted time."""
        measured = self.microseconds_per_step
        return None if measured is None else measured / self.candidate.microseconds_per_step

    @property
    def verdict(self) -> str:
        """The verdict on its result as a sentence, or why there is none."""
        if self.failure is not None:
            return self.failure
        return Verdict(self.relative_error or 0.0, self.notes.get(TOLERANCE, 0.0), 0).sentence

    @property
    def sentence(self) -> str:
        """Its time, or why it has none."""
        if self.failure is not None:
            return f"{'WRONG' if self.failure.startswith(WRONG) else 'lost'}: {self.failure}"
        return "verified" if self.time is None else f"{self.time:.5g} ms"

    def reported(self) -> dict[str, Any]:
        """A JSON object for reports: the candidate, its measurement, and why there is none."""
        return {
            "candidate": self.candidate.to_json(),
            "measurement": self._measurement() if self.passed else None,
            "failure": self.failure,
            "passed": self.passed,
        }

    def _measurement(self) -> dict[str, object]:
        runs = int(self.notes.get(RUNS, 0))
        return {
            "device": self.device,
            "seed": int(self.notes.get(SEED, 0)),
            "relative_error": self.relative_error,
            "right": True,
            "verdict": self.verdict,
            "runs": runs,
            "runs_with_same_bits": runs,
            "milliseconds": _rounded(self.time, 5),
            "fastest": _rounded(self.fastest, 5),
            "microseconds_per_step": _rounded(self.microseconds_per_step, 4),
            "predicted_microseconds_per_step": None
            if self.time is None
            else round(self.candidate.microseconds_per_step, 4),
            "ratio": _rounded(self.ratio, 3),
            "passed": True,
        }

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `from_json` is the inverse."""
        return {**super().to_json(), "candidate": self.candidate.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TilingTrial:
        """The inverse of `to_json`; raises `ValueError`, `KeyError` or `InputError` for anything else."""
        plain = Trial.from_json({name: value for name, value in data.items() if name != "candidate"})
        return cls(**plain.__dict__, candidate=Candidate.from_json(data["candidate"]))


def ranked(trials: Sequence[TilingTrial]) -> list[TilingTrial]:
    """The candidates that passed and were timed, the fastest first."""
    return sorted((t for t in trials if t.passed and t.time is not None), key=lambda t: t.objectives[TIME])


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
