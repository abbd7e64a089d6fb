"""Optima of tiling models: a lexicographic one compared with other solvers, and kerneltune's own.

    taskset -c 1 python benchmarks/solver/tiling.py [--peers] [--out benchmarks/results/tiling.json]

Times are processor milliseconds, the least of several runs in a warm process. Those of the lexicographic
model include building it; kerneltune's constraint files are read and solved separately. Peers must find the
same optimum; so must constrint's own search without tables of rows.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment
from tiling_model import Shape, Words, tiling
from tiling_peers import PEERS, answer

from constrint import Model, Result, ceildiv, divides, min_
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.tiling.space import TilingSpace

LEXICOGRAPHIC = [
    Shape(12, 64, 16),
    Shape(6, 128, 16),
    Shape(3, 256, 16),
    Shape(1, 512, 16),
    Shape(1, 768, 16),
    Shape(1, 1024, 16),
    Shape(12, 64, 64),
    Shape(8, 256, 32),
    Shape(1, 1024, 64),
]
OWN = [(12, 64, 16), (6, 128, 16), (3, 256, 16), (1, 512, 16), (1, 768, 16), (1, 1024, 16), (12, 64, 64)]
GPU = "h100_sxm"


def least(action: Callable[[], Any], runs: int) -> float:
    """Milliseconds of CPU."""
    times = []
    for _ in range(runs):
        begun = process_time()
        action()
        times.append(process_time() - begun)
    return round(1000 * min(times), 2)


def solved(shape: Shape, **options: Any) -> tuple[Result, list[int]]:
    m = Model()
    preferences = tiling(shape, Words(m.int_var, m.add, divides, ceildiv, min_))
    result = m.solve(prefer=preferences, **options)
    return result, [result[expr] for expr, _ in preferences]


def lexicographic(shape: Shape, runs: int, peers: bool) -> dict[str, Any]:
    result, best = solved(shape)
    searched, same = solved(shape, engine="interpreted")
    assert result.values == searched.values
    assert best == same
    row: dict[str, Any] = {
        "shape": shape.name,
        "constrint": least(lambda: solved(shape), runs),
        "engine": result.statistics.engine,
        "search alone": least(lambda: solved(shape, engine="interpreted"), 3),
        "search nodes": searched.statistics.nodes,
    }
    for name, kind in PEERS.items() if peers else ():
        answers = [answer(kind, shape) for _ in range(5)]
        assert all(found == best for found, _ in answers), (name, shape, answers)
        row[name] = round(1000 * min(seconds for _, seconds in answers), 2)
    return row


def own(runs: int) -> list[dict[str, Any]]:
    """The optima of kerneltune's constraint files."""
    profile, kernels = load_profile(GPU), discover()
    rows = []
    for heads, head_dim, batch in OWN:
        space = TilingSpace(Problem("lstm", heads, head_dim, batch, "bf16"), profile, kernels)
        for strategy in space.applicable():
            model = space.model(strategy)
            result = model.solve()
            rows.append(
                {
                    "shape": f"{heads}x{head_dim}, batch {batch}",
                    "strategy": strategy.name,
                    "read": least(lambda s=strategy, of=space: of.model(s), runs),
                    "solve": least(model.solve, runs),
                    "engine": result.statistics.engine,
                    "cycles": result.objective,
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    report: dict[str, Any] = {"environment": environment("numpy", "ortools", "pychoco")}
    report["lexicographic"] = []
    for shape in LEXICOGRAPHIC:
        report["lexicographic"].append(lexicographic(shape, arguments.runs, arguments.peers))
        print(report["lexicographic"][-1], flush=True)
    report["kerneltune"] = own(arguments.runs)
    for row in report["kerneltune"]:
        print(row)
    if arguments.out:
        text = json.dumps(report, indent=1, ensure_ascii=False)
        arguments.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
