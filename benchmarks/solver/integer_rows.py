"""Integers in several rows: drawn knapsacks and covers of integers, beside CP-SAT with one worker.

    python benchmarks/solver/integer_rows.py [--limit 20] [--seeds 2] [--only pack] [--columns default,cp-sat]
        [--out benchmarks/results/integer_rows.json]

Variables from 0 to 20 in 5 to 12 dense rows. Each instance is solved in this process, by all columns in
turns; seconds are the processor's. A first solve that is not counted loads the machine code.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment

from constrint import Model, sum_

SIZES = ((20, 5), (30, 8), (40, 5), (40, 8), (60, 12))
HIGH = 20
WAYS: dict[str, dict[str, Any]] = {
    "default": {},
    "cp-sat": {"backend": "cp-sat"},
    "learning": {"learn": True},
}


def rows_of(n: int, m: int, seed: int) -> tuple[list[list[int]], list[int], list[int]]:
    """Factors of each row, their sides, and factors of the objective, near the mean of the rows'."""
    random = Random(seed)
    factors = [[random.randint(1, 60) for _ in range(n)] for _ in range(m)]
    sides = [HIGH * sum(row) // 8 for row in factors]
    gains = [sum(row[j] for row in factors) // m + random.randint(1, 30) for j in range(n)]
    return factors, sides, gains


def pack(n: int, m: int, seed: int) -> tuple[Model, dict[str, Any]]:
    """Integers of greatest value within several capacities."""
    factors, sides, gains = rows_of(n, m, seed)
    model = Model("pack")
    x = model.int_vars("x", n, 0, HIGH)
    for row, side in zip(factors, sides, strict=True):
        model.add(sum_(a * v for a, v in zip(row, x, strict=True)) <= side)
    return model, {"maximize": sum_(a * v for a, v in zip(gains, x, strict=True))}


def cover(n: int, m: int, seed: int) -> tuple[Model, dict[str, Any]]:
    """Integers of least cost that meet several demands."""
    factors, sides, gains = rows_of(n, m, seed)
    model = Model("cover")
    x = model.int_vars("x", n, 0, HIGH)
    for row, side in zip(factors, sides, strict=True):
        model.add(sum_(a * v for a, v in zip(row, x, strict=True)) >= side)
    return model, {"minimize": sum_(a * v for a, v in zip(gains, x, strict=True))}


def mixed(n: int, m: int, seed: int) -> tuple[Model, dict[str, Any]]:
    """As `pack`, with half of the rows as demands of a third of their capacity."""
    factors, sides, gains = rows_of(n, m, seed)
    model = Model("mixed")
    x = model.int_vars("x", n, 0, HIGH)
    for i, (row, side) in enumerate(zip(factors, sides, strict=True)):
        load = sum_(a * v for a, v in zip(row, x, strict=True))
        model.add(load <= side)
        if i % 2:
            model.add(3 * sum_(row[j] * x[j] for j in range(i % 3, n, 3)) >= side)
    return model, {"maximize": sum_(a * v for a, v in zip(gains, x, strict=True))}


KINDS: dict[str, Callable[[int, int, int], tuple[Model, dict[str, Any]]]] = {
    "pack": pack,
    "cover": cover,
    "mixed": mixed,
}


def measured(kind: str, n: int, m: int, seed: int, way: str, limit: float) -> dict[str, Any]:
    """Solve one instance."""
    model, goal = KINDS[kind](n, m, seed)
    begun = process_time()
    result = model.solve(**goal, **WAYS[way], time_limit=limit)
    return {
        "status": result.status.value,
        "objective": result.objective,
        "bound": result.bound,
        "seconds": round(process_time() - begun, 3),
        "nodes": result.statistics.nodes,
    }


def main() -> None:
    """Solve the instances that are wanted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--limit", type=float, default=20)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", default="")
    parser.add_argument("--columns", default="default,cp-sat")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    ways = arguments.columns.split(",")
    kinds = [kind for kind in KINDS if arguments.only in kind]
    for way in ways:
        measured("pack", 20, 5, 99, way, 20)
    rows: dict[str, dict[str, Any]] = {}
    for kind in kinds:
        for n, m in SIZES:
            for seed in range(arguments.seeds):
                row = {way: measured(kind, n, m, seed, way, arguments.limit) for way in ways}
                rows[f"{kind} {n} x {m}, seed {seed}"] = row
                print(
                    f"{kind} {n} x {m} ({seed})", *(f"{way}: {cell}" for way, cell in row.items()), flush=True
                )
    for way in ways:
        total = sum(row[way]["seconds"] for row in rows.values())
        solved = sum(row[way]["status"] in ("optimal", "infeasible") for row in rows.values())
        print(f"{way}: {solved} of {len(rows)} solved, {total:.2f} s")
    if arguments.out is not None:
        report = {"environment": environment(), "limit": arguments.limit, "rows": rows}
        arguments.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
