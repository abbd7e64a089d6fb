"""`Result.bound` and `gap`: what a stopped search has proven holds of the optimum."""

from __future__ import annotations

from typing import Any

import pytest
from goals import towards
from lowered import hasty
from random_models import build, draw_model

from constrint import Model, Status, sum_


class StopAfter:
    """Ends a search at its first solutions."""

    def __init__(self, solutions: int) -> None:
        self.left = solutions

    def __call__(self, result: object) -> bool:
        self.left -= 1
        return self.left >= 0


@pytest.mark.parametrize("learn", [False, True, "auto"])
def test_bounds_of_stopped_searches_hold(learn: Any) -> None:
    stopped = 0
    for seed in range(300, 400):
        drawn = draw_model(seed)
        m = drawn.build()
        m.settings = hasty()
        goal = build(drawn.objective, {**m.variables, **m.lets})
        worth = [x for s in drawn.solutions() if (x := drawn.value(drawn.objective, s)) is not None]
        if not worth:
            continue
        for direction, best, sign in (("minimize", min(worth), 1), ("maximize", max(worth), -1)):
            for solutions in (0, 1, 2):
                r = m.solve(
                    **towards(direction, goal),
                    learn=learn,
                    engine="interpreted",
                    on_solution=StopAfter(solutions),
                )
                if r.status is Status.OPTIMAL:
                    assert (r.bound, r.gap, r.objective) == (best, 0, best), f"seed {seed}"
                    break
                assert r.bound is None or sign * r.bound <= sign * best, f"seed {seed}\n{drawn.text()}"
                assert r.gap is None or r.gap >= 0
                stopped += r.bound is not None
    assert stopped > 20


def test_the_gap_of_a_knapsack_that_is_stopped() -> None:
    m = Model()
    xs = m.bool_vars("x", 40)
    m.add(sum_((7 * i) % 31 * x + 3 * x for i, x in enumerate(xs)) <= 200)
    goal = sum_(((11 * i) % 37 + 5) * x for i, x in enumerate(xs))
    r = m.solve(maximize=goal, engine="interpreted", learn=False, on_solution=lambda r: False)
    optimum = m.solve(maximize=goal).objective
    assert r.status is Status.FEASIBLE
    assert r.objective <= optimum <= r.bound
    assert r.gap == (r.bound - r.objective) / r.objective
    assert m.solve(maximize=[goal, xs[0]]).bound is None
    assert m.solve().gap is None


def test_what_has_no_bound_has_none_in_the_result() -> None:
    m = Model()
    x = m.int_var("x")
    y = m.int_var("y", 0, 50)
    m.add(x * x * x >= 3 * y - 700, y * y != 3 * x + 1)
    r = m.solve(
        minimize=y - x, engine="interpreted", learn=False, on_solution=lambda r: False, time_limit=2.0
    )
    assert r.bound is None
    assert r.gap is None
