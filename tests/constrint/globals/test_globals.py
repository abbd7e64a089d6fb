"""Global constraints in every form: against brute force, as text and JSON, and refused arguments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from global_models import DRAWN, assignments, draw_model, expected, value
from global_oracle import draw_twins, wrong_optimum

import constrint as ci
from constrint import IntExpr
from constrint.globals import GLOBALS, Function, Relation

NAMES = sorted(DRAWN)
MODELS = 60


def found(model: ci.Model, **options: Any) -> list[tuple[int, ...]]:
    return sorted(tuple(r.values.values()) for r in model.iter_solutions(**options))


def globals_of(model: ci.Model) -> Iterator[IntExpr]:
    stack = [constraint.expr for constraint in model.constraints]
    while stack:
        expr = stack.pop()
        if isinstance(expr, Relation | Function):
            yield expr
        stack.extend(expr.children)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_solutions_are_those_of_the_definition(name: str) -> None:
    solutions = 0
    for seed in range(MODELS):
        model = draw_model(name, seed)
        wanted = expected(model)
        assert found(model, engine="interpreted") == wanted, model.to_text()
        assert model.count() == len(wanted), model.to_text()
        solutions += len(wanted)
    assert solutions > MODELS


@pytest.mark.parametrize("name", NAMES)
def test_decompositions_say_the_same(name: str) -> None:
    for seed in range(MODELS):
        model = draw_model(name, seed)
        for expr in globals_of(model):
            other = expr.decomposed()  # type: ignore[attr-defined]
            for assignment in assignments(model):
                assert value(expr, assignment) == value(other, assignment), model.to_text()


@pytest.mark.parametrize("name", NAMES)
def test_text_and_json_keep_the_model(name: str) -> None:
    for seed in range(MODELS // 4):
        model = draw_model(name, seed)
        text = model.to_text()
        assert ci.Model.from_text(text).to_text() == text
        again = ci.Model.from_json(model.to_json())
        assert again.to_text() == text
        assert found(again) == expected(model)


def test_compiled_equals_interpreted() -> None:
    for name in NAMES:
        for seed in range(3):
            model = draw_model(name, seed)
            assert found(model, engine="compiled") == expected(model), model.to_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cumulative([x, y], [1], [1, 1], 2)", "cumulative needs lists of one length, not 2 starts"),
        ("cumulative(x, [1], [1], 2)", "write starts in brackets: [x]"),
        ("all_different([x, y], strong)", "consistency is one of auto, value, bounds, domain, not 'strong'"),
        ("all_different()", "all_different needs at least one entry in values"),
        ("inverse([x, y])", "inverse takes 2 arguments (xs, ys), not 1"),
        ("cost_regular([x], [[0, 1, 0, 5], [0, 1, 0, 6]], 0, [0], y)", "two transitions for one value"),
        ("cost_regular([x], [[0, 1, 0]], 0, [0], y)", "the next state and its cost: write (0, 5, 1, 20)"),
        ("table([x, y], [[_, 1], [_]])", "the row (None,) has 1 entry for 2 values"),
        ("table([x, y], [[_, z]])", "z"),
        ("exactly_one(x > 1, y)", "exactly_one: a number is not a condition"),
        ("vector_bin_packing([x], [[1, 2]], [[5]])", "the rows have 1, 2 numbers"),
        ("vector_bin_packing([x], [[-1]], [[5]])", "vector_bin_packing: a size is negative"),
        ("no_overlap_optional([x], [1], [])", "needs at least one entry in presences"),
        ("element_2d([[x, 2], [3]], x, y) == 1", "element_2d needs rows of one length"),
        ("regular([x], [[0, 1]], 0, [0])", "a transition is a state, a value and the next state"),
        ("element_2d([[1, 2], [3]], x, y) == 1", "element_2d needs rows of one length"),
        ("bin_packing([x], [-1], [y])", "bin_packing: a size is negative"),
        ("knapsack([x], [1], [-1], y, y)", "a weight or profit is negative"),
        ("global_cardinality([x], [1, 1], [y, y])", "a value is listed twice"),
        ("value_precede([1, 1], [x])", "a value is listed twice"),
        ("table([x, y], [[1]])", "the row (1,) has 1 entry for 2 values"),
        ("circit(x, y)", "did you mean 'circuit'?"),
        ("count([x, y], [1])", "a list is not a number"),
    ],
)
def test_mistakes_in_text_are_explained(text: str, message: str) -> None:
    with pytest.raises(ci.ParseError) as error:
        ci.Model.from_text(f"x, y in 0..3\n{text}\n", filename="a.constrint")
    assert message in str(error.value)
    assert "a.constrint:2:" in str(error.value)


def test_mistakes_in_python_are_explained() -> None:
    model = ci.Model()
    x = model.int_var("x", 0, 3)
    with pytest.raises(ci.ModelError, match="successors must be a list"):
        ci.circuit(x)  # type: ignore[arg-type]
    with pytest.raises(ci.ModelError, match="a count for each value"):
        ci.global_cardinality([x], [1, 2])  # type: ignore[call-overload]
    with pytest.raises(ci.ModelError, match="3 xs, 1 ys"):
        ci.inverse([x, x, x], [x])
    wide = model.int_var("wide", 0, 10**9)
    model.add(ci.all_different([x, wide, x + wide], consistency="domain"))
    with pytest.raises(ci.ModelError, match='take "bounds"'):
        model.solve()


def test_counts_keep_their_values_and_their_order() -> None:
    model = ci.Model()
    x = model.int_vars("x", 5, 0, 9)
    counts = {value: model.int_var(f"of {value}", 0, 5) for value in (7, 2, 5)}
    model.add(ci.global_cardinality(x, counts | {np.int64(0): 1}, closed=True), ci.increasing(x))
    model.add(counts[2] == 1, counts[5] == 1)
    assert "[7, 2, 5, 0], [`of 7`, `of 2`, `of 5`, 1], closed)" in model.to_text()
    for again in (model, ci.Model.from_text(model.to_text()), ci.Model.from_json(model.to_json())):
        result = again.solve()
        assert [result[f"of {value}"] for value in (7, 2, 5)] == [2, 1, 1]
        assert [result[f"x[{i}]"] for i in range(5)] == [0, 2, 5, 7, 7]


def test_automata_with_names() -> None:
    model = ci.Model()
    x = model.int_vars("x", 4, 0, 2)
    arcs = {("start", 0): "start", ("start", 1): "after", ("after", 0): "after"}
    model.add(ci.regular(x, arcs, "start", ["after"]))
    one = ci.regular(x, [("s", 0, "s"), ("s", 1, "t"), ("t", 0, "t")], "s", ["t"])
    assert found(model) == expected(model)
    assert len(found(model)) == 4
    assert all(one.evaluate(dict(zip(x.flat, point, strict=True))) for point in found(model))
    with pytest.raises(ci.ModelError, match="regular: no transition has the accepting state 'end'"):
        ci.regular(x, arcs, "start", ["end"])
    with pytest.raises(ci.ModelError, match="the next state and its cost"):
        ci.cost_regular(x, arcs, "start", ["after"], 3)


def test_an_automaton_that_is_not_deterministic_counts_each_word_once() -> None:
    model = ci.Model()
    x = model.int_vars("x", 12, 0, 1)
    guess = [(0, 0, 0), (0, 1, 0), (0, 1, 1), *[(k, v, k + 1) for k in range(1, 6) for v in (0, 1)]]
    model.add(ci.regular(x, guess, 0, [6]))  # the sixth entry from the end is 1
    assert model.count() == sum(1 for _ in model.iter_solutions()) == 2**11


def test_mistakes_in_json_are_explained() -> None:
    document = (
        '{"format": "constrint", "version": 1, "variables": [{"name": "x", "domain": {"lo": 0, "hi": 1}}], '
        '"constraints": [{"expr": ["inverse", ["x"], ["x", "x"]]}]}'
    )
    with pytest.raises(ci.ModelError, match=r"constraints\[0\].expr: inverse needs lists of one length"):
        ci.Model.from_json(document)


def test_arrays_of_numpy() -> None:
    model = ci.Model()
    x = model.int_vars("x", 3, 0, 3)
    rows = np.array([[0, 1, 2], [3, 2, 1], [1, 1, 1]])
    model.add(ci.table(x, rows), ~ci.table(x, rows[2:]), ci.element_2d(rows, x[1], x[2] - 1) >= 1)
    model.add(ci.bin_packing(x, np.array([1, 1, 1]), [1, 1, 1, 0]) | ci.all_different(x))
    assert found(model) == expected(model) != []


def test_wide_domains() -> None:
    model = ci.Model()
    x = model.int_vars("x", 3, 0, 10**6)
    model.add(ci.all_different(x), x[0] * x[1] == 36, x[1] * x[2] == 36, ci.increasing(x[:2]))
    model.add(ci.global_cardinality(x, {6: 0, 10**6: 0, 36: 0}), ci.nvalue(x) == 3)
    assert found(model) == []
    other = ci.Model()
    y = other.int_vars("y", 3, 2, 10**6)
    other.add(ci.all_different(y), y[0] == y[1] * y[2], y[0] + y[1] + y[2] == 11)
    assert found(other) == [(6, 2, 3), (6, 3, 2)]


def test_beyond_64_bits() -> None:
    model = ci.Model()
    big = 10**30
    x = model.int_vars("x", 3, big, big + 2)
    model.add(ci.all_different(x, consistency="domain"), ci.lex_less(x[:2], x[1:]))
    model.add(ci.cumulative(x, [1] * 3, [big] * 3, big), ci.increasing(x) | (x[0] == big + 1))
    result = model.solve()
    assert [int(v) - big for v in result.values.values()] in ([0, 1, 2], [1, 2, 0])
    assert result.statistics.arithmetic == "exact"


@pytest.mark.parametrize("first", range(0, 90, 18))
def test_optima_are_those_of_cp_sat(first: int) -> None:
    for seed in range(first, first + 18):
        assert wrong_optimum(seed) == []


def test_cp_sat_and_compiled_optima() -> None:
    feasible = 0
    for seed in range(5_000, 5_018):
        assert wrong_optimum(seed, "compiled") == []
        feasible += bool(draw_twins(seed).model.solve())
    assert feasible > 3


@pytest.mark.parametrize("name", NAMES)
def test_the_cp_sat_backend_has_them(name: str) -> None:
    for seed in range(8):
        model = draw_model(name, seed)
        result = model.solve(backend="cp-sat")
        assert bool(result) == bool(expected(model)), model.to_text()


def test_the_cp_sat_backend_does_not_list_what_is_large() -> None:
    model = ci.Model()
    x = model.int_vars("x", 12, 0, 40)
    model.add(ci.all_different(x, consistency="bounds"), ci.lex_less(x[:6], x[6:]), ci.inverse(x[:6], x[6:]))
    model.add(ci.global_cardinality(x, {0: 2, 1: x[3]}), ci.circuit(x[:6]) | ci.increasing(x))
    model.add(ci.cumulative(x, [1] * 12, [1] * 12, 3), ci.no_overlap(x[:3], [1, 1, 2]))
    model.add(ci.diffn(x[:4], x[4:8], [1] * 4, [1] * 4))
    assert model.solve(backend="cp-sat").status is model.solve().status is ci.Status.INFEASIBLE


def test_the_manual_names_every_global_constraint() -> None:
    manual = (Path(__file__).parents[3] / "docs" / "constrint-globals.md").read_text(encoding="utf-8")
    assert [name for name in GLOBALS if f"`{name}(" not in manual] == []
