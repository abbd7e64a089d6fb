"""Rows of `ablation.py` for the members of the portfolio and for what prepares rows and relaxations."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import optimisation_choices as choices
import optimisation_orders as orders
from first_solutions import colours, formulas
from optimisation_choices import Problem

import constrint as c
from constrint import Model


def _best(problem: Problem) -> Any:
    model, goal = problem
    return model.solve(**goal).objective


def satisfiable_clauses() -> Any:
    """Feasibility jumps: 2,400 clauses of three literals over 600 variables."""
    return bool(formulas(600, 4.0, 0)[0].solve())


def colours_of_a_graph() -> Any:
    """Feasibility jumps: 150 vertices in eight colours."""
    return bool(colours(150, 8, 0.3, 0)[0].solve())


def sixty_cars() -> Any:
    """Annealing: 60 cars of eight kinds in a row, with five options."""
    from annealing import cars

    return cars(Random("cars 60 0"), 60).solve().objective


def jobs_to_agents() -> Any:
    """Neighbourhoods led by the relaxation: 60 jobs to ten agents of limited capacity."""
    return _best(choices.generalised_assignment(60, 10))


def lots_of_five_items() -> Any:
    """The relaxation: lot sizing with costs of set-up and of stock."""
    return _best(choices.lots(12, 3))


def weighted_covers() -> Any:
    """Coefficients of 0/1 variables: covers with weights that are larger than what is to be covered."""
    draw = Random(2)
    m = Model()
    x = m.bool_vars("x", 160)
    for _ in range(120):
        m.add(c.sum_(draw.randint(1, 15) * v for v in draw.sample(list(x), 9)) >= draw.randint(4, 9))
    return m.solve(minimize=c.sum_(draw.randint(10, 99) * v for v in x)).objective


def equations_as_pairs_of_rows() -> Any:
    """Parallel rows: equations without a solution, each written as two inequalities."""
    m = Model()
    x, y, z = (m.int_var(name, -(10**6), 10**6) for name in "xyz")
    for total, value in ((x + y + z, 5), (x - y + 3 * z, 2)):
        m.add(total <= value, 2 * total >= 2 * value)
    return bool(m.solve())


def pigeons_by_pairs() -> Any:
    """Cliques: twelve pigeons in eleven holes, no two in one hole, written by pairs."""
    m = Model()
    x = m.int_vars("x", 12, 0, 10)
    m.add(*[x[i] != x[k] for i in range(12) for k in range(i)])
    return bool(m.solve())


def orders_with_changes() -> Any:
    """Linked rows: one of five products or none for each of twelve days, due dates, costs of changes."""
    draw = Random(5)
    kinds, days = 6, 12
    change = [[draw.randint(20, 90) if a != b else 0 for b in range(kinds)] for a in range(kinds)]
    m = Model()
    kind = m.int_vars("kind", days, 0, kinds - 1)
    flat = [entry for row in change for entry in row]
    cost: list[Any] = []
    for t in range(1, days):
        place = m.int_var(f"place{t}", 0, kinds * kinds - 1)
        m.add(place == kinds * kind[t - 1] + kind[t])
        cost.append(c.element(flat, place))
    for k in range(1, kinds):  # 0 is a day without work
        days_of = [m.int_var(f"day{k}_{i}", 0, days - 1) for i in range(2)]
        m.add(*[a < b for a, b in pairwise(days_of)], *[c.element(kind, day) == k for day in days_of])
        for day in days_of:
            due = draw.randint(8, days - 1)
            m.add(day <= due)
            cost.append(draw.randint(1, 9) * (due - day))
    return m.solve(minimize=c.sum_(cost)).objective


def weighted_network() -> Any:
    """Duals in the learning search: pairs of 26 variables have costs, or exclude each other's values."""
    draw = Random(3)
    m = Model()
    x = m.int_vars("x", 26, 0, 4)
    cost: list[Any] = [c.element([draw.randint(0, 20) for _ in range(5)], v) for v in x]
    for i in range(52):
        a, b = draw.sample(range(26), 2)
        paid = m.int_var(f"paid{i}", 0, 40)
        costs = [(u, v, draw.choice([0, 0, draw.randint(1, 40), None])) for u in range(5) for v in range(5)]
        m.add(c.table([x[a], x[b], paid], [row for row in costs if row[2] is not None]))
        cost.append(paid)
    return m.solve(minimize=c.sum_(cost)).objective


def people_beside_each_other() -> Any:
    """Pairs of values: ten people in a row, as many of twenty wishes for neighbours as possible."""
    return _best(orders.photo(10, 20))


SEARCHES = [
    satisfiable_clauses, colours_of_a_graph, sixty_cars, jobs_to_agents, lots_of_five_items, weighted_covers,
    equations_as_pairs_of_rows, pigeons_by_pairs, orders_with_changes,
    weighted_network, people_beside_each_other,
]  # fmt: skip
