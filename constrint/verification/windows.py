"""Bounds of tasks on a resource by energy in windows of time."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple, TypeAlias

from constrint.verification.bounds import Bounds, Contradiction

Arguments: TypeAlias = dict[str, Any]


class Task(NamedTuple):
    """The variables of a task."""

    start: int
    duration: int
    demand: int


def share(bounds: Bounds, arguments: Arguments) -> None:
    """A resource: no window of time may have to hold more than it can.

    What a task spends in a window at least, it spends when it starts as early or as late as it may, and lasts
    as short as it may.
    """
    low, high = bounds.low, bounds.high
    capacity = arguments["capacity"]
    columns = zip(*(arguments[key] for key in ("starts", "durations", "demands")), strict=True)
    tasks = [Task(*each) for each in columns]
    for v in (capacity, *arguments["durations"], *arguments["demands"]):
        bounds.at_least(v, 0)
    tasks = [task for task in tasks if high[task.duration] * high[task.demand] > 0]
    for begin, end in windows(bounds, tasks):
        times = [spent(bounds, task, begin, end) for task in tasks]
        needed = [low[task.demand] * time for task, time in zip(tasks, times, strict=True)]
        total = sum(needed)
        if total > high[capacity] * (end - begin):
            raise Contradiction
        bounds.at_least(capacity, -(-total // (end - begin)))
        for task, time, own in zip(tasks, times, needed, strict=True):
            _limit(bounds, task, time, high[capacity] * (end - begin) - total + own, (begin, end))


def _limit(bounds: Bounds, task: Task, time: int, left: int, window: tuple[int, int]) -> None:
    """Bounds of a task's variables from the energy that is left to it in a window."""
    low, high = bounds.low, bounds.high
    begin, end = window
    if time:
        bounds.at_most(task.demand, left // time)
    if low[task.demand] == 0:
        return
    most, shortest = left // low[task.demand], low[task.duration]
    if most < min(shortest, end - begin):
        if overlap(low[task.start], shortest, begin, end) > most:
            bounds.at_least(task.start, end - most)
        if overlap(high[task.start], shortest, begin, end) > most:
            bounds.at_most(task.start, begin + most - shortest)
    if end - max(high[task.start], begin) > most:  # it lies in the window as far as it lasts
        bounds.at_most(task.duration, most + max(0, begin - low[task.start]))


def windows(bounds: Bounds, tasks: list[Task]) -> list[tuple[int, int]]:
    """Windows between bounds of tasks, and their moments; all there are, where it must be thorough."""
    times = set()
    for task in tasks:
        for at in (bounds.low[task.start], bounds.high[task.start]):
            times |= {at, at + bounds.low[task.duration]}
    if bounds.is_thorough and times:
        return list(itertools.combinations(range(min(times), max(times) + 1), 2))
    moments = [(time, time + 1) for time in times] + [(time - 1, time) for time in times]
    return [*itertools.combinations(sorted(times), 2), *moments]


def overlap(start: int, duration: int, begin: int, end: int) -> int:
    """How long a task with a start is in a window."""
    return max(0, min(start + duration, end) - max(start, begin))


def spent(bounds: Bounds, task: Task, begin: int, end: int) -> int:
    """How long a task is in a window at least."""
    starts = bounds.low[task.start], bounds.high[task.start]
    return min(overlap(start, bounds.low[task.duration], begin, end) for start in starts)
