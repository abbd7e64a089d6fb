"""Integer arithmetic: all solutions, counts and firsts of small models, beside other solvers.

    python benchmarks/solver/arithmetic.py [--peers] [--limit 120] [--out benchmarks/results/arithmetic.json]

Times are the least of several runs in seconds on one core, model building included, import excluded. What the
peers list is what constrint lists: every solution of the same model. Each peer answers in a process of its
own; one that is not done within the limit is recorded as "> 120", one that is not installed as missing. The
compiler that NuCS runs at its first use is given time of its own before anything is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from arithmetic_flat import POWERS
from arithmetic_peers import DISTRIBUTIONS, PEERS, questions
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
    "coins": (coins, 1_679_328),
}
COMPILING = 900
"""Seconds for a peer's compiler before anything is measured."""


def least(action: Callable[[], Any], runs: int = 7, seconds: float = 1.5) -> float:
    times: list[float] = []
    while len(times) < runs or (sum(times) < seconds and len(times) < 50 * runs):
        begun = perf_counter()
        action()
        times.append(perf_counter() - begun)
    return round(min(times), 6)


def own(build: Callable[[], Model], solutions: int) -> dict[str, float]:
    assert build().count() == len(build().solutions().to_numpy()) == solutions
    return {
        "first": least(lambda: build().solve()),
        "count": least(lambda: build().count()),
        "all": least(lambda: build().solutions().to_numpy()),
    }


def asked(peer: str, model: str, question: str, limit: float, solutions: int) -> float | str:
    """Seconds of a peer, or the reason why there are none."""
    command = [sys.executable, str(Path(__file__).with_name("arithmetic_peers.py")), peer, model, question]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return f"> {limit:g}"
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return f"failed with {done.returncode}: {last}"
    answer = json.loads(done.stdout.splitlines()[-1])
    if "missing" in answer:
        return f"missing: {answer['missing']}"
    expected = 1 if question == "first" else solutions
    assert answer["solutions"] == expected, (peer, model, question, answer)
    return float(answer["seconds"])


def peers_of(
    model: str, limit: float, solutions: int, mine: dict[str, float]
) -> dict[str, dict[str, float | str]]:
    """The peers' times, each also relative to constrint's."""
    rows: dict[str, dict[str, float | str]] = {}
    for peer in PEERS:
        row: dict[str, float | str] = {}
        for question in questions(peer, model):
            taken = asked(peer, model, question, limit, solutions)
            row[question] = taken
            if isinstance(taken, float):
                row[f"{question}, times"] = round(taken / mine[question], 2)
        if row:
            rows[peer] = row
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--limit", type=float, default=120, help="seconds for a question to a peer")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if arguments.peers:
        compiled = Path(tempfile.gettempdir()) / "constrint-benchmark-compiled"
        os.environ.setdefault("NUMBA_CACHE_DIR", str(compiled))
        asked("nucs", "a", "all", COMPILING, MODELS["a"][1])
    rows: dict[str, dict[str, Any]] = {}
    for name, (build, solutions) in MODELS.items():
        mine = own(build, solutions)
        rows[name] = {"solutions": solutions, "constrint": mine}
        if arguments.peers:
            rows[name]["peers"] = peers_of(name, arguments.limit, solutions, mine)
        print(name, json.dumps(rows[name]), flush=True)
    if arguments.out:
        report = {"environment": environment("numpy", *DISTRIBUTIONS), "seconds": rows}
        arguments.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
