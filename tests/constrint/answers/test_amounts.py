"""The amount by which a constraint is violated is that of its sides as written, in every format."""

from __future__ import annotations

import copy
import itertools
import operator
import re
from decimal import Decimal
from fractions import Fraction
from math import lcm
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

import constrint as ci
from constrint.cli.main import app
from constrint.expr.rational import fraction_of, lifted

OPERATORS: dict[str, Any] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
RANGE = range(-1, 4)
Side = tuple[dict[str, Any], Any]
Row = tuple[Side, str, Side]


def drawn_number(draw: Random, decimals_only: bool) -> Any:
    quarter = draw.randint(-12, 12)
    ways = [quarter // 4, quarter / 4, Decimal(quarter) / 10, Fraction(quarter, 4)]
    return draw.choice(ways if decimals_only else [*ways, Fraction(quarter, 6)])


def drawn_rows(seed: int, decimals_only: bool = False) -> list[Row]:
    draw = Random(seed)

    def side(most: int) -> Side:
        names = draw.sample(["x", "y"], draw.randint(0, most))
        return {one: drawn_number(draw, decimals_only) for one in names}, drawn_number(draw, decimals_only)

    names = list(OPERATORS)
    rows = [(side(2), draw.choice(names), side(1)) for _ in range(3)]
    return [row for row in rows if row[0][0]]


def exact(side: Side) -> tuple[dict[str, Fraction], Fraction]:
    return {name: Fraction(str(a)) for name, a in side[0].items()}, Fraction(str(side[1]))


def amount(row: Row, point: dict[str, int]) -> Fraction:
    """By how much a point misses a constraint, by definition."""
    (left, begin), (right, end) = exact(row[0]), exact(row[2])
    difference = sum((a * point[name] for name, a in left.items()), begin)
    difference -= sum((a * point[name] for name, a in right.items()), end)
    if OPERATORS[row[1]](difference, 0):
        return Fraction(0)
    numbers = [*left.values(), begin, *right.values(), end]
    step = Fraction(1, lcm(*[one.denominator for one in numbers]))
    return Fraction(1) if row[1] == "!=" else abs(difference) + (step if row[1] in "<>" else 0)


def built(rows: list[Row], **arguments: Any) -> ci.Model:
    m = ci.Model()
    names: dict[str, Any] = {one: m.int_var(one, RANGE[0], RANGE[-1]) for one in ("x", "y")}
    for i, (left, sign, right) in enumerate(rows):
        first, second = [
            sum((a * names[name] for name, a in side[0].items()), start=side[1]) for side in (left, right)
        ]
        m.add(OPERATORS[sign](first, second), name=f"c{i}", **arguments)
    return m


def least(rows: list[Row], weights: list[Fraction]) -> Fraction:
    points = [dict(zip("xy", point, strict=True)) for point in itertools.product(RANGE, repeat=2)]
    return min(
        sum((w * amount(row, point) for w, row in zip(weights, rows, strict=True)), Fraction(0))
        for point in points
    )


@pytest.mark.parametrize("seed", range(40))
def test_relaxing_by_amounts_is_exact(seed: int) -> None:
    draw, rows = Random(seed), drawn_rows(seed)
    if not rows:
        return
    weights = [draw.choice([1, 2, Fraction(1, 3), 0.5]) for _ in rows]
    m = built(rows)
    names: dict[str, Any] = {
        str(one.name): weight for one, weight in zip(m.constraints, weights, strict=True)
    }
    expected = least(rows, [fraction_of(weight) for weight in weights])
    for model in (m, ci.Model.from_text(m.to_text()), ci.Model.from_json(m.to_json())):
        found = model.relax(by="amount", weights=names)
        assert found.violation == (float(expected) if isinstance(found.violation, float) else expected)
        assert found.objective == found.violation == found.bound
        point = {"x": found["x"], "y": found["y"]}
        assert [f"c{i}" for i, row in enumerate(rows) if amount(row, point)] == [
            one.name for one in found.violated
        ]
    floats = [any(isinstance(one, float) for _, one in walk(row)) for row in rows]
    if not any(floats) and not any(isinstance(weight, float) for weight in weights):
        assert not isinstance(m.relax(by="amount", weights=names).violation, float)


def walk(row: Row) -> list[tuple[str, Any]]:
    return [*row[0][0].items(), ("", row[0][1]), *row[2][0].items(), ("", row[2][1])]


@pytest.mark.parametrize("dialect", ["lp", "mps"])
@pytest.mark.parametrize("seed", range(20))
def test_linear_formats_keep_the_amounts(dialect: str, seed: int) -> None:
    rows = [row for row in drawn_rows(seed, decimals_only=True) if row[1] != "!="]
    if not rows:
        return
    text = built(rows).to_text(dialect=dialect)
    again = ci.Model.from_text(text, dialect=dialect)
    assert again.relax(by="amount").violation == float(least(rows, [Fraction(1)] * len(rows))), text


@pytest.mark.parametrize("seed", range(10))
def test_cp_sat_finds_the_same_amount(seed: int) -> None:
    pytest.importorskip("ortools")
    from ortools.sat.python import cp_model

    rows = [row for row in drawn_rows(100 + seed) if row[1] != "!="]
    model, whole = cp_model.CpModel(), 60  # all denominators divide it
    names = {one: model.new_int_var(RANGE[0], RANGE[-1], one) for one in "xy"}
    amounts = []
    for row in rows:
        (left, begin), (right, end) = exact(row[0]), exact(row[2])
        step = lcm(*[one.denominator for one in [*left.values(), begin, *right.values(), end]])
        difference: Any = int(whole * (begin - end))
        difference += sum(int(whole * a) * names[name] for name, a in left.items())
        difference -= sum(int(whole * a) * names[name] for name, a in right.items())
        over = model.new_int_var(0, 10_000, "")
        if row[1] in ("<", "<=", "=="):
            model.add(over >= difference + (whole // step if row[1] == "<" else 0))
        if row[1] in (">", ">=", "=="):
            model.add(over >= -difference + (whole // step if row[1] == ">" else 0))
        amounts.append(over)
    model.minimize(sum(amounts))
    solver = cp_model.CpSolver()
    assert solver.solve(model) == cp_model.OPTIMAL
    found = built(rows).relax(by="amount").violation
    assert Fraction(round(solver.objective_value), whole) == (
        Fraction(found).limit_denominator(whole) if isinstance(found, float) else found
    )


def test_a_missed_half_counts_half() -> None:
    m = ci.Model()
    x, y = m.int_var("x", 0, 9), m.int_var("y", 0, 9)
    m.add(x == 5, y == 1)
    m.add(0.5 * x + y <= 3, name="limit")
    found = m.relax("limit", by="amount")
    assert (found.violation, type(found.violation)) == (0.5, float)
    m.add(Fraction(1, 3) * x + y <= 2, name="thirds")
    assert m.relax("thirds", "limit", by="amount").violation == float(Fraction(1, 2) + Fraction(2, 3))
    m.remove("limit")
    found = m.relax("thirds", by="amount", weights={"thirds": 2})
    assert (found.violation, type(found.violation)) == (Fraction(4, 3), Fraction)


def test_conflicts_and_answers_show_constraints_as_written(tmp_path: Any) -> None:
    text = "x in 0..9\ny in 0..9\nlimit: 0.5 * x + y <= 3.25\nthirds: (x + y) / 3 >= 2.5\n"
    m = ci.Model.from_text(text)
    assert m.to_text() == text.replace("(x + y) / 3", "1.0 * (x + y) / 3")
    m.add(m.variables["x"] <= 2)
    for shown in (str(m.explain()), str(m.conflicts()[0]), str(m.relax("limit").violated), str(m)):
        assert "0.5 * x + y <= 3.25" in shown
    assert "(x + y) / 3 >= 2.5" in str(m.corrections("thirds")[0].constraints)
    path = tmp_path / "fractions.constrint"
    path.write_text(text + "x <= 2\n")
    output = CliRunner().invoke(app, ["explain", str(path)]).output
    assert "0.5 * x + y <= 3.25" in output
    soft = built([(({"x": 0.5}, 0), ">=", ({}, 7.25))], weight=Fraction(1, 2))
    assert "0.5 * x >= 7.25" in str(soft.solve().violated)
    expr: Any = next(iter(soft.weights)).expr
    assert expr._repr_latex_() == r"$\frac{x}{2} \ge \frac{29}{4}$"


@pytest.mark.parametrize("seed", range(30))
def test_comparisons_read_back_with_their_denominator(seed: int) -> None:
    m = built(drawn_rows(seed))
    copied = copy.deepcopy(m)
    for again in (ci.Model.from_text(m.to_text()), ci.Model.from_json(m.to_json()), copied):
        for one, other in zip(m.constraints, again.constraints, strict=True):
            assert str(one.expr) == str(other.expr)
            assert getattr(one.expr, "scale", None) == getattr(other.expr, "scale", None), one.expr


def test_a_common_factor_is_cancelled() -> None:
    m = ci.Model()
    x = m.int_var("x", 0, 9)
    assert str(0.5 * (2 * x) <= 3) == "x <= 3"
    assert str(lifted(2 * x) / 6 + Fraction(1, 3) == 1) == "(x + 1) / 3 == 1"
    for wrong, message in (
        ('{"denominator": 1}', "at least 2"),
        ('{"denominator": "2"}', "integer"),
        ("2", "object"),
        ("{}, 3", "3 operands"),
    ):
        m = ci.Model()
        m.add(0.5 * m.int_var("x", 0, 9) <= 2)
        text = re.sub(r"\{\s*\"denominator\"[^}]*\}", wrong, m.to_json())
        with pytest.raises(ci.ModelError, match=message):
            ci.Model.from_json(text)
