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
    assert m.solve(maximize=[goal, xs[0]]).bound == (optimum, 1)
    assert m.solve().gap is None


@pytest.mark.parametrize("preferred", [False, True])
def test_each_bound_of_several_goals_holds_under_the_goals_before_it(preferred: bool) -> None:
    stopped = later = 0
    for seed in range(500, 560):
        drawn = draw_model(seed)
        m = drawn.build()
        m.settings = hasty()
        first = build(drawn.objective, {**m.variables, **m.lets})
        x = next(iter(m.variables.values()))
        m.add(first == first)  # has a value
        values = [r[[first, 2 * x + 1, x]].tolist() for r in m.iter_solutions()]
        goals: list[Any] = [(first, "min"), (2 * x + 1, "max"), (x, "min")]
        prefer: list[Any] = [(x, "max")] if preferred else []
        for solutions in (0, 1, 2, 4):
            r = m.solve(
                minimize=goals,
                prefer=prefer,
                learn=False,
                engine="interpreted",
                on_solution=StopAfter(solutions),
            )
            if not r:
                continue
            assert isinstance(r.objective, tuple)
            bounds: Any = r.bound or (None, None, None)
            assert r.gap is None
            assert len(bounds) == len(r.gaps) == 3
            for place, (bound, (_, direction)) in enumerate(zip(bounds, goals, strict=True)):
                left = [row[place] for row in values if tuple(row[:place]) == r.objective[:place]]
                sign = 1 if direction == "min" else -1
                assert bound is None or all(sign * bound <= sign * value for value in left), f"seed {seed}"
                assert (bound is None) == (r.gaps[place] is None)
            if r.status is Status.OPTIMAL:
                assert bounds == r.objective
                break
            stopped += bounds[0] is not None
            later += bounds[0] == r.objective[0] and r.gaps[1] not in (None, 0)
    assert stopped > 20
    assert later > 5, "searches that ended during the second goal"


@pytest.mark.parametrize("backend", ["constrint", "cp-sat"])
def test_goals_that_share_a_variable_have_bounds_of_their_own(backend: Any) -> None:
    m = Model()
    x = m.int_var("x", 0, 50)
    m.add(x * x <= 1000)
    result = m.solve(minimize=[(3 * x - 1, "max"), (7 - 2 * x, "min")], backend=backend)
    assert result.bound == result.objective == (92, -55)
    assert result.gaps == (0, 0)
    one = m.solve(maximize=x > 3, backend=backend)
    assert (type(one.objective), one.objective, one.bound) == (int, 1, 1)
    assert (one.gaps, m.solve().gaps) == ((one.gap,), ())


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
