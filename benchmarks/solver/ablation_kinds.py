"""Rows of `ablation.py` that are there for one rule each: models of the kind that the rule is made for."""

from __future__ import annotations

import random
from typing import Any

import constrint as c
from constrint import Model
from constrint.expr import IntExpr


def drawn(seed: int, low: int, high: int, count: int) -> list[int]:
    """Integers between bounds."""
    rng = random.Random(seed)
    return [rng.randint(low, high) for _ in range(count)]


def energy_of_tasks() -> Any:
    """The overload check: a proof that tasks do not fit, by their energy."""
    m = Model()
    durations, demands = drawn(3, 2, 5, 8), drawn(4, 1, 3, 8)
    starts = m.int_vars("start", 8, 0, sum(durations))
    end = m.int_var("end", 0, sum(durations))
    m.add(c.cumulative(list(starts), durations, demands, 3))
    m.add(*[start + duration <= end for start, duration in zip(starts, durations, strict=True)])
    return m.solve(minimize=end, learn=False).objective


def colours_of_queens() -> Any:
    """Symmetries: the fewest colours of 6 × 6 squares, no two on a line of one colour; names are free."""
    squares = [(i, j) for i in range(6) for j in range(6)]
    m = Model()
    colour = m.int_vars("colour", 36, 0, 8)
    for q, (i, j) in enumerate(squares):
        for p, (k, n) in enumerate(squares[:q]):
            if i == k or j == n or abs(i - k) == abs(j - n):
                m.add(colour[p] != colour[q])
    return m.solve(minimize=c.max_(*colour)).objective


def one_machine_of_disjunctions() -> Any:
    """Machines in disjunctions: ten tasks of one machine, written by pairs, with dates of release."""
    m = Model()
    lasts, releases = drawn(7, 3, 9, 10), drawn(8, 0, 12, 10)
    starts = [m.int_var(f"start{i}", release, 200) for i, release in enumerate(releases)]
    end = m.int_var("end", 0, 300)
    tasks = list(zip(starts, lasts, strict=True))
    m.add(*[(s + d <= t) | (t + e <= s) for i, (s, d) in enumerate(tasks) for t, e in tasks[:i]])
    m.add(*[s + d <= end for s, d in tasks])
    return m.solve(minimize=end).objective


def towns_without_return() -> Any:
    """Reachability on circuits: the second half of the nodes cannot be left for the first."""
    m = Model()
    after = [m.int_var(f"after{i}", 0, 11 if i >= 6 else 5) for i in range(12)]
    m.add(c.circuit(after))
    return bool(m.solve(learn=False))


def knights_tour() -> Any:
    """Chains on circuits: a closed tour of a knight on 8 × 8 squares."""
    n = 8
    at = {(i, j): n * i + j for i in range(n) for j in range(n)}
    jumps = [(p, q) for p in (-2, -1, 1, 2) for q in (-2, -1, 1, 2) if abs(p) != abs(q)]
    m = Model()
    after = [
        m.int_var(f"after{i},{j}", values=[at[i + p, j + q] for p, q in jumps if (i + p, j + q) in at])
        for i, j in at
    ]
    m.add(c.circuit(after))
    return bool(m.solve(learn=False))


def moduli() -> Any:
    """Supported divisors: one number with small remainders by six moduli."""
    m = Model()
    x, moduli = m.int_var("x", 0, 20_000), m.int_vars("d", 6, 2, 60)
    m.add(c.all_different(moduli))
    m.add(*[x % d == rest for d, rest in zip(moduli, drawn(1, 1, 2, 6), strict=True)])
    return m.solve(minimize=x).objective


def factors_in_products() -> Any:
    """Divisors of a product, and by divides: products with given factors on both sides of an equation."""
    m = Model()
    x = m.int_vars("x", 5, 2, 400)
    m.add(x[0] * x[1] * x[2] * x[3] <= 10_000, c.divides(48, x[0] * x[1]), c.divides(14, x[2] * x[3]))
    m.add(c.divides(x[4], x[0] * x[2]), x[0] * x[1] == x[3] * x[4] + 8)
    return m.solve(maximize=x[0] - 2 * x[2] + 3 * x[4] - x[3]).objective


def three_cubes() -> Any:
    """Residues of powers: no three cubes have the sum 31."""
    m = Model()
    m.add(c.sum_(v**3 for v in m.int_vars("x", 3, -200, 200)) == 31)
    return bool(m.solve())


def weighted_distances() -> Any:
    """Absolute values: places on a line, with weighted distances."""
    m = Model()
    x = m.int_vars("x", 7, 0, 6)
    m.add(c.all_different(x))
    weights = drawn(2, 0, 9, 49)
    return m.solve(
        minimize=c.sum_(weights[7 * i + j] * abs(x[i] - x[j]) for i in range(7) for j in range(i))
    ).objective


def full_bins() -> Any:
    """`bin_packing` of its own: 15 items for five bins without room to spare."""
    sizes = drawn(3, 10, 40, 15)
    m = Model()
    bins, loads = m.int_vars("bin", 15, 0, 4), m.int_vars("load", 5, 0, -(-sum(sizes) // 5))
    m.add(c.bin_packing(list(bins), sizes, list(loads)))
    return bool(m.solve())


def powers_of_a_bounded_sum() -> Any:
    """Bounds of sums from constraints: a bounded sum also stands in products."""
    m = Model()
    x = m.int_vars("x", 12, 0, 1000)
    total = c.sum_(x)
    m.add(total <= 100, (total * total) % 11 == 5, total * total * total >= 1000)
    m.add(*[((x[i] + x[i - 1]) * (x[i] + 1)) % 7 != 3 for i in range(1, 12, 2)])
    weights = drawn(1, 1, 5, 12)
    return m.solve(maximize=c.sum_(w * v for w, v in zip(weights, x, strict=True))).objective


def wide_objective() -> Any:
    """Probes of a goal's range: an objective of 10^8 values over four covering rows."""
    rng = random.Random(2)
    m = Model()
    x, goal = m.int_vars("x", 6, 0, 10**5), m.int_var("goal", 0, 10**8)
    for _ in range(4):
        row: IntExpr = c.sum_(rng.randint(1, 90) * x[i] for i in rng.sample(range(6), 3))
        m.add(row >= rng.randint(10**4, 10**6))
    m.add(goal >= c.sum_(rng.randint(1, 50) * v for v in x), c.sum_(x) % 7 == 3)
    return m.solve(minimize=goal).objective


def divisors_as_products() -> Any:
    """Factors of divisors: four numbers whose product divides 9,699,690."""
    m = Model()
    x = m.int_vars("x", 4, 1, 1000)
    m.add(c.divides(x[0] * x[1] * x[2] * x[3], 9_699_690), *[x[i] < x[i + 1] for i in range(3)])
    return m.solve(maximize=5 * x[0] + 2 * x[1] - x[2] + 3 * x[3]).objective


def products_of_steps() -> Any:
    """Residue classes of products: sizes in steps, and a remainder that no product of them leaves."""
    m = Model()
    x, y = m.int_var("x", 0, 6000, step=6), m.int_var("y", 0, 6000, step=10)
    z = m.int_var("z", 0, 10**6)
    m.add(x * y + 7 * z == 7 * 10**5 + 1, z % 15 == 2)
    return bool(m.solve())


def five_rows_of_a_knapsack() -> Any:
    """The dual row: five capacities, searched by branching alone."""
    rng = random.Random(30)
    m = Model()
    x = m.bool_vars("x", 30)
    for _ in range(5):
        weights = [rng.randint(5, 60) for _ in x]
        m.add(c.sum_(w * v for w, v in zip(weights, x, strict=True)) <= sum(weights) // 3)
    values = [rng.randint(10, 90) for _ in x]
    return m.solve(maximize=c.sum_(w * v for w, v in zip(values, x, strict=True)), learn=False).objective


def defined_beyond_lists() -> Any:
    """Diagrams, values solved for: a variable of 10^12 values that an equation defines."""
    m = Model()
    x, y, z = m.int_var("x", 0, 300), m.int_var("y", 0, 300), m.int_var("z", 0, 10**12)
    m.add(z == 10**6 * x * y + x, z <= 4 * 10**10)
    return len(m.solutions())


def ordered_with_a_sum() -> Any:
    """Diagrams, values by range: four ordered numbers with a bounded sum and a product."""
    m = Model()
    x = m.int_vars("x", 4, 1, 1000)
    m.add(*[x[i] <= x[i + 1] for i in range(3)], c.sum_(x) <= 300, x[0] * x[3] >= 3000)
    return len(m.solutions())


def square_with_holes() -> Any:
    """Domain consistency: a Latin square of order 22 with nearly half of its cells open."""
    rng, n = random.Random(2), 22
    rows, columns, values = (rng.sample(range(n), n) for _ in range(3))
    m = Model()
    cells = {}
    for i in range(n):
        for j in range(n):
            value = values[(rows[i] + columns[j]) % n]
            low, high = (0, n - 1) if rng.random() < 0.45 else (value, value)
            cells[i, j] = m.int_var(f"x{i}_{j}", low, high)
    for i in range(n):
        m.add(c.all_different([cells[i, j] for j in range(n)], consistency="domain"))
        m.add(c.all_different([cells[j, i] for j in range(n)], consistency="domain"))
    return bool(m.solve(learn=False))


def ten_in_ten() -> Any:
    """Bounds consistency: ten of sixteen different numbers fill 0 to 9, so six others have a least sum."""
    m = Model()
    x = [m.int_var(f"x{i}", 0, 9 if i < 10 else 17) for i in range(16)]
    m.add(c.all_different(x), c.sum_(x[10:]) <= 72)
    return bool(m.solve())


def long_cycle() -> Any:
    """Cycles of differences: 600 variables without bounds, each less than the next."""
    m = Model()
    x = m.int_vars("x", 600, 0, 10**9)
    m.add(*[x[i] + 1 <= x[(i + 7) % 600] for i in range(600)])
    return bool(m.solve(learn=False))


def ordered_rows_and_columns() -> Any:
    """Lexicographic order: matrices with three ones in each row and column, found by search."""
    m, n = Model(), 6
    x = m.bool_vars("x", (n, n))
    for i in range(n):
        m.add(x[i, :].sum() == 3, x[:, i].sum() == 3)
    for i in range(n - 1):
        m.add(c.lex_less(x[i, :], x[i + 1, :]), c.lex_less(x[:, i], x[:, i + 1]))
    return sum(1 for _ in m.iter_solutions())


KINDS = [
    one_machine_of_disjunctions,
    colours_of_queens,
    energy_of_tasks, towns_without_return, knights_tour, moduli, factors_in_products, three_cubes,
    weighted_distances, full_bins, powers_of_a_bounded_sum, wide_objective, divisors_as_products,
    products_of_steps, five_rows_of_a_knapsack, defined_beyond_lists, ordered_with_a_sum, square_with_holes,
    ten_in_ten, long_cycle, ordered_rows_and_columns,
]  # fmt: skip
