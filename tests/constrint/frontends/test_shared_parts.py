"""Writers and walkers take time linear in the distinct parts of an expression, however they are shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from constrint import IntExpr, Limits, Model, ModelError, if_then_else, max_
from constrint.backends.cp_sat import solve as by_cp_sat
from constrint.expr.written import write_expression

DEPTH = 200  # along every path there would be 2**200 parts
SHARING: dict[Any, Callable[..., Any]] = {
    "sum": lambda e, x: (e + e) % 1000,
    "product": lambda e, x: (e * e) % 7,
    "extreme": lambda e, x: max_(e % 5, e - 1),
    "division": lambda e, x: e % 7 + e // 3,
    "choice": lambda e, x: if_then_else(e > 0, x - e, e),
    "conditions": lambda e, x: ((e == 1) & (x <= e)) | ~(e == x),
}


def model_of(kind: str) -> Model:
    m = Model()
    e = x = m.int_var("x", 0, 3)
    for _ in range(DEPTH):
        e = SHARING[kind](e, x)
    m.add(e <= 1)
    m.minimize(e + x)
    return m


@pytest.mark.parametrize("kind", SHARING)
def test_shared_parts_are_written_once(kind: str) -> None:
    m = model_of(kind)
    (constraint,) = m.constraints
    values = [constraint.expr.evaluate({m.variables["x"]: value}) for value in range(4)]
    for again in (
        Model.from_text(m.to_text(), limits=Limits(depth=5_000)),
        Model.from_json(m.to_json(), limits=Limits(depth=5_000)),
    ):
        x, found = again.variables["x"], again.constraints[0].expr
        assert [found.evaluate({x: value}) for value in range(4)] == values
    assert len(m.to_text()) < 200 * DEPTH
    assert len(write_expression(constraint.expr)) < 200 * DEPTH
    assert len(repr(constraint.expr)) < 20_000
    assert len(list(constraint.expr.variables())) == 1
    assert m._repr_html_()
    assert m.count() == sum(map(bool, values))
    assert by_cp_sat(m, [], []).status.name in ("OPTIMAL", "INFEASIBLE", "FEASIBLE")


def test_small_expressions_are_written_out() -> None:
    m = Model()
    x = m.int_var("x", 0, 3)
    e = x * x + 1
    m.add(e * e <= e)
    assert ":=" not in m.to_text()


def test_names_of_parts_are_new() -> None:
    m = model_of("division")
    for name in ("part1", "part3"):
        m.int_var(name, 0, 1)
    assert {"x", "part1", "part3"} == set(Model.from_text(m.to_text()).variables)


def test_large_expressions_are_cut_when_they_are_shown() -> None:
    m = Model()
    x = m.int_var("x", 0, 3)
    e: IntExpr = x
    for _ in range(20):
        e = e // 2 + e % 2
    assert len(repr(e)) < 4_000
    assert "…" in repr(e)
    assert "…" not in repr(x // 2 + x % 2)


def test_numbers_too_large_for_decimals_are_shown() -> None:
    m = Model()
    y = m.int_var("y", 2**65536, 2**65536 + 1)
    m.minimize(y)
    assert "0x1000" in str(m.solve())


def test_powers_too_large_to_compute_are_refused_at_once() -> None:
    m = Model()
    x = m.int_var("x", 2, 3)
    with pytest.raises(ModelError, match="too large to compute"):
        (x ** (2**62)).evaluate({x: 3})
    m.add((x == 2) | (1 // x ** (2**62) == 0))
    with pytest.raises(ModelError, match="bits"):
        m.solve(time_limit=1)
