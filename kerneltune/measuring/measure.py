"""Measuring one candidate: verification first, then times by the device's clock."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from kerneltune.errors import RunError
from kerneltune.inputs import rules
from kerneltune.inputs.rules import flag, whole
from kerneltune.measuring.loaded import POISONS, Loaded
from kerneltune.messages import Timing, Value
from kerneltune.running.verify import Verdict
from kerneltune.searching.racing import is_hopeless

RULES = {
    "runs": whole(1),
    "timed": whole(0),
    "warm_up": whole(0),
    "flush": flag,
    "patience": rules.number(0),
    "energy_seconds": rules.number(0),
    "needs_same_bits": flag,
}
RACED, HOPELESS = 3, 1.25  # times after which a candidate may be given up, and beyond what


@dataclass(frozen=True)
class MeasuringPlan:
    """The work on each candidate.

    Attributes:
        runs: Verified runs, whose bits are compared.
        timed: Timed runs; 0: candidates are verified only.
        warm_up: Runs before them.
        flush: Whether the L2 cache is overwritten before each timed run.
        patience: A candidate whose first time exceeds the best by this factor is timed no further, nor one
            whose first `RACED` times all exceed it by a quarter; 0: never.
        energy_seconds: Seconds of repeated runs over which energy is measured; 0: it is not.
        needs_same_bits: Whether repeated runs must agree to the bit (not with floating-point atomics).
    """

    runs: int = 2
    timed: int = 7
    warm_up: int = 1
    flush: bool = False
    patience: float = 3.0
    energy_seconds: float = 0.0
    needs_same_bits: bool = True

    def __post_init__(self) -> None:
        """Raise `InputError` for a value that breaks its rule."""
        rules.check(self.__dict__, RULES)

    def to_json(self) -> dict[str, Value]:
        """A JSON object with every field."""
        return asdict(self)


def tiling_plan(runs: int = 3, timed: int = 20) -> MeasuringPlan:
    """The work on tilings: all are timed to the end, since cost models are fitted to their times."""
    return MeasuringPlan(runs=runs, timed=timed, warm_up=3, patience=0.0)


def verified(loaded: Loaded, plan: MeasuringPlan) -> Verdict:
    """Run and check the candidate; returns the verdict on its first run.

    Raises:
        RunError: A result is wrong, is not written, or differs between runs.
    """
    first = Verdict(0.0, 0.0, 0)
    for number in range(plan.runs):
        loaded.run(POISONS[number % len(POISONS)])
        if number == 0:
            verdict = loaded.check()
            if not verdict.right:
                raise RunError(f"wrong result: {verdict.sentence}")
            first = verdict
            loaded.keep()
        elif plan.needs_same_bits:
            if not loaded.same():
                raise RunError("wrong result: repeated runs differ, or a part of an output is not written")
        else:
            verdict = loaded.check()
            if not verdict.right:
                raise RunError(f"wrong result in run {number + 1}: {verdict.sentence}")
    return first


def timed(loaded: Loaded, plan: MeasuringPlan, best: float | None) -> Timing:
    """Time the candidate; only until it is hopeless beside the best time so far."""
    times: list[float] = []
    known = [] if best is None or not plan.patience else [best]
    for count, margin in ((1, plan.patience), (RACED, HOPELESS)):
        if count >= plan.timed or not known:
            break
        warm_up = 0 if times else plan.warm_up
        times += _checked(loaded.time(count - len(times), flush=plan.flush, warm_up=warm_up))
        if is_hopeless(times, known, margin):
            return summary(times, stopped=True)
    rest = plan.timed - len(times)
    warm_up = 0 if times else plan.warm_up
    return summary([*times, *_checked(loaded.time(rest, flush=plan.flush, warm_up=warm_up))])


def summary(times: Sequence[float], stopped: bool = False) -> Timing:
    """Median, least and spread of some times."""
    ordered = sorted(times)
    median = statistics.median(ordered)
    quarter = len(ordered) // 4
    spread = (ordered[-1 - quarter] - ordered[quarter]) / median
    return Timing(median, ordered[0], spread, len(ordered), stopped)


def _checked(times: list[float]) -> list[float]:
    wrong = next((time for time in times if not 0 < time < math.inf), None)
    if wrong is not None:
        raise RunError(f"the clock gave {wrong} ms for a run, which is no time")
    return times
