"""Data of projects, tours, timetables and machines."""

from __future__ import annotations

from random import Random

from drawn_data import Data, arcs, distances, numbered, table


def cyclicrcpsp(random: Random, size: int) -> Data:
    n = 8 + 5 * size
    drawn = [[i, j, random.randint(1, 4), 0] for i, j in arcs(random, n, 3, 0.3)]
    for i, j, _, _ in random.sample(drawn, len(drawn) // 2):
        drawn.append([j, i, random.randint(1, 4), random.randint(2, 3)])
    return {
        "tasks": n,
        "resources": 2,
        "longest": n,
        "cycles": 4,
        "capacity": [5, 5],
        "demand": table(2, n, lambda: random.randint(0, 4)),
        **numbered("arcs", "arc", drawn),
    }


def rcpspwet(random: Random, size: int) -> Data:
    n = 10 + 3 * size
    length = [random.randint(1, 9) for _ in range(n)]
    pairs = arcs(random, n, 5, 0.2)
    soonest = [0] * n
    for i, j in pairs:
        soonest[j - 1] = max(soonest[j - 1], soonest[i - 1] + length[i - 1])
    return {
        "tasks": n,
        "resources": 2,
        "horizon": sum(length),
        "length": length,
        "capacity": [9, 9],
        "demand": table(2, n, lambda: random.randint(1, 6)),
        "due": [s + d + random.randint(0, n) for s, d in zip(soonest, length, strict=True)],
        "early": [random.randint(1, 5) for _ in range(n)],
        "late": [random.randint(1, 9) for _ in range(n)],
        **numbered("arcs", "before", pairs),
    }


def racp(random: Random, size: int) -> Data:
    n = 4 + 10 * size
    length = [random.randint(1, 9) for _ in range(n)]
    pairs = arcs(random, n, 5, 0.25)
    ends = list(length)
    for i, j in pairs:
        ends[j - 1] = max(ends[j - 1], ends[i - 1] + length[j - 1])
    return {
        "tasks": n,
        "resources": 3,
        "deadline": 13 * max(ends) // 10,
        "length": length,
        "demand": table(3, n, lambda: random.randint(0, 5)),
        "price": [random.randint(1, 9) for _ in range(3)],
        **numbered("arcs", "before", pairs),
    }


def depots(random: Random, size: int) -> Data:
    n, sites = 5 + size, 10 + 4 * size
    return {
        "depots": n,
        "sites": sites,
        "may": [set(random.sample(range(1, sites + 1), 3)) for _ in range(n)],
        "far": distances(random, sites),
    }


def tdtsp(random: Random, size: int) -> Data:
    n, slices, width = 5 + 2 * size, 8, 25 + 8 * size
    far = distances(random, n, 25)
    busy = [random.randint(8, 20) for _ in range(slices)]
    order = random.sample(range(2, n + 1), n - 1)
    latest = slices * width // 2
    early = [0] + [random.choice([0, 0, random.randint(0, latest // 2)]) for _ in range(n - 1)]
    return {
        "n": n,
        "slices": slices,
        "width": width,
        "takes": [
            [[1 + d * (b + (i + j) % 3) // 10 for b in busy] for j, d in enumerate(row)]
            for i, row in enumerate(far)
        ],
        "stay": [0] + [random.randint(1, 10) for _ in range(n - 1)],
        "early": early,
        "late": [latest]
        + [random.choice([2 * latest - 40, min(2 * latest - 40, e + latest)]) for e in early[1:]],
        **numbered("arcs", "before", [order[k : k + 2] for k in range(0, 2 * size, 2)]),
    }


def vrplc(random: Random, size: int) -> Data:
    requests, vehicles, places = (6, 2, 4) if size == 1 else (11, 3, 5)
    demand = [random.randint(1, 9) for _ in range(requests)]
    early = [random.randint(0, 80) for _ in range(requests)]
    return {
        "requests": requests,
        "vehicles": vehicles,
        "places": places,
        "capacity": sum(demand) // vehicles + 6,
        "horizon": 300,
        "place": [random.randint(2, places) for _ in range(requests)],
        "demand": demand,
        "service": [random.randint(10, 30) for _ in range(requests)],
        "early": early,
        "late": [e + random.randint(60, 160) for e in early],
        "docks": [1] * places,
        "far": distances(random, places, 50),
    }


def trucking(random: Random, size: int) -> Data:
    trucks, periods = 4 + size, 6 + 3 * size
    load = [random.randint(5, 15) for _ in range(trucks)]
    return {
        "trucks": trucks,
        "periods": periods,
        "fewest": 2,
        "load": load,
        "cost": [10 * x // 3 + random.randint(0, 12) for x in load],
        "demand": [random.randint(sum(load) // 6, 2 * sum(load) // 5) for _ in range(periods)],
    }


def instructions(random: Random, size: int) -> Data:
    n = 20 * size
    drawn = [[i, j, random.choice([1, 2, 4, 7])] for i, j in arcs(random, n, 14, 0.1)]
    return {
        "n": n,
        "kinds": 3,
        "width": 2,
        "latest": 2 * n,
        "kind": [random.randint(1, 3) for _ in range(n)],
        **numbered("arcs", "arc", drawn),
    }


def filters(random: Random, size: int) -> Data:
    n = 20 * size
    return {
        "n": n,
        "adders": 2,
        "multipliers": size,
        "horizon": 2 * n,
        "is_product": ["true" if random.random() < 0.4 else "false" for _ in range(n)],
        **numbered("arcs", "arc", arcs(random, n, 6, 0.25)),
    }


def evilshop(random: Random, size: int) -> Data:
    jobs, machines = 3 + 2 * size, 1 + 2 * size
    length = table(jobs, machines, lambda: random.randint(3, 20))
    change = table(3, 3, lambda: random.randint(1, 6))
    for k in range(3):
        change[k][k] = 0
    return {
        "jobs": jobs,
        "machines": machines,
        "families": 3,
        "horizon": sum(map(sum, length)) + 6 * jobs,
        "machine": [random.sample(range(1, machines + 1), machines) for _ in range(jobs)],
        "length": length,
        "family": [random.randint(1, 3) for _ in range(jobs)],
        "due": [sum(row) + random.randint(0, 10 * jobs) for row in length],
        "weight": [random.randint(1, 5) for _ in range(jobs)],
        "change": change,
    }


def trains(random: Random, size: int) -> Data:
    n, stations = 4 + 3 * size, 3 + size
    return {
        "trains": n,
        "stations": stations,
        "headway": 3,
        "horizon": 250,
        "run": [random.randint(5, 15) for _ in range(stations - 1)],
        "tracks": [2] * stations,
        "up": [random.choice(["true", "false"]) for _ in range(n)],
        "ready": [random.randint(0, 60) for _ in range(n)],
        "weight": [random.randint(1, 5) for _ in range(n)],
        "stop": table(n, stations, lambda: random.randint(0, 4)),
    }


def unitcommitment(random: Random, size: int) -> Data:
    units, hours, levels = 3 + size, 6 + 4 * size, 10
    fuel = []
    for _ in range(units):
        a, b, c = random.randint(5, 15), random.randint(2, 6), random.randint(1, 4)
        fuel.append([0] + [a + b * x + c * x * x // 10 for x in range(1, levels + 1)])
    written = [x for row in fuel for x in row]
    peak = units * levels * 7 // 10
    return {
        "units": units,
        "hours": hours,
        "levels": levels,
        "demand": [random.randint(peak // 4, peak) for _ in range(hours)],
        "fuel": f"array2d(1..{units}, 0..{levels}, {written})",
        "least": [random.randint(2, 4) for _ in range(units)],
        "ramp": [random.randint(5, 8) for _ in range(units)],
        "up": [random.randint(1, 4) for _ in range(units)],
        "down": [random.randint(1, 3) for _ in range(units)],
        "starting": [random.randint(5, 40) for _ in range(units)],
    }


def handball(random: Random, size: int) -> Data:
    n = 4 + 2 * size
    return {"n": n, "taken": [set(random.sample(range(1, 2 * n - 1), 2)) for _ in range(n)]}


def concert(random: Random, size: int) -> Data:
    n, halls = 10 + 12 * size, 4 + 2 * size
    start = [random.randint(0, 3 * n) for _ in range(n)]
    holds = [100 * (1 + k // 2) for k in range(halls)]
    return {
        "concerts": n,
        "halls": halls,
        "groups": halls // 2,
        "from": start,
        "until": [s + random.randint(5, n) for s in start],
        "price": [random.randint(10, 99) for _ in range(n)],
        "people": [random.randint(20, max(holds)) for _ in range(n)],
        "holds": holds,
        "alike": [{2 * g + 1, 2 * g + 2} for g in range(halls // 2)],
    }
