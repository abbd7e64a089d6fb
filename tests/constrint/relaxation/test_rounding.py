"""Cuts by rounding: no solution breaks one, and they close gaps."""

from __future__ import annotations

import random
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from random_models import build, draw_model
from test_relaxation import broken, led, points

from constrint import Model, sum_
from constrint.answers.search_arguments import options_of
from constrint.modelling.objectives import as_goals
from constrint.preparing.prepared import Prepared
from constrint.preparing.search_protocol import SearchTask
from constrint.relaxation.column_bounds import ColumnBounds
from constrint.relaxation.lp_rows import relaxed
from constrint.relaxation.program import OPTIMAL, RelaxationProgram
from constrint.relaxation.rounding import Rounding
from constrint.search.depth_first import DepthFirstRun
from constrint.settings import DEFAULT

ROUNDS = 6


def lots(seed: int) -> tuple[Model, Any]:
    """Small lot sizing with lots of any size and of a least size, set-ups and stock."""
    draw = random.Random(seed)
    m = Model()
    cost, stock = [], 0
    for t in range(3):
        set_up = m.bool_var(f"set{t}")
        made, left = m.int_var(f"made{t}", 0, 5), m.int_var(f"stock{t}", 0, 4)
        m.add(made <= 5 * set_up, left == stock + made - draw.randint(0, 3))
        if draw.random() < 0.5:
            m.add(made >= 2 * set_up)
        stock = left  # type: ignore[assignment]
        cost += [draw.randint(3, 20) * set_up, draw.randint(1, 3) * left]
    return m, sum_(cost)


def knapsack(seed: int) -> tuple[Model, Any]:
    """Rows of capacities over 0/1 variables and small integers."""
    draw = random.Random(seed)
    m = Model()
    x = [m.int_var(f"x{i}", -draw.randint(0, 1), draw.randint(1, 2)) for i in range(6)]
    for _ in range(2):
        m.add(sum_(draw.randint(-3, 15) * v for v in x) <= draw.randint(8, 30))
    return m, sum_(-draw.randint(3, 20) * v for v in x)


def held(m: Model, cost: Any, draw: np.random.Generator) -> tuple[int, float]:
    """Cuts that were held against all solutions, and how much of the bound they gain."""
    prepared = Prepared(m, as_goals([(cost, "min")]), ())
    root = prepared.root
    if root is None or root.exact or max(map(abs, [*root.box.hi, *root.box.lo])) >= 1 << 31:
        return 0, 0.0
    relaxation = relaxed(root)
    if relaxation is None or not relaxation.is_about(prepared.goals[0][0]):
        return 0, 0.0
    solutions = points(prepared, relaxation)
    (column,) = relaxation.columns.of(prepared.goals[0][0]).terms
    program = RelaxationProgram(relaxation.rows, len(relaxation.columns.variable), column, 1)
    run = DepthFirstRun(SearchTask(prepared, root, options_of(engine="interpreted"), perf_counter()))
    lower, upper = ColumnBounds(relaxation.columns, run._state).read(run._state)
    finder = Rounding(relaxation, column)
    count, before, at = 0, None, 0.0
    for _ in range(ROUNDS):
        if program.solve(lower, upper) != OPTIMAL:
            break
        at = float(program.point[column])
        before = at if before is None else before
        # Any point will do for validity: some that are no optimum reach other sums.
        shaken = program.point + draw.uniform(-0.4, 0.4, len(lower)) * (upper > lower)
        found = finder.cuts(program.point) + finder.cuts(np.clip(shaken, lower, upper))
        for row in found:
            assert not any(broken(row, solution) for solution in solutions), row
        program.add(found)
        count += len(found)
    if solutions and before is not None:
        assert at <= min(int(point[column]) for point in solutions) + 1e-4
    return count, 0.0 if before is None else at - before


@pytest.mark.parametrize("kind", [lots, knapsack])
def test_no_solution_breaks_a_cut(kind: Any) -> None:
    draw = np.random.default_rng(1)
    results = [held(*kind(seed), draw) for seed in range(25)]  # type: ignore[call-arg]
    assert sum(count for count, _ in results) > 100
    assert sum(gain for _, gain in results) > 20


def test_no_solution_of_random_models_breaks_a_cut() -> None:
    draw = np.random.default_rng(2)
    count = 0
    for seed in range(11000, 11150):
        drawn = draw_model(seed)
        m = drawn.build()
        count += held(m, build(drawn.objective, {**m.variables, **m.lets}), draw)[0]
    assert count > 30


@pytest.mark.parametrize("kind", [lots, knapsack])
def test_optima_with_cuts(kind: Callable[..., Any]) -> None:
    for seed in range(25, 40):
        m, cost = kind(seed)
        wanted = m.solve(minimize=cost, learn=False, engine="interpreted").objective
        prepared = Prepared(m, as_goals([(cost, "min")]), ())
        if prepared.root is None:
            assert wanted is None
            continue
        run, value = led(prepared)
        if isinstance(run, str):
            continue
        factor, constant = prepared.scales.get(prepared.goals[0][0], (1, 0))
        assert (None if value is None else factor * value + constant) == wanted


def test_work_ends_a_round_and_the_next_one_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    m, cost = lots(1)
    m.settings = DEFAULT.with_fields(relaxation={"work_of_rounding": 0, "work_of_row": 0})
    prepared = Prepared(m, as_goals([(cost, "min")]), ())
    assert prepared.root is not None
    finder = Rounding(relaxed(prepared.root), -1)  # type: ignore[arg-type]
    begun: list[int] = []
    from_row = finder._from_row

    def noted(start: int, *of: Any) -> None:
        begun.append(start)
        from_row(start, *of)

    monkeypatch.setattr(finder, "_from_row", noted)
    point = np.full(len(finder._lo), 0.3)
    finder.cuts(point)
    assert finder.work < 2000
    assert len(set(begun)) < 4
    for _ in finder._rows:
        finder.cuts(point)
    may_round = {i for i, (terms, _, _) in enumerate(finder._rows) if finder._may_round(terms)}
    assert set(begun) == may_round
