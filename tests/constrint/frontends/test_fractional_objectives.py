"""Objectives with fractional coefficients in every format: the value stays, or the format refuses it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from constrint import Model, ModelError, ParseError
from constrint.frontends.formats import FORMATS
from constrint.modelling.result import Status

WRITTEN = sorted(one.name for one in FORMATS.values() if one.reader and one.writer)
DECIMALS_ONLY = {"lp", "mps"}
OBJECTIVES = {
    "decimals": lambda x, y: 0.5 * x + 0.25 * y,
    "a constant": lambda x, y: 0.5 * x - 1.25 * y + 0.125,
    "whole coefficients": lambda x, y: x + 0.5 * y - 3 * x,
    "quotients": lambda x, y: Fraction(1, 3) * x + Fraction(1, 2) * y,
    "exact decimals": lambda x, y: Decimal("0.1") * x + Decimal("0.01") * y,
    "a float third": lambda x, y: 0.5 * x + Fraction(1, 3) * y,
    "a condition": lambda x, y: 0.5 * (x == 2) + 0.7 * (y >= 2),
    "a product": lambda x, y: 0.1 * x * y - 0.3 * abs(x - y),
    "tiny": lambda x, y: 1e-9 * x + 0.001 * y,
    "large": lambda x, y: 1e20 * x + 0.5 * y,
}


def made(objective: Callable[..., Any], direction: str) -> Model:
    model = Model()
    x, y = model.int_var("x", 0, 3), model.int_var("y", -2, 8)
    model.add(x + y <= 9)
    (model.maximize if direction == "max" else model.minimize)(objective(x, y))
    return model


def written(model: Model, dialect: str) -> tuple[str | None, str]:
    """The text, or why there is none."""
    try:
        return model.to_text(dialect=dialect), ""
    except ModelError as error:
        return None, str(error)


@pytest.mark.parametrize("direction", ["max", "min"])
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("dialect", WRITTEN)
def test_round_trips_keep_the_value(dialect: str, objective: str, direction: str) -> None:
    model = made(OBJECTIVES[objective], direction)
    expected = model.solve()
    assert expected.status is Status.OPTIMAL
    text, refused = written(model, dialect)
    if text is None:
        assert dialect in DECIMALS_ONLY, refused
        assert "multiply" in refused or "linear" in refused
        return
    found = Model.from_text(text, dialect=dialect).solve()
    if isinstance(expected.objective, Fraction) and dialect in DECIMALS_ONLY:
        assert found.objective == float(expected.objective), text
    else:
        assert found.objective == expected.objective, text
        assert type(found.objective) is type(expected.objective) or found.objective == int(found.objective)


@pytest.mark.parametrize("dialect", WRITTEN)
def test_fractional_weights_of_soft_constraints(dialect: str) -> None:
    model = Model()
    x, y = model.int_var("x", 0, 3), model.int_var("y", 0, 3)
    model.add(x >= 2, weight=0.5)
    model.add(y >= 2, weight=1.5)
    model.add(x + y <= 2)
    assert model.solve().violation == 0.5
    text, refused = written(model, dialect)
    if text is None:
        assert "linear" in refused
        return
    found = Model.from_text(text, dialect=dialect).solve()
    assert (found.objective if found.violation is None else found.violation) == 0.5


def test_text_has_decimals() -> None:
    model = made(lambda x, y: 0.5 * x + 0.25 * y, "max")
    assert model.to_text().splitlines()[-1] == "maximize 0.5 * x + 0.25 * y"
    assert "maximize 0.5 * x + 0.25 * y" in str(model)
    exact = made(lambda x, y: Fraction(1, 2) * x + Fraction(1, 3) * y, "min")
    assert exact.to_text().splitlines()[-1] == "minimize (3 * x + 2 * y) / 6"


@pytest.mark.parametrize(
    ("objective", "value"),
    [
        ("0.5 * x + 0.25 * y", 3.5),
        ("(x + y) / 4", Fraction(11, 4)),
        ("-(0.5 * (x - 2 * y)) + 1.5", 9.5),
        ("x / 2 / 2 + max(x, y) * 0.5", 4.75),
        ("0.1 * sum(x for i in 1..3)", 0.9),
        ("x - 00.5", 2.5),
        ("1_0.5 * x", 31.5),
        ("(x // 2) * 0.5", 0.5),
    ],
)
def test_objectives_in_text(objective: str, value: Fraction | float) -> None:
    assert Model.from_text(f"x in 0..3\ny in 0..8\nmaximize {objective}").solve().objective == value


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("x in 0..3\n0.5 * x in {1}", "2:1", "'in' takes integers"),
        ("x in 0..3\n0.5 * x", "2:1", "'0.5 * x' is not an integer: fractions stand in"),
        ("x in 0..3\nall_different([0.5, x])", "2:15", "has fractions, and integers are needed here"),
        ("x in 0..3\nx in 0..x / 2", "2:9", "'x / 2' is not an integer"),
        ("x in 0..3\n2 ** 0.5 <= x", "2:1", "'2 ** 0.5' is an operation on integers"),
        ("x in 0..3\nmax(0.5 * x, [1, 2]) <= 2", "2:14", "a list is not a number"),
        ("x in 0..3\nabs(0.5 * x, 1) <= 2", "2:1", "abs takes 1 argument"),
        ("x in 0..3\nx / x <= 2", "2:1", "divides by a constant"),
        ("x in 0..3\nmaximize 0.5 * x // 2", "2:18", "'//' is an operator of integers"),
        ("x in 0..3\nmaximize x / 0", "2:10", "division by 0"),
        ("x in 0..3\nmaximize 0.5 / x", "2:10", "divides by a constant"),
        ("x in 0..1.5", "1:9", "'1.5' is not an integer"),
    ],
)
def test_fractions_elsewhere_are_refused(text: str, place: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        Model.from_text(text)
    assert f":{place}" in str(caught.value)
    assert message in str(caught.value)


def test_cp_sat_scales_the_objective() -> None:
    pytest.importorskip("ortools")
    from ortools.sat.python import cp_model

    for direction, value in (("max", 3.5), ("min", -0.5)):
        solver = cp_model.CpSolver()
        solver.solve(made(lambda x, y: 0.5 * x + 0.25 * y, direction).to_cp_sat())
        expected = made(lambda x, y: 0.5 * x + 0.25 * y, direction).solve().objective
        assert solver.objective_value == expected
        assert direction == "max" or expected == value


CONDITIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "0.5 * x + 1.25 <= y": lambda x, y, k: Fraction(x, 2) + Fraction(5, 4) <= y,
    "max(0.5 * x, y) <= 2.5": lambda x, y, k: max(Fraction(x, 2), y) <= 2.5,
    "min([0.5 * x, y, 3]) == 1.5": lambda x, y, k: min(Fraction(x, 2), y, 3) == 1.5,
    "abs(0.5 * x - 1.25) < 1": lambda x, y, k: abs(Fraction(x, 2) - Fraction(5, 4)) < 1,
    "[0.5, 1.25, 4][k] * x >= 3.5": lambda x, y, k: 0 <= k <= 2 and [0.5, 1.25, 4][k] * x >= 3.5,
    "[0.5 * x, y, 1.5][k] != 1.5": lambda x, y, k: 0 <= k <= 2 and [0.5 * x, y, 1.5][k] != 1.5,
    "x / 2 <= 1.5 and not (y / 4 > x / 2)": lambda x, y, k: x <= 3 and y <= 2 * x,
    "sum(0.5 * v for v in [x, y]) == 3.5": lambda x, y, k: x + y == 7,
    "sum(0.5 * x, y, 1.5) <= 4": lambda x, y, k: x + 2 * y <= 5,
    "0.25 <= 0.5 * x < 1.75": lambda x, y, k: 1 <= 2 * x < 7,
    "0.5 * x * y <= 3.25 or k == 2": lambda x, y, k: 2 * x * y <= 13 or k == 2,
    "if_then_else(x > 2, 0.5, 1) * y == 2": lambda x, y, k: (0.5 if x > 2 else 1) * y == 2,
    "2 * (x > 1) + 0.5 * y <= 3.5 -> k == 1": lambda x, y, k: not 4 * (x > 1) + y <= 7 or k == 1,
    "(x % 2) / 2 + 6 // k == 2.5": lambda x, y, k: k != 0 and Fraction(x % 2, 2) + 6 // k == 2.5,
    "forall(0.5 * i <= x for i in 1..3)": lambda x, y, k: x >= 1.5,
    "price := 2.5; price * x <= 10": lambda x, y, k: x <= 4,
    "prices := [0.5, 2]; prices[k] * x <= 1": lambda x, y, k: 0 <= k <= 1 and [0.5, 2][k] * x <= 1,
    "half := x / 2; both := half + y; both <= 2.5": lambda x, y, k: x + 2 * y <= 5,
    "0.1 + 0.2 == 0.3": lambda x, y, k: True,
}


@pytest.mark.parametrize("text", CONDITIONS)
def test_conditions_with_fractions_are_exact(text: str) -> None:
    model = Model.from_text(f"x in 0..7\ny in 0..5\nk in -1..3\n{text}")
    expected = [
        (x, y, k) for x in range(8) for y in range(6) for k in range(-1, 4) if CONDITIONS[text](x, y, k)
    ]
    found = [(one["x"], one["y"], one["k"]) for one in model.iter_solutions(engine="interpreted")]
    assert sorted(found) == expected
    assert model.count() == len(expected)
    for again in (Model.from_text(model.to_text()), Model.from_json(model.to_json())):
        assert again.count() == len(expected)


def test_goals_of_functions_with_fractions() -> None:
    x, y = "x in 0..3", "y in 0..8"
    for objective, value in (
        ("min(0.5 * x, y)", 1.5),
        ("[0.5, 1.25, 7][x] + y", 15.0),
        ("max(x, y) / 3", Fraction(8, 3)),
        ("abs(0.25 * x - y)", 8.0),
        ("if_then_else(x == 2, 0.5, y / 16)", 0.5),
    ):
        model = Model.from_text(f"{x}; {y}; maximize {objective}")
        assert model.solve().objective == value
        assert Model.from_text(model.to_text()).solve().objective == value
        assert Model.from_json(model.to_json()).solve().objective == value


def test_formats_with_integers_alone_say_the_divisor() -> None:
    model = made(lambda x, y: 0.5 * x + 0.25 * y, "max")
    text = model.to_text(dialect="flatzinc")
    assert "solve :: objective_divided_by(4, true) maximize " in text
    assert Model.from_text(text, dialect="flatzinc").to_text().splitlines()[-1].startswith("maximize 0.25 * ")
    for wrong in (
        "objective_divided_by(0, true)",
        "objective_divided_by(x, true)",
        "objective_divided_by(4)",
    ):
        with pytest.raises(ParseError, match="takes a divisor of at least 1"):
            Model.from_text(text.replace("objective_divided_by(4, true)", wrong), dialect="flatzinc")
    note = ' note="divided by 4, as a float"'
    text = model.to_text(dialect="xcsp3")
    assert f"<maximize{note}>" in text
    plain = Model.from_text(text.replace(note, ' note="by 4"'), dialect="xcsp3")
    assert plain.solve().objective == 4 * model.solve().objective
