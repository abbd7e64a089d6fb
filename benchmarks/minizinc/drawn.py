"""Data for the models in `models/`, drawn with a seed: `DRAWN[name](random, size)` gives MiniZinc's parameters.

Size 1 takes CP-SAT a hundredth of a second to a second, size 2 up to some seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations
from random import Random
from typing import Any

Data = dict[str, Any]


def _table(rows: int, columns: int, draw: Callable[[], int]) -> list[list[int]]:
    return [[draw() for _ in range(columns)] for _ in range(rows)]


def _distances(random: Random, n: int, side: int = 100) -> list[list[int]]:
    points = [(random.randint(0, side), random.randint(0, side)) for _ in range(n)]
    return [[round(((a - c) ** 2 + (b - d) ** 2) ** 0.5) for c, d in points] for a, b in points]


def _arcs(random: Random, n: int, reach: int, density: float) -> list[list[int]]:
    return [
        [i, j]
        for i in range(1, n + 1)
        for j in range(i + 1, min(n, i + reach) + 1)
        if random.random() < density
    ]


def _links(random: Random, n: int, density: float) -> list[tuple[int, int]]:
    return [pair for pair in combinations(range(1, n + 1), 2) if random.random() < density]


def jobshop(random: Random, size: int) -> Data:
    jobs, machines = (6, 6) if size == 1 else (9, 7)
    order = [random.sample(range(1, machines + 1), machines) for _ in range(jobs)]
    return {
        "jobs": jobs,
        "machines": machines,
        "machine": order,
        "length": _table(jobs, machines, lambda: random.randint(5, 60)),
    }


def openshop(random: Random, size: int) -> Data:
    n = 3 + size
    return {"n": n, "length": _table(n, n, lambda: random.randint(5, 60))}


def rcpsp(random: Random, size: int) -> Data:
    n = 10 + 10 * size
    return {
        "tasks": n, "resources": 3, "length": [random.randint(1, 9) for _ in range(n)], "capacity": [9, 9, 9],
        "demand": _table(3, n, lambda: random.randint(0, 5)), **_numbered("arcs", "before", _arcs(random, n, 6, 0.25)),
    }  # fmt: skip


def _numbered(count: str, name: str, rows: list[Any]) -> Data:
    return {count: len(rows), name: [list(row) for row in rows]}


def mrcpsp(random: Random, size: int) -> Data:
    n = 5 + 4 * size
    length = [sorted(random.randint(1, 9) for _ in range(3)) for _ in range(n)]
    used = [sorted((random.randint(1, 9) for _ in range(3)), reverse=True) for _ in range(n)]
    return {
        "tasks": n, "modes": 3, "resources": 2, "length": length, "used": used, "capacity": [8, 8],
        "demand": [[sorted((random.randint(1, 6) for _ in range(3)), reverse=True) for _ in range(n)] for _ in range(2)],
        "budget": int(0.55 * sum(row[0] for row in used) + 0.45 * sum(row[2] for row in used)),
        **_numbered("arcs", "before", _arcs(random, n, 4, 0.3)),
    }  # fmt: skip


def cvrp(random: Random, size: int) -> Data:
    customers, vehicles = (6, 2) if size == 1 else (8, 3)
    far = _distances(random, customers + 1)
    places = [*range(1, customers + 1), *[0] * vehicles]
    demand = [random.randint(1, 9) for _ in range(customers)]
    return {
        "customers": customers, "vehicles": vehicles, "capacity": max(9, sum(demand) // vehicles + 4),
        "demand": demand, "far": [[far[a][b] for b in places] for a in places],
    }  # fmt: skip


def tsp(random: Random, size: int) -> Data:
    n = 6 + 7 * size
    return {"n": n, "far": _distances(random, n)}


def tsptw(random: Random, size: int) -> Data:
    n = 6 + 3 * size
    far = _distances(random, n, 50)
    order = [0, *random.sample(range(1, n), n - 1)]
    at, early, late = 0, [0] * n, [0] * n
    for a, b in zip(order, order[1:], strict=False):
        at += far[a][b]
        early[b], late[b] = max(0, at - random.randint(10, 60)), at + random.randint(10, 60)
    late[0] = 10
    return {"n": n, "horizon": at + 60, "far": far, "early": early, "late": late}


def golomb(random: Random, size: int) -> Data:
    return {"n": 6 + size}


def golfers(random: Random, size: int) -> Data:
    return {"weeks": 2 + size, "groups": 4, "size": 3}


def blackhole(random: Random, size: int) -> Data:
    ranks, suits, height = (7, 3, 2) if size == 1 else (10, 4, 3)
    cards = random.sample(range(2, ranks * suits + 1), ranks * suits - 1)
    piles = len(cards) // height
    return {"ranks": ranks, "suits": suits, "piles": piles, "height": height,
            "pile": [cards[k * height : (k + 1) * height] for k in range(piles)]}  # fmt: skip


def photo(random: Random, size: int) -> Data:
    n = 7 + 2 * size
    wishes = random.sample(list(permutations(range(1, n + 1), 2)), 2 * n)
    return {"n": n, **_numbered("wishes", "wish", wishes)}


def stilllife(random: Random, size: int) -> Data:
    return {"n": 4 + size}


def lotsizing(random: Random, size: int) -> Data:
    items, periods = 3, 8 + 4 * size
    due = [[0] * periods for _ in range(items)]
    for _ in range(int(0.7 * periods)):
        due[random.randrange(items)][random.randrange(periods // 3, periods)] = 1
    while any(sum(sum(row[: t + 1]) for row in due) > t + 1 for t in range(periods)):
        row = random.choice([row for row in due if any(row)])
        row[row.index(1)] = 0
    return {"items": items, "periods": periods, "due": due, "stock": 10,
            "change": _table(items, items, lambda: random.randint(10, 60))}  # fmt: skip


def binpacking(random: Random, size: int) -> Data:
    n = 8 + 6 * size
    return {"items": n, "bins": n // 2 + 1, "capacity": 100, "size": [random.randint(15, 55) for _ in range(n)],
            **_numbered("conflicts", "conflict", _links(random, n, 0.15))}  # fmt: skip


def openstacks(random: Random, size: int) -> Data:
    orders, products = 6 + 2 * size, 6 + 2 * size
    wants = [[0] * products for _ in range(orders)]
    for row in wants:
        for p in random.sample(range(products), random.randint(2, 4)):
            row[p] = 1
    return {"orders": orders, "products": products, "wants": wants}


def steelmill(random: Random, size: int) -> Data:
    n, slabs = 6 + 3 * size, [7, 10, 13, 18]
    return {"orders": n, "colours": 4, "heaviest": 18, "size": [random.randint(2, 9) for _ in range(n)],
            "colour": [random.randint(1, 4) for _ in range(n)],
            "waste": [min(s - load for s in slabs if s >= load) if load else 0 for load in range(19)]}  # fmt: skip


def bacp(random: Random, size: int) -> Data:
    n, periods = 12 + 10 * size, 3 + size
    return {"courses": n, "periods": periods, "fewest": 2, "most": n // periods + 3,
            "credit": [random.randint(1, 5) for _ in range(n)],
            **_numbered("arcs", "before", _arcs(random, n, 8, 0.12))}  # fmt: skip


def warehouses(random: Random, size: int) -> Data:
    stores, sites = 6 + 6 * size, 4 + 3 * size
    return {"stores": stores, "sites": sites, "opening": 60, "capacity": [random.randint(2, 6) for _ in range(sites)],
            "cost": _table(stores, sites, lambda: random.randint(5, 90))}  # fmt: skip


def roster(random: Random, size: int) -> Data:
    """Off, day, night: no day after a night, at most four working days, at most two nights in a row."""
    nurses, days = (5, 7) if size == 1 else (8, 14)
    states = [(work, nights) for work in range(5) for nights in range(3) if nights <= work]
    number = {state: k + 1 for k, state in enumerate(states)}
    step = [[1, number.get((w + 1, 0), 0) if not n else 0, number.get((w + 1, n + 1), 0)] for w, n in states]
    cover = [nurses - nurses // 2 - 1, nurses // 2 - 0, 1] if size == 1 else [3, 3, 2]
    return {"nurses": nurses, "days": days, "states": len(states), "cover": cover, "step": step,
            "dislike": [[[random.randint(0, 9) for _ in range(3)] for _ in range(days)] for _ in range(nurses)]}  # fmt: skip


def colouring(random: Random, size: int) -> Data:
    n = 15 + 15 * size
    return {
        "n": n,
        "colours": 10,
        **_numbered("edges", "edge", _links(random, n, 0.4 if size == 1 else 0.35)),
    }


def frequencies(random: Random, size: int) -> Data:
    n = 8 + 6 * size
    links = [(a, b, random.choice([0, 1, 1, 2, 3])) for a, b in _links(random, n, 0.4)]
    return {"n": n, "most": 3 * n, **_numbered("links", "link", links)}


def squares(random: Random, size: int) -> Data:
    n = 5 + 2 * size
    w = [random.randint(2, 8) for _ in range(n)]
    return {"n": n, "width": 14, "tallest": 40, "w": w, "h": [random.randint(2, 8) for _ in range(n)]}


def multiknapsack(random: Random, size: int) -> Data:
    n, rows = 15 + 15 * size, 5
    weight = _table(rows, n, lambda: random.randint(5, 60))
    return {"items": n, "rows": rows, "weight": weight, "capacity": [sum(row) // 2 for row in weight],
            "value": [random.randint(10, 99) for _ in range(n)]}  # fmt: skip


def nonogram(random: Random, size: int) -> Data:
    n = 10 + 8 * size
    cells = _table(n, n, lambda: int(random.random() < 0.6))

    def runs(line: list[int]) -> list[int]:
        return [len(part) for part in "".join(map(str, line)).split("0") if part]

    rows, columns = [runs(row) for row in cells], [runs([row[j] for row in cells]) for j in range(n)]
    most = max(map(len, rows + columns))
    return {"n": n, "most": most, "rows": [row + [0] * (most - len(row)) for row in rows],
            "columns": [row + [0] * (most - len(row)) for row in columns]}  # fmt: skip


def quasigroup(random: Random, size: int) -> Data:
    n = 10 + 8 * size
    shift = random.sample(range(n), n)
    symbols = random.sample(range(1, n + 1), n)
    square = [[symbols[(shift[i] + j) % n] for j in range(n)] for i in range(n)]
    for _ in range(4 * n):  # swaps of two columns' cycles would do more: rows and columns are exchanged
        i, j = random.sample(range(n), 2)
        square[i], square[j] = square[j], square[i]
    return {"n": n, "given": [[0 if random.random() < 0.42 else x for x in row] for row in square]}


def costas(random: Random, size: int) -> Data:
    return {"n": 9 + 2 * size}


def radiation(random: Random, size: int) -> Data:
    m = n = 3 + size
    return {"m": m, "n": n, "intensity": _table(m, n, lambda: random.randint(0, 3 + 2 * size))}


def talent(random: Random, size: int) -> Data:
    actors, scenes = 4 + size, 6 + 2 * size
    return {"actors": actors, "scenes": scenes, "pay": [random.randint(1, 20) for _ in range(actors)],
            "length": [random.randint(1, 5) for _ in range(scenes)],
            "plays": [[1, *row] for row in _table(actors, scenes - 1, lambda: int(random.random() < 0.4))]}  # fmt: skip


def fastfood(random: Random, size: int) -> Data:
    n = 12 + 14 * size
    return {"n": n, "depots": 3 + size, "at": sorted(random.randint(0, 300) for _ in range(n))}


def marketsplit(random: Random, size: int) -> Data:
    n = 16 + 4 * size
    weight = _table(2 + size, n, lambda: random.randint(0, 60))
    chosen = [random.random() < 0.5 for _ in range(n)]
    return {"items": n, "rows": 2 + size, "weight": weight,
            "half": [sum(w for w, is_in in zip(row, chosen, strict=True) if is_in) for row in weight]}  # fmt: skip


def prizes(random: Random, size: int) -> Data:
    n = 5 + 5 * size
    return {
        "n": n,
        "longest": 180,
        "prize": [0] + [random.randint(1, 20) for _ in range(n - 1)],
        "far": _distances(random, n),
    }


def protein(random: Random, size: int) -> Data:
    n, d = 6 + 3 * size, 4 + size
    pairs = _links(random, n, 0.4)
    cost = [[[random.randint(0, 30) for _ in range(d)] for _ in range(d)] for _ in pairs]
    return {
        "n": n,
        "d": d,
        **_numbered("pairs", "pair", pairs),
        "alone": _table(n, d, lambda: random.randint(0, 20)),
        "cost": cost,
    }


def spot(random: Random, size: int) -> Data:
    n, d = 15 + 20 * size, 3
    pairs = _links(random, n, 6 / n)
    return {"n": n, "d": d, "prize": [random.choice([1, 2, 2, 3, 10]) for _ in range(n)], **_numbered("pairs", "pair", pairs),
            "fits": _table(len(pairs), d * d, lambda: int(random.random() < 0.4))}  # fmt: skip


def parity(random: Random, size: int) -> Data:
    n, m = 8 + 4 * size, 16 + 8 * size
    secret = [random.randint(0, 1) for _ in range(n)]
    sample = _table(m, n, lambda: random.randint(0, 1))
    errors = 2 + size
    wrong = set(random.sample(range(m), errors))
    answer = [
        (sum(a * b for a, b in zip(row, secret, strict=True)) + (k in wrong)) % 2
        for k, row in enumerate(sample)
    ]
    return {"n": n, "m": m, "errors": errors, "sample": sample, "answer": answer}


def community(random: Random, size: int) -> Data:
    n = 8 + 4 * size
    group = [random.randrange(3) for _ in range(n)]
    w = _table(n, n, lambda: 0)
    for i, j in combinations(range(n), 2):
        w[i][j] = random.randint(-9, 4) + (6 if group[i] == group[j] else 0)
    rules = [
        (a, b, random.randint(0, 1)) for a, b in random.sample(list(combinations(range(1, n + 1), 2)), 3)
    ]
    return {"n": n, "k": 4, "w": w, **_numbered("rules", "rule", rules)}


def mapping(random: Random, size: int) -> Data:
    n, side = 6 + 3 * size, 2 + size // 2
    sizes = [random.randint(1, 9) for _ in range(n)]
    links = [(a, b, random.randint(1, 20)) for a, b in _links(random, n, 0.35)]
    return {"tasks": n, "side": side, "capacity": max(10, 13 * sum(sizes) // (10 * side * side)), "size": sizes,
            **_numbered("links", "link", links)}  # fmt: skip


def opd(random: Random, size: int) -> Data:
    v, b, r = [(5, 10, 4), (7, 12, 5)][size - 1]
    return {"v": v, "b": b, "r": r + random.randint(0, 1)}


def bibd(random: Random, size: int) -> Data:
    v, b, r, k, common = [(7, 7, 3, 3, 1), (9, 12, 4, 3, 1)][size - 1]
    return {"v": v, "b": b, "r": r, "k": k, "lambda": common}


def carsequencing(random: Random, size: int) -> Data:
    classes, options, cars = 5, 4, 8 + 4 * size
    number = [1] * classes
    for _ in range(cars - classes):
        number[random.randrange(classes)] += 1
    window = [random.randint(2, 4) for _ in range(options)]
    return {"cars": cars, "classes": classes, "options": options, "number": number, "window": window,
            "most": [random.randint(1, w - 1) for w in window],
            "has": _table(classes, options, lambda: int(random.random() < 0.45))}  # fmt: skip


def kidneys(random: Random, size: int) -> Data:
    n = 8 + 8 * size
    return {
        "n": n,
        "weight": [
            [0 if i == j or random.random() > 0.25 else random.randint(1, 20) for j in range(n)]
            for i in range(n)
        ],
    }


def purchaser(random: Random, size: int) -> Data:
    towns, products = 5 + 2 * size, 4 + 3 * size
    return {
        "towns": towns,
        "products": products,
        "far": _distances(random, towns),
        "price": _table(products, towns, lambda: random.randint(5, 60)),
    }


def cliques(random: Random, size: int) -> Data:
    n = 30 + 30 * size
    edge = _table(n, n, lambda: int(random.random() < 0.6))
    return {"n": n, "edge": edge}


def setcover(random: Random, size: int) -> Data:
    flights, pairings = 30 * size, 80 * size
    covers = [set(random.sample(range(1, flights + 1), random.randint(2, 5))) for _ in range(pairings)]
    for f in range(1, flights + 1):
        covers[random.randrange(pairings)].add(f)
    return {
        "flights": flights,
        "pairings": pairings,
        "covers": covers,
        "cost": [random.randint(10, 99) for _ in covers],
    }


def tournament(random: Random, size: int) -> Data:
    return {"n": 4 + 2 * size}


def flexible(random: Random, size: int) -> Data:
    jobs, steps = 2 + size, 3
    return {"jobs": jobs, "steps": steps, "machines": 3,
            "length": [[[random.randint(2, 20) for _ in range(3)] for _ in range(steps)] for _ in range(jobs)]}  # fmt: skip


def magicsequence(random: Random, size: int) -> Data:
    return {"n": 15 * size}


def tardiness(random: Random, size: int) -> Data:
    n = 6 + 4 * size
    length = [random.randint(2, 12) for _ in range(n)]
    release = [random.randint(0, 4 * n) for _ in range(n)]
    due = [r + d + random.randint(0, 5 * n // 2) for r, d in zip(release, length, strict=True)]
    return {
        "n": n,
        "release": release,
        "due": due,
        "length": length,
        "weight": [random.randint(1, 5) for _ in range(n)],
    }


def multiskill(random: Random, size: int) -> Data:
    tasks, workers, skills = 4 + 3 * size, 3 + size, 3
    able = _table(workers, skills, lambda: int(random.random() < 0.6))
    for s in range(skills):
        able[random.randrange(workers)][s] = 1
    need = [[0] * skills for _ in range(tasks)]
    for row in need:
        row[random.randrange(skills)] = 1
        s = random.randrange(skills)
        if sum(a[s] for a in able) > 1 and sum(map(any, able)) > 2:
            row[s] = 1
    return {"tasks": tasks, "workers": workers, "skills": skills, "length": [random.randint(1, 9) for _ in range(tasks)],
            "need": need, "able": able, **_numbered("arcs", "before", _arcs(random, tasks, 3, 0.25))}  # fmt: skip


DRAWN: dict[str, Callable[[Random, int], Data]] = {
    made.__name__: made
    for made in (
        jobshop, openshop, rcpsp, mrcpsp, flexible, multiskill, tardiness, cvrp, tsp, tsptw, prizes, purchaser,
        golomb, golfers, blackhole, photo, stilllife, costas, quasigroup, nonogram, magicsequence, bibd, opd,
        tournament, carsequencing, openstacks, talent, lotsizing, binpacking, steelmill, bacp, warehouses,
        roster, colouring, frequencies, squares, mapping, multiknapsack, marketsplit, setcover, cliques, fastfood,
        radiation, protein, spot, parity, community, kidneys,
    )
}  # fmt: skip


def text(data: Data) -> str:
    """The data as MiniZinc reads it."""
    return "".join(f"{name} = {_written(value)};\n" for name, value in data.items())


def _written(value: Any) -> str:
    if isinstance(value, set):
        return "{" + ", ".join(map(str, sorted(value))) + "}"
    if not isinstance(value, list):
        return str(value)
    sizes, flat = [], value
    while True:
        sizes.append(len(flat) if not sizes else len(flat) // sizes[-1] if False else len(flat))
        if not flat or not isinstance(flat[0], list):
            break
        flat = [one for part in flat for one in part]
    lengths = [sizes[0], *[b // max(1, a) for a, b in zip(sizes, sizes[1:], strict=False)]]
    listed = "[" + ", ".join(_written(one) for one in flat) + "]"
    if len(lengths) == 1:
        return listed
    return f"array{len(lengths)}d({', '.join(f'1..{k}' for k in lengths)}, {listed})"
