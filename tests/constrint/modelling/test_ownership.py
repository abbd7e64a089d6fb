"""Variables of another model are refused where they are given, not where they are searched for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from constrint import (
    Brancher,
    Group,
    IntExpr,
    Model,
    ModelError,
    all_different,
    element,
    max_,
    no_overlap,
    table,
)

WAYS: dict[Any, Callable[..., Any]] = {
    "a constraint": lambda m, x, z: m.add(x + z == 3),
    "constraints in a list": lambda m, x, z: m.add([x == 1, z == 1]),
    "a named constraint": lambda m, x, z: m.add(x <= z, name="c"),
    "a soft constraint": lambda m, x, z: m.add(x <= z, weight=2),
    "+=": lambda m, x, z: m.__iadd__(x <= z),
    "an assumption": lambda m, x, z: m.assume(x == z),
    "an assumption of a call": lambda m, x, z: m.solve(assumptions=[x == z]),
    "a table": lambda m, x, z: m.add(table([x, z], [(1, 2)])),
    "a global constraint": lambda m, x, z: m.add(all_different([x, z, x + z])),
    "a function": lambda m, x, z: m.add(element([x, max_(x, z)], x) == 3),
    "a definition": lambda m, x, z: m.let("d", x + z),
    "an objective": lambda m, x, z: m.minimize(x + z),
    "a fractional objective": lambda m, x, z: m.maximize(0.5 * x + 0.5 * z),
    "an objective of a call": lambda m, x, z: m.solve(minimize=x + z),
    "a preference": lambda m, x, z: m.prefer((z, "max")),
    "a preference of a call": lambda m, x, z: m.solve(prefer=[(z, "max")]),
    "a goal of a front": lambda m, x, z: m.pareto([(x, "max"), (z, "min")]),
    "a hint": lambda m, x, z: m.hint({z: 1}),
    "a hint of a call": lambda m, x, z: m.solve(hint={z: 1}),
    "a start": lambda m, x, z: m.interval("i", start=z, size=2),
    "a size": lambda m, x, z: m.interval("i", start=x, size=z),
    "a presence": lambda m, x, z: m.interval("i", start=x, size=2, presence=z == 1),
    "a projection": lambda m, x, z: list(m.iter_solutions(variables=[x, z])),
    "a count": lambda m, x, z: m.count(variables=[x, z]),
    "branching": lambda m, x, z: m.solve(branching=Brancher(groups=(Group((x, z)),))),
    "a blocked solution": lambda m, x, z: m.block({"x": 1}, variables=[z]),
}


@pytest.mark.parametrize("name", ["z", "x"])
@pytest.mark.parametrize("way", WAYS)
def test_variables_of_another_model_are_refused_at_the_call(way: Any, name: str) -> None:
    m, other = Model(), Model()
    x, z = m.int_var("x", 0, 3), other.int_var(name, 0, 3)
    m.add(x >= 1)
    with pytest.raises(ModelError, match=f"'?{name}'?"):
        WAYS[way](m, x, z)
    assert len(m.constraints) == 1
    assert [*m.goals, *m.preferences, *m.hints, *m.intervals, *m.lets, *m.weights] == []
    assert list(m.variables) == ["x"]
    assert m.count() == 3


def test_intervals_of_another_model() -> None:
    m, other = Model(), Model()
    one = m.interval("one", (0, 9), 2)
    two = other.interval("two", (0, 9), 2)
    with pytest.raises(ModelError, match="another model"):
        m.add(no_overlap([one, two]))


def test_an_error_forgets_what_was_half_checked() -> None:
    m, other = Model(), Model()
    x, z = m.int_var("x", 0, 3), other.int_var("z", 0, 3)
    deep: IntExpr = x
    for i in range(100):
        deep = max_(deep, i - x)
    mixed = max_(z, deep)
    for _ in range(2):
        with pytest.raises(ModelError, match="another model"):
            m.add(max_(mixed, deep) <= 200)
    m.add(deep <= 200)
    with pytest.raises(ModelError, match="another model"):
        m.add(mixed <= 200)


def test_variables_of_a_closed_scope_are_refused() -> None:
    m = Model()
    x = m.int_var("x", 0, 3)
    with m.scope():
        y = m.int_var("y", 0, 3)
        condition = x + y == 3
        for i in range(100):
            condition = condition & (x + y != 7 + i)
        m.add(condition)
    with pytest.raises(ModelError, match="'y' belongs to another model"):
        m.add(condition)
    assert m.copy().count() == 4


def test_copies_share_their_variables() -> None:
    m = Model()
    x = m.int_var("x", 0, 3)
    copy = m.copy()
    copy.add(x >= 2)
    assert (copy.count(), m.count()) == (2, 4)
