"""Machines found in disjunctions: the same solutions, however the disjunctions are written."""

from __future__ import annotations

from itertools import combinations, product
from random import Random
from typing import Any

import pytest

from constrint import Model, implies
from constrint.lowering.problem import Problem
from constrint.preparing.prepared import Prepared
from constrint.presolve.disjunctions import add_machines
from constrint.propagators import Clause, LinearEq, LinearLe, LinearLeIf, NoOverlap

FORMS = ("or", "named", "one literal", "large factor", "sum", "chained")


def exclude(m: Model, form: str, name: str, tasks: tuple[Any, ...], horizon: int) -> None:
    """Post that one of two tasks ends before the other starts."""
    (s, d), (t, e) = tasks
    if form == "or":
        m.add((s + d <= t) | (t + e <= s))
        return
    one = m.bool_var(f"{name}a")
    if form == "one literal":
        m.add(implies(one, s + d <= t), implies(~one, t + e <= s))
        return
    if form == "large factor":
        big = 3 * horizon
        m.add(s + d <= t + big * one, t + e <= s + big - big * one)
        return
    other = m.bool_var(f"{name}b")
    if form == "named":
        m.add(one.iff(s + d <= t), other.iff(t + e <= s), one | other)
        return
    m.add(implies(one, s + d <= t), implies(other, t + e <= s))
    m.add(one | other if form == "chained" else one + other == 1)


@pytest.mark.parametrize("seed", range(24))
def test_schedules_are_those_of_brute_force(seed: int) -> None:
    draw = Random(seed)
    n, horizon = draw.randint(3, 4), draw.randint(4, 6)
    m = Model()
    starts = [m.int_var(f"s{i}", 0, horizon) for i in range(n)]
    # Times to set up: the same task takes longer before some than before others.
    lasts = {(i, j): draw.randint(0, 3) for i in range(n) for j in range(n)}
    if draw.random() < 0.5:
        lasts = {(i, j): lasts[i, 0] for i, j in lasts}
    pairs = [pair for pair in combinations(range(n), 2) if draw.random() < 0.9]
    for i, j in pairs:
        form = FORMS[seed % len(FORMS)] if draw.random() < 0.8 else draw.choice(FORMS)
        exclude(m, form, f"{i},{j}", ((starts[i], lasts[i, j]), (starts[j], lasts[j, i])), horizon)
    wanted = {
        at
        for at in product(range(horizon + 1), repeat=n)
        if all(at[i] + lasts[i, j] <= at[j] or at[j] + lasts[j, i] <= at[i] for i, j in pairs)
    }
    assert {tuple(r[s] for s in starts) for r in m.iter_solutions()} == wanted
    best = m.solve(minimize=sum(starts), learn=draw.random() < 0.5)
    assert best.objective == min(map(sum, wanted), default=None)


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_found(form: str) -> None:
    m = Model()
    starts = m.int_vars("s", 4, 0, 20)
    for i, j in combinations(range(4), 2):
        exclude(m, form, f"{i},{j}", ((starts[i], 2 + i), (starts[j], 2 + j)), 20)
    prepared = Prepared(m, [], [])
    assert prepared.root is not None
    (found,) = [node for node in prepared.root.propagators if isinstance(node, NoOverlap)]
    numbers = [prepared.variables[s] for s in starts]
    lasts = {s: prepared.root.box.lo[d] for s, d in zip(found.starts, found.durations, strict=True)}
    assert lasts == {number: 2 + i for i, number in enumerate(numbers)}


def test_a_duration_that_is_a_variable_stays_one() -> None:
    m = Model()
    starts, lasts = m.int_vars("s", 3, 0, 20), m.int_vars("d", 3, 2, 5)
    for i, j in combinations(range(3), 2):
        m.add((starts[i] + lasts[i] <= starts[j]) | (starts[j] + lasts[j] <= starts[i]))
    prepared = Prepared(m, [], [])
    assert prepared.root is not None
    (found,) = [node for node in prepared.root.propagators if isinstance(node, NoOverlap)]
    both = dict(zip(found.starts, found.durations, strict=True))
    assert both == {prepared.variables[s]: prepared.variables[d] for s, d in zip(starts, lasts, strict=True)}


def test_two_tasks_and_orders_without_duration_are_no_machine() -> None:
    problem = Problem()
    x = [problem.variable(0, 9) for _ in range(3)]
    for i, j in combinations(range(3), 2):
        one, other = 2 * problem.variable(0, 1), 2 * problem.variable(0, 1)
        problem.propagators += [
            LinearLeIf(one, ((1, x[i]), (-1, x[j])), 0),
            LinearLeIf(other, ((1, x[j]), (-1, x[i])), 0),
            Clause((one, other)),
        ]
    before = list(problem.propagators)
    assert not add_machines(problem)
    assert problem.propagators == before


def test_machines_prove_that_tasks_do_not_fit() -> None:
    m = Model()
    starts = m.int_vars("s", 6, 0, 15)  # six tasks of 4 end at 24 at the soonest; the last starts at 20
    for s, t in combinations(starts, 2):
        m.add((s + 4 <= t) | (t + 4 <= s))
    assert Prepared(m, [], []).root is None
    assert not m.solve()


def test_both_literals_of_a_sum_may_exclude() -> None:
    problem = Problem()
    x = [problem.variable(0, 30) for _ in range(3)]
    for i, j in combinations(range(3), 2):
        one, other = problem.variable(0, 1), problem.variable(0, 1)
        problem.propagators += [
            LinearLe(((1, x[i]), (-1, x[j]), (50, one)), 46),
            LinearLe(((1, x[j]), (-1, x[i]), (50, other)), 47),
            LinearEq(((1, one), (1, other)), 1),
        ]
    assert add_machines(problem)
    assert isinstance(problem.propagators[-1], NoOverlap)
    assert set(problem.propagators[-1].starts) == set(x)
