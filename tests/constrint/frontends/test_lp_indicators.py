"""Rows of the LP format that hold under a condition: implications and equivalences of comparisons."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

import pytest

from constrint import Model, ModelError

CONDITIONS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "implies": lambda b, c, x, y: b.implies(x + 2 * y <= 3),
    "not": lambda b, c, x, y: (~b).implies(x - y > 1),
    "equation": lambda b, c, x, y: b.implies(x == y + 1),
    "fraction": lambda b, c, x, y: b.implies(0.5 * x + 0.25 * y >= 1),
    "or": lambda b, c, x, y: b | (x >= 2),
    "or turned": lambda b, c, x, y: (x < y) | ~b,
    "contrapositive": lambda b, c, x, y: (x >= 2).implies(b),
    "contrapositive of !=": lambda b, c, x, y: (x != 2).implies(b),
    "equivalence": lambda b, c, x, y: b == (x + y >= 3),
    "turned": lambda b, c, x, y: (x > y).iff(~b),
    "range": lambda b, c, x, y: b.implies((x >= 1) & (x + y <= 4)),
    "set": lambda b, c, x, y: b.implies((x + y).is_in(range(2, 5))),
    "literals": lambda b, c, x, y: b.implies(~c),
    "mixed": lambda b, c, x, y: b.implies((x <= 1) & c),
    "false": lambda b, c, x, y: b.implies(x + 10 <= y),
}
REFUSED: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "!=": lambda b, c, x, y: b.implies(x != y),
    "two comparisons": lambda b, c, x, y: (x <= 1) | (y <= 1),
    "equivalence of ==": lambda b, c, x, y: b == (x == y),
    "nested": lambda b, c, x, y: b.implies(c.implies(x <= y)),
    "a product": lambda b, c, x, y: b.implies(x * y <= 3),
}


def made(condition: Callable[[Any, Any, Any, Any], Any]) -> Model:
    model = Model()
    x, y = model.int_var("x", 0, 3), model.int_var("y", 0, 3)
    b, c = model.bool_var("b"), model.bool_var("c")
    model.add(condition(b, c, x, y), name="rule")
    return model


def solutions(model: Model) -> list[tuple[int, ...]]:
    return sorted(tuple(result[name] for name in "xybc") for result in model.iter_solutions())


@pytest.mark.parametrize("name", CONDITIONS)
def test_rows_under_a_condition_keep_all_solutions(name: str) -> None:
    model = made(CONDITIONS[name])
    text = model.to_text(dialect="lp")
    assert ("->" in text) == (name not in ("literals",))
    assert solutions(Model.from_text(text, dialect="lp")) == solutions(model)


@pytest.mark.parametrize("name", REFUSED)
def test_other_conditions_name_the_constraint(name: str) -> None:
    with pytest.raises(ModelError, match=r"rule.*linear"):
        made(REFUSED[name]).to_text(dialect="lp")


@pytest.mark.parametrize("name", [name for name in CONDITIONS if name != "literals"])
def test_mps_has_none(name: str) -> None:
    with pytest.raises(ModelError, match=r"the MPS format holds linear models only.*rule"):
        made(CONDITIONS[name]).to_text(dialect="mps")


def test_random_conditions() -> None:
    random = Random(5)
    for operator, negated, kind in product(("<=", "<", ">=", ">", "=="), (False, True), ("->", "or", "<->")):
        model = Model()
        x, y = model.int_var("x", -2, 2), model.int_var("y", -1, 2)
        b, c = model.bool_var("b"), model.bool_var("c")
        left = random.randint(-2, 2) * x + random.randint(-2, 2) * y + c
        right = random.randint(-2, 2)
        compared = {"<=": left <= right, "<": left < right, ">=": left >= right, ">": left > right}
        condition = compared.get(operator, left == right)
        literal = ~b if negated else b
        if kind == "<->" and operator == "==":
            continue
        written = {"->": literal.implies(condition), "or": condition | literal, "<->": literal == condition}
        model.add(written[kind])
        again = Model.from_text(model.to_text(dialect="lp"), dialect="lp")
        assert solutions(again) == solutions(model), (operator, negated, kind)
