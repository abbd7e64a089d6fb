"""Series and data frames of pandas, and ranges, stand where lists do."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest

import constrint as ci
from constrint import Model

pd = pytest.importorskip("pandas")

OPERATORS: list[Callable[[Any, Any], Any]] = [
    *(operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod),
    *(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge),
    *(operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift, operator.matmul),
]


@pytest.mark.parametrize("function", OPERATORS, ids=lambda function: function.__name__)
def test_operators_take_them_as_lists(function: Callable[[Any, Any], Any]) -> None:
    m = Model()
    x = m.int_vars("x", 3, 1, 7)
    numbers = [2, 3, 4]
    series = pd.Series(numbers, index=["a", "b", "c"])
    for given in (series, range(2, 5)):
        assert repr(function(x, given)) == repr(function(x, numbers))
        assert repr(function(given, x)) == repr(function(numbers, x))
    grid = m.int_vars("g", (3, 2), 1, 7)
    rows = [[1, 2], [3, 4], [5, 6]]
    if function is not operator.matmul:
        frame = pd.DataFrame(rows, columns=["p", "q"])
        assert repr(function(grid, frame)) == repr(function(grid, rows))
        assert repr(function(frame, grid)) == repr(function(rows, grid))


def test_functions_take_them_as_lists() -> None:
    m = Model()
    x, k, z = m.int_vars("x", 3, 0, 7), m.int_var("k", 0, 2), m.int_var("z", 0, 9)
    rows = [[0, 2], [1, 1], [2, 0]]
    frame, series = pd.DataFrame(rows, columns=["p", "q"]), pd.Series([2, 3, 4], index=[7, 8, 9])
    pairs = [
        (ci.table([k, z], frame), ci.table([k, z], rows)),
        (ci.table([k, z], pd.DataFrame([["*", 2]])), ci.table([k, z], [["*", 2]])),
        (ci.element(series, k), ci.element([2, 3, 4], k)),
        (ci.element(range(2, 5), k), ci.element([2, 3, 4], k)),
        (ci.element_2d(frame, k, 0), ci.element_2d(rows, k, 0)),
        (ci.array(frame)[k, 1], ci.array(rows)[k, 1]),
        (ci.array(series)[k], ci.array([2, 3, 4])[k]),
        (ci.all_different(x * series), ci.all_different(x * [2, 3, 4])),
        (ci.sum_(series * x), ci.sum_(x * [2, 3, 4])),
        (ci.max_(x * range(3)), ci.max_(x * [0, 1, 2])),
        (ci.sum_(frame), ci.sum_([0, 2, 1, 1, 2, 0])),
        (ci.sum_(pd.Series(list(x))), ci.sum_(x)),
        (k.is_in(series), k.is_in([2, 3, 4])),
    ]
    for mine, wanted in pairs:
        assert repr(mine) == repr(wanted)


def test_constraints_and_results_take_them() -> None:
    m = Model()
    x, k = m.int_vars("x", 3, 0, 7), m.int_var("k", 0, 2)
    bounds = pd.DataFrame({"least": [1, 2, 3], "most": [4, 5, 6]})
    m.add(
        bounds["least"] <= x,
        x <= bounds["most"],
        bounds["least"] >= k,
        m.int_vars("g", (3, 2), 0, 7) >= bounds,
    )
    assert len(m.constraints) == 3 + 3 + 3 + 6
    r = m.solve(maximize=(x * bounds["least"]).sum())
    assert r.objective == 4 + 10 + 18
    assert r[pd.Series(list(x))].tolist() == [4, 5, 6]
