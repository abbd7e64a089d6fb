"""Random models of every kind with their solutions by brute force, and every way to solve them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from global_models import DRAWN, expected
from global_models import draw_model as draw_globals
from linked_models import draw_linked
from random_models import build, draw_model, draw_stride_model
from shared_models import GREAT, Here
from shared_models import draw as draw_shared

import constrint as ci

Row = tuple[int, ...]


@dataclass
class Case:
    """A model and what is true of it.

    Attributes:
        kind: How it was drawn.
        model: The model.
        names: Its variables, in the order of a row.
        truths: Each solution with the value of the goal; None where that has none.
        goal: What may be optimised.
    """

    kind: str
    model: ci.Model
    names: Sequence[str]
    truths: dict[Row, int | None]
    goal: Any

    def row(self, result: ci.Result) -> Row:
        """The values in an answer."""
        return tuple(int(result[name]) for name in self.names)

    def best(self, way: str) -> int | None:
        """The optimum of the goal."""
        worth = [value for value in self.truths.values() if value is not None]
        return (min if way == "minimize" else max)(worth, default=None)


def _linked(seed: int) -> Case:
    m = draw_linked(500_000 + seed)
    names = [str(name) for name in m.model.variables]
    return Case("linked", m.model, names, {row: m.goal[1](row) for row in m.solutions()}, m.goal[0])


def _random(seed: int, draw: Callable[[int], Any] = draw_model) -> Case:
    drawn = draw(500_000 + seed)
    m = drawn.build()
    found = drawn.solutions()
    truths = {tuple(s[name] for name in drawn.domains): drawn.value(drawn.objective, s) for s in found}
    return Case(
        draw.__name__, m, list(drawn.domains), truths, build(drawn.objective, {**m.variables, **m.lets})
    )


def _global(seed: int) -> Case:
    name = sorted(DRAWN)[seed % len(DRAWN)]
    m = draw_globals(name, 500_000 + seed)
    xs = list(m.variables.values())
    weights = [random.Random(seed + i).randint(-3, 3) for i in range(len(xs))]
    truths: dict[Row, int | None] = {
        row: sum(w * value for w, value in zip(weights, row, strict=True)) for row in expected(m)
    }
    return Case(name, m, list(m.variables), truths, ci.sum_(w * x for w, x in zip(weights, xs, strict=True)))


def _shared(seed: int, offset: int = 0) -> Case:
    drawn = draw_shared(500_000 + seed, offset)
    truths: dict[Row, int | None] = {
        tuple(value + offset for value in row): goals[0] for row, goals in drawn.truths.items()
    }
    return Case(f"shared from {offset}", drawn.model, [x.name for x in drawn.xs], truths, drawn.goals[0])


def _unbounded(seed: int) -> Case:
    """Variables without bounds of their own, which equations give them."""
    rng = random.Random(seed)
    a, b, c = rng.randint(1, 9), rng.randint(1, 9), rng.randint(20, 90)
    m = ci.Model()
    x, y, z = m.int_var("x", 0, None), m.int_var("y", 0, None), m.int_var("z", None, None)
    m.add(a * x + b * y == c, z == x * y - c, z % 3 != 1)
    rows = ((x, (c - a * x) // b) for x in range(c // a + 1) if (c - a * x) % b == 0)
    truths: dict[Row, int | None] = {
        (u, v, u * v - c): u - 2 * v + u * v for u, v in rows if (u * v - c) % 3 != 1
    }
    return Case("unbounded", m, ["x", "y", "z"], truths, x - 2 * y + z + c)


KINDS: list[Callable[[int], Case]] = [
    _linked,
    _random,
    _global,
    lambda seed: _random(seed, draw_stride_model),
    _shared,
    lambda seed: _shared(seed, GREAT),
    _unbounded,
]


def cases(count: int, seed: int) -> Iterator[Case]:
    """So many cases, of all kinds in turn."""
    for number in range(count):
        yield KINDS[number % len(KINDS)](1000 * seed + number)


# Every way to ask: a name, and what is wrong with the answer, or None.
Ask = Callable[[Case, random.Random], str | None]


def _solved(**options: Any) -> Ask:
    """One call of `solve`, for any solution, the least or the greatest goal."""

    def ask(case: Case, rng: random.Random) -> str | None:
        way = rng.choice(["minimize", "maximize"] if options.get("lns") else ["any", "minimize", "maximize"])
        goal = {} if way == "any" else {way: case.goal}
        r = case.model.solve(**goal, seed=rng.randrange(3), **options)
        best = case.best(way) if goal else None
        is_there = best is not None if goal else bool(case.truths)
        status = ci.Status.OPTIMAL if is_there else ci.Status.INFEASIBLE
        if r.status is not status or (goal and r.objective != best):
            return f"{way}: {r.status}, {r.objective}, not {status}, {best}"
        if is_there and (case.row(r) not in case.truths or (goal and case.truths[case.row(r)] != best)):
            return f"{way}: {case.row(r)} is no solution, or not the best"
        return None

    return ask


def _iterated(**options: Any) -> Ask:
    def ask(case: Case, rng: random.Random) -> str | None:
        found = [case.row(r) for r in case.model.iter_solutions(**options)]
        return (
            None if sorted(found) == sorted(case.truths) else f"{len(found)} of {len(case.truths)} solutions"
        )

    return ask


def _counted(**options: Any) -> Ask:
    def ask(case: Case, rng: random.Random) -> str | None:
        number = case.model.count(**options)
        return None if number == len(case.truths) else f"counted {number}, not {len(case.truths)}"

    return ask


def _listed(case: Case, rng: random.Random) -> str | None:
    s = case.model.solutions()
    places = [list(s.names).index(name) for name in case.names]
    found = sorted(tuple(int(row[place]) for place in places) for row in map(tuple, s.to_numpy().tolist()))
    return None if found == sorted(case.truths) and s.size == len(found) else f"set of {s.size}"


def _preferred(case: Case, rng: random.Random) -> str | None:
    name = rng.choice(list(case.names))
    r = case.model.solve(prefer=[(case.model.variables[name], "max")], learn=rng.choice([True, "auto"]))
    best = max((row[list(case.names).index(name)] for row in case.truths), default=None)
    got = int(r[name]) if r else None
    return None if got == best else f"prefer {name}: {got}, not {best}"


METHODS: dict[str, Ask] = {
    "default": _solved(),
    "interpreted": _solved(engine="interpreted"),
    "compiled": _solved(engine="compiled"),
    "branching, compiled": _solved(engine="compiled", learn=False),
    "learning": _solved(learn=True),
    "learning, interpreted": _solved(learn=True, engine="interpreted"),
    "learning, compiled": _solved(learn=True, engine="compiled"),
    "restarts": _solved(restarts=ci.Restarts("luby", 2)),
    "restarts, compiled": _solved(restarts=ci.Restarts("geometric", 1, 1.3), engine="compiled"),
    "neighbourhoods": _solved(lns=True, engine="interpreted"),
    "neighbourhoods, compiled": _solved(lns=True, engine="compiled"),
    "executor": _solved(executor=Here(), workers=2),
    "iter_solutions": _iterated(),
    "iter_solutions, compiled": _iterated(engine="compiled"),
    "count": _counted(),
    "count, compiled": _counted(engine="compiled"),
    "count, executor": _counted(executor=Here(), workers=2),
    "solutions": _listed,
    "prefer": _preferred,
}
PROCESSES: dict[str, Ask] = {"workers": _solved(workers=2), "count, workers": _counted(workers=2)}
