"""Decimals in arrays, parameters and data files of the text language: exact, wherever they come from."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from constrint import Model, ModelError, ParseError

WEIGHTS = [Fraction("0.1"), Fraction("0.25"), Fraction("1")]
DECLARED = {
    "a list over a range": "w[1..3] := [0.1, 0.25, 1]",
    "by rule": "v := [0.1, 0.25, 1]\nw[i in 1..3] := v[i - 1]",
    "a row of two axes": "v[1..2, 1..3] := [[9.5, 9, 9], [0.1, 0.25, 1]]\nw[i in 1..3] := v[2, i]",
    "a part": "v[1..2, 1..3] := [[9.5, 9, 9], [0.1, 0.25, 1]]\nw := v[2, ..]",
    "a default": "param w[1..3] := [0.1, 0.25, 1]",
    "a function": "f(i) := [0.1, 0.25, 1][i - 1]\nw[i in 1..3] := f(i)",
    "a comprehension": "w[1..3] := [v for v in [0.1, 0.25, 1]]",
}
MODEL = """
x[1..3] in 0..2
k in 1..3
total := sum(w[i] * x[i] for i in 1..3)
total <= 1.6
w[k] >= 0.25
max(w[k], 0.5 * x[1]) <= 1
maximize sum(i * x[i] for i in 1..3) - w[k]
"""


def best() -> Fraction:
    """The greatest objective, by trying everything."""
    found = []
    for *x, k in product(range(3), range(3), range(3), (1, 2, 3)):
        weight, total = WEIGHTS[k - 1], sum(w * one for w, one in zip(WEIGHTS, x, strict=True))
        if total <= Fraction("1.6") and weight >= Fraction("0.25") and max(weight, Fraction(x[0], 2)) <= 1:
            found.append(sum(i * one for i, one in enumerate(x, 1)) - weight)
    return max(found)


@pytest.mark.parametrize("declared", DECLARED)
def test_arrays_of_decimals_are_exact_and_read_back(declared: str) -> None:
    model = Model.from_text(DECLARED[declared] + MODEL)
    result = model.solve()
    assert result.objective == float(best())
    assert result["total"] == float(sum(w * result[f"x[{i}]"] for i, w in enumerate(WEIGHTS, 1)))
    again = Model.from_text(model.to_text())
    assert again.solve().objective == result.objective
    assert again.to_text() == model.to_text()
    document = Model.from_text(model.to_text(dialect="json"), dialect="json")
    assert document.solve()["total"] == result["total"]


DATA = {
    "d.json": '{"w": [0.1, 25e-2, 1]}',
    "e.json": '{"w": {"1": 0.1, "2": 0.25, "3": 1}}',
    "d.yaml": "w: [0.1, .25, 1]",
    "w.csv": "w\n0.1\n0.25\n1\n",
}


@pytest.mark.parametrize("file", DATA)
def test_data_files_have_exact_decimals(file: str, tmp_path: Path) -> None:
    (tmp_path / "m.constrint").write_text("param w[1..3]" + MODEL)
    (tmp_path / file).write_text(DATA[file])
    result = Model.from_file(tmp_path / "m.constrint", data=[tmp_path / file]).solve()
    assert result.objective == float(best())


@pytest.mark.parametrize("declaration", ["", "param rate\n"])
@pytest.mark.parametrize("rate", [0.1, Decimal("0.1"), Fraction(1, 10)])
def test_constants_of_python(rate: Any, declaration: str) -> None:
    text = f"{declaration}x in 0..9\nrate * x <= 0.3\nmaximize rate * x"
    objective = Model.from_text(text, constants={"rate": rate}).solve().objective
    assert objective == 3 * rate if not isinstance(rate, float) else objective == 0.3
    assert type(objective) is (float if isinstance(rate, float) else Fraction)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e99999999", "1e-20001", "null"])
def test_numbers_that_are_no_fractions_are_refused(number: str, tmp_path: Path) -> None:
    (tmp_path / "m.constrint").write_text("param w[1..3]" + MODEL)
    (tmp_path / "d.json").write_text(f'{{"w": [0.1, {number}, 1]}}')
    with pytest.raises(ModelError, match=r"d\.json.*(not a decimal|digits|values are numbers)"):
        Model.from_file(tmp_path / "m.constrint", data=[tmp_path / "d.json"])


@pytest.mark.parametrize("number", [".nan", ".inf", "1:30.5"])
def test_yaml_numbers_that_are_no_fractions_are_refused(number: str, tmp_path: Path) -> None:
    (tmp_path / "m.constrint").write_text("param w[1..3]" + MODEL)
    (tmp_path / "d.yaml").write_text(f"w: [0.1, {number}, 1]")
    with pytest.raises(ModelError, match=r"d\.yaml:1:10: .* is not a number"):
        Model.from_file(tmp_path / "m.constrint", data=[tmp_path / "d.yaml"])


ARRAY = "w[1..2] := [0.5, 1]\nx in 0..3\n"
REFUSED = {
    "x in w": "'w' has fractions, and integers are needed here",
    "all_different(w)": "'w' has fractions, and integers are needed here",
    "x == count([w[1], x], 1)": "'[w[1], x]' has fractions, and integers are needed here",
    "table([x], [w])": "has fractions, and integers are needed here",
    "y in 0..w[1]": "'w[1]' is not an integer",
    "x == w": "'w' is an array, not a number",
    "gcd(w) == x": "'w' has fractions, and integers are needed here",
    "gcd(x, w[1]) == x": "'w[1]' is not an integer",
    "w[1] % 2 == x": "'%' is an operator of integers",
    "v[1..3] := [0.5, 1]": "v needs 3 values, not 2",
    "v[1..2] := [[0.5, 1], [1, 2]]": "v needs 2 values, not 2 × 2",
    "param v in 0..1 := 0.5": "v has the decimal number 0.5, and 0..1 are integers",
    "param v[1..2] := [0.5 * x, 1]": "'x' is a variable; a parameter is a constant",
    "enum c := {r, g}\ny in c\nsum([0.5, y]) <= 1": "'y' is one of {r, g}, and a number is needed here",
    "enum c := {r, g}\ny in c\n0.5 * y <= 1": "'y' is one of {r, g}, and a number is needed here",
}


@pytest.mark.parametrize("line", REFUSED)
def test_fractions_where_integers_are_needed(line: str) -> None:
    with pytest.raises(ParseError) as caught:
        Model.from_text(ARRAY + line)
    assert REFUSED[line] in str(caught.value)


def test_products_of_lists_and_nested_sums() -> None:
    text = "v[1..2, 1..2] := [[0.5, 1], [2, 1.5]]\nx in 0..9\n"
    text += "sum(sum(v[i, ..]) * x for i in 1..2) == product(v[1, 1], 4) * 5\n"
    assert Model.from_text(text).solve()["x"] == 2
    assert Model.from_text("v[1..2] := [0.5, 3]\nx in 0..9\nx == product(v) * 2").solve()["x"] == 3


def test_definitions_that_are_fractions_are_shown() -> None:
    model = Model()
    x = model.int_var("x", 0, 9)
    half = model.let("half", 0.5 * x)
    third = model.let("third", Fraction(1, 3) * x)
    model.let("rate", 2.5)
    model.add(half >= 1.2, third <= 1)
    result = model.solve()
    assert result.values == {"x": 3, "half": 1.5, "third": 1, "rate": 2.5}
    assert (result["half"], result[half], type(result["third"])) == (1.5, 1.5, Fraction)
    assert "half := 0.5 * x" in str(model)
    assert "half := 0.5 * x" in model.to_text()
    assert "0.5 * x" in model._repr_html_()
    for dialect in ("constrint", "json"):
        again = Model.from_text(model.to_text(dialect=dialect), dialect=dialect)
        assert again.solve().values == result.values
    assert model.solve(maximize=half).objective == 1.5
    model.block(result)
    assert not model.solve()
