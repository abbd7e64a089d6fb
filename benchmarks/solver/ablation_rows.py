"""The rows of `ablation.py`: questions with one right answer, each a fraction of a second.

Each row builds its model and gives an answer that does not depend on the way there: an optimum, a number of
solutions, or whether there is one.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arithmetic
import classics
import job_shops
import limits_models
import projects
import tiling
import ways
from ablation_globals import GLOBALS
from ablation_kinds import KINDS
from ablation_searches import SEARCHES

import constrint as c
from constrint import Model

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "spaces"))

import ours

SPACES = Path(__file__).resolve().parents[1] / "spaces" / "data"
Row = Callable[[], Any]


def _all_rows() -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for name, (solve, size, _, _) in classics.PROBLEMS.items():
        smaller = {"queens, all": 8, "golomb, shortest": 8, "magic sequence": 40}.get(name, size)
        rows[f"classics: {name}"] = lambda solve=solve, size=smaller: solve(size)
    for name, (build, _) in arithmetic.MODELS.items():
        rows[f"arithmetic: {name}, first"] = lambda build=build: bool(build().solve())
        rows[f"arithmetic: {name}, count"] = lambda build=build: build().count()
        if name != "c2":
            rows[f"arithmetic: {name}, all"] = lambda build=build: len(build().solutions().to_numpy())
    for path in sorted(SPACES.glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        rows[f"spaces: {path.stem}"] = lambda data=data: ours.build(data)[1]["valid"]
    rows["spaces: pipeline"] = lambda: ours.pipeline().solutions().size
    for shape in tiling.LEXICOGRAPHIC[::3]:
        rows[f"tiling: {shape.name}"] = lambda shape=shape: tiling.solved(shape)[1]
        rows[f"tiling: {shape.name}, search alone"] = lambda shape=shape: tiling.solved(
            shape, engine="interpreted"
        )[1]
    for name in ("mt06", "la02", "Golomb 8", "magic 5", "knapsack 40"):
        rows[f"ways: {name}"] = lambda name=name: _best(*ways.PROBLEMS[name]())
    rows["job shops: mt06, learning"] = lambda: job_shops.constrint(job_shops.jobs_of("mt06"), 0, 60)[0]
    rows["job shops: mt06, no_overlap"] = lambda: _no_overlap("mt06", False)
    rows["job shops: mt06, no_overlap, learning"] = lambda: _no_overlap("mt06", True)
    for size, seed, learn in ((15, 1, False), (15, 2, "auto"), (15, 4, False), (15, 4, "auto")):
        rows[f"projects: {size}-{seed}, learn={learn}"] = lambda size=size, seed=seed, learn=learn: (
            projects.model(projects.draw(size, seed)).solve(learn=learn).objective
        )
    for name in ("clauses_300", "assignment_12", "crossword_5", "element_chain_10", "chain_1000", "nested_30",
                 "big_table_1000"):  # fmt: skip
        rows[f"many kinds: {name}, first"] = lambda name=name: bool(limits_models.MODELS[name]()[0].solve())
        rows[f"many kinds: {name}, best"] = lambda name=name: _least(*limits_models.MODELS[name]())
    for name in ("set_cover_300", "squares_6", "permutations_50", "products_6"):
        rows[f"many kinds: {name}, first"] = lambda name=name: bool(limits_models.MODELS[name]()[0].solve())
    rows |= {f"MiniZinc-like: {row.__name__}": row for row in MODELS}
    rows |= {f"of its kind: {row.__name__}": row for row in [*KINDS, *GLOBALS, *SEARCHES]}
    return rows


def _best(model: Model, goal: dict[str, Any]) -> Any:
    result = model.solve(**goal)
    return result.objective if goal else bool(result)


def _least(model: Model, goal: Any) -> Any:
    return model.solve(minimize=goal).objective


def _no_overlap(name: str, learn: bool) -> Any:
    jobs = job_shops.jobs_of(name)
    horizon = sum(duration for job in jobs for _, duration in job)
    m = Model()
    span = m.int_var("span", 0, horizon)
    machines: dict[int, list[tuple[Any, int]]] = {}
    for j, job in enumerate(jobs):
        end: Any = 0
        for t, (machine, duration) in enumerate(job):
            start = m.int_var(f"s{j}_{t}", 0, horizon - duration)
            m.add(start >= end)
            end = start + duration
            machines.setdefault(machine, []).append((start, duration))
        m.add(end <= span)
    for tasks in machines.values():
        m.add(c.no_overlap([start for start, _ in tasks], [duration for _, duration in tasks]))
    return m.solve(minimize=span, learn=learn).objective


# Small models of the kinds that collections of MiniZinc models have.


def travelling_salesman() -> Any:
    rng = random.Random(3)
    n = 9
    m = Model()
    after = m.int_vars("after", n, 0, n - 1)
    m.add(c.circuit(after))
    legs = [c.element([rng.randint(1, 99) for _ in range(n)], after[i]) for i in range(n)]
    return m.solve(minimize=c.sum_(legs)).objective


def bin_packing() -> Any:
    rng = random.Random(5)
    m = Model()
    sizes = [rng.randint(2, 9) for _ in range(14)]
    bins = m.int_vars("bin", 14, 0, 5)
    loads = m.int_vars("load", 6, 0, 16)
    m.add(c.bin_packing(bins, sizes, loads))
    return m.solve(minimize=c.max_(*loads)).objective


def car_sequencing() -> Any:
    m = Model()
    cars = m.int_vars("car", 12, 0, 3)
    m.add(c.global_cardinality(cars, {0: 3, 1: 3, 2: 3, 3: 3}))
    for option, most, window in (({0, 1}, 2, 3), ({1, 2}, 2, 3), ({3}, 1, 2)):
        for i in range(12 - window + 1):
            m.add(c.among(cars[i : i + window], option) <= most)
    return m.count()


def nurse_rota() -> Any:
    m = Model()
    shifts = [m.int_vars(f"n{i}", 7, 0, 2) for i in range(5)]
    transitions = [(0, 0, 0), (0, 1, 1), (0, 2, 2), (1, 0, 0), (1, 1, 3), (2, 0, 0), (2, 2, 3), (3, 0, 0)]
    for row in shifts:
        m.add(c.regular(row, transitions, 0, [0, 1, 2, 3]))
    for day in range(7):
        m.add(c.count([row[day] for row in shifts], 1) >= 1, c.count([row[day] for row in shifts], 2) >= 1)
    for a, b in itertools.pairwise(shifts):
        m.add(c.lex_less_equal(list(a), list(b)))
    return bool(m.solve())


def quasigroup() -> Any:
    n = 5
    m = Model()
    q = [m.int_vars(f"q{i}", n, 0, n - 1) for i in range(n)]
    for i in range(n):
        m.add(c.all_different(q[i]), c.all_different([row[i] for row in q]), q[i][i] == i)
    return sum(1 for _ in m.iter_solutions())


def quasigroup_domain() -> Any:
    m = Model()
    n = 12
    rng = random.Random(1)
    q = [m.int_vars(f"q{i}", n, 0, n - 1) for i in range(n)]
    for i in range(n):
        m.add(c.all_different(q[i], consistency="domain"))
        m.add(c.all_different([row[i] for row in q], consistency="domain"))
    for _ in range(40):
        i, j = rng.randrange(n), rng.randrange(n)
        m.add(q[i][j] == (i * 5 + j) % n)
    return bool(m.solve())


def langford() -> Any:
    n = 7
    m = Model()
    place = m.int_vars("p", 2 * n, 0, 2 * n - 1)
    at = m.int_vars("a", 2 * n, 0, 2 * n - 1)
    m.add(c.inverse(place, at))
    m.add(*[place[n + i] == place[i] + i + 2 for i in range(n)], place[0] < n)
    return sum(1 for _ in m.iter_solutions())


def all_interval() -> Any:
    n = 8
    m = Model()
    x = m.int_vars("x", n, 0, n - 1)
    m.add(
        c.all_different(x), c.all_different([abs(b - a) for a, b in itertools.pairwise(x)]), x[0] < x[n - 1]
    )
    return sum(1 for _ in m.iter_solutions())


def rectangles() -> Any:
    sizes = [(3, 2), (2, 4), (4, 1), (2, 2), (3, 3), (1, 4), (2, 3)]
    m = Model()
    height = m.int_var("height", 0, 20)
    xs = [m.int_var(f"x{i}", 0, 7 - w) for i, (w, _) in enumerate(sizes)]
    ys = [m.int_var(f"y{i}", 0, 20) for i in range(len(sizes))]
    m.add(c.diffn(xs, ys, [w for w, _ in sizes], [h for _, h in sizes]))
    m.add(*[y + h <= height for y, (_, h) in zip(ys, sizes, strict=True)])
    return m.solve(minimize=height).objective


def colouring() -> Any:
    rng = random.Random(4)
    m = Model()
    x = m.int_vars("x", 24, 0, 9)
    m.add(*[x[a] != x[b] for a, b in itertools.combinations(range(24), 2) if rng.random() < 0.35])
    m.add(c.value_precede(range(10), x))
    return m.solve(minimize=c.nvalue(x)).objective


def assignment_by_selection() -> Any:
    m = Model()
    x = m.int_vars("x", 10, 0, 9)
    m.add(*[c.element(x, x[i]) == i for i in range(10)], *[x[i] != i for i in range(10)])
    return sum(1 for _ in m.iter_solutions())


def knapsack_sets() -> Any:
    m = Model()
    x = m.bool_vars("x", 25)
    rng = random.Random(25)
    weights = [rng.randint(10, 60) for _ in x]
    m.add(c.sum_(w * v for w, v in zip(weights, x, strict=True)) <= 400)
    return m.solve(
        maximize=c.sum_((w + rng.randint(0, 5)) * v for w, v in zip(weights, x, strict=True))
    ).objective


def steiner_triples() -> Any:
    m = Model()
    x = m.bool_vars("x", (9, 12))
    for i in range(9):
        m.add(x[i, :].sum() == 4)
        for h in range(i):
            m.add(c.sum_(x[i, j] * x[h, j] for j in range(12)) == 1)
    for j in range(12):
        m.add(x[:, j].sum() == 3)
    return bool(m.solve())


def change_by_thresholds() -> Any:
    m = Model()
    x = m.int_vars("x", 4, 0, 30)
    m.add(c.sum_(x) == 60, *[(a > 20).implies(b < 5) for a, b in itertools.pairwise(x)])
    price = c.sum_(c.if_then_else(v > 10, 3 * v + 2, 4 * v) for v in x)
    return m.solve(minimize=price).objective


# Arithmetic and number theory.


def squares_of_a_large_number() -> Any:
    m = Model()
    x, y = m.int_var("x", 0, 10**7), m.int_var("y", 0, 10**7)
    m.add(x * x + y * y == 5**6 * 13**4 * 17**2, x <= y)
    return m.count()


def factors_of_a_large_number() -> Any:
    m = Model()
    x, y = m.int_var("x", 2, 10**12), m.int_var("y", 2, 10**12)
    m.add(x * y == 1_000_003 * 999_983, x <= y)
    return m.solve()[x]


def residues_of_squares() -> Any:
    m = Model()
    x, y = m.int_var("x", 0, 10**6), m.int_var("y", 0, 10**6)
    m.add(x * x + y * y == 4 * 10**9 + 3)
    return bool(m.solve())


def equations_together() -> Any:
    m = Model()
    x, y, z = (m.int_var(name, -(10**6), 10**6) for name in "xyz")
    m.add(3 * x + 5 * y + 7 * z == 410, 5 * x - 3 * y + 11 * z == 130, x + y + z >= 1000)
    return m.solve(minimize=x).objective


def equations_without_solution() -> Any:
    m = Model()
    x, y, z = (m.int_var(name, -(10**6), 10**6) for name in "xyz")
    m.add(x + y + z == 5, x - y + 3 * z == 2)
    return bool(m.solve())


def cycle_of_differences() -> Any:
    m = Model()
    x = [m.int_var(f"x{i}") for i in range(6)]
    m.add(*[x[i] + 1 <= x[(i + 1) % 6] for i in range(6)])
    return bool(m.solve())


def unbounded_diophantine() -> Any:
    m = Model()
    x, y = m.int_var("x"), m.int_var("y")
    m.add(12 * x + 35 * y == 1, x >= 100)
    return m.solve(minimize=x).objective


def rational_bounds() -> Any:
    m = Model()
    x, y, z = (m.int_var(name) for name in "xyz")
    m.add(3 * x + 2 * y >= 10, x - y <= 4, x + 5 * y <= 30, z == 2 * x - 3 * y)
    return m.solve(maximize=z).objective


def common_divisors() -> Any:
    m = Model()
    x, y = m.int_var("x", 1, 300), m.int_var("y", 1, 300)
    m.add(c.gcd_(x, y) == 12, c.lcm_(x, y) == 2520)
    return sum(1 for _ in m.iter_solutions())


def blocks_rounded_up() -> Any:
    m = Model()
    n, block, split = m.int_var("n", 1, 5000), m.int_var("block", 1, 64), m.int_var("split", 1, 8)
    blocks = c.ceildiv(n, block)
    m.add(n >= 4000, c.ceildiv(blocks, split) * block <= 700, c.divides(8, block))
    return m.solve(minimize=blocks * split + n).objective


def remainders() -> Any:
    m = Model()
    x = m.int_var("x", 0, 10**5)
    d = m.int_var("d", 2, 40)
    m.add(x % d == 3, (x + 1) % 7 == 2, x // d % 5 == 4, x % 11 == 5, x >= 1000)
    return m.solve(minimize=x + d).objective


def powers() -> Any:
    m = Model()
    x, y, z = m.int_var("x", 1, 60), m.int_var("y", 1, 60), m.int_var("z", 1, 60)
    m.add(x**3 + y**3 == z**3 + 1, x <= y, y != z)
    return sum(1 for _ in m.iter_solutions())


def wide_remainders() -> Any:
    m = Model()
    x = m.int_var("x", 0, 10**12)
    m.add(x % 7 == 3, (x // 1000) % 9 == 4)
    return m.count()


def wide_equation() -> Any:
    m = Model()
    x, y = m.int_var("x", 0, 10**9), m.int_var("y", 0, 10**9)
    m.add(3 * x + 7 * y == 10**9 + 1, x % 4 == 1)
    return m.count()


def count_of_a_sum() -> Any:
    m = Model()
    x = m.int_vars("x", 12, 0, 9)
    m.add(c.sum_((i + 1) * v for i, v in enumerate(x)) == 200)
    return m.count()


def members_of_sets() -> Any:
    m = Model()
    x = m.int_vars("x", 6, 0, 10**4)
    primes = [p for p in range(2, 3000) if all(p % q for q in range(2, int(p**0.5) + 1))]
    for v in x:
        m.add(c.member(v, primes))
    m.add(
        *[a < b for a, b in itertools.pairwise(x)], *[b - a == x[1] - x[0] for a, b in itertools.pairwise(x)]
    )
    return m.solve(minimize=x[5]).objective


def nearest_to_zero() -> Any:
    m = Model()
    x, y, z = (m.int_var(name) for name in "xyz")
    m.add(x * y + z == 37, x - y == 5 * z, x * x > 3)
    return bool(m.solve())


MODELS: list[Row] = [
    travelling_salesman, bin_packing, car_sequencing, nurse_rota, quasigroup, quasigroup_domain, langford,
    all_interval, rectangles, colouring, assignment_by_selection, knapsack_sets, steiner_triples,
    change_by_thresholds, squares_of_a_large_number, factors_of_a_large_number, residues_of_squares,
    equations_together, equations_without_solution, cycle_of_differences, unbounded_diophantine,
    rational_bounds, common_divisors, blocks_rounded_up, remainders, powers, wide_remainders, wide_equation,
    count_of_a_sum, members_of_sets, nearest_to_zero,
]  # fmt: skip
ROWS = _all_rows()
