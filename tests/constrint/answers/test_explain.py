"""Conflicts contain every guilty constraint and no other."""

from __future__ import annotations

from random import Random

import pytest
from random_models import Generator, RandomModel

from constrint import LimitError, Model, implies
from constrint.answers.conflict import find_conflict
from constrint.modelling.conflict import describe, shown


def without(drawn: RandomModel, kept: list[int]) -> RandomModel:
    """A random model with some of its constraints."""
    return RandomModel(drawn.domains, drawn.styles, drawn.lets, [drawn.constraints[i] for i in kept])


def test_conflicts_of_random_models_are_minimal() -> None:
    """Brute force agrees: the conflict has no solution, and has one without any of its constraints."""
    explained = 0
    for seed in range(300):
        generator = Generator(Random(seed), max_assignments=60)
        drawn = generator.draw()
        for _ in range(20):
            drawn.constraints.append(generator.boolean(2))
            if not without(drawn, [-1]).solutions():
                drawn.constraints.pop()
        if drawn.solutions():
            continue
        model = drawn.build()
        conflict = model.explain()
        assert conflict is not None
        assert conflict.minimal
        guilty = [model.constraints.index(constraint) for constraint in conflict.constraints]
        assert without(drawn, guilty).solutions() == []
        for innocent in guilty:
            assert without(drawn, [i for i in guilty if i != innocent]).solutions()
        explained += len(guilty) > 1
    assert explained > 30


def test_a_conflict_shows_the_source_of_each_constraint() -> None:
    model = Model("python")
    x = model.int_var("x", 0, 9)
    y = model.int_var("y", 0, 9)
    model.add(x + y >= 3)
    model.add(x > y, name="order")
    model.add(implies(x > 2, y > 8), x == 4)
    text = str(model.explain())
    assert text.startswith("these 3 constraints contradict each other:")
    assert "order: x > y" in text
    assert "x == 4" in text
    assert "test_explain.py" in text
    assert "x + y >= 3" not in text


def test_a_model_with_a_solution_has_no_conflict() -> None:
    model = Model.from_text("x in 1..4; x > 3; maximize x")
    assert model.explain() is None
    assert model.goals


def test_empty_domains_are_named() -> None:
    assert Model.from_text("x in {}; y in 1..2").explain().empty == ("x",)  # type: ignore[union-attr]


def test_a_condition_that_no_guard_protects_is_guilty() -> None:
    model = Model.from_text("x, y in 0..4; x == 0 or y % x == 1; y // x >= 1; x == 0")
    assert [shown(constraint) for constraint in model.explain().constraints] == ["y // x >= 1", "x == 0"]  # type: ignore[union-attr]
    assert Model.from_text("x in 0..4; s := 4 // x; x == 0; x == 0 or s > 2").explain() is None


def test_without_time_the_conflict_is_not_called_minimal() -> None:
    model = Model.from_text("x in 1..4; x > 1; x < 4; x == 1")
    conflict = find_conflict(model, time_limit=0.0)
    assert not conflict.minimal
    assert len(conflict.constraints) == 3
    assert "time ran out" in str(conflict)


def test_undecided_models_raise() -> None:
    model = Model.from_text("x, y, z in 1..10 ** 7; x ** 3 + y ** 3 == z ** 3 + 7 * x * y * z + 2 ** 61 + 1")
    with pytest.raises(LimitError, match="reached before feasibility was decided"):
        model.explain(time_limit=0.2)


def test_constraints_are_described_with_place_and_name() -> None:
    model = Model.from_text("x in 1..4\nsmall: x <\\\n 3", filename="m.constrint")
    assert describe(model.constraints[0]) == "m.constrint:2:8: small: x <\\ 3"
