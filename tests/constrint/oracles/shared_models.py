"""Random models with small and with large numbers and an oracle, and executors with delays."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any

import constrint as ci

GREAT = 10**30
"""An offset that needs exact arithmetic."""

Row = tuple[int, ...]


@dataclass
class Drawn:
    """A model over a few variables, all shifted by an offset; its solutions, unshifted, with their goals."""

    model: ci.Model
    offset: int
    xs: list[ci.IntVar]
    goals: list[ci.IntExpr]
    truths: dict[Row, Row]

    def row(self, result: ci.Result) -> Row | None:
        """A solution, unshifted."""
        return tuple(result[x] - self.offset for x in self.xs) if result else None

    def questions(self) -> dict[str, tuple[dict[str, Any], Callable[[Row], Row]]]:
        """Ways to ask for one solution, and what the answer has the least of."""
        (first, second), (x, y, z, *_), goals = self.goals, self.xs, self.truths
        return {
            "any": ({}, lambda t: ()),
            "min": ({"minimize": first}, lambda t: (goals[t][0],)),
            "max": ({"maximize": first}, lambda t: (-goals[t][0],)),
            "lexicographic": (
                {"minimize": [first, (second, "max")]},
                lambda t: (goals[t][0], -goals[t][1]),
            ),
            "prefer": ({"prefer": [(x, "max"), (y, "min")]}, lambda t: (-t[0], t[1])),
            "prefer a function": (
                {"prefer": [(x, "max"), (first, "min"), (z, "max")]},
                lambda t: (-t[0], goals[t][0], -t[2]),
            ),
            "both": (
                {"minimize": second, "prefer": [(x, "max"), (y, "min")]},
                lambda t: (goals[t][1], -t[0], t[1]),
            ),
        }


def _holds(row: Row, kind: int, i: int, j: int, k: int) -> bool:
    a, b, c = row[i], row[j], row[k]
    return [a + b != c, a * b <= c + 3, len({a, b, c}) == 3, a <= b or c >= 2, a * 2 - b >= c - 4][kind]


def draw(seed: int, offset: int = 0) -> Drawn:
    """A model; the same one for each offset, as far as its solutions go."""
    rnd = random.Random(seed)
    m = ci.Model()
    bounds = [(rnd.randint(-2, 0), rnd.randint(2, 4)) for _ in range(5)]
    has_holes = rnd.random() < 0.3
    domains = [[v for v in range(a, b + 1) if v != 1 or not has_holes] for a, b in bounds]
    xs = [m.int_var(f"x{i}", values=[offset + v for v in values]) for i, values in enumerate(domains)]
    ys = [x - offset for x in xs]
    checks = []
    for _ in range(rnd.randint(2, 5)):
        i, j, k = rnd.sample(range(5), 3)
        kind = rnd.randrange(5)
        a, b, c = ys[i], ys[j], ys[k]
        different = ci.all_different([a, b, c])
        m.add([a + b != c, a * b <= c + 3, different, (a <= b) | (c >= 2), a * 2 - b >= c - 4][kind])
        checks.append((kind, i, j, k))
    weights = [[rnd.randint(-3, 3) for _ in ys] for _ in range(2)]
    sums = [ci.sum_(w * y for w, y in zip(row, ys, strict=True)) for row in weights]

    def goals(row: Row) -> Row:
        first, second = (sum(w * v for w, v in zip(weight, row, strict=True)) for weight in weights)
        return first + row[0] * row[1], second

    found = (row for row in itertools.product(*domains) if all(_holds(row, *check) for check in checks))
    return Drawn(m, offset, xs, [sums[0] + ys[0] * ys[1], sums[1]], {row: goals(row) for row in found})


class Here(Executor):
    """Works in this thread, at once."""

    def __init__(self) -> None:
        self.shares = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.shares += 1
        future: Future[Any] = Future()
        future.set_result(fn(*args))
        return future


class Backwards(Executor):
    """Works only when it is waited for, and then on the latest first."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Late, Any, Any]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = Late(self)
        self.waiting.append((future, fn, args))
        return future

    def work(self) -> None:
        while self.waiting:
            future, fn, args = self.waiting.pop()
            if not future.cancelled():
                future.set_result(fn(*args))


class Late(Future[Any]):
    """What has not been begun yet."""

    def __init__(self, executor: Backwards) -> None:
        super().__init__()
        self._executor = executor

    def result(self, timeout: float | None = None) -> Any:
        self._executor.work()
        return super().result(timeout)


def queens(n: int) -> ci.Model:
    m = ci.Model("queens")
    q = m.int_vars("q", n, 0, n - 1)
    for shift in (-1, 0, 1):
        m.add(ci.all_different([q[i] + shift * i for i in range(n)]))
    return m


def rows(m: ci.Model, **how: Any) -> list[tuple[int, ...]]:
    return [tuple(r.values.values()) for r in m.iter_solutions(**how)]


def endless() -> tuple[ci.Model, ci.IntExpr]:
    """A model that no machine searches through in the life of a test: its goal's terms are as good as drawn.

    There are three times as many terms as variables, so no assignment brings all near their bounds.
    """
    m = ci.Model()
    xs = [m.int_var(f"x{i}", 0, 60) for i in range(14)]
    m.add(ci.all_different(xs), ci.sum_(x * x for x in xs) % 1009 == 17)
    pairs = [(i, (i + step) % 14) for step in (1, 3, 5) for i in range(14)]
    return m, ci.sum_((xs[i] * (37 * i + 101) + xs[j] * (53 * j + 211)) % 1009 for i, j in pairs)


def improving() -> tuple[ci.Model, ci.IntExpr]:
    """A model of which every few nodes give a better solution, towards the greatest value of the goal."""
    m, _ = endless()
    return m, ci.sum_((i + 1) * x for i, x in enumerate(m.variables.values()))


def pigeons(holes: int = 6) -> tuple[ci.Model, ci.IntExpr]:
    """A pigeon more than there are holes, said so that only search finds out."""
    m = ci.Model()
    xs = [m.int_var(f"x{i}", 1, holes) for i in range(holes + 1)]
    m.add(ci.all_different(xs, consistency="value"))  # disequalities of all pairs would be put together
    return m, ci.sum_(xs)
