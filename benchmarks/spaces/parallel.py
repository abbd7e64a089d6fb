"""Parallel building and listing: alone, with two threads, and with two processes.

    python benchmarks/spaces/parallel.py [--workers 2] [--out FILE.json]

Wall times are the least of several alternating runs; the processes are warm. On a busy machine they say
little, so processor times are given too: of the work alone, of the process that hands out shares, of all
shares, and of the longest one, with the bytes sent.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment

from constrint import Model, divides
from constrint.solutions.solutionset import SolutionSet
from constrint.tuning.spaces import from_json

DATA = Path(__file__).parent / "data"
RUNS = 5


def sieve(most: int) -> Model:
    """A model that examines many rows and keeps few."""
    m = Model()
    a, b, c = (m.int_var(name, 1, most) for name in "abc")
    m.add((a * b * c + a * a + b * c) % 1009 == 5, a <= b)
    return m


def great_numbers() -> Model:
    """Products beyond int64, computed one by one in Python's integers."""
    m = Model()
    a, b, c = (m.int_var(name, 10**12, 10**12 + 99) for name in "abc")
    m.add((a * b * c + a) % 1000003 <= 50000, (a * c + b * b) % 7 != 2)
    return m


def tiles() -> Model:
    """A model that keeps much: 21 million solutions of one component."""
    m = Model()
    bm, bn, bk = (m.int_var(name, 4, 256, step=4) for name in ("bm", "bn", "bk"))
    wm, wn = (m.int_var(name, 1, 256) for name in ("wm", "wn"))
    stages, threads = m.int_var("stages", 1, 5), m.int_var("threads", 64, 1024)
    m.add(divides(wm, bm), divides(wn, bn), threads == (bm // wm) * (bn // wn) * 32)
    m.add(stages * (bm + bn) * bk * 2 <= 227 * 1024, wm * wn + 8 * wm + 8 * wn + 1024 <= 255 * 32)
    return m


def compare(action: Callable[..., Any], pool: Executor, workers: int) -> dict[str, float]:
    """Seconds of an action alone, by threads and by processes."""
    ways: dict[str, dict[str, Any]] = {
        "alone": {},
        "threads": {"workers": workers},
        "processes": {"workers": workers, "executor": pool},
    }
    times = dict.fromkeys(ways, float("inf"))
    for _ in range(RUNS):
        for name, given in ways.items():
            begun = perf_counter()
            action(**given)
            times[name] = min(times[name], perf_counter() - begun)
    return {name: round(seconds, 4) for name, seconds in times.items()}


class Here(Executor):
    """An executor that runs each task at once, and records its cost."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.sent = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        begun = process_time()
        answer = fn(*args, **kwargs)
        self.seconds.append(process_time() - begun)
        self.sent += sum(len(part) for part in (*args, answer) if isinstance(part, str | bytes))
        future.set_result(answer)
        return future


def work(action: Callable[..., Any], workers: int) -> dict[str, float]:
    """Processor seconds of an action alone and in shares, each the least of several runs."""
    alone = []
    shares = []
    for _ in range(RUNS):
        begun = process_time()
        action()
        alone.append(process_time() - begun)
        here = Here()
        begun = process_time()
        action(executor=here, workers=workers)
        shares.append((process_time() - begun, here))
    whole, here = min(shares, key=lambda pair: pair[0])
    spent = sum(here.seconds)
    found = {
        "alone": min(alone),
        "caller": whole - spent,
        "shares": spent,
        "longest": max(here.seconds, default=0.0),
    }
    return {name: round(seconds, 4) for name, seconds in found.items()} | {
        "megabytes": round(here.sent / 1e6, 2)
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    models = {"sieve": sieve(600), "great numbers": great_numbers(), "tiles": tiles()}
    built: dict[str, dict[str, float]] = {}
    listed: dict[str, dict[str, float]] = {}
    worked: dict[str, dict[str, float]] = {}
    with ProcessPoolExecutor(arguments.workers, multiprocessing.get_context("spawn")) as pool:
        for name, model in models.items():
            built[name] = compare(model.solutions, pool, arguments.workers)
            worked[f"build {name}"] = work(model.solutions, arguments.workers)
            print("build", name, built[name], worked[f"build {name}"], flush=True)
        sets: dict[str, SolutionSet] = {"tiles": models["tiles"].solutions()}
        sets |= {name: from_json(DATA / f"{name}.json") for name in ("hotspot", "bat_dedispersion")}
        for name, solutions in sets.items():
            listed[name] = compare(solutions.to_numpy, pool, arguments.workers)
            worked[f"list {name}"] = work(solutions.to_numpy, arguments.workers)
            print("list", name, f"{solutions.size:,}", listed[name], worked[f"list {name}"], flush=True)
    if arguments.out:
        report = {**environment("numpy"), "workers": arguments.workers, "build": built, "list": listed}
        report["work"] = worked
        arguments.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
