"""Optimisation by many workers: threads, processes, Dask and MPI; and workers that are killed.

    python benchmarks/solver/parallel_optimisation.py [--workers 1,2,4] [--runs 1] [--out FILE.json]

Each row is one problem by one kind of workers: seconds by the clock and of the processor (starting the
workers is left out of the first and included in the second), nodes, and the value proved. `alone` is the
same search by one worker; `default` is `Model.solve` without arguments, which also learns clauses and solves
linear relaxations. "killed" rows kill one worker while it has shares, by SIGKILL: the value and the nodes
that count must be those of the same number of workers without a loss.

`computed` says what more workers than this machine has cores would take: every share is searched in turn
here, its processor seconds are measured, and shares are put on a clock of W workers as they would be handed
out and awaited. Transfers cost nothing there.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment
from puzzles import golomb_model

from constrint import IntExpr, Model, Result, abs_, all_different, sum_
from constrint.parallel.processes import Processes
from constrint.parallel.share import search_share

Pids = Callable[[], list[int]]
KILL_AFTER = 12  # shares handed out before a worker is killed
COMPUTED = (1, 2, 4, 8, 16, 32, 64)


def quadratic_assignment(n: int) -> tuple[Model, IntExpr]:
    """Places in a row for n facilities with drawn flows: the least sum of flow times distance."""
    draw = random.Random(1)
    m = Model(f"quadratic assignment {n}")
    places = m.int_vars("place", n, 0, n - 1)
    m.add(all_different(places))
    flow = [[draw.randint(0, 9) for _ in range(n)] for _ in range(n)]
    return m, sum_(flow[i][j] * abs_(places[i] - places[j]) for i in range(n) for j in range(i))


PROBLEMS: dict[str, Callable[[], tuple[Model, IntExpr]]] = {
    "Golomb 10": lambda: golomb_model(10),
    "quadratic assignment 9": lambda: quadratic_assignment(9),
}


def solved(problem: str, **how: Any) -> Result:
    """The optimum of a problem, proved."""
    m, goal = PROBLEMS[problem]()
    if "workers" in how:  # the tree of one search is shared; several searches side by side are another way
        how.setdefault("learn", False)
    found = m.solve(minimize=goal, **how)
    assert found.status.name == "OPTIMAL", (problem, how, found.status)
    return found


def used() -> float:
    """Processor seconds of this process and of its finished children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


# Workers


@contextmanager
def own_processes(workers: int) -> Iterator[tuple[Executor, Pids]]:
    """The processes that constrint starts itself."""
    with Processes(workers, search_share) as pool:
        yield pool, lambda: [child.pid for child in pool._children]


@contextmanager
def process_pool(workers: int) -> Iterator[tuple[Executor, Pids]]:
    """Python's own pool."""
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield pool, lambda: list(pool._processes)


@contextmanager
def dask(workers: int) -> Iterator[tuple[Executor, Pids]]:
    """A Dask cluster of one-thread processes; a nanny starts another process for one that dies."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    )
    with cluster, Client(cluster) as client:
        yield client.get_executor(), lambda: list(client.run(os.getpid).values())


KINDS: dict[str, Callable[[int], Any]] = {
    "own processes": own_processes,
    "ProcessPoolExecutor": process_pool,
    "Dask": dask,
}


class Killing(Executor):
    """An executor that passes shares on, and kills a worker after some of them."""

    def __init__(self, inner: Executor, pids: Pids) -> None:
        self.inner, self.pids = inner, pids
        self.handed = 0
        self.killed: list[int] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.handed += 1
        future = self.inner.submit(fn, *args, **kwargs)
        if self.handed >= KILL_AFTER and not self.killed:
            self.killed.append(self.pids()[0])
            os.kill(self.killed[0], signal.SIGKILL)
        return future


def row(found: Result, clock: float, processor: float, **more: Any) -> dict[str, Any]:
    """What is kept of a run."""
    times = {"clock": round(clock, 3), "processor": round(processor, 3)}
    return {**times, "nodes": found.statistics.nodes, "value": found.objective, **more}


def by(kind: str, problem: str, workers: int, is_killing: bool = False) -> dict[str, Any]:
    """One run with the workers of an executor."""
    before = used()
    with ExitStack() as stack:
        executor, pids = stack.enter_context(KINDS[kind](workers))
        asked = Killing(executor, pids) if is_killing else executor
        begun = perf_counter()
        found = solved(problem, executor=asked, workers=workers)
        clock = perf_counter() - begun
        if isinstance(asked, Killing):
            assert asked.killed, "the search ended before a worker could be killed"
    return row(found, clock, used() - before)


def by_mpi(problem: str, workers: int) -> dict[str, Any] | None:
    """One run with the workers of an MPIPoolExecutor; None where there is no mpiexec."""
    beside = Path(sys.executable).with_name("mpiexec")
    mpiexec = str(beside) if beside.exists() else shutil.which("mpiexec")
    if mpiexec is None:
        return None
    before = used()
    command = [mpiexec, "-n", str(workers + 1), sys.executable, "-m", "mpi4py.futures", __file__]
    done = subprocess.run(
        [*command, "--mpi", problem, "--workers", str(workers)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {**told, "processor": round(used() - before, 3)}


def as_mpi_script(problem: str, workers: int) -> None:
    """What `by_mpi` starts."""
    from mpi4py.futures import MPIPoolExecutor

    Model().solve(engine="compiled")
    with MPIPoolExecutor(workers) as executor:
        executor.bootup()
        begun = perf_counter()
        found = solved(problem, executor=executor, workers=workers)
        print(json.dumps(row(found, perf_counter() - begun, 0.0)), flush=True)


# More workers than cores


class Counted(Future[Any]):
    """The answer of a share, with the time at which a worker would have given it."""

    def __init__(self, clock: Clock, ends: float, answer: Any) -> None:
        super().__init__()
        self.clock, self.ends = clock, ends
        self.set_result(answer)

    def result(self, timeout: float | None = None) -> Any:
        """The answer; the caller's clock waits for it."""
        self.clock.wait(self.ends)
        return super().result(timeout)


class Clock(Executor):
    """An executor that searches each share at once, and counts what many workers would take.

    Attributes:
        now: The caller's seconds so far.
        seconds: Processor seconds of each share.
    """

    def __init__(self, workers: int) -> None:
        self.now = 0.0
        self.seconds: list[float] = []
        self._free = [0.0] * workers  # when each worker has nothing more to do
        self._mark = process_time()

    def wait(self, until: float = 0.0) -> None:
        """Count the caller's own time since the last call, and let it wait."""
        self.now = max(self.now + process_time() - self._mark, until)
        self._mark = process_time()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.wait()
        answer = fn(*args, **kwargs)
        self.seconds.append(process_time() - self._mark)
        ends = max(self.now, heapq.heappop(self._free)) + self.seconds[-1]
        heapq.heappush(self._free, ends)
        self._mark = process_time()
        return Counted(self, ends, answer)


def computed(problem: str) -> dict[str, dict[str, Any]]:
    """Seconds that workers of machines with enough cores would take."""
    rows = {}
    for workers in COMPUTED:
        clock = Clock(workers)
        found = solved(problem, executor=clock, workers=workers)
        clock.wait()
        rows[str(workers)] = {
            "seconds": round(clock.now, 3),
            "in_all": round(sum(clock.seconds), 3),
            "shares": len(clock.seconds),
            "longest": round(max(clock.seconds, default=0.0), 3),
            "nodes": found.statistics.nodes,
            "value": found.objective,
        }
        print(problem, workers, rows[str(workers)], flush=True)
    return rows


def single(problem: str, **how: Any) -> dict[str, Any]:
    """One run in this process."""
    begun, before = perf_counter(), used()
    found = solved(problem, **how)
    return row(found, perf_counter() - begun, used() - before)


def least(runs: int, run: Callable[[], dict[str, Any] | None]) -> dict[str, Any] | None:
    """The run that was shortest by the clock; its processor time is the least of all."""
    all_runs = [told for told in (run() for _ in range(runs)) if told is not None]
    if not all_runs:
        return None
    best = min(all_runs, key=lambda told: told["clock"])
    assert len({(told["nodes"], told["value"]) for told in all_runs}) == 1, all_runs
    return {**best, "processor": min(told["processor"] for told in all_runs)}


def rows_of(problem: str, count: int, runs: int) -> dict[str, dict[str, Any] | None]:
    """A row for each kind of workers, and for each kind of which one is killed."""
    rows: dict[str, dict[str, Any] | None] = {}
    if count > 1:
        rows["threads"] = least(runs, lambda: single(problem, workers=count))
    for kind in KINDS:
        rows[kind] = least(runs, partial(by, kind, problem, count))
    rows["MPI"] = least(runs, lambda: by_mpi(problem, count))
    for kind in KINDS if count > 1 else ():
        rows[f"{kind}, one killed"] = by(kind, problem, count, is_killing=True)
    return rows


def compare(problem: str, counts: list[int], runs: int) -> dict[str, Any]:
    """All kinds of workers, checked against each other."""
    told: dict[str, Any] = {"load": round(os.getloadavg()[0], 1)}
    told["default"] = least(runs, lambda: single(problem))
    told["alone"] = least(runs, lambda: single(problem, learn=False))
    for count in counts:
        rows = rows_of(problem, count, runs)
        there = [each for each in rows.values() if each is not None]
        assert {each["value"] for each in there} == {told["alone"]["value"]}, rows
        assert len({each["nodes"] for each in there}) == 1, rows  # nothing lost, nothing counted twice
        told[str(count)] = rows
        for kind, each in rows.items():
            print(f"{problem:24} {count} {kind:34} {each}", flush=True)
    return told


def main() -> None:
    """Time all problems."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", default="1,2,4", help="numbers of workers")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--only", default="", help="a part of a problem's name")
    parser.add_argument("--mpi", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    counts = [int(count) for count in arguments.workers.split(",")]
    if arguments.mpi:
        as_mpi_script(arguments.mpi, counts[0])
        return
    Model().solve(engine="compiled")
    rows: dict[str, Any] = {}
    for problem in (name for name in PROBLEMS if arguments.only in name):
        rows[problem] = {**compare(problem, counts, arguments.runs), "computed": computed(problem)}
        if arguments.out:
            head = environment("constrint", "llvmlite", "numpy", "distributed", "mpi4py")
            content = {"environment": head, "problems": rows}
            arguments.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
