"""Bit operators: their values are Python's, conditions keep their Boolean meaning, mixtures are errors."""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest

from constrint import IntExpr, Model, ModelError
from constrint.expr.arithmetic.bits import MOST_BITS

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}


def drawn(random: Random, leaves: list[Any], depth: int = 2) -> Callable[[list[Any]], Any]:
    """A function that Python's integers and expressions have in common."""
    kind = random.choice(
        ["leaf", "leaf", "constant"] if depth == 0 else ["leaf", *OPERATORS, "~", "+", "bits"]
    )
    if kind == "leaf":
        place = random.randrange(len(leaves))
        return lambda values: values[place]
    if kind == "constant":
        constant = random.choice([0, 1, 2, 3, 5, 6, 10, -1, -2, -6])
        return lambda values: constant
    inner = drawn(random, leaves, depth - 1)
    if kind == "~":
        return lambda values: ~inner(values)
    if kind == "bits":
        count = random.randint(0, 4)
        return lambda values: (
            one.bits(count) if isinstance(one := inner(values), IntExpr) else one % (1 << count)
        )
    if kind in ("<<", ">>"):
        places = random.randint(0, 3)
        return lambda values: OPERATORS[kind](inner(values), places)
    other = drawn(random, leaves, depth - 1)
    if kind == "+":
        return lambda values: inner(values) + other(values)
    return lambda values: OPERATORS[kind](inner(values), other(values))


@pytest.mark.parametrize("seed", range(60))
def test_they_have_pythons_values(seed: int) -> None:
    random = Random(seed)
    m = Model()
    bounds = [(lo := random.randint(-6, 5), lo + random.randint(0, 7)) for _ in range(3)]
    xs = [m.int_var(f"x{i}", *pair) for i, pair in enumerate(bounds)]
    number, other = drawn(random, xs, 3), drawn(random, xs, 1)
    bound = random.randint(-4, 9)
    way = random.choice([operator.eq, operator.le, operator.ne])
    points = list(itertools.product(*[range(lo, hi + 1) for lo, hi in bounds]))
    expected = [p for p in points if way(number(list(p)), bound) or other(list(p)) == 2]
    m.add((way(xs[0] * 0 + number(xs), bound)) | (xs[0] * 0 + other(xs) == 2))
    names = [x.name for x in xs]
    for engine in ("interpreted", "auto"):
        found = [tuple(one[name] for name in names) for one in m.iter_solutions(engine=engine)]
        assert sorted(found) == expected, m.to_text()
    assert m.count() == len(expected)
    best = m.solve(minimize=xs[0] * 0 + number(xs))
    assert best.objective == (min(number(list(p)) for p in expected) if expected else None)


def test_an_undefined_operand_makes_the_condition_false() -> None:
    for symbol in ("&", "|", "^"):
        m = Model()
        x, y = m.int_var("x", -3, 3), m.int_var("y", -3, 3)
        value = OPERATORS[symbol](6 // y, x)
        m.add((value >= 1) | (x == 2))
        expected = sum(
            a == 2 or (b != 0 and OPERATORS[symbol](6 // b, a) >= 1)
            for a in range(-3, 4)
            for b in range(-3, 4)
        )
        assert m.count() == len(list(m.iter_solutions(engine="interpreted"))) == expected
        assert Model.from_text(m.to_text()).count() == expected


def test_shifts_by_an_expression() -> None:
    m = Model()
    x, k = m.int_var("x", -9, 9), m.int_var("k", -1, 3)
    m.add((x >> k) + (1 << k) == 3)
    expected = sum((a >> c) + (1 << c) == 3 for a in range(-9, 10) for c in range(4))
    assert m.count() == len(list(m.iter_solutions(engine="interpreted"))) == expected


def test_what_is_known_of_bits_is_propagated() -> None:
    m = Model()
    x, y = m.int_var("x", 0, 1023), m.int_var("y", 0, 1023)
    m.add(x & 0b1111100000 == 0b1010000000, x ^ y == 0b0000011111, y.bits(5) == 0b00001)
    r = m.solve()
    assert (r[x], r[y]) == (0b1010011110, 0b1010000001)
    assert r.statistics.nodes <= 1


def test_of_unbounded_and_of_wide_numbers() -> None:
    m = Model()
    x, y = m.int_var("x"), m.int_var("y", -(10**30), 10**30)
    small = m.int_var("small", 0, 255)
    m.add(x & 0xFF == 0x5A, y & small == 3, small >= 200)
    r = m.solve()
    assert r[x] & 0xFF == 0x5A
    assert r[y] & r[small] == 3
    ask = m.copy()
    ask.add(x ^ y == 3)
    with pytest.raises(ModelError, match=rf"more than {MOST_BITS} bits: .*x\.bits\(32\) & y\.bits\(32\)"):
        ask.solve()
    m.add(x.bits(40) ^ y.bits(40) >= 3)
    assert m.solve()


def test_conditions_keep_their_meaning_and_mixtures_are_errors() -> None:
    m = Model()
    x, b, c = m.int_var("x", 0, 7), m.bool_var("b"), m.bool_var("c")
    assert str(b & c) == "b and c"
    assert str(~b | (x == 1)) == "not b or x == 1"
    mixed: list[Callable[[], object]] = [
        lambda: x & b,
        lambda: x | (x == 2),
        lambda: x ^ True,
        lambda: b & x,
        lambda: 3 & b,
        lambda: (x == 1) | 2,
    ]
    for mixture in mixed:
        with pytest.raises(
            ModelError, match=re.escape("bind more tightly than comparisons: write `(x == 1)")
        ):
            mixture()
    with pytest.raises(ModelError, match=r"`b` is a condition, and `>>` shifts numbers.*a\.implies\(b\)"):
        b >> 1
    with pytest.raises(ModelError, match=r"`x << -1`: the count is at least 0"):
        x << -1
    with pytest.raises(ModelError, match=re.escape("write `(x == 1) & (x == 2)`")):
        m.add(x == 1 & x == 2)
    assert str((b + 0) & x) == "bit_and(+b, x)"


def test_of_arrays() -> None:
    m = Model()
    v, b = m.int_vars("v", 3, -4, 7), m.bool_vars("b", 3)
    m.add(v & [1, 2, 4] == [1, 0, 4], np.bitwise_xor(v, 5) >= 0, (v >> 1) <= 2, v.bits(2) >= 1, ~v <= -2)
    m.add(b & [1, 0, 1] == [True, False, True], ~b == [False, True, False])
    assert all(
        (a & [1, 2, 4] == [1, 0, 4]).all() and (a ^ 5 >= 0).all() and (a >> 1 <= 2).all() and (~a <= -2).all()
        for a in [one[v] for one in m.iter_solutions()]
    )
    count = 0
    for point in itertools.product(range(-4, 8), repeat=3):
        a = np.array(point)
        count += bool(
            (a & [1, 2, 4] == [1, 0, 4]).all()
            and (a ^ 5 >= 0).all()
            and (a >> 1 <= 2).all()
            and (a % 4 >= 1).all()
            and (~a <= -2).all()
        )
    assert m.count() == count > 0


def test_formats_have_them() -> None:
    m = Model()
    x, y = m.int_var("x", 0, 6), m.int_var("y", -3, 4)
    m.add((x & y) + (x ^ 3) == 5, x | y >= 1)
    expected = m.count()
    assert expected > 0
    assert (
        Model.from_text(
            "x in 0..6\ny in -3..4\nbit_and(x, y) + bit_xor(x, 3) == 5; bit_or(x, y) >= 1"
        ).count()
        == expected
    )
    for again in (Model.from_json(m.to_json()), Model.from_text(m.to_text())):
        assert again.count() == expected
