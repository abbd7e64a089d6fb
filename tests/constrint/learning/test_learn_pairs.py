"""Literals of differences, as clauses over pairs of values."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import pytest
from goals import towards

from constrint import IntExpr, Model, Status, abs_, all_different, sum_
from constrint.learning.decompose import Decomposition
from constrint.preparing.prepared import Prepared
from constrint.propagators import Clause, LinearEqIf


def drawn(seed: int) -> tuple[Model, IntExpr, list[int]]:
    """A model of literals of differences and distances, a goal, and its values in all solutions."""
    rng = Random(seed)
    m = Model()
    domains = [
        sorted(rng.sample(range(-3, 8), rng.randint(1, 5)))
        if rng.random() < 0.4
        else list(range(low := rng.randint(-2, 3), low + rng.randint(1, 6)))
        for _ in range(4)
    ]
    x = [m.int_var(f"x{i}", values=domain) for i, domain in enumerate(domains)]
    truths = []
    literals = []
    for _ in range(rng.randint(3, 7)):
        i, j = rng.sample(range(4), 2)
        c, sign, shift = rng.randint(-2, 4), rng.choice([1, -1]), rng.randint(-1, 1)
        kind = rng.randrange(4)
        d = x[i] + sign * x[j] + shift
        if kind == 0:
            literals.append(abs_(d) == c)
        elif kind == 1:
            literals.append(d == c)
        elif kind == 2:
            literals.append(abs_(d) <= c)
        else:
            literals.append(abs_(d) > c)

        def truth(
            row: Any,
            i: int = i,
            j: int = j,
            c: Any = c,
            sign: Any = sign,
            shift: Any = shift,
            kind: Any = kind,
        ) -> Any:
            d = row[i] + sign * row[j] + shift
            return [abs(d) == c, d == c, abs(d) <= c, abs(d) > c][kind]

        truths.append(truth)
    weights = [rng.choice([-3, -1, 1, 2]) for _ in literals]
    spread = rng.random() < 0.5
    if spread:
        m.add(all_different(x))
    goal = sum_(w * literal for w, literal in zip(weights, literals, strict=True)) + x[0]
    values = [
        sum(w * t(row) for w, t in zip(weights, truths, strict=True)) + row[0]
        for row in itertools.product(*domains)
        if not spread or len(set(row)) == 4
    ]
    return m, goal, values


@pytest.mark.parametrize("block", range(4))
def test_drawn_models_against_brute_force(block: int) -> None:
    for seed in range(150 * block, 150 * (block + 1)):
        m, goal, values = drawn(seed)
        for way, best_of in (("minimize", min), ("maximize", max)):
            r = m.solve(**towards(way, goal), learn=True, engine="interpreted")
            wanted = (Status.OPTIMAL, best_of(values)) if values else (Status.INFEASIBLE, None)
            assert (r.status, r.objective) == wanted, (seed, way)


def test_a_literal_of_a_distance_becomes_clauses_over_values() -> None:
    m = Model()
    x, y = m.int_vars("x", 2, 0, 9)
    b = m.bool_var("b")
    m.add((abs_(x - y) == 1) == b)
    root = Prepared(m, (), ()).root
    assert root is not None
    before = [node for node in root.propagators if isinstance(node, LinearEqIf)]
    after = Decomposition(root).root
    assert len(before) == 1
    assert before[0] not in after.propagators
    # One for each of 18 pairs, and for each value of either variable.
    assert sum(isinstance(node, Clause) for node in after.propagators) == 18 + 10 + 10


def test_many_pairs_stay_a_comparison() -> None:
    m = Model()
    x, y = m.int_vars("x", 2, 0, 9)
    b = m.bool_var("b")
    m.add((abs_(x - y) <= 6) == b)
    root = Prepared(m, (), ()).root
    assert root is not None
    assert not any(isinstance(node, Clause) for node in Decomposition(root).root.propagators)
