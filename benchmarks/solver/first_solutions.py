"""First solutions of models that are hard to satisfy: with feasibility jumps, without, and CP-SAT.

    python benchmarks/solver/first_solutions.py [--limit 8] [--seeds 2] [--only formulas,colours] [--out FILE]

Every instance is drawn around a solution, so there is one. Each is solved by the default search with and
without jumps and by CP-SAT with one worker, one after the other in one process; the model itself does not
say how it was drawn. Seconds are of the processor, until the first solution of an objective too.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from environment import environment

from constrint import IntExpr, Model, sum_
from constrint.learning import compiled_learning as learning
from constrint.local_search import compiled_jumps as jumping
from constrint.search.admission import MemberMaker

Instance = tuple[Model, IntExpr | None]


def formulas(variables: int, ratio: float, seed: int) -> Instance:
    """Clauses of three literals, as sums."""
    draw = Random(seed)
    plan = [draw.random() < 0.5 for _ in range(variables)]
    model = Model()
    x = [model.bool_var(f"x{i}") for i in range(variables)]
    clauses = 0
    while clauses < ratio * variables:
        chosen = [(v, draw.random() < 0.5) for v in draw.sample(range(variables), 3)]
        if any(plan[v] == wanted for v, wanted in chosen):
            model.add(sum_(x[v] if wanted else 1 - x[v] for v, wanted in chosen) >= 1)
            clauses += 1
    return model, None


def colours(vertices: int, count: int, density: float, seed: int) -> Instance:
    """A graph that has a colouring by construction."""
    draw = Random(seed)
    plan = [draw.randrange(count) for _ in range(vertices)]
    model = Model()
    x = [model.int_var(f"x{i}", 0, count - 1) for i in range(vertices)]
    for i in range(vertices):
        for j in range(i):
            if plan[i] != plan[j] and draw.random() < density:
                model.add(x[i] != x[j])
    return model, None


def lectures(count: int, slots: int, rooms: int, seed: int) -> Instance:
    """Lectures in slots and rooms, with exclusions between them and slots that do not suit."""
    draw = Random(seed)
    cells = [slot for slot in range(slots) for _ in range(rooms)]
    plan = draw.sample(cells, count)
    model = Model()
    at = [model.int_var(f"s{i}", 0, slots - 1) for i in range(count)]
    for _ in range(count * slots * 12 // 10):
        first, second = draw.sample(range(count), 2)
        if plan[first] != plan[second]:
            model.add(at[first] != at[second])
    for slot in range(slots):
        model.add(sum_(one == slot for one in at) <= rooms)
    for lecture in range(count):
        for slot in draw.sample(range(slots), slots // 3):
            if slot != plan[lecture]:
                model.add(at[lecture] != slot)
    return model, None


def bins(items: int, count: int, seed: int) -> Instance:
    """Items that fill all bins to the brim."""
    draw = Random(seed)
    sizes: list[int] = []
    for _ in range(count):
        cuts = [0, *sorted(draw.sample(range(1, 100), items // count - 1)), 100]
        sizes += [b - a for a, b in pairwise(cuts)]
    draw.shuffle(sizes)
    model = Model()
    x = [model.int_var(f"x{i}", 0, count - 1) for i in range(len(sizes))]
    for b in range(count):
        model.add(sum_(size * (v == b) for size, v in zip(sizes, x, strict=True)) <= 100)
    return model, None


def assignment(jobs: int, machines: int, room: float, seed: int) -> Instance:
    """Generalised assignment with little room on the machines."""
    draw = Random(seed)
    weight = [[draw.randint(5, 25) for _ in range(jobs)] for _ in range(machines)]
    plan = [draw.randrange(machines) for _ in range(jobs)]
    cost = [[draw.randint(10, 50) for _ in range(jobs)] for _ in range(machines)]
    model = Model()
    x = [[model.bool_var(f"x{i}_{j}") for j in range(jobs)] for i in range(machines)]
    for j in range(jobs):
        model.add(sum_(x[i][j] for i in range(machines)) == 1)
    for i in range(machines):
        capacity = int(room * sum(weight[i][j] for j in range(jobs) if plan[j] == i))
        model.add(sum_(weight[i][j] * x[i][j] for j in range(jobs)) <= capacity)
    return model, sum_(cost[i][j] * x[i][j] for i in range(machines) for j in range(jobs))


def equations(variables: int, rows: int, seed: int) -> Instance:
    """Equations with large coefficients over small domains."""
    draw = Random(seed)
    plan = [draw.randint(0, 3) for _ in range(variables)]
    model = Model()
    x = [model.int_var(f"x{i}", 0, 3) for i in range(variables)]
    for _ in range(rows):
        factors = [draw.randint(1, 20) if draw.random() < 0.5 else 0 for _ in range(variables)]
        total = sum(a * b for a, b in zip(factors, plan, strict=True))
        model.add(sum_(a * v for a, v in zip(factors, x, strict=True)) == total)
    return model, None


INSTANCES: dict[str, Callable[[int], Instance]] = {
    "formulas of 200": lambda seed: formulas(200, 4.2, seed),
    "formulas of 600": lambda seed: formulas(600, 4.0, seed),
    "formulas of 1500": lambda seed: formulas(1500, 3.9, seed),
    "colours 150 in 8": lambda seed: colours(150, 8, 0.3, seed),
    "colours 300 in 10": lambda seed: colours(300, 10, 0.2, seed),
    "lectures 120": lambda seed: lectures(120, 20, 6, seed),
    "lectures 200": lambda seed: lectures(200, 20, 10, seed),
    "bins 40 in 10": lambda seed: bins(40, 10, seed),
    "bins 90 in 30": lambda seed: bins(90, 30, seed),
    "assignment 60 to 8": lambda seed: assignment(60, 8, 1.01, seed),
    "assignment 120 to 12": lambda seed: assignment(120, 12, 1.005, seed),
    "equations 4 of 40": lambda seed: equations(40, 4, seed),
}


def first(build: Callable[[int], Instance], seed: int, **how: Any) -> float | None:
    """Processor seconds until the first solution; None if there was none."""
    model, cost = build(seed)
    found: list[float] = []

    def told(_: Any) -> bool:
        found.append(process_time() - began)
        return False

    began = process_time()
    if cost is None:
        result = model.solve(**how)
        return process_time() - began if result else None
    model.solve(minimize=cost, on_solution=told, **how)
    return found[0] if found else None


def without(build: Callable[[int], Instance], seed: int, **how: Any) -> float | None:
    """The same search without jumps."""
    jumper = MemberMaker.local_search
    MemberMaker.local_search = lambda self: "left out"  # type: ignore[method-assign]
    try:
        return first(build, seed, **how)
    finally:
        MemberMaker.local_search = jumper  # type: ignore[method-assign]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--limit", type=float, default=8.0, help="seconds of each search")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", default="", help="comma-separated beginnings of names")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    Model().solve(engine="compiled")
    learning.load()
    jumping.load()
    rows = []
    print(f"{'instance':22} seed  with jumps    without     CP-SAT")
    for name, build in INSTANCES.items():
        if options.only and not name.startswith(tuple(options.only.split(","))):
            continue
        for seed in range(options.seeds):
            row: dict[str, Any] = {"instance": name, "seed": seed}
            row["with"] = first(build, seed, time_limit=options.limit)
            row["without"] = without(build, seed, time_limit=options.limit)
            row["cp_sat"] = first(build, seed, time_limit=options.limit, backend="cp-sat", workers=1)
            rows.append(row)
            times = [row[way] for way in ("with", "without", "cp_sat")]
            shown = "  ".join(f"{'none' if one is None else format(one, '.2f'):>9}" for one in times)
            print(f"{name:22} {seed:4}  {shown}", flush=True)
    if options.out:
        head = {"environment": environment("ortools", "llvmlite", "numpy"), "limit": options.limit}
        options.out.write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
