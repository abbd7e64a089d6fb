"""Methods and operators of integer expressions on a fraction: exact, or an error that says what to write."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import constrint as ci
from constrint.expr.base import IntExpr
from constrint.expr.domain import Domain
from constrint.support.arguments import OTHER_NAMES

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "is_in": ([1, 0.5],),
    "bits": (3,),
    "evaluate": ({},),
    "__format__": ("",),
    "__pow__": (2,),
}
INTERNAL = {"at", "meaning", "needs"}  # what the library itself calls
ANSWERED = set(OTHER_NAMES.split())
OF_OBJECTS = {"__array_ufunc__", "__class__", "__dir__", "__doc__", "__module__", "__setstate__", "__slots__"}
NAMES = sorted(
    name
    for name in vars(IntExpr)
    if name not in INTERNAL | OF_OBJECTS | ANSWERED and (name.startswith("__") or not name.startswith("_"))
)


def half() -> tuple[ci.Model, Any, Any]:
    m = ci.Model()
    x = m.int_var("x", -7, 7)
    return m, x, Fraction(1, 2) * x


@pytest.mark.parametrize("name", [*NAMES, "_repr_latex_"])
def test_each_method_of_expressions_works_or_says_what_to_write(name: str) -> None:
    _, x, value = half()
    method = getattr(value, name)
    if not callable(method):
        return
    arguments = ({x: 1},) if name == "evaluate" else ARGUMENTS.get(name)
    count = 1 if name[2:-2] in BINARY else 0
    refusal = ""
    try:
        method(*(arguments if arguments is not None else (2,) * count))
    except ci.ModelError as error:
        refusal = str(error)
    words = ("round", "solving", "divides by", "truth value")
    assert not refusal or any(word in refusal for word in words), refusal


WORDS = "add sub mul truediv floordiv mod divmod pow and or xor lshift rshift lt le gt ge eq ne"
BINARY = {side + word for word in re.findall("[a-z]+", WORDS) for side in ("", "r")}

USES: dict[str, Callable[[Any], Any]] = {
    "//": lambda one: one // 2,
    "% on the right": lambda one: 2 % one,
    "divmod": lambda one: divmod(one, 2),
    "divmod on the right": lambda one: divmod(2, one),
    "pow": lambda one: pow(one, 2, 3),
    "**": lambda one: 2**one,
    "&": lambda one: one & 1,
    "|": lambda one: 1 | one,
    "^": lambda one: one ^ 1,
    "<<": lambda one: one << 1,
    ">>": lambda one: 8 >> one,
    "~": lambda one: ~one,
    "bits": lambda one: one.bits(3),
    "int": int,
    "float": float,
    "complex": complex,
    "index": operator.index,
    "entry": lambda one: [1, 2][one],
    "range": range,
    "digits": lambda one: round(one, 2),
    "words": lambda one: one.is_in("ab"),
    "other words": lambda one: one.is_in(["a"]),
}


@pytest.mark.parametrize("use", USES)
def test_what_fractions_lack_is_refused_with_a_replacement(use: str) -> None:
    with pytest.raises(ci.ModelError, match=r"round|write|result\["):
        USES[use](half()[2])
    with pytest.raises(ci.ModelError, match=r"round|write|result\[|index"):
        USES[use](0.5 * half()[1])


ROUNDED: dict[str, Callable[[Any], Any]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "round": round,
}


@pytest.mark.parametrize("way", ROUNDED)
@pytest.mark.parametrize(("factor", "plus"), [(0.5, 0), (Fraction(-1, 3), 0.25), (Decimal("1.25"), 1)])
def test_rounding_is_python_s(way: str, factor: Any, plus: Any) -> None:
    m, x, _ = half()
    y = m.int_var("y", -20, 20)
    m.add(y == ROUNDED[way](factor * x + plus))
    exact = [Fraction(str(factor)) * value + Fraction(str(plus)) for value in range(-7, 8)]
    found = sorted((one["x"], one["y"]) for one in m.iter_solutions())
    assert found == [(i - 7, ROUNDED[way](one)) for i, one in enumerate(exact)]


def test_membership_is_exact() -> None:
    values: Any
    for values in (
        [0.5, 1, Fraction(-3, 2), 0.75],
        (Decimal("2.5"), 9),
        np.array([0.5, 1.5]),
        [],
        range(2),
        Domain.of_range(-1, None, 2),
        Domain.of_range(None, 1),
        Domain.of_values([1, 3, 7]),
    ):
        for use in (lambda one, own: one.is_in(own), ci.member):
            m, _, value = half()
            m.add(use(value, values))
            is_inside = [
                (
                    one.denominator == 1 and int(one) in values
                    if isinstance(values, Domain)
                    else one in [Fraction(str(v)) for v in values]
                )
                for one in [Fraction(v, 2) for v in range(-7, 8)]
            ]
            assert m.count() == sum(is_inside), values
    m = ci.Model()
    xs = m.int_vars("x", 2, 0, 3)
    halves: Any = 0.5 * xs
    m.add(halves.is_in([0.5, 1.5]))
    assert m.count() == 4


def test_a_fraction_is_shown_as_it_was_written() -> None:
    m, x, value = half()
    y = m.int_var("y", 0, 3)
    assert str(value) == "x / 2"
    assert f"{0.5 * x + y:>15}" == "    0.5 * x + y"
    assert (0.5 * x + y)._repr_latex_() == r"$\frac{x + 2 y}{2}$"
    assert list((0.5 * x + y).variables()) == [x, y]
    assert value.children == (x,)


def test_division_offers_an_exact_fraction() -> None:
    m = ci.Model()
    x: Any = m.int_var("x", 0, 9)
    y: Any = m.int_var("y", 0, 9)
    cases: list[tuple[Callable[[], Any], str, str]] = [
        (lambda: x / 2, "`x // 2`", "`Fraction(1, 2) * x`"),
        (lambda: (x + y) / -3, "`(x + y) // -3`", "`Fraction(-1, 3) * (x + y)`"),
        (lambda: x / 0.5, "`x // 0.5`", "multiply by a `Fraction`"),
        (lambda: x / (y + 1), "`x // (y + 1)`", "multiply the other side"),
        (lambda: 6 / x, "`6 // x`", "multiply the other side"),
    ]
    for divide, whole, exact in cases:
        with pytest.raises(ci.ModelError) as caught:
            divide()
        assert whole in str(caught.value)
        assert exact in str(caught.value)
        assert "ceildiv(" in str(caught.value)
