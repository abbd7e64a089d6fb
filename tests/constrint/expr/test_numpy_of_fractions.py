"""Functions of numpy on fractions, and sets of fractions: their values are those of the numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest

from constrint import Model, ModelError, element_2d

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "minimum": lambda a: np.minimum(a, 1),
    "maximum": lambda a: np.maximum(1.25, a),
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "round": np.round,
    "add": lambda a: np.add(a, 1),
    "multiply": lambda a: np.multiply(np.float64(0.5), a),
    "operator": lambda a: np.float64(0.5) * a - np.int64(1),
    "negative": np.negative,
    "absolute": np.absolute,
    "square": np.square,
    "power": lambda a: np.power(a, 3),
    "clip": lambda a: np.clip(a, -0.25, 1),
    "sign": np.sign,
    "sum": np.sum,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_fraction_is_as_its_value(name: str) -> None:
    for value in range(-5, 6):
        model = Model()
        x = model.int_var("x", value, value)
        found = model.solve()[FUNCTIONS[name](0.5 * x)]
        assert found == FUNCTIONS[name](np.float64(0.5 * value)), (name, value)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "sum"])
def test_arrays_of_fractions_are_as_their_values(name: str) -> None:
    values = [-3, 0, 1, 5]
    model = Model()
    x = model.int_vars("x", 4, -5, 5)
    model.add(x == values)
    found = model.solve()[FUNCTIONS[name](0.5 * x)]
    assert list(map(float, found)) == FUNCTIONS[name](0.5 * np.array(values)).tolist()


OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "<=": operator.le,
    "<": operator.lt,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@pytest.mark.parametrize("symbol", OPERATORS)
@pytest.mark.parametrize("kind", [np.array, pd.Series, "variables"])
def test_a_fraction_beside_an_array(symbol: str, kind: Any) -> None:
    rule = OPERATORS[symbol]
    model = Model()
    x, z = model.int_var("x", 2, 2), model.int_vars("z", 3, 0, 2)
    model.add(z == [0, 1, 2])
    result = model.solve()
    values = [0, 1, 2] if kind == "variables" else [0.5, 1, 2]
    other = z if kind == "variables" else kind(values)
    for turned in (False, True):
        found = rule(other, 0.5 * x) if turned else rule(0.5 * x, other)
        expected = [rule(one, 1.0) if turned else rule(1.0, one) for one in values]
        assert [float(result[one]) for one in found] == expected


def test_a_fraction_over_an_array() -> None:
    model = Model()
    x = model.int_var("x", 2, 2)
    quotients: Any = (0.5 * x) / np.array([0.5, 1, 2])
    assert list(map(float, model.solve()[quotients])) == [2, 1, 0.5]


def test_fractions_and_integers_are_joined() -> None:
    model = Model()
    x = model.int_vars("x", 3, 1, 3)
    model.add(x == [1, 2, 3])
    result = model.solve()
    assert list(map(float, result[np.concatenate([0.5 * x, x])])) == [0.5, 1, 1.5, 1, 2, 3]
    assert np.stack([0.5 * x, x]).shape == (2, 3)


NOT_DEFINED: list[Any] = [np.sqrt, np.exp, np.isclose, np.argmax, np.median]


@pytest.mark.parametrize("function", NOT_DEFINED)
def test_functions_without_a_meaning_say_so(function: Any) -> None:
    x = Model().int_var("x", 0, 3)
    arguments = (0.5 * x, 1) if function is np.isclose else (0.5 * x,)
    with pytest.raises(ModelError, match=f"np.{function.__name__} is not defined for expressions"):
        function(*arguments)


@pytest.mark.parametrize("exponent", [-1, 0.5, "2"])
def test_powers_of_fractions(exponent: Any) -> None:
    x = Model().int_var("x", 0, 3)
    with pytest.raises(ModelError, match="constant exponent of at least 0"):
        (0.5 * x) ** exponent


@pytest.mark.parametrize("rows", [[[0.5, 1], [2, 3]], np.array([[0.5, 1], [2, 3]])])
def test_entries_of_a_matrix_of_fractions(rows: Any) -> None:
    model = Model()
    i, j = model.int_var("i", 0, 1), model.int_var("j", 0, 1)
    entry = element_2d(rows, i, j)
    model.add(entry >= 0.75, entry <= 2.5)
    found = sorted((r["i"], r["j"], r[entry]) for r in model.iter_solutions())
    assert found == [(0, 1, 1.0), (1, 0, 2.0)]


def test_generators_of_rows() -> None:
    model = Model()
    i = model.int_var("i", 1, 1)
    rows = ((Fraction(k, 3) for k in range(2)) for _ in range(2))
    assert model.solve()[element_2d(rows, i, i)] == Fraction(1, 3)


def test_sets_of_fractions_are_shown_as_written() -> None:
    model = Model()
    x = model.int_var("x", 0, 9)
    inside = (0.5 * x).is_in([0.5, 1, 2.5])
    assert str(inside) == "0.5 * x in {0.5, 1, 2.5}"
    assert "\\{0.5, 1, 2.5\\}" in inside._repr_latex_()
    assert str((Fraction(1, 3) * x).is_in([Fraction(2, 3), 2])) == "x / 3 in {2/3, 2}"
    assert str(sum((0.5 * x).is_in([0.5, 1]) for _ in range(400))) != ""
    model.add(inside)
    assert sorted(r["x"] for r in model.iter_solutions()) == [1, 2, 5]
    again = Model.from_text(model.to_text())
    assert sorted(r["x"] for r in again.iter_solutions()) == [1, 2, 5]


def test_the_log_has_the_goal_as_written(capsys: pytest.CaptureFixture[str]) -> None:
    model = Model()
    x = model.int_var("x", 0, 9)
    model.solve(maximize=0.25 * x, log=True)
    assert "maximize 0.25 * x" in capsys.readouterr().out
