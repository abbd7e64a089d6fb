"""The cp-sat backend gives the same answers as the default one."""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constrint import (
    Model,
    ModelError,
    Status,
    UnboundedError,
    abs_,
    all_different,
    ceildiv,
    count,
    divides,
    element,
    gcd_,
    global_cardinality,
    if_then_else,
    lcm_,
    lex_less,
    max_,
    min_,
    nvalue,
    regular,
    table,
)

SMALL = st.integers(-5, 6)
CONDITIONS: dict[Any, Callable[..., Any]] = {
    "product": lambda x, y, z: x * y == z + 2,
    "quotient": lambda x, y, z: x // y + x % z == 1,
    "ceiling": lambda x, y, z: ceildiv(abs_(x), max_(y, 1)) == z,
    "power": lambda x, y, z: x**2 + y**3 == z,
    "open exponent": lambda x, y, z: x ** max_(y, 0) >= 2 * z,
    "divides": lambda x, y, z: divides(x, y) & ~divides(z, x),
    "extremes": lambda x, y, z: max_(x, y) - min_(y, z) == 2,
    "gcd": lambda x, y, z: (gcd_(x, y) == 2) | (lcm_(x, z) == 6),
    "element": lambda x, y, z: element([3, -1, 4, 1], x) == y + z,
    "choice": lambda x, y, z: if_then_else(x < y, x + 1, z) == 2,
    "table": lambda x, y, z: table([x, y], [(1, 2), (-3, 4), (0, 0)]) | (z == 3),
    "negated table": lambda x, y, z: ~table([x, y], [(1, 2), (-3, 4), (0, 0)]) & (x + y == z),
    "members": lambda x, y, z: x.is_in([-4, 0, 3]) != y.is_in([1, 2]),
    "different": lambda x, y, z: all_different(x, y, z) & (x + 2 * y != z),
    "counts": lambda x, y, z: (x > 0) + (y > 0) + (z > 0) == 2,
}


HUGE: dict[Any, Callable[..., Any]] = {
    "members": lambda x, y, z, n: x.is_in([-4, 3, n]) | (y > z),
    "no members": lambda x, y, z, n: ~x.is_in([-4, 3, n, n + 5]) & (y > z),
    "table": lambda x, y, z, n: table([x, y], [(1, 2), (n, 4), (0, 0), (3, -n)]) | (z == 3),
    "negated table": lambda x, y, z, n: ~table([x, y], [(1, 2), (n, 4), (5, -n)]) | (z == 3),
    "short table": lambda x, y, z, n: table([x, y, z], [(1, None, n), (None, 4, 2)]) | (z == 3),
    "element": lambda x, y, z, n: element([3, n, 4, -n, 1], x) == y + z,
    "difference": lambda x, y, z, n: (x + y != n) & (2 * x - z != -n),
    "literals": lambda x, y, z, n: ((x + y == n) | (x - 2 * y <= -n)) == (z > 2),
    "limits": lambda x, y, z, n: (x + 2 * y <= n) & (x - z >= -n),
    "different": lambda x, y, z, n: all_different(x + n, y + n, 2 * z),
    "cardinality": lambda x, y, z, n: global_cardinality([x, y], {3: z, n: 0}),
    "closed": lambda x, y, z, n: global_cardinality([x, y, z], {3: 2, 1: 1, n: 0}, closed=True),
    "count": lambda x, y, z, n: count([x, y, z, n], n) + count([x, y], -1) == 2,
    "values": lambda x, y, z, n: nvalue([x, y, n, z]) > 3,
    "least multiple": lambda x, y, z, n: lcm_(x, n) == lcm_(y, n) + z,
    "power": lambda x, y, z, n: (x + 40) ** (y + 9) < n,
    "quotient": lambda x, y, z, n: n // (x + 10) > y * 10**9 + z,
    "remainder": lambda x, y, z, n: (x * y) % n == z,
    "product": lambda x, y, z, n: n * x > y + z,
    "extremes": lambda x, y, z, n: max_(x, min_(y, n)) + z >= 9,
    "choice": lambda x, y, z, n: if_then_else(x > y, n, z) == z,
    "order": lambda x, y, z, n: lex_less([x, y, n], [z, n, y]),
    "word": lambda x, y, z, n: regular([x, y, z], {(0, 1): 0, (0, n): 1, (0, 2): 2, (2, 1): 0}, 0, [0, 2]),
}
"""Conditions with a number n that may exceed what CP-SAT holds."""


@pytest.mark.parametrize("n", [1 << 60, (1 << 63) - 1, 1 << 63, 10**30])
@pytest.mark.parametrize("name", sorted(HUGE))
def test_huge_numbers_mean_the_same_or_are_refused(name: Any, n: int) -> None:
    model = Model()
    x, y, z = (model.int_var(name, -4, 5) for name in "xyz")
    model.add(HUGE[name](x, y, z, n))
    ours = model.solve(maximize=3 * x - 2 * y + z)
    try:
        theirs = model.solve(maximize=3 * x - 2 * y + z, backend="cp-sat")
    except ModelError:
        with pytest.raises(ModelError, match="use the default backend"):
            model.solve(maximize=3 * x - 2 * y + z, backend="cp-sat")
        return
    assert (theirs.status, theirs.objective) == (ours.status, ours.objective)


def test_hints_and_goals_of_huge_numbers() -> None:
    model = Model()
    x, y = model.int_var("x", -4, 5), model.int_var("y", 0, 9)
    model.add(x + y > 3)
    model.hint({x: 10**30})
    assert model.solve(maximize=x - y, backend="cp-sat").objective == 5
    with pytest.raises(ModelError, match="use the default backend"):
        model.solve(maximize=10**30 * x + y, backend="cp-sat")


def test_statistics_name_the_method() -> None:
    model = Model()
    x = model.int_var("x", 0, 9)
    model.add(x * x > 40)
    assert model.solve(minimize=x, backend="cp-sat").statistics.method == "cp-sat"
    model.add(x < 3)
    assert model.solve(backend="cp-sat").statistics.method == "cp-sat"
    assert model.solve(backend="cp-sat", time_limit=1e-9).statistics.method == "cp-sat"


@settings(max_examples=120, deadline=None)
@given(st.lists(st.sampled_from(sorted(CONDITIONS)), min_size=1, max_size=3), SMALL, SMALL, st.booleans())
def test_optima_agree(names: list[str], a: int, b: int, least: bool) -> None:
    model = Model()
    x, y, z = (model.int_var(name, -4, 5) for name in "xyz")
    for name in names:
        model.add(CONDITIONS[name](x, y, z))
    goal = a * x + b * y - z
    goals = {"minimize": goal} if least else {"maximize": [goal, x]}
    ours, theirs = model.solve(**goals), model.solve(**goals, backend="cp-sat")
    assert ours.status is theirs.status
    assert ours.objective == theirs.objective
    assert theirs.statistics.engine == "cp-sat"


def test_preferences_strides_and_assumptions() -> None:
    model = Model()
    x = model.int_var("x", 1, 100, step=7)
    y = model.int_var("y", values=[2, 30, 500])
    model.add(x + y <= 130)
    model.prefer((y, "max"), (x, "max"))
    assert model.solve(backend="cp-sat").values == model.solve().values == {"x": 99, "y": 30}
    assert model.solve(assumptions=[x == 8], backend="cp-sat")["x"] == 8
    assert model.solve(assumptions=[x == 9], backend="cp-sat").status is Status.INFEASIBLE


@pytest.mark.parametrize(
    ("upper", "condition", "error"),
    [
        (None, lambda x: x % 7 == 3, UnboundedError),
        (1 << 70, lambda x: x % 7 == 3, ModelError),
        (1 << 40, lambda x: x * x * x >= 8, ModelError),
    ],
)
def test_what_it_cannot_hold_is_an_error(
    upper: int | None, condition: Callable[..., Any], error: type[Any]
) -> None:
    model = Model()
    model.add(condition(model.int_var("x", 1, upper)), model.int_var("y", 0, 9) > 1)
    with pytest.raises(error):
        model.solve(maximize=model.variables["x"], backend="cp-sat")


def test_an_unknown_backend_is_named() -> None:
    with pytest.raises(ModelError, match="cp-sat"):
        Model().solve(backend="gurobi")  # type: ignore[call-overload]


def test_ctrl_c_is_handled_as_before() -> None:
    """CP-SAT itself leaves a handler that kills the process."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    m = Model()
    x = m.int_var("x", 1, 9)
    m.add(x * x >= 50)
    assert m.solve(minimize=x, backend="cp-sat").objective == 8
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(m.solve, minimize=x, backend="cp-sat").result().objective == 8
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
