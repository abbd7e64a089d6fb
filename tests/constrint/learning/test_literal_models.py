"""Functions of one another under objectives of weighted literals, against brute force by columns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from goals import towards
from literal_models import best_of, draw_literals

from constrint import Model, Status, abs_
from constrint.errors import InternalError
from constrint.learning.pairs import PairFunctions
from constrint.preparing.checks import bounded
from constrint.preparing.prepared import Prepared


def test_the_literals_of_a_distance_and_of_its_arguments() -> None:
    m = Model()
    x, y = m.int_vars("x", 2, 0, 3)
    m.add(abs_(x - y) != 1)
    r = m.solve(maximize=6 * (x == 2) + 3 * (y == 1) - 5 * (x == y), learn=True)
    assert (r.status, r.objective) == (Status.OPTIMAL, 6)


def test_the_literals_of_a_sum_and_of_its_terms() -> None:
    m = Model()
    x, y, z = m.int_var("x", 0, 4), m.int_var("y", 0, 1), m.int_var("z", 0, 4)
    m.add(x + y == z)
    r = m.solve(maximize=(x == 0) + (x == 4) + 8 * (z == 0) + (z == 4), learn=True)
    assert (r.status, r.objective) == (Status.OPTIMAL, 9)


@pytest.mark.parametrize("block", range(4))
def test_drawn_models_against_brute_force(block: int) -> None:
    for seed in range(100 * block, 100 * (block + 1)):
        m = draw_literals(seed)
        way = ("minimize", "maximize")[seed % 2]
        best = best_of(m, way)
        r = m.model.solve(**towards(way, m.goal[0]), learn=True, engine="interpreted")
        assert (r.status, r.objective) == (
            Status.INFEASIBLE if best is None else Status.OPTIMAL,
            best,
        ), (seed, way, m.kinds)


def test_functions_form_no_circle() -> None:
    """Whatever the order of the sums, no function is an argument of itself by way of others."""
    for seed in range(400):
        m = draw_literals(seed)
        root = Prepared(m.model, (), ()).root
        if root is None:
            continue
        found = PairFunctions(root, lambda v: True)._of
        left = {d: {f.x, f.y} & set(found) for d, f in found.items()}
        while left:
            free = [d for d, arguments in left.items() if not arguments]
            assert free, (seed, found)
            left = {d: arguments - set(free) for d, arguments in left.items() if d not in free}


def test_an_objective_that_differs_from_the_one_written_is_an_error() -> None:
    m = Model()
    x = m.int_var("x", 0, 4)
    prepared = Prepared(m, [(2 * x + 1, "max")], ())
    prepared.check_target(0, {x: 3}, 3)
    with pytest.raises(InternalError, match="says 9 of an objective that is 7"):
        prepared.check_target(0, {x: 3}, 4)


def test_a_solution_beyond_the_proven_bound_is_an_error() -> None:
    m = Model()
    x = m.int_var("x", 0, 4)
    result = replace(m.solve(maximize=x), status=Status.FEASIBLE)
    assert bounded(result, [4], [(x, "max")]).bound == 4
    with pytest.raises(InternalError, match="better than the bound 3"):
        bounded(result, [3], [(x, "max")])
    several = replace(m.solve(maximize=[x, 5 - x]), status=Status.FEASIBLE)
    assert bounded(several, [4, None], [(x, "max"), (5 - x, "max")]).bound == (4, None)
    with pytest.raises(InternalError, match="better than the bound 0"):
        bounded(several, [4, 0], [(x, "max"), (5 - x, "max")])
