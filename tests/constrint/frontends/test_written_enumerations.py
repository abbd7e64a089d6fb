"""Texts of models with enumerations declare them: read back, they are the same models with the same words."""

from __future__ import annotations

import random
from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest

import constrint as ci
from constrint import Model

COLOURS, SIDES = ["red", "green", "blue"], ["north", "max", "in"]


class Day(Enum):
    MON = 1
    TUE = 2


Draw = Callable[[random.Random, list[Any], Any, Any], Any]


def label(rng: random.Random) -> str:
    return rng.choice(COLOURS)


KINDS: dict[str, Draw] = {
    "==": lambda rng, c, x, s: c[0] == label(rng),
    "!=": lambda rng, c, x, s: c[0] != c[1],
    "<=": lambda rng, c, x, s: c[0] <= label(rng),
    "others": lambda rng, c, x, s: c[0] == s,
    "is_in": lambda rng, c, x, s: c[0].is_in(rng.sample(COLOURS, 2)),
    "not in": lambda rng, c, x, s: ~c[0].is_in(["red", "blue"]),
    "map": lambda rng, c, x, s: c[1].map({"red": 3, "green": x, "blue": 1}) >= rng.randrange(4),
    "index": lambda rng, c, x, s: c[0].index + x == 3,
    "index, compared": lambda rng, c, x, s: c[0].index <= s.index,
    "product": lambda rng, c, x, s: c[0].index * x <= 2,
    "bits": lambda rng, c, x, s: c[0].index ^ x != 2,
    "element": lambda rng, c, x, s: ci.element([4, 5, 6], c[0]) >= 5,
    "element of labels": lambda rng, c, x, s: ci.element(["red", "blue", "red"], x) == c[0],
    "element of variables": lambda rng, c, x, s: ci.element(c, x) == label(rng),
    "if_then_else": lambda rng, c, x, s: ci.if_then_else(x > 1, c[0], "red") != c[1],
    "table": lambda rng, c, x, s: ci.table(
        [c[0], x, s], [(label(rng), i, rng.choice(SIDES)) for i in range(4)]
    ),
    "short table": lambda rng, c, x, s: ci.table([c[0], x], [(label(rng), "*"), ("red", 1)]),
    "not table": lambda rng, c, x, s: ~ci.table([c[0], s], [(label(rng), "max"), ("red", "in")]),
    "all_different": lambda rng, c, x, s: ci.all_different(c),
    "all_different, numbers": lambda rng, c, x, s: ci.all_different(c[0].index, x, s.index),
    "all_different_except": lambda rng, c, x, s: ci.all_different_except(c, "red"),
    "count": lambda rng, c, x, s: ci.count(c, label(rng)) == rng.randrange(3),
    "among": lambda rng, c, x, s: ci.among(c, ["red", "blue"]) >= x,
    "nvalue": lambda rng, c, x, s: ci.nvalue(c) == 2,
    "nvalue, mixed": lambda rng, c, x, s: ci.nvalue([c[0], s]) == 2,
    "global_cardinality": lambda rng, c, x, s: ci.global_cardinality(c, {"red": 1, "green": x}),
    "increasing": lambda rng, c, x, s: ci.increasing(c),
    "lex_less": lambda rng, c, x, s: ci.lex_less(c[:2], c[1:]),
    "value_precede": lambda rng, c, x, s: ci.value_precede(COLOURS, c),
    "regular": lambda rng, c, x, s: ci.regular(
        c, {(0, "red"): 0, (0, "green"): 1, (1, "blue"): 0}, 0, [0, 1]
    ),
    "inverse": lambda rng, c, x, s: ci.inverse(c, [2, 1, 0]),
    "bin_packing": lambda rng, c, x, s: ci.bin_packing(c, [1, 2, 1], [3, 3, x]),
    "implies": lambda rng, c, x, s: (c[0] == "red").implies(s == "max"),
    "number of truths": lambda rng, c, x, s: sum(one == "red" for one in c) <= x,
    "exactly_one": lambda rng, c, x, s: ci.exactly_one([one == "green" for one in c]),
}


def drawn(seed: int) -> Model:
    rng = random.Random(seed)
    m = Model()
    colours = [m.enum_var(f"c{i}", COLOURS) for i in range(3)]
    side = m.enum_var("side", SIDES)
    x = m.int_var("x", 0, 3)
    for kind in rng.sample(sorted(KINDS), rng.randrange(1, 4)):
        m.add(KINDS[kind](rng, colours, x, side), name=rng.choice([None, kind]))
    return m


def answers(m: Model) -> list[dict[str, Any]]:
    return sorted((dict(one) for one in m.solutions()), key=str)


@pytest.mark.parametrize("kind", KINDS)
def test_a_constraint_of_each_kind(kind: str) -> None:
    m = drawn(0)
    m.remove(*m.constraints)
    symbols = dict(m.symbols)
    colours, side = [symbols[f"c{i}"] for i in range(3)], symbols["side"]
    m.add(KINDS[kind](random.Random(1), colours, m.variables["x"], side))
    text = m.to_text()
    again = Model.from_text(text)
    assert again.to_text() == text
    wanted, found = m.count(), again.count()
    assert wanted == found
    listed = {tuple(one.numbers.values()) for one in m.iter_solutions()}
    assert {tuple(one.numbers.values()) for one in again.iter_solutions()} == listed
    uses_numbers = {
        "index",
        "index, compared",
        "product",
        "bits",
        "others",
        "all_different, numbers",
        "nvalue, mixed",
    }
    if kind not in uses_numbers:
        assert list(again.symbols) == ["c0", "c1", "c2", "side"]
        assert answers(again) == answers(m)


@pytest.mark.parametrize("seed", range(60))
def test_drawn_models(seed: int) -> None:
    m = drawn(seed)
    again = Model.from_text(m.to_text())
    listed = {tuple(one.numbers.values()) for one in m.iter_solutions()}
    assert {tuple(one.numbers.values()) for one in again.iter_solutions()} == listed
    if set(again.symbols) == set(m.symbols):
        assert answers(again) == answers(m)


def test_a_text_has_the_words() -> None:
    m = Model()
    c, d = m.enum_var("c", COLOURS), m.enum_var("d", ["red", "pink"])
    e = m.enum_vars("e", 2, Day)
    x = m.int_var("blue1", 0, 3)
    m.add(c != "red", d == "pink", e[0] == Day.TUE, ci.count(e, Day.MON) == 1)
    m.minimize(x)
    assert m.to_text().splitlines() == [
        "enum c_values := {red, green, blue}",
        "enum e_values := {MON, TUE}",
        "c in c_values",
        "d in 0..1",
        "`e[0]` in e_values",
        "`e[1]` in e_values",
        "blue1 in 0..3",
        "c != red",
        "d == 1",
        "`e[0]` == TUE",
        "count([`e[0]`, `e[1]`], MON) == 1",
        "minimize blue1",
    ]


def test_what_has_no_words_stays_numbers() -> None:
    m = Model()
    m.enum_var("a", [8, 12])
    m.enum_var("b", ["two words"])
    m.enum_var("c", ["a"])
    d = m.enum_var("d", ["p", "q"])
    m.minimize(d.index)
    assert "enum" not in m.to_text()
    assert Model.from_text(m.to_text()).count() == m.count()


def test_some_of_the_values() -> None:
    text = "enum c_values := {red, green, blue}\nc in {red, blue}\n"
    assert Model.from_text(text).to_text() == text
