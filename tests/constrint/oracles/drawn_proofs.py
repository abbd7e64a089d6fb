"""Models drawn for proofs, each with a goal, and proofs changed at random."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import global_models
from literal_models import draw_literals
from lowered import LOWERED
from random_models import build
from random_models import draw_model as draw_expressions

import constrint as ci


def draw_sums(rng: random.Random) -> tuple[ci.Model, ci.IntExpr]:
    """The same sums under several limits, short tables, and weighted literals of values as the goal."""
    m = ci.Model()
    xs: list[Any] = [m.int_var(f"x{i}", rng.randint(-2, 0), rng.randint(1, 3)) for i in range(2)]
    xs += [m.bool_var(f"b{i}") for i in range(3)]
    sums = [
        ci.sum_(rng.choice((-2, -1, 1, 1, 2, 3)) * x for x in rng.sample(xs, rng.randint(2, 4)))
        for _ in range(2)
    ]
    known = [m.bool_var(f"p{i}") for i in range(rng.randint(1, 3))]
    for p in known:
        total, k = rng.choice(sums), rng.randint(-2, 4)
        m.add(ci.iff(p, rng.choice((total <= k, total >= k, total == k, total != k))))
    for _ in range(rng.randint(0, 2)):
        least, most = rng.choice(sums) >= rng.randint(-1, 5), rng.choice(sums) <= rng.randint(-2, 3)
        m.add(ci.any_of([least, rng.choice(known), most]))
    if rng.random() < 0.4:
        rows = [[rng.choice((None, 0, 1)) for _ in range(3)] for _ in range(3)]
        m.add(ci.table(xs[:3], rows))
    goal = ci.sum_(rng.randint(-5, 5) * term for term in [*known, *sums])
    return m, goal + ci.sum_(rng.randint(-9, 9) * (x == rng.randint(-2, 3)) for x in xs)


def draw_chains(rng: random.Random) -> tuple[ci.Model, ci.IntExpr]:
    """Declared variables that are functions of one another, in chains and circles, and weighted literals."""
    m = ci.Model()
    xs = [m.int_var(f"x{i}", rng.randint(-1, 0), rng.randint(1, 2)) for i in range(3)]
    ds = [m.int_var(f"d{i}", -3, 3) for i in range(2)]
    for d in ds:
        x, y = rng.sample(xs, 2)
        m.add(d == rng.choice((x - y, x + y, abs(x - y))))
    if rng.random() < 0.3:
        m.add(xs[0] == ds[0] + rng.randint(-1, 1))
    terms = [*xs, *ds]
    return m, ci.sum_(rng.randint(-9, 9) * (rng.choice(terms) == rng.randint(-3, 4)) for _ in range(6))


def draw(kind: str, seed: int) -> tuple[ci.Model, ci.IntExpr]:
    """The model of a seed and its goal; of every other seed with thresholds so low that all rules fire."""
    m, goal = _drawn(kind, seed)
    if seed % 2:
        m.settings = LOWERED
    return m, goal


def _drawn(kind: str, seed: int) -> tuple[ci.Model, ci.IntExpr]:
    """The model of a seed and its goal."""
    rng = random.Random(f"{kind} {seed}")
    if kind == "expressions":
        drawn = draw_expressions(seed, max_assignments=100)
        m = drawn.build()
        return m, build(drawn.objective, {**m.variables, **m.lets})
    if kind == "globals":
        names = list(global_models.DRAWN)
        m = global_models.draw_model(names[seed % len(names)], seed // len(names))
        return m, ci.sum_(rng.randint(-3, 3) * x for x in m.variables.values())
    if kind == "literals":
        literals = draw_literals(seed, most=150)
        return literals.model, literals.goal[0]
    return draw_sums(rng) if kind == "sums" else draw_chains(rng)


KINDS = ("expressions", "globals", "sums", "chains", "literals")


def goals_of(m: ci.Model, goal: ci.IntExpr, seed: int) -> dict[str, Any]:
    """What the solve of a seed optimises: nothing, one goal, or two."""
    other = next(iter(m.variables.values()))
    ways: list[dict[str, Any]] = [
        {"maximize": goal},
        {"minimize": goal},
        {},
        {"minimize": [goal], "maximize": [other]},
        {"maximize": goal, "prefer": [(other, "max")]},
    ]
    return ways[seed // 2 % len(ways)]


def proof_of(m: ci.Model, path: Path, goals: dict[str, Any]) -> tuple[ci.Result, list[str]] | None:
    """The answer and the lines of its proof; None for the few models with numbers that are too great."""
    try:
        result = m.solve(learn=True, proof=path, engine="interpreted", **goals)
    except ci.ModelError as error:
        assert "int64" in str(error)  # noqa: PT017 - no other error is expected
        return None
    return result, path.read_text("utf-8").splitlines()


def mutants(lines: list[str], rng: random.Random, count: int) -> Iterator[list[str]]:
    """Proofs with a line dropped, doubled, moved or changed; head and model stay."""
    for _ in range(count):
        changed = list(lines)
        i, j = rng.randrange(2, len(lines)), rng.randrange(2, len(lines))
        way = rng.randrange(6)
        if way == 0:
            del changed[i]
        elif way == 1:
            changed.insert(j, lines[i])
        elif way == 2:
            changed[i], changed[j] = changed[j], changed[i]
        elif way == 3:
            del changed[min(i, j) : max(i, j)]
        else:
            words = changed[i].split(" ")
            places = [k for k, word in enumerate(words) if word.strip("[]{},").lstrip("-").isdigit()]
            if places:
                k = rng.choice(places)
                number = words[k].strip("[]{},")
                words[k] = words[k].replace(number, str(int(number) + rng.choice((-2, -1, 1, 2))))
            elif way == 5 and "claim" in changed[i]:
                words = ["claim", "infeasible"]
            changed[i] = " ".join(words)
        if changed != lines:
            yield changed
