"""Random models of variables that are functions of one another, under objectives of weighted literals.

Declared variables are sums, differences and distances of other declared ones, in chains and in circles; the
same sum stands under several limits; objectives and constraints hold literals of arguments and results alike;
constants are small, so that rules fire. Each constraint is drawn as an expression and as an equivalent
function of numpy's columns of values, so what a model means is known without constrint.
"""

from __future__ import annotations

import math
from random import Random

import numpy as np
from literal_kinds import KINDS, chain, journey, tour
from literal_model import LiteralModel, literal

import constrint as ci


def draw_literals(seed: int, most: int = 600) -> LiteralModel:
    """The model of a seed, of at most that many assignments."""
    m = LiteralModel(Random(f"literals {seed}"))
    rng = m.rng
    if rng.random() < 0.08:
        rng.choice([tour, journey])(m)
    count = rng.randint(2, 7)
    while len(m.xs) < count:
        left = most // math.prod(map(len, m.domains))
        if left < 2:
            break
        low, size = rng.randint(-4, 3), rng.randint(2, min(left, 13 if len(m.xs) < 2 else 5))
        values = list(range(low, low + size))
        shape = rng.random()
        if shape < 0.15:
            values = [0, 1]
        elif shape < 0.35:
            values = sorted(rng.sample(range(-5, 12), size))
        m.declare(values)
    if rng.random() < 0.8:
        m.kept = np.array([[rng.choice(domain) for domain in m.domains]])
    if rng.random() < 0.4:  # functions alone, each variable in few of them
        m.only_values = rng.random() < 0.7
        chain(m)
    else:
        for _ in range(rng.randint(1, 9)):
            rng.choices(list(KINDS), weights=list(KINDS.values()))[0](m)
    parts = [literal(m) for _ in range(rng.randint(4, 9) if m.only_values else rng.randint(1, 6))]
    weights = [rng.choice([-5, -3, -2, -1, 1, 1, 2, 3, 4, 8]) for _ in parts]
    ends = [m.place() for _ in range(0 if m.only_values else rng.randint(0, 2))]
    m.goal = (
        ci.sum_([*(w * part for w, (part, _) in zip(weights, parts, strict=True)), *(m.xs[i] for i in ends)]),
        lambda cols: (
            sum(w * truth(cols).astype(np.int64) for w, (_, truth) in zip(weights, parts, strict=True))
            + cols[:, ends].sum(axis=1)
        ),
    )
    return m


def best_of(m: LiteralModel, way: str) -> int | None:
    """The optimum of the goal; None where there is no solution."""
    values = m.goal[1](m.solutions())
    if not len(values):
        return None
    return int(values.min() if way == "minimize" else values.max())
