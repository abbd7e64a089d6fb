"""Data of schedules, tours, orders and puzzles."""

from __future__ import annotations

from itertools import pairwise, permutations
from random import Random

from drawn_data import Data, arcs, distances, links, numbered, table


def jobshop(random: Random, size: int) -> Data:
    jobs, machines = (6, 6) if size == 1 else (9, 7)
    order = [random.sample(range(1, machines + 1), machines) for _ in range(jobs)]
    return {
        "jobs": jobs,
        "machines": machines,
        "machine": order,
        "length": table(jobs, machines, lambda: random.randint(5, 60)),
    }


def openshop(random: Random, size: int) -> Data:
    n = 3 + size
    return {"n": n, "length": table(n, n, lambda: random.randint(5, 60))}


def rcpsp(random: Random, size: int) -> Data:
    n = 10 + 10 * size
    return {
        "tasks": n,
        "resources": 3,
        "length": [random.randint(1, 9) for _ in range(n)],
        "capacity": [9, 9, 9],
        "demand": table(3, n, lambda: random.randint(0, 5)),
        **numbered("arcs", "before", arcs(random, n, 6, 0.25)),
    }


def mrcpsp(random: Random, size: int) -> Data:
    n = 5 + 4 * size
    length = [sorted(random.randint(1, 9) for _ in range(3)) for _ in range(n)]
    used = [sorted((random.randint(1, 9) for _ in range(3)), reverse=True) for _ in range(n)]
    return {
        "tasks": n,
        "modes": 3,
        "resources": 2,
        "length": length,
        "used": used,
        "capacity": [8, 8],
        "demand": [
            [sorted((random.randint(1, 6) for _ in range(3)), reverse=True) for _ in range(n)]
            for _ in range(2)
        ],
        "budget": int(0.55 * sum(row[0] for row in used) + 0.45 * sum(row[2] for row in used)),
        **numbered("arcs", "before", arcs(random, n, 4, 0.3)),
    }


def cvrp(random: Random, size: int) -> Data:
    customers, vehicles = (6, 2) if size == 1 else (8, 3)
    far = distances(random, customers + 1)
    places = [*range(1, customers + 1), *[0] * vehicles]
    demand = [random.randint(1, 9) for _ in range(customers)]
    return {
        "customers": customers,
        "vehicles": vehicles,
        "capacity": max(9, sum(demand) // vehicles + 4),
        "demand": demand,
        "far": [[far[a][b] for b in places] for a in places],
    }


def tsp(random: Random, size: int) -> Data:
    n = 6 + 7 * size
    return {"n": n, "far": distances(random, n)}


def tsptw(random: Random, size: int) -> Data:
    n = 6 + 3 * size
    far = distances(random, n, 50)
    order = [0, *random.sample(range(1, n), n - 1)]
    at, early, late = 0, [0] * n, [0] * n
    for a, b in pairwise(order):
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
    return {
        "ranks": ranks,
        "suits": suits,
        "piles": piles,
        "height": height,
        "pile": [cards[k * height : (k + 1) * height] for k in range(piles)],
    }


def photo(random: Random, size: int) -> Data:
    n = 7 + 2 * size
    wishes = random.sample(list(permutations(range(1, n + 1), 2)), 2 * n)
    return {"n": n, **numbered("wishes", "wish", wishes)}


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
    return {
        "items": items,
        "periods": periods,
        "due": due,
        "stock": 10,
        "change": table(items, items, lambda: random.randint(10, 60)),
    }


def binpacking(random: Random, size: int) -> Data:
    n = 8 + 6 * size
    return {
        "items": n,
        "bins": n // 2 + 1,
        "capacity": 100,
        "size": [random.randint(15, 55) for _ in range(n)],
        **numbered("conflicts", "conflict", links(random, n, 0.15)),
    }


def openstacks(random: Random, size: int) -> Data:
    orders, products = 6 + 2 * size, 6 + 2 * size
    wants = [[0] * products for _ in range(orders)]
    for row in wants:
        for p in random.sample(range(products), random.randint(2, 4)):
            row[p] = 1
    return {"orders": orders, "products": products, "wants": wants}


def steelmill(random: Random, size: int) -> Data:
    n, slabs = 6 + 3 * size, [7, 10, 13, 18]
    return {
        "orders": n,
        "colours": 4,
        "heaviest": 18,
        "size": [random.randint(2, 9) for _ in range(n)],
        "colour": [random.randint(1, 4) for _ in range(n)],
        "waste": [min(s - load for s in slabs if s >= load) if load else 0 for load in range(19)],
    }


def bacp(random: Random, size: int) -> Data:
    n, periods = 12 + 10 * size, 3 + size
    return {
        "courses": n,
        "periods": periods,
        "fewest": 2,
        "most": n // periods + 3,
        "credit": [random.randint(1, 5) for _ in range(n)],
        **numbered("arcs", "before", arcs(random, n, 8, 0.12)),
    }


def warehouses(random: Random, size: int) -> Data:
    stores, sites = 6 + 6 * size, 4 + 3 * size
    return {
        "stores": stores,
        "sites": sites,
        "opening": 60,
        "capacity": [random.randint(2, 6) for _ in range(sites)],
        "cost": table(stores, sites, lambda: random.randint(5, 90)),
    }


def roster(random: Random, size: int) -> Data:
    """Off, day, night: no day after a night, at most four working days, at most two nights in a row."""
    nurses, days = (5, 7) if size == 1 else (8, 14)
    states = [(work, nights) for work in range(5) for nights in range(3) if nights <= work]
    number = {state: k + 1 for k, state in enumerate(states)}
    step = [[1, number.get((w + 1, 0), 0) if not n else 0, number.get((w + 1, n + 1), 0)] for w, n in states]
    cover = [nurses - nurses // 2 - 1, nurses // 2 - 0, 1] if size == 1 else [3, 3, 2]
    return {
        "nurses": nurses,
        "days": days,
        "states": len(states),
        "cover": cover,
        "step": step,
        "dislike": [[[random.randint(0, 9) for _ in range(3)] for _ in range(days)] for _ in range(nurses)],
    }


def colouring(random: Random, size: int) -> Data:
    n = 15 + 15 * size
    return {
        "n": n,
        "colours": 10,
        **numbered("edges", "edge", links(random, n, 0.4 if size == 1 else 0.35)),
    }


def frequencies(random: Random, size: int) -> Data:
    n = 8 + 6 * size
    drawn = [(a, b, random.choice([0, 1, 1, 2, 3])) for a, b in links(random, n, 0.4)]
    return {"n": n, "most": 3 * n, **numbered("links", "link", drawn)}


def squares(random: Random, size: int) -> Data:
    n = 5 + 2 * size
    w = [random.randint(2, 8) for _ in range(n)]
    return {"n": n, "width": 14, "tallest": 40, "w": w, "h": [random.randint(2, 8) for _ in range(n)]}
