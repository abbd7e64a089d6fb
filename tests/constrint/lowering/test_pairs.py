"""Sums of products of truth values as one propagator each, against brute force."""

from __future__ import annotations

import itertools
import operator
from random import Random
from typing import Any

import pytest

from constrint import Brancher, Model, sum_
from constrint.lowering.conditions import Lowering
from constrint.preparing.options import Engine
from constrint.propagators import LinearEq, Pairs, Product

COMPARE = {
    "==": operator.eq,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "!=": operator.ne,
}


def drawn(seed: int) -> Model:
    """A model of sums of products of five truth values, one of them a comparison; some share products."""
    rng = Random(seed)
    m = Model()
    x = [m.bool_var(f"x{i}") if i else m.int_var("x0", 0, 1) for i in range(4)]
    n = m.int_var("n", 0, 2)
    factors = [*x, n <= 1]
    if rng.random() < 0.3:
        m.add(x[1] == rng.randint(0, 1))
    for _ in range(rng.randint(1, 3)):
        terms = [
            rng.choice([-2, -1, 1, 1, 3]) * rng.choice(factors) * rng.choice(factors)
            for _ in range(rng.randint(2, 5))
        ]
        if rng.random() < 0.4:
            terms.append(rng.choice(factors) * rng.choice([-1, 1]))
        m.add(COMPARE[rng.choice(["==", "<=", ">=", "<", ">", "!="])](sum_(terms), rng.randint(-2, 3)))
    return m


def brute(m: Model) -> set[tuple[int, ...]]:
    variables = list(m.variables.values())
    points = itertools.product((0, 1), (0, 1), (0, 1), (0, 1), (0, 1, 2))
    return {
        point
        for point in points
        if all(c.expr.evaluate(dict(zip(variables, point, strict=True))) for c in m.constraints)
    }


def lowered(m: Model, may_pair: bool = True) -> list[type]:
    lowering = Lowering(may_pair=may_pair)
    for variable in m.variables.values():
        lowering.declare(variable)
    for constraint in m.constraints:
        lowering.require(constraint.expr)
    return [type(node) for node in lowering.problem.propagators]


@pytest.mark.parametrize("engine", ["interpreted", "compiled"])
def test_the_solutions_are_those_of_brute_force(engine: Engine) -> None:
    for seed in range(300):
        m = drawn(seed)
        expected = brute(m)
        found = [tuple(r.values.values()) for r in m.iter_solutions(engine=engine)]
        assert len(found) == len(set(found)), m.to_text()
        assert set(found) == expected, m.to_text()
        assert bool(m.solve(engine=engine)) == bool(expected)


def test_the_learning_search_agrees() -> None:
    for seed in range(150):
        m = drawn(seed)
        result = m.solve(learn=True, engine="interpreted")
        assert bool(result) == bool(brute(m)), m.to_text()


def test_products_that_occur_once_have_no_variables() -> None:
    m = Model()
    x = m.bool_vars("x", 4)
    m.add(x[0] * x[1] + x[2] * x[3] == 1, x[0] * x[2] - 2 * x[1] * x[3] <= 0)
    assert lowered(m) == [Pairs, Pairs]
    assert Product in lowered(m, may_pair=False)


def test_a_product_of_two_sums_has_a_variable_for_both() -> None:
    m = Model()
    x = m.bool_vars("x", 4)
    m.add(x[0] * x[1] + x[2] * x[3] == 1, x[1] * x[0] + x[2] * x[0] == 1)
    kinds = lowered(m)
    assert Pairs not in kinds
    assert kinds.count(Product) == 3
    assert kinds.count(LinearEq) == 2


def test_sums_that_cannot_be_reached_fail_at_once() -> None:
    m = Model()
    x = m.bool_vars("x", 4)
    m.add(2 * x[0] * x[1] + 4 * x[2] * x[3] == 3)
    assert m.solve().statistics.nodes == 0


def test_equations_are_solved_together_once_search_proves_long() -> None:
    """Dominoes on a board without two opposite corners: no tiling, by counting colours."""
    n = 8
    m = Model()
    cells = {(i, j) for i in range(n) for j in range(n)} - {(0, 0), (n - 1, n - 1)}
    places = [(a, b) for a in cells for b in ((a[0] + 1, a[1]), (a[0], a[1] + 1)) if b in cells]
    covers: dict[tuple[int, int], list[Any]] = {cell: [] for cell in cells}
    for place in sorted(places):
        domino = m.bool_var(str(place))
        for cell in place:
            covers[cell].append(domino)
    for cell in sorted(covers):
        m.add(sum_(covers[cell]) == 1)
    result = m.solve(learn=False)
    assert result.status.value == "infeasible"
    assert result.statistics.nodes <= 101


def test_searches_side_by_side_have_arrays_of_their_own() -> None:
    def queens(n: int) -> Model:
        m = Model()
        q = m.int_vars("q", n, 0, n - 1)
        for i, j in itertools.combinations(range(n), 2):
            m.add(q[i] != q[j], abs(q[i] - q[j]) != j - i)
        return m

    for _ in range(20):  # more than sessions leave structures behind for
        searches = [queens(n).iter_solutions(engine="compiled", branching=Brancher()) for n in (4, 5, 6, 7)]
        counts = [0] * len(searches)
        while True:
            found = [next(search, None) for search in searches]
            if not any(found):
                break
            counts = [count + bool(one) for count, one in zip(counts, found, strict=True)]
        assert counts == [2, 10, 4, 40]
