"""Dominated rows: what goes follows from what stays, within the bounds of the root."""

from __future__ import annotations

from itertools import pairwise, product
from random import Random

import pytest

import constrint as ci
from constrint.engine.state_arrays import Box
from constrint.presolve.dominated import without_dominated
from constrint.propagators import Clause, LinearEq, LinearLe, Propagator

FINITE = 1 << 40


def boxed(lo: list[int], hi: list[int]) -> Box:
    return Box(lo, hi, [1] * len(lo), [None] * len(lo))


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        # x0 + x1 <= 3 and x2 <= 2 give x0 + x1 + x2 <= 5
        ([LinearLe(((1, 0), (1, 1), (1, 2)), 5), LinearLe(((1, 0), (1, 1)), 3)], [1]),
        ([LinearLe(((1, 0), (1, 1), (1, 2)), 4), LinearLe(((1, 0), (1, 1)), 3)], [0, 1]),
        # 2 x0 + 2 x1 <= 5 from x0 + x1 <= 2: a factor of two
        ([LinearLe(((1, 0), (1, 1)), 2), LinearLe(((2, 0), (2, 1)), 5)], [0]),
        # an equation implies both of its directions, and is implied by nothing here
        (
            [LinearEq(((1, 0), (1, 1)), 3), LinearLe(((-1, 0), (-1, 1)), -2), LinearLe(((1, 0), (1, 1)), 3)],
            [0],
        ),
        # the same row twice: one of them stays
        ([LinearLe(((1, 0), (1, 1)), 2), LinearLe(((1, 0), (1, 1)), 2)], [1]),
        # a row with a variable twice is neither read nor used
        ([LinearLe(((1, 0), (1, 0), (1, 1)), 3), LinearLe(((2, 0), (1, 1)), 3)], [0, 1]),
        # a constraint of another kind is left alone
        ([Clause((0, 2)), LinearLe(((1, 0), (1, 1)), 2)], [0, 1]),
    ],
)
def test_what_stays(rows: list[Propagator], kept: list[int]) -> None:
    left = without_dominated(rows, boxed([0, 0, 0], [2, 2, 2]), FINITE)
    assert (rows if left is None else left) == [rows[i] for i in kept]


def test_nothing_follows_from_a_bound_that_stands_for_all_integers() -> None:
    rows = [LinearLe(((1, 0), (1, 1)), 3), LinearLe(((1, 0), (1, 1), (1, 2)), FINITE + 3)]
    assert without_dominated(rows, boxed([0, 0, 0], [2, 2, FINITE]), FINITE) is None
    assert without_dominated(rows, boxed([0, 0, 0], [2, 2, FINITE - 1]), FINITE) == rows[:1]
    model = ci.Model()
    x, y = model.int_var("x", 0, 2), model.int_var("y", 0, 2)
    z = model.int_var("z", 0)
    model.add(x + y <= 3, x + y + z <= 10)
    model.maximize(z)
    assert model.solve().objective == 10


@pytest.mark.parametrize("seed", range(120))
def test_drawn_rows_keep_their_solutions(seed: int) -> None:
    draw = Random(seed)
    count = draw.randint(2, 4)
    lo = [draw.randint(-2, 1) for _ in range(count)]
    hi = [low + draw.choice((0, 1, 1, 2, 3)) for low in lo]
    nodes: list[Propagator] = []
    for _ in range(draw.randint(2, 6)):
        terms = [
            (draw.choice((-3, -2, -1, 1, 1, 2, 3)), v)
            for v in draw.sample(range(count), draw.randint(1, count))
        ]
        near = sum(a * draw.randint(lo[v], hi[v]) for a, v in terms)
        kind = draw.choice((LinearLe, LinearLe, LinearEq))
        nodes.append(kind(tuple(terms), near + draw.choice((0, 0, 1, 2))))
    left = without_dominated(nodes, boxed(lo, hi), FINITE)
    kept = nodes if left is None else left
    assert all(node in nodes for node in kept)
    for values in product(*[range(a, b + 1) for a, b in zip(lo, hi, strict=True)]):
        assert all(node.holds(values) for node in kept) == all(node.holds(values) for node in nodes)


def test_a_ruler_is_solved_with_fewer_rows() -> None:
    """Rows of a Golomb ruler's differences that longer differences imply are gone at its root."""
    model = ci.Model()
    marks = [model.int_var(f"m{i}", 0, 20) for i in range(5)]
    model.add(marks[0] == 0, *[b - a >= 1 for a, b in pairwise(marks)])
    model.add(ci.all_different([b - a for i, a in enumerate(marks) for b in marks[i + 1 :]]))
    model.add(*[marks[j] - marks[i] >= 1 for i in range(5) for j in range(i + 2, 5)])
    model.minimize(marks[-1])
    assert model.solve().objective == 11
