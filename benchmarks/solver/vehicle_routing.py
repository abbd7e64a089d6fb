"""Vehicle routing with capacities and time windows: `routes` and `along` beside CP-SAT.

    python benchmarks/solver/vehicle_routing.py [--customers 12,16,20,24] [--seeds 4] [--limit 30]
        [--out benchmarks/results/vehicle_routing.json]

Customers lie on a square of 100 × 100 and open for 40 to 90 units of time; vehicles carry 60. Both solvers
have the same arcs, loads and times, and one worker; processor seconds include building the model. Each
instance is solved by both in turn, in a process of its own that has loaded both. Where both prove an optimum,
it is the same.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment

SERVICE, CAPACITY, CLOSING = 10, 60, 400


@dataclass(frozen=True)
class Instance:
    """Distances of arcs, demands, windows, and the most vehicles; node 0 is the depot."""

    distance: dict[tuple[int, int], int]
    demand: list[int]
    windows: list[tuple[int, int]]
    vehicles: int


def drawn(customers: int, seed: int) -> Instance:
    """The instance of a seed."""
    rng = Random(seed)
    places = [(50, 50), *[(rng.randint(0, 100), rng.randint(0, 100)) for _ in range(customers)]]
    nodes = range(len(places))
    distance = {(i, j): int(math.dist(places[i], places[j])) for i in nodes for j in nodes if i != j}
    demand = [0, *[rng.randint(5, 20) for _ in range(customers)]]
    windows = [(0, CLOSING)]
    for i in nodes[1:]:
        opens = rng.randint(distance[0, i], 250)
        windows.append((opens, opens + rng.randint(40, 90)))
    return Instance(distance, demand, windows, max(2, -(-sum(demand) // CAPACITY) + 1))


def constrint(given: Instance, limit: float) -> tuple[str, int | None]:
    from constrint import Model, along, routes, sum_

    m = Model()
    arcs = [(i, j, m.bool_var(f"go_{i}_{j}")) for i, j in given.distance]
    stops = range(1, len(given.demand))
    load = {i: m.int_var(f"load_{i}", given.demand[i], CAPACITY) for i in stops}
    start = {i: m.int_var(f"start_{i}", *given.windows[i]) for i in stops}
    m.add(routes(arcs, 0, vehicles=m.int_var("vehicles", 1, given.vehicles)))
    m.add(along(arcs, load, {(i, j): given.demand[j] for i, j in given.distance}, 0))
    steps = {(i, j): far + (SERVICE if i else 0) for (i, j), far in given.distance.items()}
    m.add(along(arcs, start, steps, 0))
    cost = sum_([given.distance[i, j] * taken for i, j, taken in arcs])
    result = m.solve(minimize=cost, time_limit=limit)
    return result.status.name.lower(), result.objective if result else None


def cp_sat(given: Instance, limit: float) -> tuple[str, int | None]:
    from ortools.sat.python import cp_model

    m = cp_model.CpModel()
    arcs = [(i, j, m.new_bool_var("")) for i, j in given.distance]
    stops = range(1, len(given.demand))
    load: dict[int, Any] = {0: 0, **{i: m.new_int_var(given.demand[i], CAPACITY, "") for i in stops}}
    start: dict[int, Any] = {0: 0, **{i: m.new_int_var(*given.windows[i], "") for i in stops}}
    m.add_multiple_circuit(arcs)
    m.add_linear_constraint(sum(taken for i, _, taken in arcs if i == 0), 1, given.vehicles)
    for i, j, taken in arcs:
        if j:
            step = given.distance[i, j] + (SERVICE if i else 0)
            m.add(load[j] >= load[i] + given.demand[j]).only_enforce_if(taken)
            m.add(start[j] >= start[i] + step).only_enforce_if(taken)
    m.minimize(sum(given.distance[i, j] * taken for i, j, taken in arcs))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers, solver.parameters.max_time_in_seconds = 1, limit
    status = solver.status_name(solver.solve(m)).lower()
    return status, int(solver.objective_value) if status in ("optimal", "feasible") else None


SOLVERS = {"constrint": constrint, "CP-SAT": cp_sat}


def measured(customers: int, seed: int, limit: float) -> dict[str, Any]:
    """Both solvers on one instance, after a small one."""
    for solve in SOLVERS.values():
        solve(drawn(8, 0), limit)
    row: dict[str, Any] = {"customers": customers, "seed": seed}
    for name, solve in SOLVERS.items():
        begun = process_time()
        status, objective = solve(drawn(customers, seed), limit)
        row[name] = {"status": status, "objective": objective, "seconds": round(process_time() - begun, 3)}
    return row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--customers", default="12,16,20,24")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--limit", type=float, default=30.0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", nargs=2, type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measured(*given.one, given.limit)))
        return
    rows = []
    for customers in map(int, given.customers.split(",")):
        for seed in range(given.seeds):
            command = [
                sys.executable,
                __file__,
                "--one",
                str(customers),
                str(seed),
                "--limit",
                str(given.limit),
            ]
            rows.append(json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout))
            print(json.dumps(rows[-1]), flush=True)
    for row in rows:
        proved = {row[name]["objective"] for name in SOLVERS if row[name]["status"] == "optimal"}
        assert len(proved) < 2, row
    if given.out:
        given.out.write_text(json.dumps({**environment("ortools"), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
