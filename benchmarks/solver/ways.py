"""Search methods compared: job shops, Golomb rulers, magic squares, Latin squares with holes, knapsacks.

    python benchmarks/solver/ways.py [--limit 3] [--only mt06,la02] [--out benchmarks/results/ways.json]

One process on one core, the compiled engine loaded beforehand, model building included in the times. Columns:
problem, method, status, objective, seconds, nodes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment
from job_shops import jobs_of

from constrint import Brancher, Model, all_different, sum_

Problem = tuple[Model, dict[str, Any]]


def shop(name: str) -> Problem:
    jobs = jobs_of(name)
    m = Model()
    horizon = sum(duration for job in jobs for _, duration in job)
    span = m.int_var("span", 0, horizon)
    on_machine: dict[int, list[Any]] = {}
    for j, job in enumerate(jobs):
        end: Any = 0
        for t, (machine, duration) in enumerate(job):
            start = m.int_var(f"s{j}_{t}", 0, horizon - duration)
            m.add(start >= end)
            end = start + duration
            on_machine.setdefault(machine, []).append((start, duration))
        m.add(span >= end)
    for tasks in on_machine.values():
        for (a, p), (b, q) in itertools.combinations(tasks, 2):
            m.add((a + p <= b) | (b + q <= a))
    return m, {"minimize": span}


def golomb(marks: int, top: int) -> Problem:
    m = Model()
    x = [m.int_var(f"x{i}", 0, top) for i in range(marks)]
    m.add(x[0] == 0, *[a < b for a, b in itertools.pairwise(x)], x[1] - x[0] < x[-1] - x[-2])
    m.add(all_different([b - a for a, b in itertools.combinations(x, 2)]))
    return m, {"minimize": x[-1]}


def magic_square(n: int) -> Problem:
    m = Model()
    rows = [[m.int_var(f"q{i}_{j}", 1, n * n) for j in range(n)] for i in range(n)]
    lines = [*rows, *zip(*rows, strict=True), [rows[i][i] for i in range(n)], [rows[i][~i] for i in range(n)]]
    m.add(all_different([cell for row in rows for cell in row]))
    m.add(*[sum_(line) == n * (n * n + 1) // 2 for line in lines])
    return m, {}


def latin_square(n: int, holes: int, seed: int) -> Problem:
    """A Latin square to complete: the cyclic one with rows, columns and symbols shuffled, and holes."""
    draw = random.Random(seed)
    row, column, symbol = (draw.sample(range(n), n) for _ in range(3))
    hidden = set(draw.sample(list(itertools.product(range(n), repeat=2)), holes))
    m = Model()
    cells = [[m.int_var(f"q{i}_{j}", 0, n - 1) for j in range(n)] for i in range(n)]
    m.add(*[all_different(line) for line in [*cells, *zip(*cells, strict=True)]])
    for i, j in itertools.product(range(n), repeat=2):
        if (i, j) not in hidden:
            m.add(cells[i][j] == symbol[(row[i] + column[j]) % n])
    return m, {}


def knapsack(n: int) -> Problem:
    draw = random.Random(n)
    m = Model()
    xs = [m.int_var(f"x{i}", 0, 3) for i in range(n)]
    m.add(*[sum_(draw.randint(5, 50) * x for x in xs) <= 40 * n for _ in range(5)])
    return m, {"maximize": sum_(draw.randint(5, 50) * x for x in xs)}


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "mt06": lambda: shop("mt06"),
    "la02": lambda: shop("la02"),
    "Golomb 8": lambda: golomb(8, 60),
    "magic 5": lambda: magic_square(5),
    "Latin 25": lambda: latin_square(25, 264, 2),
    "knapsack 40": lambda: knapsack(40),
}
WAYS: dict[str, dict[str, Any]] = {
    "default (auto)": {},
    "branching alone": {"learn": False},
    "learning alone": {"learn": True},
    "dom_deg": {"branching": Brancher("dom_deg")},
    "dom_w_deg": {"branching": Brancher("dom_w_deg")},
    "dom_w_deg, best_so_far": {"branching": Brancher("dom_w_deg", "best_so_far")},
    "activity": {"branching": Brancher("activity")},
    "first_fail": {"branching": Brancher("first_fail")},
    "smallest": {"branching": Brancher("smallest")},
    "max_regret": {"branching": Brancher("max_regret")},
    "input_order": {"branching": Brancher("input_order")},
    "restarts luby": {"restarts": "luby"},
    "restarts geometric": {"restarts": "geometric"},
    "lns": {"lns": True},
}


def measure(name: str, way: str, limit: float) -> dict[str, Any] | None:
    begun = perf_counter()
    m, goal = PROBLEMS[name]()
    if way == "lns" and not goal:
        return None
    result = m.solve(**goal, **WAYS[way], engine="compiled", time_limit=limit, seed=1)
    seconds = round(perf_counter() - begun, 2)
    row = {"problem": name, "way": way, "status": result.status.value, "objective": result.objective}
    return {**row, "seconds": seconds, "nodes": result.statistics.nodes}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--limit", type=float, default=3.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    from constrint.learning.compiled_learning import load

    knapsack(3)[0].solve(engine="compiled")
    load()
    rows = []
    for name in options.only.split(",") if options.only else PROBLEMS:
        for way in WAYS:
            row = measure(name, way, options.limit)
            if row is not None:
                rows.append(row)
                print(*row.values(), sep="\t", flush=True)
    if options.out:
        document = {"environment": environment(), "limit": options.limit, "rows": rows}
        options.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
