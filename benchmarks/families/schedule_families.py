"""Families of routes, schedules and rosters, as CPMpy models drawn from a seed."""

from __future__ import annotations

from random import Random
from typing import Any

import cpmpy as cp


def _distances(r: Random, n: int) -> list[list[int]]:
    places = [(r.randint(0, 100), r.randint(0, 100)) for _ in range(n)]
    return [[round(((a - c) ** 2 + (b - d) ** 2) ** 0.5) for c, d in places] for a, b in places]


def travelling_salesman(seed: int) -> Any:
    """A shortest tour by circuit and element."""
    n = 12
    d = _distances(Random(seed), n)
    x = cp.intvar(0, n - 1, shape=n)
    return cp.Model(cp.Circuit(x), minimize=cp.sum(cp.cpm_array(d[i])[x[i]] for i in range(n)))


def time_dependent_tour(seed: int) -> Any:
    """A tour whose distances depend on the place in the tour."""
    r, n = Random(seed), 8
    base = _distances(r, n)
    x, cost = cp.intvar(0, n - 1, shape=n), cp.intvar(0, 400, shape=n - 1)
    m = cp.Model(cp.AllDifferent(x), x[0] == 0)
    for t in range(n - 1):
        now = cp.cpm_array([base[a][b] * r.randint(1, 2) for a in range(n) for b in range(n)])
        m += cost[t] == now[x[t] * n + x[t + 1]]
    m.minimize(cp.sum(cost))
    return m


def vehicle_routing(seed: int) -> Any:
    """Two vehicles with capacities over copies of a depot; loads along the route."""
    r, customers, vehicles, capacity = Random(seed), 7, 2, 30
    n = customers + vehicles
    near = _distances(r, customers + 1)
    at = [0] * vehicles + list(range(1, customers + 1))
    demand = [0] * vehicles + [r.randint(3, 8) for _ in range(customers)]
    x, load = cp.intvar(0, n - 1, shape=n), cp.intvar(0, capacity, shape=n)
    m = cp.Model(cp.Circuit(x), [load[v] == 0 for v in range(vehicles)])
    for i in range(n):
        for j in range(vehicles, n):
            m += (x[i] == j).implies(load[j] == load[i] + demand[j])
    m.minimize(cp.sum(cp.cpm_array([near[at[i]][at[j]] for j in range(n)])[x[i]] for i in range(n)))
    return m


def shortest_path(seed: int) -> Any:
    """A cheapest path as a flow of 0/1 arcs."""
    r, n = Random(seed), 12
    arcs = [(i, j, r.randint(2, 50)) for i in range(n) for j in range(n) if i != j and r.random() < 0.4]
    arcs += [(i, i + 1, 40) for i in range(n - 1)]
    x = cp.boolvar(shape=len(arcs))
    m = cp.Model()
    for v in range(n):
        out = cp.sum(x[k] for k, (a, _, _) in enumerate(arcs) if a == v)
        into = [x[k] for k, (_, b, _) in enumerate(arcs) if b == v]
        m += out - cp.sum(into) == (v == 0) - (v == n - 1)
    m.minimize(cp.sum(x[k] * c for k, (_, _, c) in enumerate(arcs)))
    return m


def project_schedule(seed: int) -> Any:
    """RCPSP: precedences, two resources, least makespan."""
    r, n = Random(seed), 16
    time = [r.randint(1, 8) for _ in range(n)]
    start, end = cp.intvar(0, sum(time), shape=n), cp.intvar(0, sum(time), shape=n)
    m = cp.Model([start[j] >= end[i] for j in range(n) for i in range(max(0, j - 5), j) if r.random() < 0.3])
    m += [cp.Cumulative(start, time, end, [r.randint(0, 5) for _ in range(n)], 7) for _ in range(2)]
    m.minimize(cp.max(end))
    return m


def multi_mode_project(seed: int) -> Any:
    """Tasks with two modes each, as a choice of duration and demand; least makespan."""
    r, n = Random(seed), 8
    time, need = cp.intvar(1, 9, shape=n), cp.intvar(1, 6, shape=n)
    start, end = cp.intvar(0, 50, shape=n), cp.intvar(0, 50, shape=n)
    m = cp.Model([start[j] >= end[i] for j in range(n) for i in range(max(0, j - 4), j) if r.random() < 0.3])
    for i in range(n):
        fast, slow = (r.randint(1, 4), r.randint(4, 6)), (r.randint(5, 9), r.randint(1, 3))
        m += cp.Table([time[i], need[i]], [list(fast), list(slow)])
    m += cp.Cumulative(start, time, end, need, 7)
    m.minimize(cp.max(end))
    return m


def cyclic_schedule(seed: int) -> Any:
    """A cyclic job shop: least period of tasks on machines with repeated orders."""
    r, jobs, machines = Random(seed), 3, 3
    period, m = cp.intvar(1, 40), cp.Model()
    start = cp.intvar(0, 60, shape=(jobs, machines))
    on: list[list[tuple[Any, int]]] = [[] for _ in range(machines)]
    for j in range(jobs):
        time, order = [r.randint(2, 7) for _ in range(machines)], r.sample(range(machines), machines)
        m += [start[j, k + 1] >= start[j, k] + time[k] for k in range(machines - 1)]
        m += start[j, machines - 1] + time[machines - 1] <= start[j, 0] + 2 * period
        for k, machine in enumerate(order):
            on[machine].append((start[j, k], time[k]))
    for tasks in on:
        for i, (a, p) in enumerate(tasks):
            for b, q in tasks[:i]:
                k = cp.intvar(-4, 4)  # the turns between them
                m += [b - a + k * period >= p, a - b + (1 - k) * period >= q]
    m.minimize(period)
    return m


def open_shop(seed: int) -> Any:
    """Operations in free order on machines, least makespan."""
    r, n = Random(seed), 4
    time = [[r.randint(2, 20) for _ in range(n)] for _ in range(n)]
    most = sum(map(sum, time)) // 2
    s, e = cp.intvar(0, most, shape=(n, n)), cp.intvar(0, most, shape=(n, n))
    m = cp.Model([cp.NoOverlap(s[i], time[i], e[i]) for i in range(n)])
    m += [cp.NoOverlap(s[:, i], [row[i] for row in time], e[:, i]) for i in range(n)]
    m.minimize(cp.max(e))
    return m


def job_shop(seed: int) -> Any:
    """Jobs in fixed order on machines, least makespan."""
    r, n = Random(seed), 5
    time = [[r.randint(2, 20) for _ in range(n)] for _ in range(n)]
    order = [r.sample(range(n), n) for _ in range(n)]
    most = sum(map(sum, time)) // 2
    s, e = cp.intvar(0, most, shape=(n, n)), cp.intvar(0, most, shape=(n, n))
    m = cp.Model([s[j, k + 1] >= e[j, k] for j in range(n) for k in range(n - 1)])
    for machine in range(n):
        here = [(j, order[j].index(machine)) for j in range(n)]
        m += cp.NoOverlap([s[p] for p in here], [time[j][k] for j, k in here], [e[p] for p in here])
    m.minimize(cp.max(e))
    return m


def tardiness(seed: int) -> Any:
    """Jobs on one machine, least weighted tardiness."""
    r, n = Random(seed), 9
    time, due = [r.randint(1, 12) for _ in range(n)], [r.randint(5, 45) for _ in range(n)]
    s, e = cp.intvar(0, sum(time), shape=n), cp.intvar(0, sum(time), shape=n)
    m = cp.Model(cp.NoOverlap(s, time, e))
    m.minimize(cp.sum(r.randint(1, 9) * cp.max([e[i] - due[i], 0]) for i in range(n)))
    return m


def rostering(seed: int) -> Any:
    """Shifts of nurses by automaton and daily needs, least cost of wishes."""
    r, nurses, days = Random(seed), 6, 7
    x = cp.intvar(0, 2, shape=(nurses, days))  # off, day, night
    steps = [("o", 0, "o"), ("o", 1, "d"), ("o", 2, "n"), ("d", 0, "o"), ("d", 1, "e"), ("d", 2, "n")]
    steps += [("e", 0, "o"), ("e", 1, "f"), ("f", 0, "o"), ("n", 0, "o"), ("n", 2, "m"), ("m", 0, "o")]
    m = cp.Model([cp.Regular(x[i], steps, "o", ["o", "d", "e", "f", "n", "m"]) for i in range(nurses)])
    m += [cp.Count(x[:, d], 1) >= 2 for d in range(days)]
    m += [cp.Count(x[:, d], 2) >= 1 for d in range(days)]
    wishes = [r.randint(1, 9) * (x[i, d] == r.randint(0, 2)) for i in range(nurses) for d in range(days)]
    m.minimize(cp.sum(wishes))
    return m


def talent_scheduling(seed: int) -> Any:
    """An order of scenes with least pay for waiting actors (CSPLib 39)."""
    r, scenes, actors = Random(seed), 7, 5
    plays = [[r.random() < 0.4 for _ in range(scenes)] for _ in range(actors)]
    place = cp.intvar(0, scenes - 1, shape=scenes)
    m, pay = cp.Model(cp.AllDifferent(place)), []
    for row in plays:
        own = [place[s] for s in range(scenes) if row[s]]
        if len(own) > 1:
            pay.append(r.randint(1, 9) * (cp.max(own) - cp.min(own) + 1))
    m.minimize(cp.sum(pay))
    return m


def car_sequencing(seed: int) -> Any:
    """Cars with options on a line, windows of stations (CSPLib 1)."""
    r, cars, classes = Random(seed), 14, 4
    options = [[r.random() < 0.4 for _ in range(3)] for _ in range(classes)]
    x = cp.intvar(0, classes - 1, shape=cars)
    counts = [cars // classes + (c < cars % classes) for c in range(classes)]
    m = cp.Model(cp.GlobalCardinalityCount(x, list(range(classes)), counts))
    over = []
    for o, (most, width) in enumerate([(1, 2), (2, 3), (2, 5)]):
        has = [cp.any([x[i] == c for c in range(classes) if options[c][o]]) for i in range(cars)]
        for i in range(cars - width + 1):
            over.append(cp.sum(has[i : i + width]) > most)
    m.minimize(cp.sum(over))
    return m


def vessel_loading(seed: int) -> Any:
    """Containers as rectangles on a deck, with distances between classes (CSPLib 8)."""
    r, n, w, h = Random(seed), 8, 12, 10
    size = [(r.randint(2, 5), r.randint(2, 4)) for _ in range(n)]
    kind = [r.randint(0, 2) for _ in range(n)]
    x, y = cp.intvar(0, w, shape=n), cp.intvar(0, h * 3, shape=n)
    m = cp.Model([x[i] + size[i][0] <= w for i in range(n)])
    for i in range(n):
        for j in range(i):
            gap = int({kind[i], kind[j]} == {0, 1})
            m += (
                (x[i] + size[i][0] + gap <= x[j]) | (x[j] + size[j][0] + gap <= x[i])
                | (y[i] + size[i][1] + gap <= y[j]) | (y[j] + size[j][1] + gap <= y[i])
            )  # fmt: skip
    m.minimize(cp.max([y[i] + size[i][1] for i in range(n)]))
    return m


def filters(seed: int) -> Any:
    """Operations of a filter on adders and multipliers, least makespan."""
    r, n = Random(seed), 18
    kind = [r.randint(0, 1) for _ in range(n)]
    time = [2 if k else 1 for k in kind]
    s, e = cp.intvar(0, 40, shape=n), cp.intvar(0, 40, shape=n)
    m = cp.Model([e[i] == s[i] + time[i] for i in range(n)])
    m += [s[j] >= e[i] for j in range(n) for i in range(max(0, j - 6), j) if r.random() < 0.25]
    for k, capacity in ((0, 2), (1, 1)):
        of = [i for i in range(n) if kind[i] == k]
        if of:
            own = [time[i] for i in of]
            m += cp.Cumulative([s[i] for i in of], own, [e[i] for i in of], [1] * len(of), capacity)
    m.minimize(cp.max(e))
    return m


FAMILIES = [
    travelling_salesman, time_dependent_tour, vehicle_routing, shortest_path, project_schedule,
    multi_mode_project, cyclic_schedule, open_shop, job_shop, tardiness, rostering, talent_scheduling,
    car_sequencing, vessel_loading, filters,
]  # fmt: skip
