"""Soft constraints: the least total weight is violated, in every way to search, and results say what is."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from random_models import build, draw_model

import constrint as ci
from constrint.cli.main import app

WAYS: Any = [
    {},
    {"learn": True},
    {"learn": False},
    {"lns": True},
    {"restarts": "luby"},
    {"backend": "cp-sat"},
]


@pytest.mark.parametrize("seed", range(40))
def test_the_least_weight_of_drawn_models_is_violated(seed: int) -> None:
    drawn = draw_model(12000 + seed)
    draw = Random(seed)
    model = drawn.build()
    for constraint in list(model.constraints):
        if draw.random() < 0.7:
            model.soften(constraint, weight=draw.choice([1, 2, 3, 0.5, Fraction(1, 3)]))  # type: ignore[arg-type]
    extra = [
        ci.sum_(model.variables.values()) >= draw.randint(-3, 9),
        next(iter(model.variables.values())) == 1,
    ]
    model.add(extra, weight=draw.choice([1, 2.5]))
    soft = dict(model.weights)
    hard = model.copy()
    hard.disable(*hard.weights)
    goal = build(drawn.objective, {**model.variables, **model.lets})
    points = []
    for found in hard.iter_solutions():
        violated = [
            one for one in soft if not one.expr.evaluate({v: found[v] for v in model.variables.values()})
        ]
        weight: Any = sum((Fraction(str(soft[one].weight)) for one in violated), Fraction(0))
        points.append((weight, drawn.value(drawn.objective, {name: found[name] for name in drawn.domains})))
    assert model.count() == len(points)
    for options in WAYS:
        try:
            result = model.solve(**options)
            weighed = model.solve(minimize=goal, **options)
            inside = model.solve(minimize=[goal, model.violation], **options)
        except ci.ModelError:  # CP-SAT cannot hold the model's numbers
            continue
        assert bool(result) == bool(points)
        if not points:
            continue
        check(model, result)
        least = min(points, key=lambda point: point[0])[0]
        assert result.violation == result.objective == result.bound == pytest.approx(least)
        defined = [(weight, known) for weight, known in points if known is not None]
        assert bool(weighed) == bool(defined)
        if defined:
            check(model, weighed)
            assert (weighed.violation, weighed.objective) == pytest.approx(min(defined))
            best = min((known, weight) for weight, known in defined)
            assert inside.objective == pytest.approx(best)
            assert inside.violation == pytest.approx(best[1])


def check(model: ci.Model, result: ci.Result) -> None:
    """Whether the result's account of its violations is right."""
    violated = [one for one in model.weights if not result[one.expr]]
    assert list(result.violated) == violated
    assert result.violation == pytest.approx(sum(float(model.weights[one].weight) for one in violated))


def wishes() -> tuple[ci.Model, ci.IntVar, Any]:
    m = ci.Model()
    x = m.int_var("x", 0, 9)
    return m, x, m.add(x >= 7, x <= 2, name="wish", weight=2)


def test_soft_constraints_are_made_hard_switched_off_and_removed() -> None:
    m, x, handle = wishes()
    assert (m.solve().violation, m.count(), m.explain()) == (2, 10, None)
    m.soften(handle[0], weight=5)
    assert m.solve()[x] >= 7
    with m.scope():
        m.enable(handle[1])
        assert m.solve().violated == (handle[0],)
        handle.disable()
        assert m.solve().violation is None
        handle.soften(3)
        assert {soft.weight for soft in m.weights.values()} == {3}
        m.remove("wish")
        assert not m.weights
    assert {soft.weight for soft in m.weights.values()} == {2, 5}
    again = ci.Model.from_json(m.to_json())
    assert sorted(soft.weight for soft in again.weights.values()) == [2, 5]
    assert again.solve()["x"] >= 7
    hard = m.add(x == 5)
    hard.soften(0.25)
    assert m.solve(maximize=x).violation == 2.25
    again = ci.Model.from_json(m.to_json())
    assert again.solve(maximize=0.5 * again.variables["x"]).violation == 2.25


def test_callbacks_and_bounds_are_those_of_the_user() -> None:
    m, x, _ = wishes()
    seen: list[ci.Result] = []
    result = m.solve(maximize=0.5 * x, on_solution=seen.append)
    assert (result.objective, result.bound, result.violation) == (4.5, 4.5, 2)
    assert all(isinstance(one.objective, float) for one in seen)
    assert {one.violation for one in seen} <= {2, 4}
    assert "violation=2" in repr(result)


@pytest.mark.parametrize("weight", [0, -1, float("nan"), "a", 0.0])
def test_a_weight_is_a_number_above_0(weight: Any) -> None:
    m, x, handle = wishes()
    with pytest.raises(ci.ModelError, match=r"weight|finite"):
        m.add(x == 5, weight=weight)
    with pytest.raises(ci.ModelError, match=r"weight|finite"):
        handle.soften(weight)
    assert {soft.weight for soft in m.weights.values()} == {2}
    assert m.count() == 10


def test_the_command_line_names_what_is_violated(tmp_path: Path) -> None:
    m, _, _ = wishes()
    m.maximize(0.5 * m.variables["x"])
    path = tmp_path / "wishes.json"
    path.write_text(m.to_json())
    written = CliRunner().invoke(app, ["solve", str(path)])
    assert written.exit_code == 0
    assert "# violated weight = 2" in written.output
    assert "# violated: wish: x <= 2" in written.output
    answer = CliRunner().invoke(app, ["solve", str(path), "--json"])
    assert '"objective": 4.5' in answer.output
    assert '"violation": 2' in answer.output
    bad = m.to_json().replace('"weight": 2', '"weight": "none"')
    path.write_text(bad)
    refused = CliRunner().invoke(app, ["solve", str(path)])
    assert refused.exit_code == 2
    assert "constraints[0].weight: a weight is a number above 0" in refused.output


def test_goals_count_in_the_order_in_which_they_are_written() -> None:
    m = ci.Model()
    x, y = m.int_var("x", 0, 9), m.int_var("y", 0, 9)
    m.add(x + y == 9)
    assert m.solve(minimize=x, maximize=0.5 * x).objective == (0, 0.0)
    assert m.solve(maximize=x, minimize=x + y).objective == (9, 9)
    assert m.solve(maximize=[x, y], minimize=y).objective == (9, 0, 0)
    assert m.solve(minimize=y, maximize=[x, (y, "min")]).objective == (0, 9, 0)
    assert m.solve(maximize=None, minimize=x).objective == 0
    assert m.best_solutions(2, maximize=y, minimize=x).objectives == [(9, 0), (8, 1)]
    assert m.best_solutions(2, minimize=y, maximize=x * 0).objectives == [(0, 0), (1, 0)]
    m.maximize(x)
    m.minimize(y, x)
    m.maximize(y)
    assert m.solve().objective == (9, 0, 9, 0)
    assert [way for _, way in m.goals] == ["max", "min", "min", "max"]
    assert m.solve(backend="cp-sat").objective == (9, 0, 9, 0)


def test_text_has_the_violation_as_its_first_goal() -> None:
    m = ci.Model()
    x, y = m.int_var("x", 0, 5), m.int_var("y", 0, 5)
    m.add(x + y <= 6)
    m.add(x >= 4, weight=2)
    m.add(y >= 4, weight=Fraction(7, 2))
    m.maximize(x)
    read = ci.Model.from_text(m.to_text()).solve()
    assert dict(read) == dict(m.solve())
    m.maximize(x - 10 * m.violation)
    assert len(ci.Model.from_text(m.to_text()).goals) == len(m.goals)
