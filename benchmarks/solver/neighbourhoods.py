"""Large neighbourhoods with and without those led by the optimum of the linear relaxation.

    python benchmarks/solver/neighbourhoods.py [--limit 8] [--only "tour,lots"]

Each instance is solved by the default search twice in one process. The second search is "without": its
neighbourhoods are drawn from constraints, objective terms and at random only. Times are wall-clock seconds of
the whole search, and until its best solution.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import optimisation_choices as choices
from optimisation_choices import Problem

from constrint import Model, sum_
from constrint.search.portfolio import Portfolio


def set_partitioning(elements: int, sets: int) -> Problem:
    """Every element in one chosen set, at least cost; some sets partition the elements by construction."""
    draw = Random(1000 * elements + sets)
    members = []
    for _ in range(3):
        left = list(range(elements))
        draw.shuffle(left)
        while left:
            size = draw.randint(2, 6)
            members.append(left[:size])
            left = left[size:]
    members += [draw.sample(range(elements), draw.randint(2, 6)) for _ in range(sets - len(members))]
    m = Model()
    x = [m.bool_var(f"x{i}") for i in range(len(members))]
    for e in range(elements):
        m.add(sum_(v for v, of in zip(x, members, strict=True) if e in of) == 1)
    costs = [len(of) * 10 + draw.randint(0, 30) for of in members]
    return m, {"minimize": sum_(c * v for c, v in zip(costs, x, strict=True))}


SIZES: dict[Callable[..., Problem], list[tuple[int, ...]]] = {
    set_partitioning: [(40, 300), (50, 500), (60, 800), (80, 1000)],
    choices.generalised_assignment: [(30, 8), (45, 9), (60, 10), (80, 12), (100, 10)],
    choices.rows_knapsack: [(60, 10), (100, 30), (150, 10), (200, 5)],
    choices.lots: [(15, 5), (20, 5), (24, 6), (30, 8)],
    choices.set_cover: [(100, 300), (150, 400)],
    choices.warehouses: [(20, 10)],
    choices.tour: [(40,), (60,), (80,)],
}
INSTANCES = {
    " ".join([make.__name__.replace("_", " "), *map(str, size)]): lambda make=make, size=size: make(*size)
    for make, sizes in SIZES.items()
    for size in sizes
}


def solved(name: str, limit: float) -> dict[str, Any]:
    """Solve an instance, noting when the best solution came."""
    m, goal = INSTANCES[name]()
    begun = perf_counter()
    times = [0.0]
    result = m.solve(**goal, time_limit=limit, on_solution=lambda _: times.append(perf_counter() - begun))
    return {
        "status": result.status.value,
        "objective": result.objective,
        "bound": result.bound,
        "seconds": perf_counter() - begun,
        "best after": times[-1],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--limit", type=float, default=8.0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    wanted = [part for part in options.only.split(",") if part]
    led = Portfolio._point
    solved("tour 40", 2.0)  # load what is compiled
    for name in INSTANCES:
        if wanted and not any(part in name for part in wanted):
            continue
        for way, point in (("with", led), ("without", lambda self: None)):
            Portfolio._point = point  # type: ignore[method-assign]
            row = solved(name, options.limit)
            print(
                f"{name:28} {way:8} {row['status']:9} {row['objective']} bound {row['bound']} "
                f"{row['seconds']:.2f} s, best after {row['best after']:.2f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
