"""Rows of constraints: a point fulfils them if and only if it fulfils the constraints."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from random_models import draw_model

from constrint import Model, all_different, element, global_cardinality, max_, min_, sum_
from constrint.local_search.jump_arrays import build, values
from constrint.local_search.layout import VIOLATED
from constrint.local_search.separable_rows import SeparableRows
from constrint.preparing.prepared import Prepared

MOST_POINTS = 400


def points(rows: SeparableRows, seed: int) -> Iterator[dict[int, int]]:
    """All points of a root's box, or some of them, with values of named literals that fit."""
    box = rows.box
    domains = [box.values[v] or range(box.lo[v], box.hi[v] + 1, box.step[v]) for v in range(len(box.lo))]
    slacks = {slack.v for slacks in rows.slacks for slack in slacks.taken}
    free = [v for v in range(len(domains)) if v not in rows.meanings and v not in slacks]
    size = 1
    for v in free:
        size *= len(domains[v])
    random = Random(seed)
    if size <= MOST_POINTS:
        chosen = itertools.product(*(domains[v] for v in free))
    else:
        chosen = ([random.choice(domains[v]) for v in free] for _ in range(MOST_POINTS))  # type: ignore[assignment]
    for one in chosen:
        yield dict(zip(free, one, strict=True))


def compare(root: Any, seed: int) -> tuple[int, int]:
    """The number of points that fulfil all, and of those that do not; they are told apart by both."""
    rows = SeparableRows(root)
    right = wrong = 0
    for point in points(rows, seed):
        state = build(rows, seed, point)
        assert all(state.value[v] == x for v, x in point.items())
        found = values(rows, state)
        holds = all(node.holds(found) for node in root.propagators)
        fulfils = state.scalar[VIOLATED] == 0
        if rows.left_out:
            assert fulfils or not holds
        else:
            assert fulfils == holds, root.propagators
        right, wrong = right + holds, wrong + (not holds)
    return right, wrong


def test_random_models() -> None:
    right = wrong = complete = 0
    for seed in range(2_000, 2_250):
        root = Prepared(draw_model(seed).build(), [], []).root
        if root is None or root.exact:
            continue
        good, bad = compare(root, seed)
        right, wrong = right + good, wrong + bad
        complete += SeparableRows(root).left_out == 0
    assert min(right, wrong) > 500
    assert complete > 50


def stated(kind: str) -> Model:
    m = Model()
    x = m.int_vars("x", 4, -2, 3)
    y = m.int_var("y", -6, 12)
    b = m.bool_var("b")
    if kind == "sums":
        m.add(sum_(x) <= y, 2 * x[0] - 3 * x[1] + x[2] == 1, x[1] + x[3] != 2)
    elif kind == "conditions":
        m.add(b == (x[0] + 2 * x[1] <= y), (x[2] == 1) == (x[0] - x[3] == 2), (x[1] >= 0) | (x[2] <= -1))
    elif kind == "different":
        m.add(all_different(x), all_different([2 * x[0], x[1] + 1, y]))
    elif kind == "counted":
        m.add(global_cardinality(x, {-1: y, 0: 1, 2: x[0]}))
    elif kind == "looked up":
        m.add(element([3, 1, 4, 1, 5], x[0]) == y, element([0, 2, 1], x[1]) + x[2] <= 2)
    elif kind == "absolute":
        m.add(abs(x[0]) + abs(x[1] - 1) == y, b == (abs(x[2]) <= 1))
    elif kind == "extremes":
        m.add(max_(x) == y, min_(x[0], x[1]) == x[2])
    return m


KINDS = ["sums", "conditions", "different", "counted", "looked up", "absolute", "extremes"]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_constraint(kind: Any) -> None:
    root = Prepared(stated(kind), [], []).root
    right, wrong = compare(root, 7)
    assert wrong > 0
    assert right + wrong > 100
    assert root is not None
    assert (SeparableRows(root).left_out == 0) == (kind != "extremes")


def test_sums_beyond_reach_have_no_row() -> None:
    m = Model()
    x = m.int_vars("x", 3, 0, 10)
    m.add(2**40 * x[0] - 3 * x[1] <= 2**41, x[0] + x[1] == x[2])
    rows = SeparableRows(Prepared(m, [], []).root)  # type: ignore[arg-type]
    assert rows.left_out + len(rows.rows) >= 1
    assert all(function.size(0, 10) < 2**32 for row in rows.rows for function in row.functions.values())
