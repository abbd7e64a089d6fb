"""Bounds of tasks on a resource by energy in windows of time."""

from __future__ import annotations

import itertools
from typing import Any, TypeAlias

from constrint.verification.bounds import Bounds, Contradiction

Arguments: TypeAlias = dict[str, Any]


def share(bounds: Bounds, arguments: Arguments) -> None:
    """A resource of known tasks: no window of time may have to hold more than it can.

    What a task spends in a window at least, it spends when it starts as early or as late as it may.
    """
    known = [[bounds.low[v] for v in arguments[key]] for key in ("durations", "demands")]
    capacity = bounds.low[arguments["capacity"]]
    tasks = [task for task in zip(arguments["starts"], *known, strict=True) if task[1] * task[2] > 0]
    if capacity < 0 or min(itertools.chain(*known), default=0) < 0:
        raise Contradiction
    for begin, end in windows(bounds, tasks):
        needed = [r * spent(bounds, v, d, begin, end) for v, d, r in tasks]
        total = sum(needed)
        if total > capacity * (end - begin):
            raise Contradiction
        for (v, d, r), own in zip(tasks, needed, strict=True):
            most = (capacity * (end - begin) - total + own) // r
            if most < min(d, end - begin):
                if overlap(bounds.low[v], d, begin, end) > most:
                    bounds.at_least(v, end - most)
                if overlap(bounds.high[v], d, begin, end) > most:
                    bounds.at_most(v, begin + most - d)


def windows(bounds: Bounds, tasks: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Windows between bounds of tasks, and their moments; all there are, where it must be thorough."""
    times = {time for v, d, _ in tasks for b in (bounds.low[v], bounds.high[v]) for time in (b, b + d)}
    if bounds.is_thorough and times:
        return list(itertools.combinations(range(min(times), max(times) + 1), 2))
    moments = [(time, time + 1) for time in times] + [(time - 1, time) for time in times]
    return [*itertools.combinations(sorted(times), 2), *moments]


def overlap(start: int, duration: int, begin: int, end: int) -> int:
    """How long a task with a start is in a window."""
    return max(0, min(start + duration, end) - max(start, begin))


def spent(bounds: Bounds, v: int, duration: int, begin: int, end: int) -> int:
    """How long a task is in a window at least."""
    return min(overlap(start, duration, begin, end) for start in (bounds.low[v], bounds.high[v]))


def is_known(bounds: Bounds, arguments: Arguments) -> bool:
    """Whether all of a resource is known but the starts."""
    known = [*arguments["durations"], *arguments["demands"], arguments["capacity"]]
    return all(bounds.low[v] == bounds.high[v] for v in known)
