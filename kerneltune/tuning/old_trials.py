"""The table `trials` of stores of version 0.1, read as tilings; nothing writes it any more.

trials: key, measured, gpu, device, problem, strategy, candidate, measurement, failure, died
limits: key, seconds — the time limits that were exceeded; the first stores lack it
"""

from __future__ import annotations

import json
import sys
from typing import Annotated

import msgspec

from kerneltune.inputs.problem import checked
from kerneltune.pipeline.tiling_trial import RUNS, SEED, WRONG, TilingTrial, configuration_of
from kerneltune.pipeline.trial import TIME
from kerneltune.tiling.candidate import Candidate

COLUMNS = "key, measured, candidate, measurement, failure, died"
LIMIT = "(select seconds from limits where limits.key = trials.key)"
HUNG = "no answer within "  # start of the failure of a trial that has no row in the table `limits`
Time = Annotated[float, msgspec.Meta(gt=0, le=sys.float_info.max)]


class _Measurement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A measurement of version 0.1."""

    device: str
    seed: int
    relative_error: Annotated[float, msgspec.Meta(ge=0)] | None
    right: bool
    verdict: str
    runs: int
    runs_with_same_bits: int
    milliseconds: Time | None = None
    fastest: Time | None = None
    microseconds_per_step: Time | None = None
    predicted_microseconds_per_step: float | None = None
    ratio: Time | None = None
    passed: bool | None = None

    @property
    def fault(self) -> str | None:
        """Why it did not pass."""
        if not self.right:
            return f"{WRONG}: {self.verdict}"
        if self.runs_with_same_bits != self.runs:
            return f"{WRONG}: the same bits in {self.runs_with_same_bits} of {self.runs} runs"
        return None


def query(has_limits: bool) -> str:
    """The query of the table."""
    return f"select {COLUMNS}, {LIMIT if has_limits else 'null'} from trials"


def trial_of_row(
    candidate: object, measurement: object, failure: object, died: object, limit: object
) -> TilingTrial:
    """The trial of a row; raises `ValueError`, `KeyError` or `InputError` if the row is damaged."""
    tiling = Candidate.from_json(json.loads(checked(candidate, str, "candidate")))
    said = None if failure is None else checked(failure, str, "failure")
    if said is not None:
        said.encode()  # a lone surrogate cannot be shown
    if measurement is None:
        if not isinstance(limit, int | float) or not limit >= 0:
            limit = None
        if not died or (limit is None and str(said).startswith(HUNG)):
            limit = 0.0  # the failure was not the candidate's, or the limit is unknown: it is tried again
        return TilingTrial(
            configuration_of(tiling),
            failure=said or "no reason",
            died=bool(died),
            limit=limit,
            candidate=tiling,
        )
    found = msgspec.convert(json.loads(checked(measurement, str, "measurement")), _Measurement)
    (found.device + found.verdict).encode()
    fault = found.fault
    timed = fault is None and found.milliseconds is not None
    return TilingTrial(
        configuration_of(tiling),
        {TIME: found.milliseconds} if timed and found.milliseconds is not None else {},
        failure=fault,
        fastest=found.fastest if timed else None,
        relative_error=found.relative_error,
        notes={SEED: found.seed, RUNS: found.runs},
        device=found.device,
        candidate=tiling,
    )
