"""Models of choosing and assigning, drawn with a seed: knapsacks, assignments, covers, packings, lots, tours.

Each function makes one instance: the model and what `solve` is to optimise.
"""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Any

from constrint import Model, all_different, circuit, element, max_, sum_

Problem = tuple[Model, dict[str, Any]]


def knapsack(items: int) -> Problem:
    """A 0/1 knapsack for half of all weights; weights and values are drawn from 10 to 99."""
    draw = Random(items)
    m = Model()
    take = [m.bool_var(f"x{i}") for i in range(items)]
    weights = [draw.randint(10, 99) for _ in take]
    m.add(sum_(w * x for w, x in zip(weights, take, strict=True)) <= sum(weights) // 2)
    return m, {"maximize": sum_(draw.randint(10, 99) * x for x in take)}


def rows_knapsack(items: int, rows: int) -> Problem:
    """A knapsack with several rows, each for half of its weights."""
    draw = Random(100 * items + rows)
    m = Model()
    take = [m.bool_var(f"x{i}") for i in range(items)]
    for _ in range(rows):
        weights = [draw.randint(5, 60) for _ in take]
        m.add(sum_(w * x for w, x in zip(weights, take, strict=True)) <= sum(weights) // 2)
    return m, {"maximize": sum_(draw.randint(10, 99) * x for x in take)}


def bounded_knapsack(items: int) -> Problem:
    """Up to three of each item, five rows."""
    draw = Random(items)
    m = Model()
    xs = [m.int_var(f"x{i}", 0, 3) for i in range(items)]
    m.add(*[sum_(draw.randint(5, 50) * x for x in xs) <= 40 * items for _ in range(5)])
    return m, {"maximize": sum_(draw.randint(5, 50) * x for x in xs)}


def assignment(n: int) -> Problem:
    """Workers to tasks, each once, costs looked up by element."""
    draw = Random(n)
    m = Model()
    task = m.int_vars("task", n, 0, n - 1)
    m.add(all_different(task))
    return m, {"minimize": sum_(element([draw.randint(10, 999) for _ in range(n)], x) for x in task)}


def assignment_01(n: int) -> Problem:
    """The same by 0/1 variables and sums."""
    draw = Random(n)
    m = Model()
    x = m.bool_vars("x", (n, n))
    for i in range(n):
        m.add(x[i, :].sum() == 1, x[:, i].sum() == 1)
    return m, {"minimize": sum_(draw.randint(10, 999) * one for one in x.flat)}


def tour(n: int) -> Problem:
    """The shortest tour of points drawn in a square, by circuit and element."""
    draw = Random(n)
    points = [(draw.randint(0, 100), draw.randint(0, 100)) for _ in range(n)]
    far = [[round(((a - c) ** 2 + (b - d) ** 2) ** 0.5) for c, d in points] for a, b in points]
    m = Model()
    after = m.int_vars("after", n, 0, n - 1)
    m.add(circuit(after))
    return m, {"minimize": sum_(element(far[i], after[i]) for i in range(n))}


def routes(customers: int, vehicles: int, capacity: int) -> Problem:
    """Routes from one depot (CVRP): a circuit with a depot for each vehicle, loads along the way."""
    draw = Random(10 * customers + vehicles)
    places = [(50, 50)] * vehicles + [(draw.randint(0, 100), draw.randint(0, 100)) for _ in range(customers)]
    far = [[round(((a - c) ** 2 + (b - d) ** 2) ** 0.5) for c, d in places] for a, b in places]
    n = len(places)
    demand = [0] * vehicles + [draw.randint(1, 9) for _ in range(customers)]
    m = Model()
    after = m.int_vars("after", n, 0, n - 1)
    load = [m.int_var(f"load{i}", demand[i], capacity) for i in range(n)]
    m.add(circuit(after))
    for i in range(n):
        # Leaving a depot the load starts anew; the load at a depot is what its vehicle has carried so far.
        start: Any = 0 if i < vehicles else load[i]
        for j in range(n):
            if i != j:
                m.add((after[i] != j) | (load[j] >= start + demand[j]))
    return m, {"minimize": sum_(element(far[i], after[i]) for i in range(n))}


def set_cover(elements: int, sets: int) -> Problem:
    """The cheapest sets that hold all elements, each of them in some 7 % of the sets."""
    draw = Random(elements + sets)
    m = Model()
    take = [m.bool_var(f"x{i}") for i in range(sets)]
    for _ in range(elements):
        m.add(sum_(take[i] for i in draw.sample(range(sets), max(2, sets * 7 // 100))) >= 1)
    return m, {"minimize": sum_(draw.randint(10, 99) * x for x in take)}


def generalised_assignment(jobs: int, agents: int) -> Problem:
    """Jobs to agents of limited capacity at least cost, by 0/1 variables (class C of the generators)."""
    draw = Random(100 * jobs + agents)
    m = Model()
    x = m.bool_vars("x", (agents, jobs))
    need = [[draw.randint(5, 25) for _ in range(jobs)] for _ in range(agents)]
    for j in range(jobs):
        m.add(x[:, j].sum() == 1)
    for i in range(agents):
        capacity = int(0.8 * sum(need[i]) / agents)
        m.add(sum_(need[i][j] * x[i, j] for j in range(jobs)) <= capacity)
    return m, {"minimize": sum_(draw.randint(10, 50) * one for one in x.flat)}


def warehouses(stores: int, sites: int) -> Problem:
    """Stores to warehouses with opening costs and capacities (CSPLib 34)."""
    draw = Random(100 * stores + sites)
    m = Model()
    at = m.int_vars("at", stores, 0, sites - 1)
    is_open = [m.bool_var(f"open{w}") for w in range(sites)]
    for w in range(sites):
        m.add(sum_((x == w) for x in at) <= draw.randint(2, 5))
        for x in at:
            m.add((x != w) | is_open[w])
    supply = sum_(element([draw.randint(5, 90) for _ in range(sites)], x) for x in at)
    return m, {"minimize": supply + sum_(30 * one for one in is_open)}


def lots(periods: int, items: int) -> Problem:
    """Lot sizing: one machine, set-up and stock costs, demands by period."""
    draw = Random(100 * periods + items)
    m = Model()
    cost: list[Any] = []
    made = [[m.int_var(f"made{i}_{t}", 0, 20) for t in range(periods)] for i in range(items)]
    for i in range(items):
        stock: Any = 0
        for t in range(periods):
            set_up = m.bool_var(f"set{i}_{t}")
            m.add(made[i][t] <= 20 * set_up)
            left = m.int_var(f"stock{i}_{t}", 0, 40)
            m.add(left == stock + made[i][t] - draw.randint(0, 6))
            stock = left
            cost += [draw.randint(10, 40) * set_up, draw.randint(1, 3) * left]
    for t in range(periods):
        m.add(sum_(made[i][t] for i in range(items)) <= 6 * items)
    return m, {"minimize": sum_(cost)}


def bins_with_conflicts(items: int, conflicts: float) -> Problem:
    """The fewest bins of 100 for items, some pairs of which may not lie together."""
    draw = Random(items)
    sizes = [draw.randint(15, 60) for _ in range(items)]
    bins = items // 2
    m = Model()
    where = m.int_vars("bin", items, 0, bins - 1)
    for b in range(bins):
        m.add(sum_(size * (x == b) for size, x in zip(sizes, where, strict=True)) <= 100)
    for i, j in combinations(range(items), 2):
        if draw.random() < conflicts:
            m.add(where[i] != where[j])
    return m, {"minimize": max_(*where) + 1}


def quadratic_assignment(n: int) -> Problem:
    """Facilities to places: flow times distance, least."""
    draw = Random(n)
    m = Model()
    at = m.int_vars("at", n, 0, n - 1)
    m.add(all_different(at))
    far = [[abs(a % 3 - b % 3) + abs(a // 3 - b // 3) for b in range(n)] for a in range(n)]
    flat = [d for row in far for d in row]
    flows = {(i, j): draw.choice([0, 0, 1, 2, 5]) for i, j in combinations(range(n), 2)}
    return m, {"minimize": sum_(f * element(flat, n * at[i] + at[j]) for (i, j), f in flows.items() if f)}


def independent_set(n: int, density: float) -> Problem:
    """The most vertices of a random graph with no edge between two."""
    draw = Random(n)
    m = Model()
    take = [m.bool_var(f"x{i}") for i in range(n)]
    for i, j in combinations(range(n), 2):
        if draw.random() < density:
            m.add(~take[i] | ~take[j])
    return m, {"maximize": sum_(take)}
