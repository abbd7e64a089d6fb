"""Job shops with proof of optimality: the learning search compared with CP-SAT.

    python benchmarks/solver/job_shops.py [--solvers "constrint,CP-SAT"] [--limit 120]
        [--only la16,la17] [--repeats 3] [--out benchmarks/results/job_shops.json]

Every solver runs in a separate process on one core; processor seconds include model building and exclude
imports. "first" is the first solve of the process (a hand-over to the compiled engine loads it from disk),
"again" the least of some more with other seeds. CP-SAT has one worker. The model is the same for all: starts,
precedences, and a disjunction for each pair of tasks on a machine; "constrint no_overlap" and "CP-SAT
intervals" state the constraint of that name instead.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment
from job_shop_tasks import OPTIMA, TASKS

Jobs = list[list[tuple[int, int]]]


def jobs_of(name: str) -> Jobs:
    rows = [[int(word) for word in line.split()] for line in TASKS[name].split("\n") if line.strip()]
    return [list(zip(row[::2], row[1::2], strict=True)) for row in rows]


def constrint(
    jobs: Jobs, seed: int, limit: float, intervals: bool = False
) -> tuple[int | None, dict[str, Any]]:
    from constrint import Model, no_overlap

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
        if intervals:
            m.add(no_overlap([s for s, _ in tasks], [d for _, d in tasks]))
            continue
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
    "constrint no_overlap": lambda jobs, seed, limit: constrint(jobs, seed, limit, intervals=True),
    "CP-SAT": cpsat,
    "CP-SAT intervals": lambda jobs, seed, limit: cpsat(jobs, seed, limit, intervals=True),
}


def measured(solver: str, name: str, limit: float, repeats: int) -> dict[str, Any]:
    """The seconds of one solver for one job shop, in this process."""
    if solver.startswith("constrint"):
        import constrint.learning.session as imported
    else:
        from ortools.sat.python import cp_model as imported
    del imported
    jobs = jobs_of(name)
    seconds, failures = [], []
    for seed in range(1 + repeats):
        began = process_time()
        objective, work = SOLVERS[solver](jobs, seed, limit)
        seconds.append(process_time() - began)
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
    parser.add_argument("--solvers", help="names with commas between; without, all")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one solve")
    parser.add_argument("--only", default=",".join(TASKS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", nargs=2, metavar=("SOLVER", "NAME"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measured(*arguments.one, arguments.limit, arguments.repeats)))
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    rows: dict[str, dict[str, Any]] = {}
    for name in arguments.only.split(","):
        rows[name] = {"optimum": OPTIMA[name]}
        for solver in arguments.solvers.split(",") if arguments.solvers else SOLVERS:
            command = [sys.executable, __file__, "--limit", str(arguments.limit)]
            command += ["--repeats", str(arguments.repeats), "--one", solver, name]
            answer = subprocess.run(command, capture_output=True, text=True, check=True)
            rows[name][solver] = json.loads(answer.stdout)
            print(name, solver, rows[name][solver], flush=True)
        if arguments.out:
            report = {"environment": environment("llvmlite", "ortools"), "seconds": rows}
            arguments.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
