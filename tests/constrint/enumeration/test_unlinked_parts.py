"""Models of several parts that no constraint links: the tables' optimum against brute force."""

from __future__ import annotations

import itertools
import os
import random

import pytest

import constrint as ci
from constrint.enumeration import swept
from constrint.preparing.prepared import Prepared

MODELS = int(os.environ.get("CONSTRINT_PARTS", "100"))


def draw_part(model: ci.Model, rng: random.Random, number: int) -> list[ci.IntExpr]:
    """The variables of one part; some parts have no constraint, and some no solution."""
    if rng.random() < 0.1:
        return odd_circle(model, number)
    xs = [
        model.int_var(f"x{number}_{i}", values=sorted(rng.sample(range(-4, 9), rng.randint(1, 4))))
        for i in range(rng.randint(1, 3))
    ]
    for _ in range(rng.choice((0, 1, 1, 1, 2))):
        a, b = rng.choice(xs), rng.choice(xs)
        model.add(
            rng.choice(  # type: ignore[no-untyped-call]
                [
                    lambda a, b: a + 2 * b <= rng.randint(3, 16),
                    lambda a, b: a * b != rng.randint(0, 6),
                    lambda a, b: (a - b) % 3 != rng.randint(1, 2),
                    lambda a, b: (a > 2) | (b < rng.randint(-4, 2)),
                    lambda a, b: ci.max_(a, b) >= rng.randint(-2, 3),
                ]
            )(a, b)
        )
    return xs  # type: ignore[return-value]


def odd_circle(model: ci.Model, number: int) -> list[ci.IntExpr]:
    """A part without a solution, which only its search shows."""
    xs = [model.int_var(f"x{number}_{i}", 0, 3) for i in range(3)]
    model.add(*[(xs[i] + xs[i - 1]) % 2 == 1 for i in range(3)])
    return xs  # type: ignore[return-value]


def draw_model(rng: random.Random) -> ci.Model:
    """A model with goals and preferences: on variables, on expressions of a part, and across parts."""
    model = ci.Model()
    parts = [draw_part(model, rng, number) for number in range(rng.randint(2, 4))]
    wanted = rng.sample(parts, rng.randint(1, len(parts)))  # the other parts have no goal
    goals = []
    for _ in range(rng.randint(1, 4)):
        xs, others = rng.choice(wanted), rng.choice(wanted)
        goals.append(
            rng.choice(
                [xs[0], xs[-1] * xs[0], xs[0] - 2 * xs[-1], abs(xs[-1]), xs[0] + others[-1], xs[0] * 0]
            )
        )
    split = rng.randint(0, len(goals))
    (model.minimize if rng.random() < 0.5 else model.maximize)(*goals[:split])
    model.prefer(*[(goal, rng.choice(("min", "max"))) for goal in goals[split:]])
    return model


def best_by_force(model: ci.Model) -> tuple[int, ...] | None:
    """The best values of goals and preferences; None if there is no solution."""
    variables = list(model.variables.values())
    best = None
    for values in itertools.product(*[one.domain for one in variables]):
        assignment = dict(zip(variables, values, strict=True))
        if all(one.expr.evaluate(assignment) for one in model.constraints):
            found = key(model, assignment)
            best = found if best is None else min(best, found)
    return best


def key(model: ci.Model, assignment: object) -> tuple[int, ...]:
    goals = [*model.goals, *model.preferences]
    return tuple(expr.evaluate(assignment) * (1 if way == "min" else -1) for expr, way in goals)  # type: ignore[arg-type]


@pytest.mark.fuzz
@pytest.mark.parametrize("seed", range(3))
def test_the_best_of_all_parts_together(seed: int) -> None:
    rng = random.Random(seed)
    seen = {"none": 0, "swept": 0, "parts": 0}
    for _ in range(MODELS // 3):
        model = draw_model(rng)
        expected = best_by_force(model)
        prepared = Prepared(model, model.goals, model.preferences)
        root = prepared.root
        if root is None:
            assert expected is None, model.to_text()
            continue
        found = swept.sweep(prepared, root)
        if found is None:
            continue
        seen["swept"] += 1
        seen["parts"] += len(list(swept._components(prepared, root, [v for v, _ in prepared.goals]))) > 1
        assert found.is_proven
        if expected is None:
            seen["none"] += 1
            assert found.best is None, model.to_text()
        else:
            assert found.best is not None, model.to_text()
            assert key(model, found.best) == expected, model.to_text()
        result = model.solve(engine="interpreted")
        assert (
            None if not result else key(model, {one: result[one] for one in model.variables.values()})
        ) == expected, model.to_text()
    assert seen["swept"] > MODELS // 6
    assert seen["parts"] > MODELS // 10
    assert seen["none"], "no part without a solution was drawn"
