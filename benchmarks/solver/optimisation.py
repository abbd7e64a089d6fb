"""The steering set of optimisation: many families beside CP-SAT with one worker.

    python benchmarks/solver/optimisation.py [--limit 10] [--seconds 560] [--only "tour,roster"] [--again]
        [--columns default,cp-sat] [--set small|sizes] [--out benchmarks/results/optimisation.json]

Every cell is a process of its own on one core: the model is built and solved; seconds are the processor's, of
solving alone (start-up, imports and model building are left out), and again of the whole process. "cp-sat"
is given the same model after this solver's lowering and root reasoning (`backend="cp-sat"`); that counts.
`--set sizes` has kinds at a second and third size (`optimisation_sizes.py`).
Results are kept in the file after each cell; a call goes on where the last one ended, and begins no cell
after `--seconds`.
`--way NAME=ARGUMENTS` adds a column, such as `--way 'lns={"lns": true}'`.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import optimisation_choices as choices
import optimisation_orders as orders
import optimisation_sizes as sizes
from environment import environment
from optimisation_choices import Problem

INSTANCES: dict[str, Callable[[], Problem]] = {
    **{f"knapsack {n}": lambda n=n: choices.knapsack(n) for n in (30, 100, 300)},
    **{f"rows knapsack {n}": lambda n=n: choices.rows_knapsack(n, 5) for n in (30, 50)},
    "bounded knapsack 40": lambda: choices.bounded_knapsack(40),
    **{f"assignment {n}": lambda n=n: choices.assignment(n) for n in (10, 20, 50)},
    "assignment 0/1 24": lambda: choices.assignment_01(24),
    **{f"tour {n}": lambda n=n: choices.tour(n) for n in (10, 15, 20, 30, 40)},
    "routes 8": lambda: choices.routes(8, 3, 20),
    "routes 12": lambda: choices.routes(12, 3, 30),
    "set cover 60": lambda: choices.set_cover(60, 120),
    "set cover 150": lambda: choices.set_cover(150, 400),
    "generalised assignment 15": lambda: choices.generalised_assignment(15, 5),
    "generalised assignment 24": lambda: choices.generalised_assignment(24, 6),
    "warehouses 10": lambda: choices.warehouses(10, 6),
    "warehouses 20": lambda: choices.warehouses(20, 10),
    "lots 8": lambda: choices.lots(8, 3),
    "lots 12": lambda: choices.lots(12, 4),
    "bins with conflicts 14": lambda: choices.bins_with_conflicts(14, 0.2),
    "bins with conflicts 24": lambda: choices.bins_with_conflicts(24, 0.2),
    "quadratic assignment 7": lambda: choices.quadratic_assignment(7),
    "quadratic assignment 9": lambda: choices.quadratic_assignment(9),
    "independent set 60": lambda: choices.independent_set(60, 0.2),
    "myciel 4": lambda: orders.myciel(4),
    "myciel 5": lambda: orders.myciel(5),
    "queens colouring 6": lambda: orders.queens_colouring(6),
    "random colouring 40": lambda: orders.random_colouring(40, 0.4),
    "pigeons 9": lambda: orders.pigeons(9, 8),
    "pigeons 11": lambda: orders.pigeons(11, 10),
    "sudoku 16": lambda: orders.sudoku(4, 0.55),
    "sudoku 25": lambda: orders.sudoku(5, 0.55),
    "roster 6": lambda: orders.roster(6, 7),
    "roster 8": lambda: orders.roster(8, 14),
    "golfers 5-3-4": lambda: orders.golfers(5, 3, 4),
    "golfers 4-3-3": lambda: orders.golfers(4, 3, 3),
    "black hole 7": lambda: orders.black_hole(7, 3),
    "black hole 9": lambda: orders.black_hole(9, 4),
    "still life 6": lambda: orders.still_life(6),
    "still life 7": lambda: orders.still_life(7),
    "photo 9": lambda: orders.photo(9, 18),
    "photo 11": lambda: orders.photo(11, 22),
    "frequencies 12": lambda: orders.frequencies(12),
    "frequencies 18": lambda: orders.frequencies(18),
    "tardiness 8": lambda: orders.tardiness(8),
    "tardiness 12": lambda: orders.tardiness(12),
    "project 15": lambda: orders.project(15, 2),
    "project 30": lambda: orders.project(30, 1),
    "open stacks 8": lambda: orders.open_stacks(8, 8),
    "open stacks 10": lambda: orders.open_stacks(12, 10),
    "block design 7": lambda: orders.block_design(2),
    "block design 13": lambda: orders.block_design(3),
}
WAYS: dict[str, dict[str, Any]] = {"default": {}, "cp-sat": {"backend": "cp-sat"}}


def cell(name: str, way: dict[str, Any], limit: float) -> dict[str, Any]:
    """Solve one instance in this process."""
    m, goal = (INSTANCES | sizes.INSTANCES)[name]()
    if way.get("lns") and not goal:
        way = {}
    if way.get("backend"):
        from constrint.backends import cp_sat  # noqa: F401 - imports are no part of the time
    begun, processor = perf_counter(), process_time()
    result = m.solve(**goal, **way, time_limit=limit)
    return {
        "status": result.status.value,
        "objective": result.objective,
        "seconds": round(process_time() - processor, 3),
        "wall": round(perf_counter() - begun, 3),
        "method": result.statistics.method,
        "nodes": result.statistics.nodes,
    }


def measured(name: str, way: dict[str, Any], limit: float) -> dict[str, Any]:
    """Solve one instance in another process."""
    command = [
        sys.executable,
        __file__,
        "--cell",
        name,
        "--way",
        f"x={json.dumps(way)}",
        "--limit",
        str(limit),
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=6 * limit + 60, check=False)
    except subprocess.TimeoutExpired:
        return {"status": "hung", "objective": None}
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        return {"status": "error", "objective": None, "error": done.stderr.strip().splitlines()[-1:]}
    row = json.loads(done.stdout.splitlines()[-1])
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return {**row, "process": round(spent, 2)}


def summary(rows: dict[str, dict[str, Any]], ways: list[str], limit: float) -> None:
    """How many each way solved, its geometric mean, and contradictions between the ways."""
    for way in ways:
        known = [row[way] for row in rows.values() if way in row]
        solved = [row for row in known if row["status"] in ("optimal", "infeasible")]
        seconds = [max(0.01, row["seconds"]) if row in solved else limit for row in known]
        mean = math.exp(sum(map(math.log, seconds)) / max(1, len(seconds)))
        print(f"{way}: {len(solved)} of {len(known)} solved, geometric mean {mean:.3f} s")
    for name, row in rows.items():
        proved = {
            (one["status"], one["objective"])
            for one in row.values()
            if one["status"] in ("optimal", "infeasible")
        }
        if len(proved) > 1:
            print(f"CONTRADICTION in {name}: {proved}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("--seconds", type=float, default=560.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--set", choices=["small", "sizes"], default="small", dest="which")
    parser.add_argument("--way", action="append", default=[])
    parser.add_argument("--columns", default="")
    parser.add_argument("--again", action="store_true", help="measure the cells anew that are known")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    options = parser.parse_args()
    ways = WAYS | {name: json.loads(text) for name, _, text in (way.partition("=") for way in options.way)}
    if options.cell:
        print(json.dumps(cell(options.cell, ways["x"], options.limit)))
        return
    columns = options.columns.split(",") if options.columns else list(ways)
    begun = perf_counter()
    document: dict[str, Any] = {
        "environment": environment("ortools", "highspy"),
        "limit": options.limit,
        "rows": {},
    }
    if options.out and options.out.exists():
        document["rows"] = json.loads(options.out.read_text(encoding="utf-8"))["rows"]
    wanted = [part for part in options.only.split(",") if part]
    for name in sizes.INSTANCES if options.which == "sizes" else INSTANCES:
        if wanted and not any(name.startswith(part) for part in wanted):
            continue
        row = document["rows"].setdefault(name, {})
        for way in columns:
            if (way in row and not options.again) or perf_counter() - begun > options.seconds:
                continue
            row[way] = measured(name, ways[way], options.limit)
            print(
                name,
                way,
                *[row[way].get(key) for key in ("status", "objective", "seconds", "method")],
                sep="\t",
                flush=True,
            )
            if options.out:
                options.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    summary({name: row for name, row in document["rows"].items() if row}, columns, options.limit)


if __name__ == "__main__":
    main()
