"""The portfolio with its members side by side: one, two and more workers on one machine.

    python benchmarks/solver/side_by_side.py [--workers 1,2] [--limit 20] [--only ft20,"photo 11"]
        [--out benchmarks/results/side_by_side.json]

Seconds by the clock and of the processor of `Model.solve` with its default search. Every row is solved twice
in one process, so that machine code is loaded, and the second solve counts. `tree` shares the tree of one
search by branching instead (`learn=False`). Read the clock on a calm machine with as many cores only.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment
from job_shops import jobs_of
from optimisation import INSTANCES
from parallel_optimisation import PROBLEMS

from constrint import IntExpr, Model, no_overlap

ROWS = (
    *("mt10", "ft20", "la19", "abz5", "routes 8", "set cover 150", "still life 7", "photo 11"),
    *("quadratic assignment 9", "tardiness 12", "lots 12", "myciel 5", "Golomb 10"),
)


def shop(name: str) -> tuple[Model, dict[str, IntExpr]]:
    """A job shop."""
    jobs = jobs_of(name)
    horizon = sum(duration for job in jobs for _, duration in job)
    m = Model(name)
    span = m.int_var("span", 0, horizon)
    on_machine: dict[int, list[Any]] = {}
    for j, job in enumerate(jobs):
        end: Any = 0
        for t, (machine, duration) in enumerate(job):
            start = m.int_var(f"s{j}_{t}", 0, horizon - duration)
            m.add(start >= end)
            end = start + duration
            on_machine.setdefault(machine, []).append((start, duration))
        m.add(end <= span)
    for tasks in on_machine.values():
        m.add(no_overlap([s for s, _ in tasks], [d for _, d in tasks]))
    return m, {"minimize": span}


def model(name: str) -> tuple[Model, dict[str, Any]]:
    """A model, and its goal as an argument of `solve`."""
    if name in INSTANCES:
        return INSTANCES[name]()
    if name in PROBLEMS:
        m, goal = PROBLEMS[name]()
        return m, {"minimize": goal}
    return shop(name)


def cell(name: str, limit: float, **how: Any) -> dict[str, Any]:
    """One row in one way."""
    for _ in range(2):
        m, goal = model(name)
        clock, processor = perf_counter(), process_time()
        found = m.solve(**goal, **how, time_limit=limit)
        clock, processor = perf_counter() - clock, process_time() - processor
    return {
        "status": found.status.value,
        "objective": found.objective,
        "clock": round(clock, 3),
        "processor": round(processor, 3),
        "failures": found.statistics.failures,
    }


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--only", default=",".join(ROWS))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    counts = [int(word) for word in options.workers.split(",")]
    ways: dict[str, dict[str, Any]] = {str(count): {"workers": count} for count in counts}
    ways["tree"] = {"workers": max(counts), "learn": False}
    rows: dict[str, dict[str, Any]] = {}
    for name in options.only.split(","):
        rows[name] = {way: cell(name, options.limit, **how) for way, how in ways.items()}
        shown = [
            f"{r['status'][:4]} {r['objective']} {r['clock']:.2f} ({r['processor']:.2f})"
            for r in rows[name].values()
        ]
        print(f"{name:24}", "   ".join(f"{text:28}" for text in shown), flush=True)
    if options.out is not None:
        result = {"environment": environment("constrint"), "limit": options.limit, "rows": rows}
        options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
