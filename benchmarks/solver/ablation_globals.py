"""Rows of `ablation.py` for global constraints that no other row has."""

from __future__ import annotations

from itertools import combinations, pairwise
from random import Random
from typing import Any

import constrint as c
from constrint import Model


def at_most_once_but_zero() -> Any:
    """`all_different_except`: eleven places, each but zero taken once, worth most."""
    draw = Random(2)
    m = Model()
    x = [m.int_var(f"x{i}", values=[0, *draw.sample(range(1, 10), 4)]) for i in range(11)]
    m.add(c.all_different_except(x, 0))
    return m.solve(maximize=c.sum_(draw.randint(1, 9) * v for v in x), learn=False).objective


def places_with_distances() -> Any:
    """`element_2d`: six firms at six sites, flows times distances."""
    draw = Random(6)
    n = 6
    far = [[0] * n for _ in range(n)]
    for i, j in combinations(range(n), 2):
        far[i][j] = far[j][i] = draw.randint(1, 30)
    m = Model()
    at = m.int_vars("at", n, 0, n - 1)
    m.add(c.all_different(at))
    pairs = list(combinations(range(n), 2))
    cost = c.sum_(draw.randint(0, 9) * c.element_2d(far, at[i], at[j]) for i, j in pairs)
    return m.solve(minimize=cost, learn=False).objective


def rows_with_gaps() -> Any:
    """Short tables: patterns of five that leave two entries open, one for each window."""
    draw = Random(4)
    m = Model()
    x = m.int_vars("x", 12, 0, 5)
    for i in range(8):
        rows = []
        for _ in range(25):
            row: list[int | None] = [draw.randint(0, 5) for _ in range(5)]
            for place in draw.sample(range(5), 2):
                row[place] = None
            rows.append(row)
        m.add(c.table(list(x[i : i + 5]), rows))
    return m.solve(minimize=c.sum_(draw.randint(-9, 9) * v for v in x), learn=False).objective


def prizes_on_a_tour() -> Any:
    """`subcircuit`: a tour of some of nine towns, prizes less distances."""
    draw = Random(9)
    n = 9
    places = [(draw.randint(0, 50), draw.randint(0, 50)) for _ in range(n)]
    m = Model()
    after = m.int_vars("after", n, 0, n - 1)
    m.add(c.subcircuit(after), after[0] != 0)
    gain: list[Any] = []
    for i, (a, b) in enumerate(places):
        prize = draw.randint(10, 60)
        gain.append(c.element([0 if i == j else prize - abs(a - d) - abs(b - e)
                               for j, (d, e) in enumerate(places)], after[i]))  # fmt: skip
    return m.solve(maximize=c.sum_(gain), learn=False).objective


def tasks_for_choice() -> Any:
    """`no_overlap_optional`: tasks with dates for one machine, those that are worth most."""
    draw = Random(11)
    n = 11
    m = Model()
    lasts = [draw.randint(2, 8) for _ in range(n)]
    starts = []
    for i, last in enumerate(lasts):
        release = draw.randint(0, 18)
        starts.append(m.int_var(f"start{i}", release, release + draw.randint(last, 14)))
    taken = m.bool_vars("taken", n)
    m.add(c.no_overlap_optional(starts, lasts, list(taken)))
    return m.solve(maximize=c.sum_(draw.randint(3, 20) * t for t in taken), learn=False).objective


def word_of_least_cost() -> Any:
    """`cost_regular`: a word of an automaton of six states, with costs that change from place to place."""
    draw = Random(3)
    arcs = [
        (state, value, draw.randrange(6), draw.randint(0, 20))
        for state in range(6)
        for value in range(4)
        if draw.random() < 0.7
    ]
    m = Model()
    word, cost = m.int_vars("word", 12, 0, 3), m.int_var("cost", 0, 240)
    m.add(c.cost_regular(list(word), arcs, 0, [0, 1, 2], cost))
    wishes = c.sum_(draw.randint(0, 12) * (v == draw.randrange(4)) for v in word)
    return m.solve(minimize=cost - wishes, learn=False).objective


def bins_of_two_dimensions() -> Any:
    """`vector_bin_packing`: ten items of two sizes for three bins, whose room is paid for."""
    draw = Random(12)
    sizes = [(draw.randint(5, 30), draw.randint(5, 30)) for _ in range(10)]
    m = Model()
    where = m.int_vars("where", 10, 0, 2)
    room = [[m.int_var(f"room{b}_{k}", 0, 90) for k in range(2)] for b in range(3)]
    m.add(c.vector_bin_packing(list(where), sizes, room), *[a[0] <= b[0] for a, b in pairwise(room)])
    return m.solve(minimize=c.sum_(r for row in room for r in row), learn=False).objective


GLOBALS = [
    at_most_once_but_zero, places_with_distances, rows_with_gaps, prizes_on_a_tour, tasks_for_choice,
    word_of_least_cost, bins_of_two_dimensions,
]  # fmt: skip
