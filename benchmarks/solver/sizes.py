"""Models of eight kinds at growing sizes: what takes part, what a limit leaves out, and where the time goes.

    python benchmarks/solver/sizes.py [--sizes 100,1000,10000,100000] [--only clauses,tables] [--limit 20]
        [--out benchmarks/results/sizes.json]

Each kind has so many constraints over random variables, and a sum as its objective. A model is built,
lowered, presolved and then solved with the limit, in a process of its own. `absent` is that of the result's
statistics; in a portfolio, `joined` are the members that it does not name. `search` is the call's time
without that of lowering and presolve. Sizes such as 1000000 are given by --sizes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment

from constrint import Model, all_different, any_of, cumulative, element, sum_, table
from constrint.expr import IntExpr
from constrint.search.admission import ADMISSIONS

PATIENCE = 60.0  # seconds beyond the limit, for building and lowering
SIZES = "100,1000,10000,100000"
Draw = Callable[[Model, int, Random], IntExpr]


def rows(m: Model, n: int, random: Random) -> IntExpr:
    """Covers: rows of five 0/1 variables, at least one of which is 1; the least weight."""
    xs = list(m.bool_vars("x", n))
    m.add(*(sum_(random.sample(xs, 5)) >= 1 for _ in range(n)))
    return sum_(random.randint(1, 20) * x for x in xs)


def clauses(m: Model, n: int, random: Random) -> IntExpr:
    """Clauses of three literals, four for each variable; the fewest true variables."""
    xs = list(m.bool_vars("x", max(3, n // 4)))
    m.add(*(any_of([x if random.random() < 0.5 else ~x for x in random.sample(xs, 3)]) for _ in range(n)))
    return sum_(xs)


def reified(m: Model, n: int, random: Random) -> IntExpr:
    """Truth values of sums of three variables; the most that are true."""
    xs, bs = list(m.int_vars("x", max(3, n // 2), 0, 20)), list(m.bool_vars("b", n))
    for b in bs:
        x, y, z = random.sample(xs, 3)
        m.add(b == (x + 2 * y - z <= random.randint(-10, 10)))
    return -sum_(bs)


def elements(m: Model, n: int, random: Random) -> IntExpr:
    """Entries of ten constants, two of which have a bounded sum in each constraint; the least sum."""
    index = list(m.int_vars("i", max(2, n // 2), 0, 9))
    costs = [element([random.randint(0, 99) for _ in range(10)], i) for i in index]
    for _ in range(n):
        one, other = random.sample(range(len(index)), 2)
        values = [random.randint(0, 99) for _ in range(10)]
        m.add(element(values, index[one]) + index[other] >= min(values) + 4)
    return sum_(costs)


def permutations(m: Model, n: int, random: Random) -> IntExpr:
    """Five variables that differ, of which each occurs in five constraints or so; the least weight."""
    xs = list(m.int_vars("x", max(8, n), 0, 29))
    m.add(*(all_different(random.sample(xs, 5)) for _ in range(n)))
    return sum_(random.randint(1, 9) * x for x in xs)


def resources(m: Model, n: int, random: Random) -> IntExpr:
    """Six tasks on each resource; each task is on two or so; the least sum of starts."""
    count = max(6, 3 * n)
    starts, durations = m.int_vars("s", count, 0, 60), [random.randint(1, 9) for _ in range(count)]
    for _ in range(n):
        some = random.sample(range(count), 6)
        demands = [random.randint(1, 4) for _ in some]
        m.add(cumulative([starts[i] for i in some], [durations[i] for i in some], demands, 5))
    return sum_(starts)


def tables(m: Model, n: int, random: Random) -> IntExpr:
    """Tables of twenty rows and three columns, one of which the drawn point is in; the least sum."""
    count = max(3, 2 * n)
    xs, point = m.int_vars("x", count, 0, 9), [random.randint(0, 9) for _ in range(count)]
    for _ in range(n):
        some = random.sample(range(count), 3)
        drawn = [[random.randint(0, 9) for _ in some] for _ in range(19)]
        m.add(table([xs[i] for i in some], [*drawn, [point[i] for i in some]]))
    return sum_(xs)


def products(m: Model, n: int, random: Random) -> IntExpr:
    """Products of two variables that exceed a number; the least weight."""
    xs = list(m.int_vars("x", max(2, n), 1, 30))
    for _ in range(n):
        x, y = random.sample(xs, 2)
        m.add(x * y >= random.randint(2, 300))
    return sum_(random.randint(1, 9) * x for x in xs)


KINDS: dict[str, Draw] = {
    "linear rows": rows,
    "clauses": clauses,
    "reified sums": reified,
    "elements": elements,
    "all_different": permutations,
    "cumulative": resources,
    "tables": tables,
    "products": products,
}


def one(kind: str, n: int, limit: float) -> dict[str, Any]:
    """A row: the times of building, lowering and presolve, the search, and what took part in it."""
    from constrint.modelling.objectives import as_goals
    from constrint.preparing.prepared import Prepared
    from constrint.support.deadline import Deadline, Stopped, until

    began = perf_counter()
    m = Model(kind)
    m.minimize(KINDS[kind](m, n, Random(n)))
    row: dict[str, Any] = {"building": perf_counter() - began}
    began, deadline = perf_counter(), Deadline(limit)
    lowered: list[float] = []
    try:
        with until(deadline):
            prepared = Prepared(
                m,
                as_goals(m.goals),
                (),
                deadline=deadline,
                may_compile=True,
                before_presolve=lambda *_: lowered.append(perf_counter()),
            )
        root = prepared.root
        row |= {"propagators": len(root.propagators), "stable": root.stable} if root is not None else {}
    except Stopped:
        row["ended"] = "the limit was reached in lowering or presolve"
    ended = perf_counter()
    lowering = (lowered[0] if lowered else ended) - began
    row |= {"lowering": lowering, "presolve": ended - began - lowering}
    result = m.solve(time_limit=limit)
    work = result.statistics
    row["search"] = max(0.0, work.seconds - row["lowering"] - row["presolve"])
    joined = {row.member for row in ADMISSIONS} - set(work.absent) if work.method == "portfolio" else set()
    return row | {
        "status": result.status.value,
        "objective": result.objective,
        "bound": result.bound,
        "method": work.method,
        "joined": sorted(joined),
        "absent": dict(work.absent),
    }


def apart(kind: str, n: int, limit: float) -> dict[str, Any]:
    """The row, measured in a process of its own."""
    command = [sys.executable, __file__, "--one", kind, "--sizes", str(n), "--limit", str(limit)]
    environ = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    try:
        most = PATIENCE + 2 * limit
        done = subprocess.run(command, capture_output=True, text=True, timeout=most, env=environ, check=True)
    except subprocess.TimeoutExpired:
        return {"ended": f"after {PATIENCE + 2 * limit:g} s, without an answer"}
    except subprocess.CalledProcessError as error:
        return {"ended": error.stderr.strip().rpartition("\n")[2] or f"exit code {error.returncode}"}
    row: dict[str, Any] = json.loads(done.stdout)
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in row.items()}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--only", default=",".join(KINDS))
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--note", default="")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    sizes = [int(size) for size in given.sizes.split(",")]
    if given.one:
        print(json.dumps(one(given.one, sizes[0], given.limit)))
        return
    found: list[dict[str, Any]] = []
    for n in sizes:
        for kind in given.only.split(","):
            row = {"kind": kind, "constraints": n, **apart(kind, n, given.limit)}
            found.append(row)
            print(json.dumps(row), flush=True)
            if given.out is not None:
                head = {**environment("highspy", "numpy", "llvmlite"), "limit": given.limit}
                noted = {"note": given.note} if given.note else {}
                text = json.dumps({**head, **noted, "rows": found}, indent=1)
                given.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
