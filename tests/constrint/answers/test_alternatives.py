"""The k best and diverse solutions, all conflicts and corrections, and relaxations, against brute force."""

# mypy: disable-error-code="arg-type"
from __future__ import annotations

import itertools
import json
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from random_models import RandomModel, build, draw_model

import constrint as ci
from constrint.cli.main import app
from constrint.search.solver import Solver

SEEDS = range(30)


def drawn(seed: int) -> tuple[RandomModel, ci.Model, list[dict[str, int]]]:
    data = draw_model(18000 + seed, max_assignments=100)
    return data, data.build(), data.solutions()


# ------------------------------------------------------------ best and diverse solutions


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_solutions_of_drawn_models(seed: int) -> None:
    data, model, solutions = drawn(seed)
    draw = Random(seed)
    goal = build(data.objective, {**model.variables, **model.lets})
    direction = draw.choice(["min", "max"])
    sign = 1 if direction == "min" else -1
    names = draw.sample(list(data.domains), draw.randint(1, len(data.domains)))
    variables = None if draw.random() < 0.5 else names
    best: dict[tuple[int, ...], int] = {}
    for one in solutions:
        value = data.value(data.objective, one)
        if value is not None:
            key = tuple(one[name] for name in variables or data.domains)
            best[key] = min(best.get(key, sign * value), sign * value)
    for number in (1, 4, 1000):
        found = model.best_solutions(number, minimize=[(goal, direction)], variables=variables)  # type: ignore[list-item]
        assert found.complete
        assert [sign * value for (value,) in found.objectives] == sorted(best.values())[:number], seed
        keys = [tuple(one[name] for name in variables or data.domains) for one in found]
        assert len(set(keys)) == len(keys)
        assert all(best[key] == sign * one.objective for key, one in zip(keys, found, strict=True))
        assert all({name: one[name] for name in data.domains} in solutions for one in found)
    pair = model.best_solutions(
        5,
        minimize=[(goal, direction), (next(iter(model.variables.values())), "max")],  # type: ignore[list-item]
    )
    first = next(iter(data.domains))
    known = [(data.value(data.objective, one), one[first]) for one in solutions]
    order = sorted((sign * value, -other) for value, other in known if value is not None)
    assert [(sign * value, -other) for value, other in pair.objectives] == order[:5]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("distance", ["hamming", "manhattan"])
def test_diverse_solutions_are_as_far_apart_as_possible(seed: int, distance: str) -> None:
    data, model, solutions = drawn(seed)
    draw = Random(seed)
    goal = build(data.objective, {**model.variables, **model.lets})
    within = draw.choice([0, 1, 5, 100])
    named = {} if draw.random() < 0.4 else {"maximize": goal, "within": within}
    if named:
        solutions = [one for one in solutions if data.value(data.objective, one) is not None]
        best = max((data.value(data.objective, one) for one in solutions), default=0)  # type: ignore[type-var]
        solutions = [one for one in solutions if data.value(data.objective, one) >= best - within]  # type: ignore[operator]

    def apart(one: dict[str, int], other: dict[str, int]) -> int:
        gaps = [abs(one[name] - other[name]) for name in data.domains]
        return sum(gaps) if distance == "manhattan" else sum(gap > 0 for gap in gaps)

    found = model.diverse_solutions(4, distance=distance, **named)
    given = [{name: one[name] for name in data.domains} for one in found]
    assert found.complete
    assert len(given) == min(4, len(solutions))
    assert all(one in solutions for one in given)
    for i in range(1, len(given)):
        farthest = max(min(apart(one, other) for other in given[:i]) for one in solutions)
        assert min(apart(given[i], other) for other in given[:i]) == farthest
    if named and given:
        assert found[0].objective == best


@pytest.mark.parametrize("seed", range(10))
def test_each_projection_has_its_best_objective_once(seed: int) -> None:
    draw = Random(seed)
    m = ci.Model()
    x, y = m.int_var("x", 0, 4), m.int_var("y", 0, 4)
    m.add(x + y <= 6, x != y)
    a, b = draw.randint(-3, 3), draw.choice([-2, 1, 3])
    best = {i: max(a * i + b * j for j in range(5) if i + j <= 6 and i != j) for i in range(5)}
    found = m.best_solutions(9, maximize=a * x + b * y, variables=[x])
    assert sorted((one[x], one.objective) for one in found) == sorted(best.items())
    assert [one.objective for one in found] == sorted(best.values(), reverse=True)


def test_rankings_have_the_scale_of_the_goal_and_take_soft_constraints() -> None:
    m = ci.Model()
    x = m.int_var("x", 0, 9)
    assert m.best_solutions(3, maximize=0.5 * x).objectives == [(4.5,), (4.0,), (3.5,)]
    found = m.diverse_solutions(3, minimize=Fraction(1, 3) * x, within=0.7, distance="manhattan")
    assert [one[x] for one in found] == [0, 2, 1]
    m.add(x <= 5, weight=2)
    m.maximize(x)
    found = m.best_solutions(7)
    assert [(one.violation, one.objective) for one in found[4:]] == [(0, 1), (0, 0), (2, 9)]
    assert "7 solutions" in repr(found)
    assert found.to_numpy().shape == (7, 1)
    assert not m.best_solutions(3, time_limit=0).complete
    for wrong, message in (
        (lambda: ci.Model().best_solutions(3), "needs an objective"),
        (lambda: m.best_solutions(-1), "must not be negative"),
        (lambda: m.best_solutions(None), "must be an integer"),
        (lambda: m.diverse_solutions(3, distance="l2"), "distance is"),
        (lambda: m.diverse_solutions(3, within=-0.5), "0 or more"),
    ):
        with pytest.raises(ci.ModelError, match=message):
            wrong()  # type: ignore[no-untyped-call]


# ------------------------------------------------------------ conflicts, corrections, relaxations


def overconstrained(seed: int) -> tuple[ci.Model, list[ci.Constraint], list[ci.Constraint]]:
    """A model with further constraints; those that may be removed, and the others."""
    draw = Random(seed)
    _, model, _ = drawn(seed)
    variables = list(model.variables.values())
    for i in range(draw.randint(2, 4)):
        a, b = draw.choice(variables), draw.choice(variables)
        kinds = [
            a + b == draw.randint(-4, 9),
            a >= b + draw.randint(-1, 3),
            2 * a <= draw.randint(-4, 6),
            a * b > 3,
        ]
        model.add(draw.choice(kinds), name=f"c{i}")
    candidates = [one for one in model.constraints if one.name or draw.random() < 0.6]
    return model, candidates, [one for one in model.constraints if one not in set(candidates)]


def feasible_sets(
    model: ci.Model, candidates: list[ci.Constraint], fixed: list[ci.Constraint]
) -> set[frozenset[Any]]:
    """The sets of candidates that have a solution beside the others, by the points of the domains."""
    domains = [[0, 1] if isinstance(v, ci.BoolVar) else list(v.domain) for v in model.variables.values()]
    kept: set[frozenset[Any]] = set()
    for point in itertools.product(*domains):
        values = dict(zip(model.variables.values(), point, strict=True))
        if all(one.expr.evaluate(values) for one in fixed):
            kept.add(frozenset(one for one in candidates if one.expr.evaluate(values)))
    return kept


@pytest.mark.parametrize("seed", SEEDS)
def test_all_conflicts_and_corrections_of_drawn_models(seed: int) -> None:
    model, candidates, fixed = overconstrained(seed)
    kept = feasible_sets(model, candidates, fixed)
    subsets = [
        frozenset(chosen)
        for n in range(len(candidates) + 1)
        for chosen in itertools.combinations(candidates, n)
    ]
    good = {one for one in subsets if any(one <= other for other in kept)}
    conflicts = {one for one in subsets if one not in good and all(one - {c} in good for c in one)}
    corrections = {
        frozenset(candidates) - one
        for one in good
        if all(one | {c} not in good for c in candidates if c not in one)
    }
    among = candidates if fixed else []
    found = model.conflicts(*among)
    assert found.complete
    assert {frozenset(one.constraints) for one in found} == conflicts
    assert len(found) == len(conflicts)
    removed = model.corrections(*among)
    assert removed.complete
    assert {frozenset(one.constraints) for one in removed} == corrections
    assert len(removed) == len(corrections)
    if len(conflicts) > 1:
        assert len(model.conflicts(*among, limit=1)) == 1
        assert not model.conflicts(*among, limit=1).complete
    weights = {f"c{i}": i + 1 for i in range(4)}
    known = {one.name for one in candidates}
    weights = {name: weight for name, weight in weights.items() if name in known}
    result = model.relax(*among, weights=weights)
    costs = {one: weights.get(one.name, 1) for one in candidates}
    if not kept:
        assert result.status is ci.Status.INFEASIBLE
        return
    assert result.violation == min(sum(costs[c] for c in candidates if c not in one) for one in kept)
    assert sum(costs[c] for c in result.violated) == result.violation


@pytest.mark.parametrize("seed", range(20))
def test_the_least_amount_of_violation_of_drawn_inequalities(seed: int) -> None:
    draw = Random(seed)
    m = ci.Model()
    xs = [m.int_var(f"x{i}", -2, 3) for i in range(3)]
    distances = {
        "<=": lambda gap: max(0, gap),
        "<": lambda gap: max(0, gap + 1),
        ">=": lambda gap: max(0, -gap),
        ">": lambda gap: max(0, 1 - gap),
        "==": abs,
        "!=": lambda gap: int(gap == 0),
    }
    rows = []
    for i in range(4):
        factors, operator, right = (
            [draw.randint(-2, 2) for _ in xs],
            draw.choice(list(distances)),
            draw.randint(-9, 9),
        )
        left = ci.sum_(f * x for f, x in zip(factors, xs, strict=True))
        conditions = {
            "<=": left <= right,
            "<": left < right,
            ">=": left >= right,
            ">": left > right,
            "==": left == right,
            "!=": left != right,
        }
        m.add(conditions[operator], name=f"row{i}")
        rows.append((factors, distances[operator], right))
    weights = {"row0": 2, "row1": 0.5}
    costs = [weights.get(f"row{i}", 1) for i in range(4)]

    def cost(point: tuple[int, ...]) -> Fraction:
        gaps = [sum(f * x for f, x in zip(factors, point, strict=True)) - right for factors, _, right in rows]
        missed = [distance(gap) for (_, distance, _), gap in zip(rows, gaps, strict=True)]  # type: ignore[no-untyped-call]
        return sum((Fraction(str(c)) * amount for c, amount in zip(costs, missed, strict=True)), Fraction(0))

    result = m.relax(by="amount", weights=weights)
    assert result.violation == min(map(cost, itertools.product(range(-2, 4), repeat=3)))
    assert cost(tuple(result[x] for x in xs)) == result.violation


def test_what_cannot_be_relaxed_or_listed_says_why() -> None:
    m = ci.Model()
    x = m.int_var("x", 0, 9)
    m.add(x > 5, name="high")
    low = m.add(x < 3, name="low")
    assert str(m.conflicts()).startswith("these 2 constraints contradict each other:")
    assert str(m.corrections("low")[0]).startswith("without this constraint there is a solution:")
    assert not m.conflicts(time_limit=0).complete
    with pytest.raises(ci.ModelError, match="is named 'lo'"):
        m.relax(weights={"lo": 3})
    with pytest.raises(ci.ModelError, match="by is"):
        m.relax(by="distance")
    low.remove()
    assert (list(m.conflicts()), str(m.corrections()[0])) == (
        [],
        "the model has a solution: nothing need be removed",
    )
    m.int_var("none", values=[])
    assert m.conflicts()[0].empty == ("none",)
    assert list(m.corrections()) == []


def test_the_command_line_lists_conflicts_and_corrections(tmp_path: Path) -> None:
    path = tmp_path / "three.constrint"
    path.write_text("x in 0..9\na: x > 5\nb: x < 3\nc: x == 4\n")
    for option, heading, number in (("--all", "contradict", 3), ("--corrections", "there is a solution:", 3)):
        answer = CliRunner().invoke(app, ["explain", str(path), option])
        assert answer.exit_code == 1
        assert answer.output.count(heading) == number
        answer = CliRunner().invoke(app, ["explain", str(path), option, "--json"])
        (sets, complete) = json.loads(answer.output).values()
        assert sorted([one["name"] for one in each] for each in sets) == [["a", "b"], ["a", "c"], ["b", "c"]]
        assert complete
    assert CliRunner().invoke(app, ["explain", str(path), "--all", "--corrections"]).exit_code == 2
    path.write_text("x in 0..9\na: x > 5\n")
    for option in ("--all", "--corrections"):
        answer = CliRunner().invoke(app, ["explain", str(path), option])
        assert (answer.exit_code, answer.output) == (0, "the model has a solution, so there is no conflict\n")


@pytest.mark.parametrize("searches", [0, 1, 2])
@pytest.mark.parametrize("status", [ci.Status.FEASIBLE, ci.Status.UNKNOWN])
def test_what_was_found_before_a_limit_is_given(
    monkeypatch: pytest.MonkeyPatch, searches: int, status: ci.Status
) -> None:
    m = ci.Model()
    x = m.int_vars("x", 3, 0, 3)
    m.add(x.sum() >= 1, x[0] != 0)
    cost = x.sum()
    done: list[int] = []

    class Stopped(Solver):
        """A solver that a limit stops in a later search."""

        def best(self, *args: Any) -> ci.Result:
            found = super().best(*args)
            done.append(1)
            if len(done) <= searches:
                return found
            return replace(found, status=status) if status is ci.Status.FEASIBLE else ci.Result(status)

    monkeypatch.setattr("constrint.answers.ranked.Solver", Stopped)
    for ask in (m.best_solutions, partial(m.diverse_solutions, within=9)):
        done.clear()
        some = ask(30, minimize=cost)
        assert not some.complete
        assert len(some) >= searches + (status is ci.Status.FEASIBLE)
        assert len({str(one.values) for one in some}) == len(some)
        assert [(one[cost],) for one in some] == some.objectives


def test_an_empty_answer_before_a_limit_says_so() -> None:
    m = ci.Model()
    m.add(m.int_var("x", 0, 1) > 3)
    assert str(m.conflicts(limit=0)) == "none was found before the limit"


def test_fractional_goals_are_shown_as_written() -> None:
    model = ci.Model()
    x, y = model.int_var("x", 0, 3), model.int_var("y", 0, 3)
    model.add(x + y <= 3)
    front = model.pareto([(0.5 * x, "max"), (y, "max")])
    assert "max 0.5 * x, max y" in repr(front)
    assert "max 0.5 * x" in front._repr_html_()
    assert str(front.goals[0][0]) == "0.5 * x"
    ranking = model.best_solutions(2, minimize=0.25 * x)
    assert "by min 0.25 * x" in repr(ranking)
