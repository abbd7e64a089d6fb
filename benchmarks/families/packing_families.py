"""Families of packing, covering and assignment, as CPMpy models drawn from a seed."""

from __future__ import annotations

from random import Random
from typing import Any

import cpmpy as cp


def assignment(seed: int) -> Any:
    """Workers to tasks, least cost; costs by element."""
    r, n = Random(seed), 12
    x = cp.intvar(0, n - 1, shape=n)
    costs = [cp.cpm_array([r.randint(5, 60) for _ in range(n)])[x[i]] for i in range(n)]
    return cp.Model(cp.AllDifferent(x), minimize=cp.sum(costs))


def generalised_assignment(seed: int) -> Any:
    """Jobs to agents with capacities, greatest profit (Fisher, Jaikumar, Van Wassenhove 1986)."""
    r, agents, jobs = Random(seed), 4, 16
    x = cp.boolvar(shape=(agents, jobs))
    need = [[r.randint(5, 25) for _ in range(jobs)] for _ in range(agents)]
    gain = [[r.randint(10, 40) for _ in range(jobs)] for _ in range(agents)]
    m = cp.Model([cp.sum(x[:, j]) == 1 for j in range(jobs)])
    m += [cp.sum(x[i] * need[i]) <= sum(need[i]) * 8 // (10 * agents) + 10 for i in range(agents)]
    m.maximize(cp.sum(cp.sum(x[i] * gain[i]) for i in range(agents)))
    return m


def knapsack(seed: int) -> Any:
    """Bounded knapsack with correlated weights."""
    r, n = Random(seed), 40
    weight = [r.randint(10, 99) for _ in range(n)]
    value = [w + r.randint(-8, 15) for w in weight]
    x = cp.intvar(0, 3, shape=n)
    return cp.Model(cp.sum(x * weight) <= sum(weight) * 3 // 5, maximize=cp.sum(x * value))


def multi_row_knapsack(seed: int) -> Any:
    """0/1 knapsack with five rows (Chu and Beasley 1998)."""
    r, n, rows = Random(seed), 30, 5
    x = cp.boolvar(shape=n)
    need = [[r.randint(1, 100) for _ in range(n)] for _ in range(rows)]
    value = [sum(row[i] for row in need) // rows + r.randint(0, 50) for i in range(n)]
    m = cp.Model([cp.sum(x * row) <= sum(row) // 2 for row in need])
    m.maximize(cp.sum(x * value))
    return m


def set_cover(seed: int) -> Any:
    """Cover of least weight."""
    r, elements, sets = Random(seed), 40, 50
    x, members = cp.boolvar(shape=sets), [r.sample(range(elements), 6) for _ in range(sets)]
    weight = [r.randint(1, 20) for _ in range(sets)]
    m = cp.Model()
    for e in range(elements):
        inside = [x[s] for s in range(sets) if e in members[s]]
        if inside:
            m += cp.any(inside)
    m.minimize(cp.sum(x * weight))
    return m


def bin_packing_with_conflicts(seed: int) -> Any:
    """Fewest bins for items of which some exclude each other."""
    r, n, bins, capacity = Random(seed), 14, 9, 60
    size = [r.randint(8, 30) for _ in range(n)]
    x, used = cp.intvar(0, bins - 1, shape=n), cp.intvar(1, bins)
    m = cp.Model([x[i] != x[j] for i in range(n) for j in range(i) if r.random() < 0.2])
    m += [cp.sum((x == b) * size) <= capacity for b in range(bins)]
    m += [x[i] < used for i in range(n)]
    m.minimize(used)
    return m


def market_split(seed: int) -> Any:
    """Equations in 0/1 variables with slack (Cornuéjols and Dawande 1998), least total slack."""
    r, rows = Random(seed), 2
    n = 10 * (rows - 1) + 6
    x, slack = cp.boolvar(shape=n), cp.intvar(0, 200, shape=rows)
    excess = cp.intvar(0, 200, shape=rows)
    m = cp.Model()
    for i in range(rows):
        row = [r.randint(0, 99) for _ in range(n)]
        m += cp.sum(x * row) + slack[i] - excess[i] == sum(row) // 2
    m.minimize(cp.sum(slack) + cp.sum(excess))
    return m


def warehouse_location(seed: int) -> Any:
    """Stores supplied by warehouses with capacities and fixed costs (CSPLib 34)."""
    r, houses, stores = Random(seed), 6, 12
    x, is_open = cp.intvar(0, houses - 1, shape=stores), cp.boolvar(shape=houses)
    cost = [[r.randint(5, 80) for _ in range(houses)] for _ in range(stores)]
    m = cp.Model([cp.Count(x, w) <= r.randint(2, 4) for w in range(houses)])
    m += [cp.Count(x, w) <= stores * is_open[w] for w in range(houses)]
    supply = [cp.cpm_array(cost[s])[x[s]] for s in range(stores)]
    m.minimize(cp.sum(supply) + 40 * cp.sum(is_open))
    return m


def template_design(seed: int) -> Any:
    """Designs to slots of printed sheets, least sheets (CSPLib 2), two templates."""
    r, slots, templates = Random(seed), 9, 2
    demand = [r.randint(20, 110) for _ in range(6)]
    count = cp.intvar(0, slots, shape=(templates, len(demand)))
    runs = cp.intvar(0, max(demand), shape=templates)
    m = cp.Model([cp.sum(count[t]) == slots for t in range(templates)], runs[0] <= runs[1])
    m += [cp.sum(runs[t] * count[t, d] for t in range(templates)) >= demand[d] for d in range(len(demand))]
    m.minimize(cp.sum(runs))
    return m


def frequency_assignment(seed: int) -> Any:
    """Channels at distances, least greatest channel."""
    r, n = Random(seed), 12
    x = cp.intvar(0, 40, shape=n)
    m = cp.Model(
        [abs(x[i] - x[j]) >= r.randint(1, 5) for i in range(n) for j in range(i) if r.random() < 0.5]
    )
    m.minimize(cp.max(x))
    return m


def graph_colouring(seed: int) -> Any:
    """Fewest colours of a random graph with pairwise disequalities (DIMACS, G(n, p))."""
    r, n, most = Random(seed), 24, 9
    x, used = cp.intvar(0, most - 1, shape=n), cp.intvar(1, most)
    m = cp.Model([x[i] != x[j] for i in range(n) for j in range(i) if r.random() < 0.4], [x < used])
    m.minimize(used)
    return m


def mycielski_colouring(seed: int) -> Any:
    """Fewest colours of Mycielski's graphs 3 and 4 (DIMACS)."""
    edges, n = [(0, 1)], 2
    for _ in range(2 + seed % 2):
        edges += [(a + n, b) for a, b in edges] + [(a, b + n) for a, b in edges]
        edges += [(n + i, 2 * n) for i in range(n)]
        n = 2 * n + 1
    x, used = cp.intvar(0, 7, shape=n), cp.intvar(1, 8)
    return cp.Model([x[a] != x[b] for a, b in edges], [x < used], minimize=used)


def weighted_csp(seed: int) -> Any:
    """Photographs of a satellite to cameras, greatest gain under pairwise exclusions (as SPOT5)."""
    r, n = Random(seed), 20
    x = cp.intvar(0, 3, shape=n)  # 0: not taken
    m = cp.Model()
    for i in range(n):
        for j in range(i):
            if r.random() < 0.3:
                a, b = r.randint(1, 3), r.randint(1, 3)
                m += (x[i] != a) | (x[j] != b)
                m += (x[i] == 0) | (x[j] == 0) | (x[i] != x[j])
    m.maximize(cp.sum(r.randint(1, 9) * (x[i] > 0) for i in range(n)))
    return m


def progressive_party(seed: int) -> Any:
    """Guest crews visit hosts, each once, no two crews meet twice (CSPLib 13, small)."""
    r, hosts, crews, times = Random(seed), 4, 7, 3
    size = [r.randint(1, 4) for _ in range(crews)]
    room = [8 + r.randint(0, 2) for _ in range(hosts)]
    x = cp.intvar(0, hosts - 1, shape=(crews, times))
    m = cp.Model([cp.AllDifferent(x[c]) for c in range(crews)])
    m += [cp.sum((x[:, t] == h) * size) <= room[h] for t in range(times) for h in range(hosts)]
    m += [cp.sum(x[c, t] == x[d, t] for t in range(times)) <= 1 for c in range(crews) for d in range(c)]
    return m


def lot_sizing(seed: int) -> Any:
    """One item a period, set-up and holding costs, due periods (CSPLib 58)."""
    r, periods, items = Random(seed), 10, 3
    x = cp.intvar(0, items, shape=periods)  # 0: idle
    orders = [(r.randint(1, items), r.randint(3, periods - 1)) for _ in range(6)]
    m, holding = cp.Model(), []
    for item in range(1, items + 1):
        due = sorted(d for i, d in orders if i == item)
        m += cp.Count(x, item) == len(due)
        for t in range(periods):
            made, owed = cp.sum(x[: t + 1] == item), sum(d <= t for d in due)
            m += made >= owed
            holding.append(made - owed)
    change = [
        [r.randint(3, 9) if a and b and a != b else 0 for b in range(items + 1)] for a in range(items + 1)
    ]
    flat, cost = cp.cpm_array([c for row in change for c in row]), cp.intvar(0, 9, shape=periods - 1)
    m += [cost[t] == flat[x[t] * (items + 1) + x[t + 1]] for t in range(periods - 1)]
    m.minimize(cp.sum(cost) + 2 * cp.sum(holding))
    return m


FAMILIES = [
    assignment, generalised_assignment, knapsack, multi_row_knapsack, set_cover, bin_packing_with_conflicts,
    market_split, warehouse_location, template_design, frequency_assignment, graph_colouring,
    mycielski_colouring, weighted_csp, progressive_party, lot_sizing,
]  # fmt: skip
