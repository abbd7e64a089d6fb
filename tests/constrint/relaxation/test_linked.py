"""Rows between members of several variables hold in every solution, and bound what separate rows cannot."""

# mypy: disable-error-code="union-attr"
from __future__ import annotations

from random import Random
from time import perf_counter
from typing import Any

import pytest
from test_relaxation import checked

from constrint import IntExpr, Model, all_different, element, if_then_else, sum_
from constrint.answers.search_arguments import options_of
from constrint.modelling.objectives import as_goals
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import Outcome, SearchTask
from constrint.relaxation import linked
from constrint.relaxation.lp_rows import relaxed
from constrint.search.relaxed import relaxed_run


def drawn(random: Random) -> tuple[Model, IntExpr]:
    """Sums that are looked up, values kept while nothing changes, and places of known entries."""
    m = Model()
    n, most = random.randint(3, 4), random.randint(2, 3)
    what = m.int_vars("what", n, 0, most)
    state = list(m.int_vars("state", n, 0, most))[:: random.choice((1, -1))]
    m.add(state[0] == what[0])
    shift = random.choice((0, 0, 1))
    for t in range(1, n):
        condition = what[t] > 0 if random.random() < 0.7 else what[t - 1] + t <= random.randint(1, 4)
        kept = state[t - 1] if random.random() < 0.8 else most - state[t - 1]
        way = random.randrange(3)
        if way == 0:
            m.add(state[t] == if_then_else(condition, what[t], kept))
        else:
            moved = 0 if way == 1 else random.choice((-1, 1))
            m.add(condition.implies(state[t] == what[t]), (~condition).implies(state[t] == kept + moved))
    factor = random.choice((most + 1, most + 1, 2, 1, -1))
    offset = max(0, -factor * most)
    width = most * (abs(factor) + 1) + 1
    costs = [random.randint(0, 9) for _ in range(width + 1)]
    cost = sum_(element(costs, factor * state[t] + state[t + 1] + offset) for t in range(n - 1))
    made = m.int_vars("made", 2, 0, n - 1)
    if random.random() < 0.5:
        m.add(made[0] < made[1])
    elif random.random() < 0.5:
        m.add(all_different(made))
    for x in made:
        m.add(element(what, x) == random.randint(0, 2) if not shift else element(what, x) == 1)
    if random.random() < 0.5:
        m.add((made[0] + 1 == made[1]) == (what[1] == 2))
    return m, cost + sum_(made)


@pytest.mark.parametrize("block", range(3))
def test_every_solution_of_drawn_models_satisfies_all_rows(block: int) -> None:
    held = 0
    for seed in range(20 * block, 20 * (block + 1)):
        m, cost = drawn(Random(seed))
        prepared = Prepared(m, as_goals([(cost, "min")]), ())
        if prepared.root is not None:
            held += checked(prepared)
    assert held > 1000


def ordered(n: int) -> tuple[Model, Any]:
    """Two rising orders of one kind, and a cost for each pair of neighbours."""
    m = Model()
    what = m.int_vars("what", n, 0, 2)
    made = m.int_vars("made", 4, 0, n - 1)
    m.add(made[0] < made[1], made[2] < made[3])
    m.add(*[element(what, x) == 1 + (i >= 2) for i, x in enumerate(made)])
    m.add(made[0] >= 2, made[2] <= 1)
    costs = [0, 2, 3, 4, 1, 9, 5, 8, 1]
    return m, sum_(element(costs, 3 * what[t] + what[t + 1]) for t in range(n - 1))


def bound_of(m: Model, cost: Any) -> int:
    """What the relaxation proves of the least cost at the root."""
    prepared = Prepared(m, as_goals([(cost, "min")]), ())
    assert prepared.root is not None
    run = relaxed_run(SearchTask(prepared, prepared.root, options_of(), perf_counter(), prepared.goals[0]))
    run.allowed = 1
    assert run.next().outcome is Outcome.PAUSED
    assert run.bound is not None
    return run.bound


def test_linked_members_raise_the_bound_and_never_above_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    m, cost = ordered(6)
    best = m.solve(minimize=cost, learn=False).objective
    with_links = bound_of(m, cost)
    monkeypatch.setattr(linked.EquationLinks, "state", lambda links: None)
    assert bound_of(m, cost) < with_links <= best


def test_variables_with_many_values_get_no_members_for_their_equations() -> None:
    m = Model()
    x, y = m.int_var("x", 0, 60), m.int_var("y", 0, 60)
    cost = element([(7 * i) % 11 for i in range(91)], x + y)
    m.add(x + y <= 90)
    relaxation = relaxed(Prepared(m, as_goals([(cost, "min")]), ()).root)  # type: ignore[arg-type]
    assert relaxation is not None
    assert len(relaxation.columns.variable) < 200
