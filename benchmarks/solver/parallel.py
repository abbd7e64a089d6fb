"""Parallel search: alone, with two workers by `workers=`, and with two processes.

    python benchmarks/solver/parallel.py [--workers 2] [--runs 3] [--out FILE.json]

Wall times are the least of several alternating runs; they include starting processes. On a busy machine they
say little, so processor times are given too: of each method, and of all shares, with their number, the
longest share, the time for handing them out, and the bytes sent and received. `load` is the machine's load
average at the start of each problem.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment
from puzzles import golomb_model, queens_model

from constrint import Brancher, Model, sum_
from constrint.parallel.processes import Processes
from constrint.parallel.share import search_share


def queens(n: int) -> tuple[Model, Callable[..., int]]:
    """All ways to put n queens."""
    m = queens_model(n)
    return m, lambda **how: m.count(engine="compiled", **how)


def golomb(n: int, engine: Any = "compiled") -> tuple[Model, Callable[..., int]]:
    """The shortest ruler with n marks, proved."""
    m, length = golomb_model(n)
    order = Brancher("input_order")
    return (
        m,
        lambda **how: m.solve(minimize=length, branching=order, engine=engine, learn=False, **how).objective,
    )


def great_sums(n: int) -> tuple[Model, Callable[..., int]]:
    """Subsets of large numbers with a sum near half of all: exact arithmetic, never compiled."""
    m = Model()
    weights = [10**20 + 7919 * i * i * i + 104_729 * i for i in range(n)]
    x = m.bool_vars("x", n)
    total = sum_(w * b for w, b in zip(weights, x, strict=True))
    half = sum(weights) // 2
    m.add(total >= half - 40_000, total <= half + 40_000)
    return m, lambda **how: m.count(engine="interpreted", **how)


PROBLEMS: dict[str, Callable[[], tuple[Model, Callable[..., int]]]] = {
    "13 queens, all": lambda: queens(13),
    "Golomb 10, proved": lambda: golomb(10),
    "Golomb 11, proved": lambda: golomb(11),
    "Golomb 9, interpreted": lambda: golomb(9, "interpreted"),
    "subset sums, exact": lambda: great_sums(19),
}


class Here(Executor):
    """An executor that works on each share at once, and records its cost."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.sent = 0
        self.answered = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        begun = process_time()
        answer = fn(*args)
        self.seconds.append(process_time() - begun)
        self.sent += sum(map(len, args))
        self.answered += len(answer)
        future.set_result(answer)
        return future


def used() -> float:
    """Processor seconds of this process and of its finished children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


def compare(ask: Callable[..., int], workers: int, runs: int) -> dict[str, Any]:
    """Wall and processor seconds of each method."""
    clock: dict[str, list[float]] = {"alone": [], "own workers": [], "processes": []}
    processor: dict[str, list[float]] = {name: [] for name in clock}
    answers = set()
    for _ in range(runs):
        for name in clock:
            begun, before = perf_counter(), used()
            with ExitStack() as stack:
                how: dict[str, Any] = {} if name == "alone" else {"workers": workers}
                if name == "processes":
                    how["executor"] = stack.enter_context(Processes(workers, search_share))
                answers.add(ask(**how))
            clock[name].append(perf_counter() - begun)
            processor[name].append(used() - before)
    here = Here()
    before = process_time()
    answers.add(ask(workers=workers, executor=here))
    whole = process_time() - before
    assert len(answers) == 1, answers
    shares = {
        "number": len(here.seconds),
        "seconds": round(sum(here.seconds), 3),
        "longest": round(max(here.seconds, default=0.0), 3),
        "handing_out": round(whole - sum(here.seconds), 3),
        "bytes_sent": here.sent,
        "bytes_answered": here.answered,
    }
    least = {name: round(min(times), 3) for name, times in clock.items()}
    return {
        "answer": answers.pop(),
        "clock": least,
        "processor": {name: round(min(times), 3) for name, times in processor.items()},
        "shares": shares,
    }


def main() -> None:
    """Time all problems."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", help="a part of a problem's name")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    Model().solve(engine="compiled")
    rows: dict[str, Any] = {}
    for name, make in PROBLEMS.items():
        if arguments.only is None or arguments.only in name:
            load = round(os.getloadavg()[0], 1)
            rows[name] = {"load": load, **compare(make()[1], arguments.workers, arguments.runs)}
            print(name, rows[name], flush=True)
    if arguments.out:
        head = environment("llvmlite", "numpy")
        content = {"environment": head, "workers": arguments.workers, "problems": rows}
        arguments.out.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
