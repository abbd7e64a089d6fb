"""Undefined terms make the nearest enclosing condition false, and nothing else, for every method."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from random_models import RandomModel, draw_model
from undefined_checks import wrong_undefined

from constrint import Model, ModelError, Status, element, if_then_else

MODELS = int(os.environ.get("CONSTRINT_UNDEFINED_MODELS", "150"))
BLOCKS = 4


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(BLOCKS))
def test_every_method_against_brute_force(block: int) -> None:
    """Search, counts, sets, learning, restarts, explanations, text, JSON; sympy and CP-SAT for some."""
    for seed in range(40_000 + block, 40_000 + MODELS, BLOCKS):
        drawn = draw_model(seed, max_assignments=60)
        assert wrong_undefined(drawn, thorough=seed % 16 < 4) == [], f"seed {seed}"


def test_a_wrong_answer_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that excludes x = 0, as one without guards would, is complained about by every method."""
    drawn = RandomModel({"x": (0, 1, 2), "y": (0, 1, 2, 3)}, {"x": "range", "y": "range"})
    quotient = ("%", ("var", "y"), ("var", "x"))
    drawn.constraints = [("or", ("==", ("var", "x"), ("const", 0)), ("==", quotient, ("const", 1)))]
    assert len(drawn.solutions()) == 4 + 2
    assert wrong_undefined(drawn) == []
    monkeypatch.setattr(RandomModel, "build", lambda self: Model.from_text(f"{self.text()}; x != 0"))
    complaints = "\n".join(wrong_undefined(drawn))
    for method in ("iter_solutions", "count", "count by search", "solutions()", "text", "JSON", "sympy"):
        assert f"{method}: " in complaints


GUARDED = [
    ("x == 0 or y % x == 1", lambda x, y: x == 0 or y % x == 1),
    ("x != 0 and y // x == 2", lambda x, y: x != 0 and y // x == 2),
    ("x == 0 or y // x >= 1 and y % x == 0", lambda x, y: x == 0 or (y // x >= 1 and y % x == 0)),
    ("x < 0 or y ** x <= 4", lambda x, y: x < 0 or y**x <= 4),
    ("x < 0 or x > 2 or [3, 1, 2][x] == y", lambda x, y: x < 0 or x > 2 or [3, 1, 2][x] == y),
    ("if_then_else(x == 0, y, y // x) == 1", lambda x, y: (y if x == 0 else y // x) == 1),
    ("if_then_else(x != 0 and y % x == 0, y, x) >= 1", lambda x, y: (y if x != 0 and y % x == 0 else x) >= 1),
    ("x * y == 0 or (x + y) // (x * y) == 1", lambda x, y: x * y == 0 or (x + y) // (x * y) == 1),
    ("x == 0 or y // x == 0 or 3 % (y // x) == 1", lambda x, y: x == 0 or y // x == 0 or 3 % (y // x) == 1),
    ("not x != 0 or not y % x > 1", lambda x, y: x == 0 or not y % x > 1),
]


@pytest.mark.parametrize(("text", "python"), GUARDED, ids=[text for text, _ in GUARDED])
def test_guards_protect_as_python_says(text: str, python: Callable[..., Any]) -> None:
    """Python's own meaning, which has a value for every assignment."""
    points = itertools.product(range(-2, 4), range(-2, 5))
    expected = [point for point in points if python(*point)]
    model = Model.from_text(f"x in -2..3; y in -2..4; {text}")
    assert sorted((r["x"], r["y"]) for r in model.iter_solutions()) == expected
    assert sorted((row["x"], row["y"]) for row in model.solutions()) == expected
    assert model.count() == len(expected)


def test_a_definition_counts_where_it_is_used() -> None:
    model = Model.from_text("x in 0..3; s := 6 // x; x == 0 or s == 3")
    found = {result["x"]: dict(result.values) for result in model.iter_solutions()}
    assert found == {0: {"x": 0}, 2: {"x": 2, "s": 3}}
    assert model.count() == 2
    with pytest.raises(ModelError, match="'s'"):
        model.solve(assumptions=[model.variables["x"] == 0])["s"]


@pytest.mark.parametrize("options", [{}, {"learn": True, "engine": "interpreted"}, {"backend": "cp-sat"}])
def test_an_undefined_goal_is_no_solution(options: Any) -> None:
    model = Model.from_text("x in 0..3; y in 0..9; x + y >= 3")
    x, y = model.variables.values()
    assert model.solve(minimize=y // x, **options).objective == 0
    assert model.solve(maximize=y // x, **options)["x"] == 1
    model.add(x == 0)
    assert model.solve(maximize=y // x, **options).status is Status.INFEASIBLE
    assert model.solve(maximize=if_then_else(x == 0, y, y // x), **options).objective == 9


def test_a_condition_met_again_where_it_must_hold() -> None:
    """What was lowered as part of a condition first is required after all, in either order."""
    for order in itertools.permutations(range(2)):
        model = Model()
        x, y = model.int_var("x", 0, 4), model.int_var("y", 0, 9)
        quotient = y // x
        parts = [(x == 0) | (quotient > 1), quotient + y >= 3]
        model.add(*[parts[i] for i in order])
        points = itertools.product(range(1, 5), range(10))
        assert model.count() == sum(b // a > 1 and b // a + b >= 3 for a, b in points)


def test_an_element_is_undefined_where_one_of_its_entries_is() -> None:
    model = Model()
    x, i = model.int_var("x", 0, 2), model.int_var("i", -1, 3)
    model.add(~(element([x, 2 // x, 7], i) != 7))
    expected = {(x, i) for x in range(3) for i in range(-1, 4) if x == 0 or i not in (0, 1, 2) or i == 2}
    assert {(r["x"], r["i"]) for r in model.iter_solutions()} == expected
    assert model.count() == len(expected)


def test_divisors_that_are_never_zero_cost_nothing() -> None:
    """Beside a divisor that excludes 0, lowering adds nothing to the normal form."""
    from constrint.lowering.conditions import Lowering

    sizes = []
    for low in (1, 0):
        model = Model()
        b, x, y = model.bool_var("b"), model.int_var("x", low, 8), model.int_var("y", 0, 60)
        lowering = Lowering()
        for variable in (b, x, y):
            lowering.declare(variable)
        lowering.require(b | (y // x >= 3))
        sizes.append((len(lowering.problem.propagators), len(lowering.problem.lo)))
    assert sizes[0] == (3, 7)  # the division, what its quotient must be, and the clause
    assert sizes[1][0] > sizes[0][0]


def test_wide_variables_are_counted_with_guards() -> None:
    random = Random(5)
    for _ in range(40):
        low, divisor, bound = random.randint(-9, 0), random.randint(-3, 3), random.randint(-4, 9)
        text = random.choice(
            [
                "x // {d} >= {b} or x % 3 == 1",
                "not (x % {d} == 1) and x % 5 != {b}",
                "if_then_else(x > 40, x // {d}, x) >= {b}",
                "(x // {d} == {b}) + (x % 4 == 1) == 1",
                "x % 7 == 2 -> x // {d} < {b}",
                "x - 20 == 0 or 1000 // (x - 20) >= {b}",
                "not (1000 % (x + {d}) >= {b})",
            ]
        ).format(d=divisor, b=bound)
        narrow = Model.from_text(f"x in {low}..{low + 300}; {text}")
        rest = Model.from_text(f"x in {low + 301}..{low + 3_000_000}; {text}")
        whole = Model.from_text(f"x in {low}..{low + 3_000_000}; {text}")
        listed = sum(1 for _ in narrow.iter_solutions(engine="interpreted"))
        assert narrow.count() == listed, text
        assert whole.count(time_limit=60) == listed + rest.count(time_limit=60), text


def test_the_manual_tells_the_truth() -> None:
    """The rows of the table in docs/constrint-text.md, with x = 0."""
    page = Path(__file__).parents[3] / "docs" / "constrint-text.md"
    section = page.read_text(encoding="utf-8").split("## Undefined terms")[1].split("\n## ")[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| `")]
    told = {cells[1].strip().strip("`"): cells[2].strip() for cells in rows}
    checked = 0
    for text, claim in told.items():
        if claim.startswith(("true", "false")):
            model = Model.from_text(f"x in 0..0; y in 3..3; b bool; b <-> ({text})")
            assert model.solve()["b"] == claim.startswith("true"), text
            checked += 1
    assert checked >= 8
