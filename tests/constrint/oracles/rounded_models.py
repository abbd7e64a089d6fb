"""Small models whose relaxations have rounding cuts, each with the cost that is minimised."""

from __future__ import annotations

import random
from typing import Any

from constrint import Model, sum_


def lots(seed: int) -> tuple[Model, Any]:
    """Small lot sizing with lots of any size and of a least size, set-ups and stock."""
    draw = random.Random(seed)
    m = Model()
    cost, stock = [], 0
    for t in range(3):
        set_up = m.bool_var(f"set{t}")
        made, left = m.int_var(f"made{t}", 0, 5), m.int_var(f"stock{t}", 0, 4)
        m.add(made <= 5 * set_up, left == stock + made - draw.randint(0, 3))
        if draw.random() < 0.5:
            m.add(made >= 2 * set_up)
        stock = left  # type: ignore[assignment]
        cost += [draw.randint(3, 20) * set_up, draw.randint(1, 3) * left]
    return m, sum_(cost)


def network(seed: int) -> tuple[Model, Any]:
    """Flows to nodes that need something, through arcs that are opened at a cost."""
    draw = random.Random(seed)
    m = Model()
    arcs = [(i, j) for i in range(4) for j in range(1, 4) if i != j and draw.random() < 0.6] + [(0, 3)]
    needs = [0, *(draw.randint(-1, 2) for _ in range(3))]
    most = draw.randint(2, 4)
    opened = {arc: m.bool_var(f"open_{arc[0]}_{arc[1]}_{i}") for i, arc in enumerate(arcs)}
    flow = {arc: m.int_var(f"flow_{arc[0]}_{arc[1]}", 0, most) for arc in opened}
    for arc, y in opened.items():
        m.add(flow[arc] <= draw.randint(1, most) * y)
    for v in range(1, 4):
        enters, leaves = (sum_([f for arc, f in flow.items() if arc[side] == v]) for side in (1, 0))
        m.add(enters - leaves == needs[v] if draw.random() < 0.8 else leaves - enters == -needs[v])
    return m, sum_(draw.randint(1, 9) * y for y in opened.values()) + sum_(flow.values())


def stations(seed: int) -> tuple[Model, Any]:
    """Units that make nothing, or from a least to a greatest amount, for two demands."""
    draw = random.Random(seed)
    m = Model()
    cost, before = [], [0, 0, 0]
    for t in range(2):
        made = []
        for i in range(3):
            least, most = draw.randint(1, 3), draw.randint(3, 5)
            runs, amount = m.bool_var(f"runs_{t}_{i}"), m.int_var(f"made_{t}_{i}", 0, most)
            m.add(amount <= most * runs, amount >= least * runs, amount - before[i] <= draw.randint(2, 4))
            made.append(amount)
            before[i] = amount  # type: ignore[call-overload]
            cost += [draw.randint(1, 9) * runs, draw.randint(1, 4) * amount]
        m.add(sum_(made) >= draw.randint(2, 9))
    return m, sum_(cost)


def knapsack(seed: int) -> tuple[Model, Any]:
    """Rows of capacities over 0/1 variables and small integers."""
    draw = random.Random(seed)
    m = Model()
    x = [m.int_var(f"x{i}", -draw.randint(0, 1), draw.randint(1, 2)) for i in range(6)]
    for _ in range(2):
        m.add(sum_(draw.randint(-3, 15) * v for v in x) <= draw.randint(8, 30))
    return m, sum_(-draw.randint(3, 20) * v for v in x)


def conflicts(seed: int) -> tuple[Model, Any]:
    """Pairs and cliques of which at most one is taken, at least one, or an odd number; and one of 0..3."""
    draw = random.Random(seed)
    m = Model()
    x = [m.bool_var(f"x{i}") for i in range(7)]
    wide = m.int_var("wide", 0, 3)
    is_cover = draw.random() < 0.5
    for i in range(7):
        for j in range(i):
            if draw.random() < 0.35:
                m.add(x[i] + x[j] >= 1 if is_cover else x[i] + x[j] <= 1)
    some = draw.sample(x, 3)
    m.add(sum_(some) <= 2 if is_cover else sum_(some) <= 1)
    m.add(2 * draw.choice(x) + wide + draw.choice(x) <= draw.randint(2, 3))
    m.add(draw.choice(x) - draw.choice(x) + 3 * wide >= draw.randint(-1, 2))
    cost = sum_(draw.randint(1, 9) * v for v in [*x, wide])
    return m, cost if is_cover else -cost
