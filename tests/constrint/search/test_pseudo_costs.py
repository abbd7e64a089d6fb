"""Pseudo-costs: which fractional column is decided, and sides of decisions that are refuted by trial."""

from __future__ import annotations

import itertools
from random import Random

import numpy as np
import pytest

from constrint import Model, Status, sum_
from constrint.relaxation.lp_rows import LpRow
from constrint.relaxation.program import OPTIMAL, RelaxationProgram
from constrint.search.pseudo_costs import DOWN, UP, PseudoCosts, Refuted
from constrint.settings import DEFAULT, using

RULES = DEFAULT.relaxation


def bounds(*pairs: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bounds of columns."""
    low, high = zip(*pairs, strict=True)
    return np.array(low, np.int64), np.array(high, np.int64)


def test_a_side_without_a_better_solution_is_refuted() -> None:
    # cost >= 3 x + 4 y, 2 x + 2 y >= 3: the optimum has x = 1.5 and costs 4.5
    program = RelaxationProgram([LpRow({0: 3, 1: 4, 2: -1}, None, 0), LpRow({0: 2, 1: 2}, 3, None)], 3, 2, 1)
    box = bounds((0, 5), (0, 5), (0, 100))
    assert program.solve(*box) == OPTIMAL
    assert program.point[0] == pytest.approx(1.5)
    chosen = PseudoCosts(program, 3, RULES).choose(np.array([0]), 4.5, 5, box, 0, lambda: None)
    assert chosen == Refuted(0, UP, 1)  # x >= 2 costs 6; x <= 1 and y = 1/2 cost 5
    assert program.point[0] == pytest.approx(1.5)


def test_gains_of_decisions_decide_which_column_is_next() -> None:
    program = RelaxationProgram([LpRow({0: 1, 1: 1}, 0, 9)], 2, None, 1)
    costs = PseudoCosts(program, 2, RULES)
    both, point = np.array([0, 1]), np.array([0.5, 0.5])
    assert len(set(costs.scores(both, point).tolist())) == 1  # nothing is known
    for way in (DOWN, UP):
        costs.decided(1, way, 0.5, 10.0)
        costs.note(14.0)
        costs.decided(0, way, 0.5, 10.0)
        costs.note(10.5)
    assert costs.scores(both, point).argmax() == 1


def test_small_programs_count_less() -> None:
    small = RelaxationProgram([LpRow({0: 1}, 0, 1)], 40, 0, 1)
    large = RelaxationProgram([LpRow({0: 1}, 0, 1)], 1000, 0, 1)
    assert small.cost_of_program < 200 < large.cost_of_program == RULES.cost_of_program


@pytest.mark.parametrize("seed", range(12))
def test_integers_in_rows_against_brute_force(seed: int) -> None:
    random = Random(seed)
    factors = [[random.randint(1, 9) for _ in range(4)] for _ in range(3)]
    limits = [random.randint(20, 60) for _ in factors]
    gains = [random.randint(1, 20) for _ in range(4)]
    always = DEFAULT.with_fields(
        relaxation={"free_trials": 10**6},
        portfolio={"alone": 0, "least_turn": 1},
        search={"nodes_before_dual": 0},
    )
    with using(always):
        m = Model()
    x = m.int_vars("x", 4, 0, 6)
    for row, limit in zip(factors, limits, strict=True):
        m.add(sum_(a * v for a, v in zip(row, x, strict=True)) <= limit)
    result = m.solve(maximize=sum_(a * v for a, v in zip(gains, x, strict=True)))
    best = max(
        sum(a * v for a, v in zip(gains, point, strict=True))
        for point in itertools.product(range(7), repeat=4)
        if all(
            sum(a * v for a, v in zip(row, point, strict=True)) <= limit
            for row, limit in zip(factors, limits, strict=True)
        )
    )
    assert (result.status, result.objective) == (Status.OPTIMAL, best)
