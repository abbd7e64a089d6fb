"""Random project schedules (RCPSP), least makespan: branching, learning, both alternating, and CP-SAT.

    python benchmarks/solver/projects.py [--peers] [--limit 20] [--only 30-1] [--out result.json]

A project of n tasks has durations from 1 to 10, one to three successors of each task among the next third,
and four resources. A task demands 1 to 10 of each with probability 1/2, and the capacity is half as much
again as the greatest demand (odd seeds); or with 3/4, and a quarter as much again (even seeds). Engines are
loaded beforehand; times are of one process on one core, model building included. CP-SAT has one worker and
the same model, with intervals.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment

from constrint import Model, cumulative, max_

RESOURCES = 4
PROJECTS = [(n, seed) for n in (15, 30, 60) for seed in range(1, 6)]


@dataclass(frozen=True)
class Project:
    """Tasks with durations, arcs between them, and for each resource the demands and the capacity."""

    durations: list[int]
    arcs: list[tuple[int, int]]
    resources: list[tuple[list[int], int]]


def draw(n: int, seed: int) -> Project:
    """A project; odd seeds have ample capacity, even ones little."""
    random = Random(1000 * n + seed)
    durations = [random.randint(1, 10) for _ in range(n)]
    arcs = []
    for i in range(n - 1):
        later = range(i + 1, min(n, i + 2 + n // 3))
        arcs += [(i, j) for j in random.sample(later, min(len(later), random.randint(1, 3)))]
    share, strength = (0.5, 0.5) if seed % 2 else (0.75, 0.25)
    resources = []
    for _ in range(RESOURCES):
        demands = [random.randint(1, 10) if random.random() < share else 0 for _ in range(n)]
        most = max(demands, default=1)
        resources.append((demands, most + int(strength * most)))
    return Project(durations, arcs, resources)


def model(project: Project) -> Model:
    """The project in constrint."""
    m = Model()
    horizon = sum(project.durations)
    starts = [m.int_var(f"s{i}", 0, horizon - d) for i, d in enumerate(project.durations)]
    for i, j in project.arcs:
        m.add(starts[i] + project.durations[i] <= starts[j])
    for demands, capacity in project.resources:
        used = [i for i, demand in enumerate(demands) if demand]
        m.add(
            cumulative(
                [starts[i] for i in used],
                [project.durations[i] for i in used],
                [demands[i] for i in used],
                capacity,
            )
        )
    m.minimize(max_([s + d for s, d in zip(starts, project.durations, strict=True)]))
    return m


Answer = tuple[str, int | None, dict[str, Any]]


def ours(learn: Any) -> Callable[[Project, float], Answer]:
    """This solver, with one method."""

    def solve(project: Project, limit: float) -> Answer:
        r = model(project).solve(learn=learn, time_limit=limit)
        assert r.objective is None or isinstance(r.objective, int)
        return r.status.value, r.objective, {"failures": r.statistics.failures}

    return solve


def cp_sat(project: Project, limit: float) -> Answer:
    """CP-SAT."""
    from ortools.sat.python import cp_model

    m = cp_model.CpModel()
    horizon = sum(project.durations)
    starts = [m.new_int_var(0, horizon - d, "") for d in project.durations]
    tasks = [m.new_fixed_size_interval_var(s, d, "") for s, d in zip(starts, project.durations, strict=True)]
    for i, j in project.arcs:
        m.add(starts[i] + project.durations[i] <= starts[j])
    for demands, capacity in project.resources:
        used = [i for i, demand in enumerate(demands) if demand]
        m.add_cumulative([tasks[i] for i in used], [demands[i] for i in used], capacity)
    span = m.new_int_var(0, horizon, "")
    for s, d in zip(starts, project.durations, strict=True):
        m.add(s + d <= span)
    m.minimize(span)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = limit
    status = solver.solve(m)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return "unknown", None, {}
    word = "optimal" if status == cp_model.OPTIMAL else "feasible"
    return word, round(solver.objective_value), {"failures": solver.num_conflicts}


def main() -> None:
    """Time the requested rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", action="store_true", help="time CP-SAT, too")
    parser.add_argument("--limit", type=float, default=20.0, help="seconds for each")
    parser.add_argument("--only", help="names of projects, by commas")
    parser.add_argument("--ways", default="branching,learning,both", help="which of ours, by commas")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    from constrint.learning.compiled_learning import load

    Model().solve(engine="compiled")
    load()
    ways = {"branching": ours(False), "learning": ours(True), "both": ours("auto")}
    solvers = {name: ways[name] for name in arguments.ways.split(",") if name}
    if arguments.peers:
        solvers["CP-SAT"] = cp_sat
    rows = []
    for n, seed in PROJECTS:
        if arguments.only and f"{n}-{seed}" not in arguments.only.split(","):
            continue
        project = draw(n, seed)
        proved, found = set(), set()
        for name, solve in solvers.items():
            begun, clock = process_time(), perf_counter()
            status, span, more = solve(project, arguments.limit)
            row = {"project": f"{n}-{seed}", "solver": name, "status": status, "span": span, **more}
            row["processor"] = round(process_time() - begun, 3)
            row["seconds"] = round(perf_counter() - clock, 3)
            rows.append(row)
            print(row, flush=True)
            found |= {span} - {None}
            proved |= {span} if status == "optimal" else set()
        assert len(proved) <= 1, f"{proved} are proved"
        assert not proved or min(found) == min(proved), f"{found} are found, {proved} proved"
    if arguments.out:
        head = environment("ortools", "llvmlite")
        arguments.out.write_text(json.dumps({"environment": head, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
