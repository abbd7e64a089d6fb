"""Models of many kinds and sizes for `limits.py`: each function returns the model and its objective."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

from constrint import Model, all_different, element, max_, min_, sum_, table

Problem = tuple[Model, Any]
MODELS: dict[str, Callable[[], Problem]] = {}


def _model(*sizes: int) -> Callable[[Callable[..., Problem]], Callable[..., Problem]]:
    def add(build: Callable[..., Problem]) -> Callable[..., Problem]:
        for size in sizes:
            MODELS[f"{build.__name__}_{size}"] = lambda build=build, size=size: build(
                size, random.Random(size)
            )
        return build

    return add


@_model(300, 3000, 30_000)
def set_cover(n: int, rng: random.Random) -> Problem:
    m = Model()
    x = [m.int_var(f"x{i}", 0, 1) for i in range(n)]
    for _ in range(3 * n):
        m.add(sum_(rng.sample(x, 3)) >= 1)
    return m, sum_(x)


@_model(300, 3000, 30_000)
def clauses(n: int, rng: random.Random) -> Problem:
    """Satisfiable by all zeros; the literals of a clause are conditions."""
    m = Model()
    x = [m.bool_var(f"x{i}") for i in range(n)]
    for _ in range(4 * n):
        a, b, c = rng.sample(x, 3)
        m.add(a | ~b | ~c if rng.random() < 0.5 else ~a | ~b | c)
    return m, sum_(-rng.randint(1, 9) * v for v in x)


@_model(12, 60)
def assignment(n: int, rng: random.Random) -> Problem:
    m = Model()
    x = [[m.int_var(f"x{i}_{j}", 0, 1) for j in range(n)] for i in range(n)]
    for i in range(n):
        m.add(sum_(x[i]) == 1, sum_(row[i] for row in x) == 1)
    return m, sum_(rng.randint(1, 99) * v for row in x for v in row)


@_model(30, 300, 3000, 30_000)
def knapsack(n: int, rng: random.Random) -> Problem:
    m = Model()
    x = [m.int_var(f"x{i}", 0, 1) for i in range(n)]
    weights = [rng.randint(100, 999) for _ in x]
    for row in range(3):
        m.add(
            sum_(rng.randint(1, 9) * w * v for w, v in zip(weights, x, strict=True))
            <= sum(weights) * (row + 2)
        )
    return m, sum_(-(w + rng.randint(1, 99)) * v for w, v in zip(weights, x, strict=True))


@_model(6, 14, 24)
def squares(n: int, rng: random.Random) -> Problem:
    m = Model()
    x = [m.int_var(f"x{i}", 0, 10**6) for i in range(n)]
    m.add(sum_(v * v for v in x) == sum(rng.randint(0, 10**5) ** 2 for _ in x))
    m.add(*[a <= b for a, b in itertools.pairwise(x)])
    return m, x[-1]


@_model(5, 10, 15)
def crossword(n: int, rng: random.Random) -> Problem:
    """n by n letters, each row and each column one of many words."""
    m = Model()
    cells = [[m.int_var(f"c{i}_{j}", 0, 25) for j in range(n)] for i in range(n)]
    words = [tuple(rng.randint(0, 25) for _ in range(n)) for _ in range(4000)]
    for i in range(n):
        m.add(table(cells[i], words), table([row[i] for row in cells], words))
    return m, cells[0][0]


@_model(50, 400, 2000)
def permutations(n: int, rng: random.Random) -> Problem:
    m = Model()
    x = [m.int_var(f"x{i}", 0, n - 1) for i in range(n)]
    m.add(all_different(x))
    for _ in range(n):
        a, b = rng.sample(x, 2)
        m.add(a - b != rng.randint(-n, n))
    return m, sum_(rng.randint(-9, 9) * v for v in x)


@_model(5, 10, 20, 40)
def job_shop(n: int, rng: random.Random) -> Problem:
    m = Model()
    horizon = 100 * n * 3
    span = m.int_var("span", 0, horizon)
    machines: list[list[Any]] = [[] for _ in range(n)]
    for j in range(n):
        end: Any = 0
        for machine in rng.sample(range(n), n):
            start, duration = m.int_var(f"s{j}_{machine}", 0, horizon), rng.randint(1, 99)
            m.add(start >= end)
            end = start + duration
            machines[machine].append((start, duration))
        m.add(end <= span)
    for tasks in machines:
        for (a, p), (b, q) in itertools.combinations(tasks, 2):
            m.add((a + p <= b) | (b + q <= a))
    return m, span


@_model(6, 20, 60)
def products(n: int, rng: random.Random) -> Problem:
    m = Model()
    x = [m.int_var(f"x{i}", 1, 10**5) for i in range(n)]
    for _ in range(n):
        a, b, c = rng.sample(x, 3)
        m.add(a * b + c <= rng.randint(10**5, 10**9), a * c % 7 != b % 7)
    return m, sum_(-v for v in x) + abs(x[0] - x[1])


@_model(10, 100, 1000)
def element_chain(n: int, rng: random.Random) -> Problem:
    m = Model()
    x = [m.int_var(f"x{i}", 0, 99) for i in range(n)]
    for a, b in itertools.pairwise(x):
        m.add(element([rng.randint(0, 99) for _ in range(100)], a) != b)
    for a, b in itertools.pairwise(x):
        m.add(b <= element([rng.randint(20, 99) for _ in range(100)], a))
    return m, sum_(-v for v in x)


@_model(1000, 10_000, 100_000)
def chain(n: int, rng: random.Random) -> Problem:
    """Many variables, each a little more than the last."""
    m = Model()
    x = [m.int_var(f"x{i}", 0, 10**6) for i in range(n)]
    for a, b in itertools.pairwise(x):
        m.add(b >= a + rng.randint(0, 3))
    return m, x[-1]


@_model(30, 200, 1000)
def nested(n: int, rng: random.Random) -> Problem:
    """Shared expressions, nested deeply."""
    m = Model()
    x = [m.int_var(f"x{i}", 0, 9) for i in range(5)]
    e: Any = x[0]
    for i in range(n):
        v = x[i % 5]
        e = min_(e + v, e + 1) if i % 2 else max_(e - v, x[0])
    m.add(e >= 2, sum_(x) >= 9)
    return m, e


@_model(1000, 10_000, 100_000)
def big_table(n: int, rng: random.Random) -> Problem:
    m = Model()
    x = [m.int_var(f"x{i}", 0, 999) for i in range(8)]
    for _ in range(4):
        rows = {tuple(rng.randint(0, 999) for _ in range(4)) for _ in range(n)}
        m.add(table(rng.sample(x, 4), rows))
    return m, sum_(x)


@_model(1000, 10_000)
def many_goals(n: int, rng: random.Random) -> Problem:
    """One objective over all variables, of maxima and absolute values."""
    m = Model()
    x = [m.int_var(f"x{i}", -(10**6), 10**6) for i in range(n)]
    m.add(sum_(x) >= n)
    return m, max_(*[abs(v - rng.randint(-999, 999)) for v in x[: n // 10]]) + sum_(abs(v) for v in x)


def drawn(seed: int) -> Problem:
    """A model drawn at random: some of all kinds of constraints."""
    rng = random.Random(seed)
    m = Model()
    n = rng.choice([5, 20, 100, 1000])
    top = rng.choice([1, 9, 100, 10**6])
    x = [m.int_var(f"x{i}", -top if rng.random() < 0.2 else 0, top) for i in range(n)]

    def one() -> Any:
        a, b, c = rng.choices(x, k=3)
        return rng.choice(
            [
                lambda: a + b - c <= rng.randint(0, 2 * top),
                lambda: a * b <= top * top // 2 + c,
                lambda: abs(a - b) + c != rng.randint(0, top),
                lambda: (a <= b) | (c != a + 1) | (b == rng.randint(0, top)),
                lambda: max_(a, b) >= min_(b, c) + rng.randint(-top, 0),
                lambda: sum_(rng.randint(-9, 9) * v for v in rng.choices(x, k=8)) <= 9 * top,
                lambda: (a + 2 * b) % rng.randint(2, 9) != c % 3,
                lambda: all_different([v + 3 * i for i, v in enumerate(rng.sample(x, min(n, 5)))]),
                lambda: (a // (abs(b) + 1) <= c).implies(b >= -1),
            ]
        )()

    for _ in range(rng.choice([n // 2, n, 3 * n])):
        m.add(one())
    goal = sum_(rng.randint(-5, 5) * v for v in rng.sample(x, min(n, 30)))
    return m, rng.choice([goal, max_(*x[:5]) - x[0], abs(x[0] - x[1]) - x[0], goal + x[0] * x[1]])
