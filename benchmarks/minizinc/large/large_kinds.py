"""Instances of real size by published generators: the data of each kind at three sizes, and a small one.

Sources of the parameters: job shops, open shops and quadratic assignments: Taillard, "Benchmarks for basic
scheduling problems", 1993, and "Robust taboo search for the quadratic assignment problem", 1991. Projects:
Kolisch and Sprecher, "PSPLIB", 1997. Covers: Beasley, "An algorithm for set covering problem", 1987.
Knapsacks: Chu and Beasley, 1998. Generalised assignments: type C of OR-Library. Medians: Beasley, 1985.
Bins: Falkenauer, 1996 (uniform class). Warehouses: Holmberg, Rönnqvist and Yuan, 1999. Routes: random and
clustered customers after Solomon, 1987. Cars: CSPLib 1, with its options' capacities. Tardiness: Potts and
Van Wassenhove, 1985. Colours: random graphs as DIMACS's. Golfers: CSPLib 10. Nurses: three shifts with cover
and rotation, as in the nurse rostering literature. No instance is copied: all are drawn.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from drawn_data import Data, distances, links, numbered, table

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Kind:
    """A kind of instances.

    Attributes:
        model: The file of its model.
        draw: Draws the data of a size.
        is_steered_by: Whether changes of the solver may be measured on it; the others are only reported.
    """

    model: Path
    draw: Callable[[Random, int], Data]
    is_steered_by: bool


def job_shop(random: Random, size: int) -> Data:
    jobs, machines = [(4, 3), (10, 10), (15, 15), (30, 15)][size]
    orders = [random.sample(range(1, machines + 1), machines) for _ in range(jobs)]
    lengths = table(jobs, machines, lambda: random.randint(1, 99))
    return {"jobs": jobs, "machines": machines, "machine": orders, "length": lengths}


def open_shop(random: Random, size: int) -> Data:
    n = [3, 7, 10, 20][size]
    return {"n": n, "length": table(n, n, lambda: random.randint(1, 99))}


def project(random: Random, size: int) -> Data:
    """Four resources, 1.8 successors, resource factor 0.75, resource strength 0.2, as hard sets of PSPLIB."""
    tasks, resources = [6, 30, 60, 120][size], 4
    length = [random.randint(1, 10) for _ in range(tasks)]
    arcs: set[tuple[int, int]] = set()
    for i in range(1, tasks):
        arcs.add((random.randint(max(1, i - 12), i), i + 1))
    while len(arcs) < 1.8 * tasks - 2:
        i = random.randint(1, tasks - 1)
        arcs.add((i, random.randint(i + 1, min(tasks, i + 12))))
    demand = table(resources, tasks, lambda: random.randint(1, 10) if random.random() < 0.75 else 0)
    peak = [_peak(length, arcs, row) for row in demand]
    capacity = [max(row) + round(0.2 * max(0, top - max(row))) for row, top in zip(demand, peak, strict=True)]
    data = {"tasks": tasks, "resources": resources, "length": length, "capacity": capacity, "demand": demand}
    return {**data, **numbered("arcs", "before", sorted(arcs))}


def _peak(length: list[int], arcs: set[tuple[int, int]], demand: list[int]) -> int:
    """The peak of a resource in the schedule of earliest starts."""
    start = [0] * len(length)
    for i, j in sorted(arcs, key=lambda arc: arc[1]):
        start[j - 1] = max(start[j - 1], start[i - 1] + length[i - 1])
    return max(
        sum(d for s, p, d in zip(start, length, demand, strict=True) if s <= t < s + p) for t in set(start)
    )


def bins(random: Random, size: int) -> Data:
    items = [8, 60, 120, 250][size]
    sizes = sorted((random.randint(20, 100) for _ in range(items)), reverse=True)
    used = [0] * items
    for x in sizes:  # the bins of first fit
        used[next(b for b in range(items) if used[b] + x <= 150)] += x
    return {"items": items, "bins": sum(u > 0 for u in used), "capacity": 150, "size": sizes}


def cover(random: Random, size: int) -> Data:
    rows, columns, density = [(10, 20, 0.2), (200, 1000, 0.02), (300, 3000, 0.02), (500, 5000, 0.01)][size]
    sets = [
        set(random.sample(range(1, rows + 1), max(1, round(density * rows * random.uniform(0.5, 1.5)))))
        for _ in range(columns)
    ]
    for row in range(1, rows + 1):  # at least two columns cover each row
        for _ in range(2):
            random.choice(sets).add(row)
    costs = [random.randint(1, 100) for _ in sets]
    return {"flights": rows, "pairings": columns, "covers": sets, "cost": costs}


def cars(random: Random, size: int) -> Data:
    count, classes = [(6, 4), (60, 18), (120, 22), (200, 24)][size]
    has = table(classes, 5, lambda: int(random.random() < 0.4))
    number = [1] * classes
    for _ in range(count - classes):
        number[random.randrange(classes)] += 1
    return {
        "cars": sum(number),
        "classes": classes,
        "options": 5,
        "number": number,
        "has": has,
        "most": [1, 2, 1, 2, 1],
        "window": [2, 3, 3, 5, 5],
    }


def nurses(random: Random, size: int) -> Data:
    count, days = [(6, 7), (15, 14), (30, 28), (60, 28)][size]
    share = [0.22, 0.2, 0.13]
    cover = [[max(1, int(part * count) - random.randint(0, 1)) for _ in range(days)] for part in share]
    wish = [
        [[random.choice((0, 0, 0, 1, 3, 9)) for _ in range(4)] for _ in range(days)] for _ in range(count)
    ]
    weeks = days // 7
    limits = {"least": 3 * weeks, "most": 5 * weeks}
    return {"nurses": count, "days": days, **limits, "cover": cover, "wish": wish}


def medians(random: Random, size: int) -> Data:
    n, p = [(8, 2), (50, 5), (100, 10), (200, 20)][size]
    return {"n": n, "p": p, "far": distances(random, n)}


def colours(random: Random, size: int) -> Data:
    n, density = [(8, 0.4), (70, 0.3), (125, 0.1), (250, 0.1)][size]
    edges = links(random, n, density)
    near: dict[int, set[int]] = {i: set() for i in range(1, n + 1)}
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)
    chosen: dict[int, int] = {}
    for i in sorted(near, key=lambda i: -len(near[i])):  # greedy
        taken = {chosen[j] for j in near[i] if j in chosen}
        chosen[i] = next(c for c in range(1, n + 2) if c not in taken)
    return {"n": n, "colours": max(chosen.values()), **numbered("edges", "edge", edges)}


def quadratic(random: Random, size: int) -> Data:
    n = [5, 9, 12, 20][size]
    flow, far = (table(n, n, lambda: random.randint(0, 99)) for _ in range(2))
    for matrix in (flow, far):
        for i in range(n):
            matrix[i][i] = 0
            for j in range(i):
                matrix[i][j] = matrix[j][i]
    return {"n": n, "flow": flow, "far": far}


def golfers(random: Random, size: int) -> Data:
    groups, each, weeks = [(3, 2, 2), (5, 3, 6), (6, 4, 6), (8, 4, 7)][size]
    return {"groups": groups, "size": each, "weeks": weeks}


def windows(random: Random, size: int) -> Data:
    """Half of the customers in clusters; windows around the time at which a greedy tour could come."""
    customers = [5, 12, 25, 50][size]
    points = [(35, 35)]
    centres = [(random.randint(0, 70), random.randint(0, 70)) for _ in range(4)]
    for i in range(customers):
        x, y = random.choice(centres) if i % 2 else (random.randint(0, 70), random.randint(0, 70))
        points.append((x + random.randint(-5, 5), y + random.randint(-5, 5)))
    far = [[round(((a - c) ** 2 + (b - d) ** 2) ** 0.5) for c, d in points] for a, b in points]
    horizon, stay = 230, 10
    early, late = [], []
    for i in range(1, customers + 1):
        middle = random.randint(far[0][i], horizon - far[i][0] - stay)
        half = random.choice((10, 20, 40))
        early.append(max(far[0][i], middle - half))
        late.append(min(horizon - far[i][0] - stay, middle + half))
    demand = [random.randint(1, 30) for _ in range(customers)]
    sizes = {"customers": customers, "vehicles": max(3, customers // 2), "capacity": 200, "horizon": horizon}
    return {
        **sizes,
        "demand": demand,
        "service": [stay] * customers,
        "early": early,
        "late": late,
        "far": _from_zero(far),
    }


def _from_zero(far: list[list[int]]) -> str:
    """A matrix whose indices begin at 0, as MiniZinc reads it."""
    last = len(far) - 1
    return f"array2d(0..{last}, 0..{last}, {[x for row in far for x in row]})"


def knapsacks(random: Random, size: int) -> Data:
    items, rows = [(8, 2), (100, 5), (250, 10), (500, 30)][size]
    weight = table(rows, items, lambda: random.randint(1, 1000))
    capacity = [sum(row) // 2 for row in weight]
    value = [sum(row[i] for row in weight) // rows + random.randint(0, 500) for i in range(items)]
    return {"items": items, "rows": rows, "value": value, "weight": weight, "capacity": capacity}


def assignments(random: Random, size: int) -> Data:
    jobs, agents = [(6, 2), (60, 5), (100, 10), (200, 20)][size]
    load = table(agents, jobs, lambda: random.randint(5, 25))
    cost = table(agents, jobs, lambda: random.randint(10, 50))
    capacity = [max(max(row), round(0.8 * sum(row) / agents)) for row in load]
    return {"jobs": jobs, "agents": agents, "cost": cost, "load": load, "capacity": capacity}


def warehouses(random: Random, size: int) -> Data:
    stores, sites = [(6, 3), (50, 10), (100, 20), (200, 30)][size]
    points = distances(random, stores + sites)
    cost = [row[stores:] for row in points[:stores]]
    capacity = [random.randint(2 * stores // sites, 4 * stores // sites) for _ in range(sites)]
    return {"stores": stores, "sites": sites, "opening": 150, "capacity": capacity, "cost": cost}


def tardiness(random: Random, size: int) -> Data:
    jobs = [5, 20, 40, 100][size]
    length = [random.randint(1, 100) for _ in range(jobs)]
    total = sum(length)
    due = [random.randint(total // 5, 4 * total // 5) for _ in range(jobs)]
    return {"jobs": jobs, "length": length, "weight": [random.randint(1, 10) for _ in length], "due": due}


def _kind(model: str, draw: Callable[[Random, int], Data], is_steered_by: bool) -> Kind:
    own = HERE / "models" / f"{model}.mzn"
    return Kind(own if own.exists() else HERE.parent / "models" / f"{model}.mzn", draw, is_steered_by)


KINDS: dict[str, Kind] = {
    "job shop": _kind("jobshop", job_shop, True),
    "project": _kind("rcpsp", project, True),
    "bins": _kind("bins", bins, True),
    "cover": _kind("setcover", cover, True),
    "windows": _kind("vrptw", windows, True),
    "medians": _kind("pmedian", medians, True),
    "nurses": _kind("nurses", nurses, True),
    "knapsacks": _kind("multiknapsack", knapsacks, True),
    "open shop": _kind("openshop", open_shop, False),
    "cars": _kind("carsequencing", cars, False),
    "colours": _kind("colouring", colours, False),
    "quadratic": _kind("qap", quadratic, False),
    "golfers": _kind("golfers", golfers, False),
    "assignments": _kind("gap", assignments, False),
    "warehouses": _kind("warehouses", warehouses, False),
    "tardiness": _kind("tardy", tardiness, False),
}
"""All kinds; no change of the solver is measured on, or explained by, the second half."""

SIZES = (1, 2, 3)


def drawn(name: str, size: int) -> Data:
    """The data of an instance; size 0 is for tests."""
    return KINDS[name].draw(Random(f"large {name} {size}"), size)
