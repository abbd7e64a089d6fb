"""Expressions: what operators build, what they mean, and what they refuse."""

# mypy: disable-error-code="attr-defined"
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import constrint as ci
from constrint import IntExpr, Model
from constrint.expr import Const, IntVar, Sum


@pytest.fixture
def model() -> ci.Model:
    return ci.Model()


def test_operators_mean_what_python_means(model: Model) -> None:
    x, y = model.int_var("x", -9, 9), model.int_var("y", -9, 9)
    built = (3 * x - y // 2 + x % 4 - abs(y)) * (2 - x) + x**2 + ci.min_(x, y, 3) - ci.max_([x, y])
    for a in range(-4, 5):
        for b in range(-4, 5):
            want = (3 * a - b // 2 + a % 4 - abs(b)) * (2 - a) + a**2 + min(a, b, 3) - max(a, b)
            assert built.evaluate({x: a, y: b}) == want


def test_reflected_operators(model: Model) -> None:
    x = model.int_var("x", 1, 9)
    point = {x: 4}
    assert [e.evaluate(point) for e in (7 - x, 7 // x, 7 % x, 2**x, 7 + x, 7 * x, -x, +x)] == [
        3,
        1,
        3,
        16,
        11,
        28,
        -4,
        4,
    ]


def test_conditions_count_as_integers(model: Model) -> None:
    big, x = model.bool_var("big"), model.int_var("x", 0, 9)
    assert (big * 4 + (x > 3)).evaluate({big: 1, x: 5}) == 5
    assert (big == (x >= 5)).evaluate({big: 0, x: 4}) is True


@pytest.mark.parametrize(
    "build",
    [
        lambda x: x // 0,
        lambda x: x % 0,
        lambda x: x ** (x - 5),
        lambda x: ci.element([1, 2], x + 5),
        lambda x: 0 * (1 // (x - x)),
        lambda x: ci.max_(x, 1 // (x - 3)),
        lambda x: ci.element([x, 1 // (x - 3), 7], x - 1),
        lambda x: ci.if_then_else(x == 3, x % (x - 3), x),
        lambda x: ci.count([x, 5 % (x - 3)], 5),
        lambda x: ci.element_2d([[1, 2]], 0, x),
    ],
)
def test_undefined_terms_make_the_condition_around_them_false(
    model: Model, build: Callable[..., Any]
) -> None:
    x = model.int_var("x", 0, 9)
    number = build(x)
    with pytest.raises(ci.Undefined):
        number.evaluate({x: 3})
    model.add(x == 3)
    for condition, expected in [
        (number == number, False),
        (number != 0, False),
        (number.is_in(range(-99, 99)), False),
        (ci.divides(1, number), False),
        (ci.table([number, x], [(a, 3) for a in range(-9, 9)]), False),
        (ci.all_different(number, 99), False),
        (ci.all_different(number), False),
        (~(number == number), True),
        ((number == number) | (x == 3), True),
        (1 + (number >= 0) == 1, True),
    ]:
        assert condition.evaluate({x: 3}) is expected
        asked = model.copy()
        asked.add(condition)
        assert bool(asked.solve()) is expected
        assert asked.count() == expected


def test_what_is_not_chosen_need_not_be_defined(model: Model) -> None:
    x = model.int_var("x", 0, 9)
    chosen = ci.if_then_else(x == 3, 7, 12 // (x - 3))
    assert chosen.evaluate({x: 3}) == 7
    model.add(chosen >= 6)
    assert sorted(result["x"] for result in model.iter_solutions()) == [3, 4, 5]


@pytest.mark.parametrize(
    ("misuse", "advice"),
    [
        (lambda x: 1 <= x <= 5, "(a <= x) & (x <= b)"),
        (lambda x: x > 1 and x < 5, "`&`"),
        (lambda x: x in [1, 2], "x.is_in(values)"),
        (lambda x: x / 2, "//"),
        (lambda x: ci.gcd_(x, 0.5), "integer"),  # type: ignore[arg-type]
        (lambda x: (x > 0) & x, "!= 0"),
    ],
)
def test_misuse_says_what_to_write_instead(model: Model, misuse: Callable[..., Any], advice: str) -> None:
    x = model.int_var("x", 0, 9)
    with pytest.raises(ci.ModelError) as caught:
        misuse(x)
    assert advice in str(caught.value)


def test_a_model_refuses_what_is_no_constraint(model: Model) -> None:
    x = model.int_var("x", 0, 9)
    for wrong in (False, 3, x, x + 1, "x > 3"):
        with pytest.raises(ci.ModelError, match=r"condition"):
            model.add(wrong)  # type: ignore[arg-type]
    with pytest.raises(ci.ModelError, match="declared twice"):
        model.bool_var("x")
    foreign = ci.Model().int_var("y", 0, 1)
    with pytest.raises(ci.ModelError, match="'y' belongs to another model"):
        model.solve(minimize=foreign)


def test_positions_are_those_of_the_users_source(model: Model) -> None:
    x = model.int_var("x", 0, 9)
    model.add(x > 3, ~(x == 5))
    first, second = (constraint.position for constraint in model.constraints)
    assert first is not None
    assert second is not None
    assert first.file == __file__
    assert (first.text, second.text) == ("x > 3", "~(x == 5)")
    assert first.column == 15


def test_nodes_are_frozen_and_folded(model: Model) -> None:
    x = model.int_var("x", 0, 9)
    with pytest.raises(AttributeError):
        x.name = "y"  # type: ignore[misc]
    assert isinstance(x + 0, IntVar)
    assert isinstance(linear := 2 * (x + 3) - x - 1, Sum)
    assert linear.constant == 5
    assert isinstance(x - x + 3, Sum), "terms stay, as they must be defined"
    assert isinstance(ci.sum_([]), Const)


def test_variables_are_listed_once_in_order(model: Model) -> None:
    x, y = model.int_var("x", 0, 9), model.int_var("y", 0, 9)
    assert list(map(id, (y * x + y // x).variables())) == [id(y), id(x)]


def test_domains() -> None:
    assert list(ci.Domain.of_range(1, 9, 3)) == [1, 4, 7]
    assert ci.Domain.of_values([4, 1, 7]) == ci.Domain(1, 7, 3)
    assert str(ci.Domain.of_values([1, 2, 4])) == "{1, 2, 4}"
    assert ci.Domain.of_range(3, 2).is_empty
    assert 10 in ci.Domain.of_range(None, 20, 5)
    assert 11 not in ci.Domain.of_range(None, 20, 5)
    assert ci.Domain.of_range(1, None).size is None


def test_shared_and_deep_expressions_are_evaluated_in_linear_time() -> None:
    m = ci.Model()
    x = m.int_var("x", 0, 9)
    e: IntExpr = x
    for _ in range(20_000):  # 2^20000 paths, and as many levels
        e = ci.min_(e + x, e + 1)
    assert e.evaluate({x: 3}) == 20_003
    undefined = (e // x) * (e // x)
    for _ in range(200):
        undefined = undefined + undefined * undefined
    with pytest.raises(ci.errors.Undefined):
        undefined.evaluate({x: 0})


def test_a_sum_of_many_terms_shares_them() -> None:
    m = ci.Model()
    x = [m.int_var(f"x{i}", 0, 9) for i in range(30)]
    base = sum(x[:20])
    one, other = base + x[20], base + 2 * x[21] - 5
    longer = one - x[22] + 7
    names = [[term.name for _, term in total.terms] for total in (base, one, other, longer)]  # type: ignore[union-attr]
    own = [v.name for v in x]
    assert names == [own[:20], own[:21], [*own[:20], "x21"], [*own[:21], "x22"]]
    assert (other.constant, other.terms[-1][0]) == (-5, 2)
    assert (longer.constant, longer.terms[-1][0]) == (7, -1)
    with pytest.raises(AttributeError):
        longer.constant = 3
