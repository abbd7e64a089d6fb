"""Integer arithmetic: all solutions, counts and firsts of small models, beside other solvers.

    python benchmarks/solver/arithmetic.py [--peers] [--out benchmarks/results/arithmetic.json]

Times are the least of several runs in seconds, model building included, import excluded. What the peers list
is what constrint lists: every solution of the same model.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from arithmetic_peers import PEERS, POWERS
from environment import environment

from constrint import Model, divides


def factors() -> Model:
    m = Model()
    a, b, c = (m.int_var(name, 1, 5040) for name in "abc")
    m.add(a * b * c == 5040, a <= b, b <= c)
    return m


def products() -> Model:
    m = Model()
    x, y, z, w = (m.int_var(name, 1, 64) for name in "xyzw")
    m.add(x * y * z * w <= 4096, divides(32, x * y), divides(8, z * w), x * y <= 1024)
    return m


def tiles(sizes: list[int], warps: list[int]) -> Model:
    m = Model()
    bm, bn, bk = (m.int_var(name, values=sizes) for name in ("bm", "bn", "bk"))
    wm, wn = (m.int_var(name, values=warps) for name in ("wm", "wn"))
    stages, threads = m.int_var("stages", 1, 5), m.int_var("threads", 64, 1024)
    m.add(divides(wm, bm), divides(wn, bn), threads == (bm // wm) * (bn // wn) * 32)
    m.add(stages * (bm + bn) * bk * 2 <= 227 * 1024, wm * wn + 8 * wm + 8 * wn + 1024 <= 255 * 32)
    return m


def coins() -> Model:
    m = Model()
    x, y, z, w = (m.int_var(name, 0, 1000) for name in "xyzw")
    m.add(12 * x + 15 * y + 20 * z + 28 * w == 10007)
    return m


MODELS: dict[str, tuple[Callable[[], Model], int]] = {
    "a": (factors, 138),
    "b": (products, 2175),
    "c": (lambda: tiles(POWERS, [1, 2, 4, 8, *POWERS]), 10_000),
    "c2": (lambda: tiles(list(range(8, 257, 8)), list(range(1, 257))), 2_934_571),
    "12x+15y+20z+28w": (coins, 1_679_328),
}


def least(action: Callable[[], Any], runs: int = 7) -> float:
    times = []
    for _ in range(runs):
        begun = perf_counter()
        action()
        times.append(perf_counter() - begun)
    return round(min(times), 6)


def cold_and_warm(build: Callable[[], Model], solutions: int) -> dict[str, float]:
    assert build().count() == len(build().solutions().to_numpy()) == solutions
    return {
        "count": least(lambda: build().count()),
        "all": least(lambda: build().solutions().to_numpy()),
        "first": least(lambda: build().solve()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows: dict[str, dict[str, float]] = {}
    for name, (build, solutions) in MODELS.items():
        rows[name] = {"solutions": solutions, **cold_and_warm(build, solutions)}
        if arguments.peers:
            for peer, listed in PEERS.items():
                answers = [answer for _ in range(3) if (answer := listed(name)) is not None]
                if answers:
                    assert all(found in (1, solutions) for found, _ in answers), (peer, name, answers)
                    key = peer if answers[0][0] == solutions else f"{peer} first"
                    rows[name][key] = round(min(seconds for _, seconds in answers), 6)
        print(name, rows[name])
    if arguments.out:
        report = {"environment": environment("ortools", "python-constraint2", "pychoco", "numpy")}
        arguments.out.write_text(json.dumps({**report, "models": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
