"""Semantics: each condition is compared with the Python expression that defines it, on every assignment.

Text and Python are side by side because that is the claim: the same operators, the same numbers. If Python
raises (division by zero, a negative exponent), the nearest enclosing condition is false. Operands that
Python's `or`, `and` and `if` skip cannot make a condition undefined.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from math import gcd, lcm
from typing import Any

import pytest

import constrint as ci
from constrint import BoolExpr, Model, Status

LIMIT = 20.0


class NoValueError(ArithmeticError):
    """The Python side has no value here."""


def power(base: int, exponent: int) -> int:
    if exponent < 0:
        raise NoValueError
    return base**exponent  # type: ignore[no-any-return]


def at(values: list[int], index: int) -> int:
    if not 0 <= index < len(values):
        raise NoValueError
    return values[index]


CASES = [
    # negative numbers, zero, % with either sign and with a remainder
    ("x % 3 == y", lambda x, y: x % 3 == y),
    ("x % -3 == y", lambda x, y: x % -3 == y),
    ("x % y == 2", lambda x, y: x % y == 2),
    ("x % y == -1", lambda x, y: x % y == -1),
    ("5 % x == y", lambda x, y: 5 % x == y),
    ("-7 % x == y", lambda x, y: -7 % x == y),
    ("0 % x == y", lambda x, y: 0 % x == y),
    ("x // y == -2", lambda x, y: x // y == -2),
    ("-x // 2 == y", lambda x, y: -x // 2 == y),
    ("-(x // 2) == y", lambda x, y: -(x // 2) == y),
    ("x // y * y + x % y == x", lambda x, y: x // y * y + x % y == x),
    ("ceildiv(x, 3) == y", lambda x, y: -(-x // 3) == y),
    ("ceildiv(x, y) == 2", lambda x, y: -(-x // y) == 2),
    # products in divisors, divisibility of powers and products
    ("24 % (x * y) == 0", lambda x, y: 24 % (x * y) == 0),
    ("(x * y) % 6 == 0", lambda x, y: x * y % 6 == 0),
    ("x ** 2 % 20 == y", lambda x, y: x**2 % 20 == y),
    ("x ** 2 % 20 == 0", lambda x, y: x**2 % 20 == 0),
    ("x * y divides 36", lambda x, y: 36 % (x * y) == 0 if x * y else False),
    ("x divides y", lambda x, y: y % x == 0 if x else y == 0),
    ("0 divides x * y", lambda x, y: x * y == 0),
    ("not x divides y", lambda x, y: not (y % x == 0 if x else y == 0)),
    ("x divides x", lambda x, y: True),
    ("6 // (x - y) == 3", lambda x, y: 6 // (x - y) == 3),
    # powers: 0, of products, with variable base and exponent
    ("x ** 0 == y", lambda x, y: y == 1),
    ("0 ** x == y", lambda x, y: power(0, x) == y),
    ("(-2) ** x == y", lambda x, y: power(-2, x) == y),
    ("-2 ** x == y", lambda x, y: -power(2, x) == y),
    ("x ** y == 64", lambda x, y: power(x, y) == 64),
    ("x ** y == y ** x", lambda x, y: power(x, y) == power(y, x)),
    ("(x * y) ** 2 == 144", lambda x, y: (x * y) ** 2 == 144),
    ("x ** 2 ** 2 == 16 * y", lambda x, y: x**4 == 16 * y),
    ("2 ** (x * y) == 8", lambda x, y: power(2, x * y) == 8),
    # subtraction, unary minus, abs, min, max, gcd, lcm
    ("x - y - 2 == -x", lambda x, y: x - y - 2 == -x),
    ("--x == +y", lambda x, y: x == y),
    ("x * x == 4", lambda x, y: x * x == 4),
    ("not (x * x == 4) and abs(x - 3) != max(x, 2)", lambda x, y: x * x != 4 and abs(x - 3) != max(x, 2)),
    ("abs(x) * abs(y) == abs(x * y)", lambda x, y: True),
    ("min(x, y, 2) + max(x, -y) == 3", lambda x, y: min(x, y, 2) + max(x, -y) == 3),
    ("gcd(x, y) == 3", lambda x, y: gcd(x, y) == 3),
    ("gcd(x, y, 6) != 1", lambda x, y: gcd(x, y, 6) != 1),
    ("lcm(x, y) == 6", lambda x, y: lcm(x, y) == 6),
    ("gcd(x, y) * lcm(x, y) == abs(x * y)", lambda x, y: True),
    # Boolean structure, nested and as numbers
    ("x > 2 or y > 2 and x < y", lambda x, y: x > 2 or (y > 2 and x < y)),
    ("(x > 2 or y > 2) and x < y", lambda x, y: (x > 2 or y > 2) and x < y),
    ("not x > 2 or y == 1", lambda x, y: not x > 2 or y == 1),
    ("x > 2 -> y > 2 -> x > y", lambda x, y: not x > 2 or not y > 2 or x > y),
    ("(x > 2) <-> (y > 2)", lambda x, y: (x > 2) == (y > 2)),
    ("(x > 2) + (y > 2) + (x > y) == 2", lambda x, y: (x > 2) + (y > 2) + (x > y) == 2),
    ("(x > y) * x == (x <= y) * y", lambda x, y: (x > y) * x == (x <= y) * y),
    ("1 <= x <= 5 != y", lambda x, y: 1 <= x <= 5 != y),
    ("x < y > 2 >= x - 1", lambda x, y: x < y > 2 >= x - 1),
    ("x in {-3, 0, 4} or y not in 1..9", lambda x, y: x in (-3, 0, 4) or y not in range(1, 10)),
    ("x not in -2..6 step 4", lambda x, y: x not in (-2, 2, 6)),
    ("if_then_else(x > y, x - y, y // 2) == 2", lambda x, y: (x - y if x > y else y // 2) == 2),
    ("if_then_else(x == 0, 0, 6 // x) == y", lambda x, y: (0 if x == 0 else 6 // x) == y),
    ("[3, -1, 4, -1, 5][x] == y", lambda x, y: at([3, -1, 4, -1, 5], x) == y),
    ("all_different(x, y, 2 * x, 3)", lambda x, y: len({x, y, 2 * x, 3}) == 4),
    # undefined terms: behind a guard, before it, negated, unused, on either side
    ("x == 0 or 12 // x > 3", lambda x, y: x == 0 or 12 // x > 3),
    ("12 // x > 3 or x == 0", lambda x, y: x == 0 or 12 // x > 3),
    ("x != 0 and y % x == 1", lambda x, y: x != 0 and y % x == 1),
    ("x != 0 -> y % x == 1", lambda x, y: x == 0 or y % x == 1),
    ("x > 5 or y ** x >= 0", lambda x, y: x > 5 or (x >= 0 and power(y, x) >= 0)),
    ("x < 0 or 2 ** x > y", lambda x, y: x < 0 or 2**x > y),
    ("not (5 % x == 1)", lambda x, y: x == 0 or 5 % x != 1),
    ("5 % x != 1", lambda x, y: 5 % x != 1),
    ("not (1 // x == 3)", lambda x, y: x == 0 or 1 // x != 3),
    ("y == (7 // x > 2)", lambda x, y: y == (x != 0 and 7 // x > 2)),
    ("(7 // x > 2) <-> (7 // y > 2)", lambda x, y: (x != 0 and 7 // x > 2) == (y != 0 and 7 // y > 2)),
    ("(7 // x > 2) + (7 % y == 0) == 1", lambda x, y: (x != 0 and 7 // x > 2) + (y != 0 and 7 % y == 0) == 1),
    ("not (x // y in {2, 3})", lambda x, y: y == 0 or x // y not in (2, 3)),
    ("x // y not in {2, 3}", lambda x, y: y == 0 or x // y not in (2, 3)),
    ("x // y in {2, 3} or x == y", lambda x, y: (x == y) or x // y in (2, 3)),
    ("max(1 // x, y) == y or x < y", lambda x, y: x < y or max(1 // x, y) == y),
    ("if_then_else(x > 0, y // x, 2) >= 2", lambda x, y: (y // x if x > 0 else 2) >= 2),
    ("if_then_else(y % x == 1, y, x) == 3", lambda x, y: (y if x != 0 and y % x == 1 else x) == 3),
    ("[4, 5, 6][x] == 5 or y == x", lambda x, y: y == x or at([4, 5, 6], x) == 5),
    ("0 <= x < 3 -> [4, 5, 6][x] > y", lambda x, y: at([4, 5, 6], x) > y if 0 <= x < 3 else True),
    ("not all_different(x, y, 6 // x)", lambda x, y: x == 0 or len({x, y, 6 // x}) < 3),
    ("x % y divides 6 or x == 2", lambda x, y: x == 2 or (6 % (x % y) == 0 if x % y else False)),
    ("1 <= 6 // x <= y or x == 0", lambda x, y: x == 0 or 1 <= 6 // x <= y),
    ("count([6 // x, y], 3) == 1 or x == 0", lambda x, y: x == 0 or [6 // x, y].count(3) == 1),
    ("not lex_less([y, 6 // x], [3, 2])", lambda x, y: x == 0 or not [y, 6 // x] < [3, 2]),
    ("0 * (1 // x) == 0", lambda x, y: 1 // x * 0 == 0),
    # constants only, and repeated variables
    ("3 == 4", lambda x, y: False),
    ("3 == 3", lambda x, y: True),
    ("2 ** 70 > 3 ** 40", lambda x, y: 2**70 > 3**40),
    ("x - x == 0", lambda x, y: True),
    ("x * x - x * x == 1", lambda x, y: False),
    ("x + x == 2 * y - x - x", lambda x, y: 4 * x == 2 * y),
    ("x // x == 1", lambda x, y: x // x == 1),
    ("max(x, x) == min(x, x)", lambda x, y: True),
]


def holds(predicate: Callable[..., Any], *point: int) -> bool:
    try:
        return bool(predicate(*point))
    except ArithmeticError:
        return False


@pytest.mark.parametrize(("text", "predicate"), CASES, ids=[text for text, _ in CASES])
@pytest.mark.parametrize("form", ["{}", "not (not ({}))", "b <-> ({}); b", "({}) or x > 99", "({}) + 0 >= 1"])
def test_conditions_mean_what_python_means(text: str, predicate: Callable[..., Any], form: str) -> None:
    values = range(-7, 8)
    expected = {p for p in itertools.product(values, repeat=2) if holds(predicate, *p)}
    model = Model.from_text("x, y in -7..7; b bool; " + form.format(text))
    found = {(r["x"], r["y"]) for r in model.iter_solutions(time_limit=LIMIT)}
    assert found == expected
    with_b = 1 if form.startswith("b") else 2
    assert model.count(time_limit=LIMIT) == with_b * len(expected)


@pytest.mark.parametrize("shift", [2**31, 2**62 - 3, 2**63 - 5, 2**63, 2**64, 10**30, -(2**63), -(10**30)])
def test_the_same_near_and_beyond_64_bits(shift: int) -> None:
    model = Model()
    x, y = model.int_var("x", shift - 3, shift + 3), model.int_var("y", -2, 3)
    model.add(x * y - shift * 2 <= 4, x % 4 != y % 4, abs(x) // 2 != abs(shift) // 2, ~ci.divides(3, x + y))
    expected = {
        (a, b)
        for a in range(shift - 3, shift + 4)
        for b in range(-2, 4)
        if a * b - shift * 2 <= 4 and a % 4 != b % 4 and abs(a) // 2 != abs(shift) // 2 and (a + b) % 3
    }
    assert {tuple(r.values.values()) for r in model.iter_solutions(time_limit=LIMIT)} == expected
    best = model.solve(maximize=x * x * y, time_limit=LIMIT)
    assert best.objective == max((a * a * b for a, b in expected), default=None)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("x in 0..; x <= 3", 4),
        ("x in ..; x * x <= 10", 7),
        ("x in 0..10 ** 18; 10 ** 17 divides x", 11),
        ("x in -10 ** 30..10 ** 30; x % 10 ** 29 == 7", 20),
        ("x in 1..10 ** 12; x divides 10 ** 12", 169),
        ("x, y in ..; x * y == 12", 12),
        ("x, y in ..; x ** 2 + y ** 2 == 25", 12),
        ("x, y, z in 0..; x + 2 * y + 3 * z == 20", 44),
        ("x in 0..; x ** 5 == 7 ** 25", 1),
        ("x in 0..100; 2 ** x % 7 == 1", 34),
        ("x in 0..; 3 ** x <= 10 ** 40", 84),
        ("x, y in 0..; max(x, y) == 4", 9),
        ("x in ..; abs(x - 5) == 7", 2),
        ("x in ..; x // 4 == -3", 4),
        ("x, y in 1..; lcm(x, y) == 12", 15),
        ("x in 0..9; x in {}", 0),
        ("x in {}", 0),
        ("x in 5..5; x != 5", 0),
    ],
)
def test_open_and_wide_domains(text: str, count: int) -> None:
    model = Model.from_text(text)
    assert model.count(time_limit=LIMIT) == count
    assert len(list(model.iter_solutions(time_limit=LIMIT))) == count
    assert (model.solve(time_limit=LIMIT).status is Status.OPTIMAL) == (count > 0)


def test_a_phantom_name_is_an_error() -> None:
    with pytest.raises(ci.ParseError, match="operator is missing between 'x' and 'y'"):
        Model.from_text("x in 1..3; y in 1..3; x y == 3")
    with pytest.raises(ci.ParseError, match="'z'"):
        Model.from_text("x in 1..3; x + z == 3")


def test_chains_and_branches_in_python_say_what_to_write() -> None:
    x = Model().int_var("x", 0, 9)
    with pytest.raises(ci.ModelError, match=r"\(a <= x\) & \(x <= b\)"):
        assert 1 <= x <= 5
    with pytest.raises(ci.ModelError, match=r"condition.implies"):
        bool(x < 5)  # what `if x < 5` asks for


class Drawing:
    """Random expressions, each with the Python function that it stands for."""

    def __init__(self, rng: random.Random, xs: list[ci.IntExpr], b: ci.BoolExpr) -> None:
        self.rng, self.xs, self.b = rng, xs, b

    def number(self, depth: int) -> Any:
        rng = self.rng
        if depth == 0 or rng.random() < 0.15:
            if rng.random() < 0.3:
                c = rng.choice([-5, -3, -1, 0, 0, 1, 2, 4, 7])
                return ci.sum_([c]), lambda p: c
            i = rng.randrange(len(self.xs))
            return self.xs[i], lambda p: p[i]
        kind = rng.randrange(15)
        a, f = self.number(depth - 1)
        if kind == 0:
            return abs(a) - 1, lambda p: abs(f(p)) - 1
        if kind == 1:
            n = rng.choice([0, 1, 2, 3])
            return a**n, lambda p: f(p) ** n
        if kind == 2:
            c, t = self.condition(depth - 1)
            return c + 2 * a, lambda p: t(p) + 2 * f(p)
        d, g = self.number(depth - 1)
        if kind in (3, 4):
            c, t = self.condition(depth - 1)
            return ci.if_then_else(c, a, d), lambda p: f(p) if t(p) else g(p)
        if kind == 5:
            i, h = self.number(depth - 1)
            return ci.element([a, 3, d], i), lambda p: (lambda v: at(v, h(p)))([f(p), 3, g(p)])
        if kind == 6:
            return ci.element([4, -1, 0, 7], a), lambda p: at([4, -1, 0, 7], f(p))
        if kind == 7:
            return ci.min_(a, d, 3), lambda p: min(f(p), g(p), 3)
        if kind == 8:
            return ci.gcd_(a, d) - ci.lcm_(a, 2), lambda p: (gcd(f(p), g(p)), lcm(f(p), 2))[0] - lcm(f(p), 2)
        if kind == 9:
            return a // d, lambda p: f(p) // g(p)
        if kind == 10:
            return a % d, lambda p: f(p) % g(p)
        if kind == 11:
            return ci.ceildiv(a, d), lambda p: -(-f(p) // g(p))
        if kind == 12:
            small = ci.min_(d, 3)
            return ci.max_(a, -3) ** small, lambda p: power(max(f(p), -3), min(g(p), 3))
        if kind == 13:
            return a * d, lambda p: f(p) * g(p)
        return a - 3 * d, lambda p: f(p) - 3 * g(p)

    def relation(self, kind: int, depth: int) -> tuple[BoolExpr, Callable[..., object]]:
        """A condition on numbers, and a function that raises where one of them is undefined."""
        rng = self.rng
        a, f = self.number(max(0, depth - 1))
        d, g = self.number(max(0, depth - 1))
        if kind == 0:
            return a <= d, lambda p: f(p) <= g(p)
        if kind == 1:
            return a == d, lambda p: f(p) == g(p)
        if kind == 2:
            return ci.divides(a, d), lambda p: (lambda u, v: v % u == 0 if u else v == 0)(f(p), g(p))
        rows = {(rng.randint(-3, 4), rng.randint(-3, 4)) for _ in range(rng.randint(0, 10))}
        return ci.table([a, d], rows), lambda p: (f(p), g(p)) in rows

    def condition(self, depth: int) -> Any:
        rng = self.rng
        kind = rng.randrange(9) if depth > 0 else rng.choice([0, 0, 1, 8])
        if kind == 8:
            return self.b, lambda p: bool(p[-1])
        if kind <= 3:
            condition, function = self.relation(kind, depth)
            return condition, lambda p: holds(lambda *point: function(point), *p)
        c, s = self.condition(depth - 1)
        if kind == 4:
            return ~c, lambda p: not s(p)
        d, t = self.condition(depth - 1)
        if kind == 5:
            return c | d, lambda p: s(p) or t(p)
        if kind == 6:
            return c.implies(d), lambda p: not s(p) or t(p)
        if rng.random() < 0.5:
            return c == d, lambda p: s(p) == t(p)
        return c & d, lambda p: s(p) and t(p)


@pytest.mark.parametrize("block", range(8))
def test_random_nested_models(block: int) -> None:
    nonempty = 0
    for seed in range(block * 60, block * 60 + 60):
        rng = random.Random(seed)
        model = Model()
        xs = [
            model.int_var("x", -3, 4),
            model.int_var("y", -4, 4, step=2),
            model.int_var("z", values=[-2, 0, 1, 5]),
        ]
        b = model.bool_var("b")
        drawing = Drawing(rng, xs, b)  # type: ignore[arg-type]
        pairs = [drawing.condition(3) for _ in range(rng.randint(1, 2))]
        model.add(*[condition for condition, _ in pairs])
        points = itertools.product(range(-3, 5), range(-4, 5, 2), (-2, 0, 1, 5), (0, 1))
        expected = {p for p in points if all(holds(function, p) for _, function in pairs)}  # type: ignore[arg-type]
        found = [tuple(r.values.values()) for r in model.iter_solutions(time_limit=LIMIT)]
        assert len(found) == len(set(found))
        assert set(found) == expected, f"seed {seed}"
        assert model.count(time_limit=LIMIT) == len(expected), f"seed {seed}"
        again = Model.from_text(model.to_text())
        assert again.count(time_limit=LIMIT) == len(expected), f"seed {seed}"
        nonempty += 0 < len(expected) < 320
    assert nonempty >= 20
