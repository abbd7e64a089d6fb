"""Job shops as models, and by brute force."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

from constrint import Model

Jobs = list[list[tuple[int, int]]]
"""For each job its tasks in order: (machine, duration)."""

# H. Fisher and G. L. Thompson, in "Industrial Scheduling" (Muth and Thompson, 1963): 6 jobs on 6 machines.
MT06: Jobs = [
    [(2, 1), (0, 3), (1, 6), (3, 7), (5, 3), (4, 6)],
    [(1, 8), (2, 5), (4, 10), (5, 10), (0, 10), (3, 4)],
    [(2, 5), (3, 4), (5, 8), (0, 9), (1, 1), (4, 7)],
    [(1, 5), (0, 5), (2, 5), (3, 3), (4, 8), (5, 9)],
    [(2, 9), (1, 3), (4, 5), (5, 4), (0, 3), (3, 1)],
    [(1, 3), (3, 3), (5, 9), (0, 10), (4, 4), (2, 1)],
]


def draw_jobs(seed: int, jobs: int = 3, machines: int = 3) -> Jobs:
    random = Random(seed)
    return [
        [(machine, random.randint(1, 9)) for machine in random.sample(range(machines), machines)]
        for _ in range(jobs)
    ]


def job_shop(jobs: Jobs) -> Model:
    """Minimise the span; the two orders of each pair of tasks on a machine stand as a disjunction."""
    horizon = sum(duration for job in jobs for _, duration in job)
    m = Model("job shop")
    span = m.int_var("span", 0, horizon)
    on_machine: dict[int, list[Any]] = {}
    for j, job in enumerate(jobs):
        end: Any = 0
        for t, (machine, duration) in enumerate(job):
            start = m.int_var(f"start_{j}_{t}", 0, horizon - duration)
            m.add(start >= end)
            end = start + duration
            on_machine.setdefault(machine, []).append((start, duration))
        m.add(end <= span)
    for tasks in on_machine.values():
        for (s, d), (t, e) in itertools.combinations(tasks, 2):
            m.add((s + d <= t) | (t + e <= s))
    m.minimize(span)
    return m


def least_span(jobs: Jobs) -> int:
    """The least span, by trying every order of starting tasks."""
    best = sum(duration for job in jobs for _, duration in job)
    order = [j for j, job in enumerate(jobs) for _ in job]
    for sequence in set(itertools.permutations(order)):
        done = [0] * len(jobs)
        job_free = [0] * len(jobs)
        machine_free: dict[int, int] = {}
        for j in sequence:
            machine, duration = jobs[j][done[j]]
            end = max(job_free[j], machine_free.get(machine, 0)) + duration
            job_free[j] = machine_free[machine] = end
            done[j] += 1
        best = min(best, max(job_free))
    return best
