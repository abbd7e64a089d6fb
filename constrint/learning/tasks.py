"""Constraints as resources (`resource.py`, `open_resource.py`): the tasks that may exceed the capacity."""

from __future__ import annotations

from constrint.engine.state_arrays import Box
from constrint.propagators import Cumulative

Task = tuple[int, int, int]  # variable of the start, duration, demand: numbers, or variables as well


def is_known(node: Cumulative, box: Box) -> bool:
    """Whether only the starts of a resource are open, and no start occurs twice."""
    known = (*node.durations, *node.demands, node.capacity)
    return len(set(node.starts)) == len(node.starts) and all(box.lo[v] == box.hi[v] for v in known)


def known_tasks(node: Cumulative, box: Box) -> list[Task] | None:
    """The tasks of a known resource that last and demand something; none where all may run at a time.

    None for a resource that cannot hold.
    """
    capacity = box.lo[node.capacity]
    columns = zip(node.starts, node.durations, node.demands, strict=True)
    tasks = [(s, box.lo[d], box.lo[r]) for s, d, r in columns]
    if capacity < 0 or any(d < 0 or r < 0 or (d > 0 and r > capacity) for _, d, r in tasks):
        return None
    tasks = [task for task in tasks if task[1] > 0 and task[2] > 0]
    return tasks if sum(r for _, _, r in tasks) > capacity else []


def open_tasks(node: Cumulative, box: Box) -> list[Task] | None:
    """The same of a resource with variables for durations, demands or the capacity.

    None where one of them may be negative.
    """
    if min(box.lo[v] for v in (*node.durations, *node.demands, node.capacity)) < 0:
        return None
    columns = zip(node.starts, node.durations, node.demands, strict=True)
    tasks = [task for task in columns if box.hi[task[1]] > 0 and box.hi[task[2]] > 0]
    return tasks if sum(box.hi[r] for _, _, r in tasks) > box.lo[node.capacity] else []
