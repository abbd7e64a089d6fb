"""Named arrays of variables: names, numpy's indexing, elementwise operators; tables and elements of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import constrint as ci


@pytest.mark.parametrize("shape", [(), 4, (2, 3), (2, 3, 4), (0, 2)])
def test_indexing_is_that_of_numpy(shape: Any) -> None:
    model = ci.Model()
    x = model.int_vars("x", shape, 0, 9)
    names = np.array([v.name for v in x.flat], dtype=object).reshape(x.shape)
    keys = [
        ...,
        0,
        -1,
        slice(1, None),
        slice(None, None, -1),
        (0, 1),
        (..., 0),
        (slice(None), -1),
        (1, ..., slice(0, 1)),
    ]
    for key in keys:
        try:
            expected = names[key]  # type: ignore[call-overload]
        except IndexError:
            with pytest.raises(IndexError):
                x[key]
            continue
        found = x[key]
        if np.ndim(expected) == 0:
            (element,) = found.flat if isinstance(found, ci.ExprArray) else [found]
            assert element.name == str(expected)
        else:
            assert [v.name for v in found.flat] == list(expected.flat)
            assert found.shape == expected.shape
    assert [v.name for v in x.T.flat] == list(names.T.flat)


def test_a_magic_square() -> None:
    model = ci.Model()
    x = model.int_vars("x", (3, 3), 1, 9)
    model.add(ci.all_different(x))
    for line in [*x, *x.T, x.reshape(9)[::4], x.reshape(9)[2:7:2]]:
        model.add(line.sum() == 15)
    assert model.count() == 8
    square = x.values(model.solve())
    assert sorted(itertools.chain(*square)) == list(range(1, 10))
    assert sum(square[0]) == 15
    assert {"x[0,0]", "x[2,2]"} <= set(model.variables)
    assert ci.Model.from_text(model.to_text()).count() == 8


def test_operators_are_elementwise() -> None:
    model = ci.Model()
    x, b = model.int_vars("x", 3, 0, 4), model.bool_vars("b", 3)
    model.add(
        *(2 * x + 1 <= 7), *(b == (x > 1)), ci.sum_(b) == 2, *((5 - x) % 2 == 1), ci.all_of(x[:2] != x[1:])
    )
    expected = {
        p
        for p in itertools.product(range(4), repeat=3)
        if sum(v > 1 for v in p) == 2 and all((5 - v) % 2 == 1 for v in p) and p[0] != p[1] != p[2]
    }
    assert {tuple(x.values(r)) for r in model.iter_solutions()} == expected != set()


def test_elements_of_expressions() -> None:
    model = ci.Model()
    x, i = model.int_vars("x", 3, -2, 2), model.int_var("i", -9, 9)
    model.add(ci.element(x, i) == 2, x[0] + x[1] == x[2])
    expected = sum(
        p[0] + p[1] == p[2] and p[k] == 2 for p in itertools.product(range(-2, 3), repeat=3) for k in range(3)
    )
    assert model.count(engine="interpreted") == model.count() == expected


@pytest.mark.parametrize("is_in", [True, False])
def test_tables(is_in: bool) -> None:
    model = ci.Model()
    x = model.int_vars("x", 2, -(2**70), 2**70)
    model.add(*(x >= -3), *(x <= 3))
    rows = [(1, 2), (-1, 3), (2**70, 1), (3, 3)]
    condition = ci.table(x, rows)
    model.add(condition if is_in else ~condition)
    inside = {row for row in rows if max(map(abs, row)) <= 3}
    every = set(itertools.product(range(-3, 4), repeat=2))
    found = {tuple(x.values(r)) for r in model.iter_solutions()}
    assert found == (inside if is_in else every - inside)
    assert len(model.solutions()) == len(found) == ci.Model.from_text(model.to_text()).count()


@pytest.mark.parametrize(
    ("misuse", "advice"),
    [
        (lambda m, x: bool(x == 1), "all_of"),
        (lambda m, x: x + m.int_vars("y", 3, 0, 1), "shapes (2,) and (3,)"),
        (lambda m, x: m.int_vars("z", -1), "at least 0"),
        (lambda m, x: x.reshape(3), "do not fill"),
        (lambda m, x: ci.table(x, [(1,)]), "1 entry for 2"),
        (lambda m, x: ci.table([], []), "at least one"),
    ],
)
def test_misuse_says_what_to_do(misuse: Callable[..., Any], advice: str) -> None:
    model = ci.Model()
    with pytest.raises(ci.ModelError) as caught:
        misuse(model, model.int_vars("x", 2, 0, 1))
    assert advice in str(caught.value)
