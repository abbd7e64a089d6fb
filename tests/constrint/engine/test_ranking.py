"""Many decision variables are ranked in a tree, which chooses exactly what a scan of all of them does."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any, get_args

import pytest

from constrint import Brancher, Group, Model, all_different, sum_
from constrint.preparing.branching import ValueSelector, VariableSelector
from constrint.preparing.options import Engine
from constrint.settings import DEFAULT

RANKED = DEFAULT.with_fields(search={"least_ranked": 2})
VARIABLES, VALUES = get_args(VariableSelector), get_args(ValueSelector)


def drawn(random: Random) -> tuple[Model, Any]:
    model = Model()
    xs = [
        model.int_var(f"x{i}", random.randint(-3, 0), random.randint(1, 9))
        for i in range(random.randint(6, 14))
    ]
    for _ in range(random.randint(2, 12)):
        some = random.sample(xs, random.randint(2, 4))
        total = sum_(random.choice([1, 2, -1, -3, 5]) * x for x in some)
        model.add(
            random.choice(
                [
                    total <= random.randint(0, 12),
                    total != random.randint(-3, 5),
                    some[0] * some[1] >= random.randint(-5, 6),
                    (some[0] >= 2) | (some[1] <= 1),
                    all_different(some),
                ]
            )
        )
    return model, sum_(random.choice([1, -1, 2]) * x for x in xs)


def work(model: Model, goal: Any, brancher: Brancher, options: dict[str, Any]) -> tuple[Any, ...]:
    goals = {} if goal is None else {"maximize": goal}
    result = model.solve(**goals, branching=brancher, learn=False, seed=3, **options)
    told = result.statistics
    return result.status, result.objective, told.nodes, told.failures, told.propagations


@pytest.mark.parametrize("engine", ["compiled", "interpreted"])
def test_ranked_variables_are_decided_as_scanned_ones(engine: Engine) -> None:
    differ = 0
    for number, selector in enumerate(VARIABLES * (6 if engine == "compiled" else 1)):
        random = Random(number)
        model, total = drawn(random)
        first = Group(list(model.variables.values())[:3], random.choice(VARIABLES), random.choice(VALUES))
        brancher = Brancher(selector, random.choice(VALUES), (first,) if number % 3 == 0 else ())
        options: dict[str, Any] = {
            "engine": engine,
            **random.choice([{}, {"restarts": "luby"}, {"lns": True}]),
        }
        goal = total if "lns" in options or random.random() < 0.6 else None
        scanned = work(model, goal, brancher, options)
        model.settings = RANKED
        assert work(model, goal, brancher, options) == scanned, (number, selector)
        differ += scanned[2] > 20
    assert differ >= (20 if engine == "compiled" else 3)  # searches of some length


def test_a_variable_that_stands_in_two_groups_is_scanned() -> None:
    model = Model()
    xs = model.int_vars("x", 8, 0, 7)
    model.add(all_different(xs), xs[0] + xs[1] == 9)
    brancher = Brancher(groups=(Group([xs[3], xs[0]]), Group([xs[0], xs[1]])))
    scanned = work(model, None, brancher, {"engine": "compiled"})
    model.settings = RANKED
    assert work(model, None, brancher, {"engine": "compiled"}) == scanned


def test_large_models_are_ranked() -> None:
    model = Model()
    xs = model.int_vars("x", DEFAULT.search.least_ranked, 0, 4)
    for left, right in pairwise(xs):
        model.add(left + 2 * right <= 7, left != right)
    for selector in ("auto", "first_fail", "dom_w_deg", "activity"):
        assert model.solve(branching=Brancher(selector), learn=False)
