"""Job shops with proof of optimality: the learning search compared with CP-SAT.

    python benchmarks/solver/job_shops.py [--peers] [--limit 120] [--out benchmarks/results/job_shops.json]

Every solver runs in a separate process on one core; times include model building and exclude imports. "first"
is the first solve of the process (a hand-over to the compiled engine loads it from disk), "again" the least
of three more with other seeds. CP-SAT has one worker. The model is the same for all: starts, precedences, and
a disjunction for each pair of tasks on a machine; with "intervals" CP-SAT has its own no-overlap constraint.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment

# Machine and duration of each task, a job per line. Fisher and Thompson 1963: mt06, mt10; Lawrence 1984:
# la02.
TASKS = {
    "mt06": """
        2 1 0 3 1 6 3 7 5 3 4 6
        1 8 2 5 4 10 5 10 0 10 3 4
        2 5 3 4 5 8 0 9 1 1 4 7
        1 5 0 5 2 5 3 3 4 8 5 9
        2 9 1 3 4 5 5 4 0 3 3 1
        1 3 3 3 5 9 0 10 4 4 2 1""",
    "la02": """
        0 20 3 87 1 31 4 76 2 17
        4 25 2 32 0 24 1 18 3 81
        1 72 2 23 4 28 0 58 3 99
        2 86 1 76 4 97 0 45 3 90
        4 27 0 42 3 48 2 17 1 46
        1 67 0 98 4 48 3 27 2 62
        4 28 1 12 3 19 0 80 2 50
        1 63 0 94 2 98 3 50 4 80
        4 14 0 75 2 50 1 41 3 55
        4 72 2 18 1 37 3 79 0 61""",
    "mt10": """
        0 29 1 78 2 9 3 36 4 49 5 11 6 62 7 56 8 44 9 21
        0 43 2 90 4 75 9 11 3 69 1 28 6 46 5 46 7 72 8 30
        1 91 0 85 3 39 2 74 8 90 5 10 7 12 6 89 9 45 4 33
        1 81 2 95 0 71 4 99 6 9 8 52 7 85 3 98 9 22 5 43
        2 14 0 6 1 22 5 61 3 26 4 69 8 21 7 49 9 72 6 53
        2 84 1 2 5 52 3 95 8 48 9 72 0 47 6 65 4 6 7 25
        1 46 0 37 3 61 2 13 6 32 5 21 9 32 8 89 7 30 4 55
        2 31 0 86 1 46 5 74 4 32 6 88 8 19 9 48 7 36 3 79
        0 76 1 69 3 76 5 51 2 85 9 11 6 40 7 89 4 26 8 74
        1 85 0 13 2 61 6 7 8 64 9 76 5 47 3 52 4 90 7 45""",
}
OPTIMA = {"mt06": 55, "la02": 655, "mt10": 930}
REPEATS = 3

Jobs = list[list[tuple[int, int]]]


def jobs_of(name: str) -> Jobs:
    rows = [[int(word) for word in line.split()] for line in TASKS[name].split("\n") if line.strip()]
    return [list(zip(row[::2], row[1::2], strict=True)) for row in rows]


def constrint(jobs: Jobs, seed: int, limit: float) -> tuple[int | None, dict[str, Any]]:
    from constrint import Model

    horizon = sum(duration for job in jobs for _, duration in job)
    m = Model()
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
        for (s, d), (t, e) in itertools.combinations(tasks, 2):
            m.add((s + d <= t) | (t + e <= s))
    r = m.solve(minimize=span, learn=True, seed=seed, time_limit=limit)
    return r.objective if r.status.value == "optimal" else None, {"failures": r.statistics.failures}


def cpsat(jobs: Jobs, seed: int, limit: float, intervals: bool = False) -> tuple[int | None, dict[str, Any]]:
    from ortools.sat.python import cp_model

    horizon = sum(duration for job in jobs for _, duration in job)
    m = cp_model.CpModel()
    span = m.new_int_var(0, horizon, "span")
    on_machine: dict[int, list[Any]] = {}
    for job in jobs:
        end: Any = 0
        for machine, duration in job:
            start = m.new_int_var(0, horizon - duration, "")
            m.add(start >= end)
            end = start + duration
            on_machine.setdefault(machine, []).append((start, duration))
        m.add(end <= span)
    for tasks in on_machine.values():
        if intervals:
            m.add_no_overlap([m.new_fixed_size_interval_var(s, d, "") for s, d in tasks])
            continue
        for (s, d), (t, e) in itertools.combinations(tasks, 2):
            first = m.new_bool_var("")
            m.add(s + d <= t).only_enforce_if(first)
            m.add(t + e <= s).only_enforce_if(first.negated())
    m.minimize(span)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.max_time_in_seconds = limit
    status = solver.solve(m)
    return (
        round(solver.objective_value) if status == cp_model.OPTIMAL else None,
        {"failures": solver.num_conflicts},
    )


SOLVERS = {
    "constrint": constrint,
    "CP-SAT": cpsat,
    "CP-SAT intervals": lambda jobs, seed, limit: cpsat(jobs, seed, limit, intervals=True),
}


def measured(solver: str, name: str, limit: float) -> dict[str, Any]:
    """The seconds of one solver for one job shop, in this process."""
    if solver == "constrint":
        import constrint.learning.session as imported
    else:
        from ortools.sat.python import cp_model as imported
    del imported
    jobs = jobs_of(name)
    seconds, failures = [], []
    for seed in range(1 + REPEATS):
        began = perf_counter()
        objective, work = SOLVERS[solver](jobs, seed, limit)
        seconds.append(perf_counter() - began)
        failures.append(work["failures"])
        if objective is None:
            return {"first": f"> {limit:g}"}
        assert objective == OPTIMA[name], f"{solver} says {objective} for {name}"
    return {
        "first": round(seconds[0], 4),
        "again": round(min(seconds[1:]), 4),
        "slowest": round(max(seconds[1:]), 4),
        "failures": failures,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one solve")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", nargs=2, metavar=("SOLVER", "NAME"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measured(*arguments.one, arguments.limit)))
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows: dict[str, dict[str, Any]] = {}
    for name in TASKS:
        rows[name] = {"optimum": OPTIMA[name]}
        for solver in SOLVERS if arguments.peers else ["constrint"]:
            command = [sys.executable, __file__, "--limit", str(arguments.limit), "--one", solver, name]
            answer = subprocess.run(command, capture_output=True, text=True, check=True)
            rows[name][solver] = json.loads(answer.stdout)
            print(name, solver, rows[name][solver], flush=True)
    if arguments.out:
        report = {"environment": environment("numba", "ortools"), "seconds": rows}
        arguments.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
