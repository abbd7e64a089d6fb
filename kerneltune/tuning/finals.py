"""Finalists: the best candidates measured again in turns, until they separate or are called equal."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kerneltune.pipeline.trial import Trial

FINALIST_FACTOR = 1.05  # times the best: candidates beyond are no finalists
BATCHES = 4  # most batches of turns
ROUNDS = 6  # turns in a batch
SAMPLES = 2  # times of a candidate in a turn
SURE = 3.0  # standard errors between two means that are called different


@dataclass(frozen=True)
class Final:
    """A finalist.

    Attributes:
        trial: Its trial.
        median: The median of its times in turns, in milliseconds.
        equal: Whether it could not be told from the best.
    """

    trial: Trial
    median: float
    equal: bool


def finalists(trials: Sequence[Trial], count: int) -> list[Trial]:
    """The fastest trials that were measured to the end and are near the best."""
    timed = sorted((t for t in trials if t.passed and t.time is not None), key=_time)
    if not timed or count < 2:
        return timed[:1]
    return [trial for trial in timed[:count] if _time(trial) <= FINALIST_FACTOR * _time(timed[0])]


def separated(
    trials: Sequence[Trial], in_turns: Callable[[int, int], Sequence[Sequence[float]]], batches: int = BATCHES
) -> list[Final]:
    """The finalists, the fastest first.

    Args:
        trials: The finalists.
        in_turns: Given a number of turns and of samples in each, the times of each finalist.
        batches: Most batches of turns.
    """
    turns: list[list[float]] = [[] for _ in trials]
    order: list[int] = []
    for _ in range(batches):
        for own, times in zip(turns, in_turns(ROUNDS, SAMPLES), strict=True):
            own += [statistics.median(times[i : i + SAMPLES]) for i in range(0, len(times), SAMPLES)]
        order = sorted(range(len(trials)), key=lambda i: statistics.median(turns[i]))
        if all(_differ(turns[order[0]], turns[i]) for i in order[1:]):
            break
    best = turns[order[0]]
    return [
        Final(trials[i], statistics.median(turns[i]), place > 0 and not _differ(best, turns[i]))
        for place, i in enumerate(order)
    ]


def _differ(best: list[float], other: list[float]) -> bool:
    """Whether the turns of two finalists differ by more than their noise, turn by turn."""
    differences = [b - a for a, b in zip(best, other, strict=True)]
    mean = statistics.fmean(differences)
    error = statistics.stdev(differences) / math.sqrt(len(differences)) if len(differences) > 1 else math.inf
    return mean > SURE * error


def _time(trial: Trial) -> float:
    return trial.time if trial.time is not None else math.inf
