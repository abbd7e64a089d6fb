"""Expressions shown to people: what `print` writes reads back, has no needless brackets, and stays short."""

from __future__ import annotations

import itertools
import random
import re
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from global_models import draw_model as draw_global_model
from random_models import Generator, build

import constrint as ci
from constrint import IntExpr, Model, ModelError, Undefined
from constrint.globals import GLOBALS

READING = ci.Limits(depth=2_000)


def drawn(seed: int) -> tuple[Model, list[IntExpr]]:
    """A model, and conditions and numbers over its variables."""
    rng = random.Random(seed)
    generator = Generator(rng, max_depth=4, max_assignments=60)
    model = generator.draw().build()
    model.constraints.clear()
    names = {**model.variables, **model.lets}
    trees = [generator.boolean(rng.randint(1, 4)) for _ in range(2)] + [generator.integer(rng.randint(1, 4))]
    return model, [build(tree, names) for tree in trees]


def read(model: Model, text: str, *, number: bool) -> tuple[Model, IntExpr]:
    """The expression of a text over a model's variables."""
    declared = Model()
    for name, variable in model.variables.items():
        if isinstance(variable, ci.BoolVar):
            declared.bool_var(name)
        else:
            declared.variable(name, variable.domain)
    again = Model.from_text(
        declared.to_text() + (f"minimize {text}\n" if number else f"{text}\n"), limits=READING
    )
    return again, again.goals[0][0] if number else again.constraints[0].expr


def values(model: Model, expr: IntExpr, most: Any = 60) -> Any:
    """What an expression is worth under assignments of its model; None where it is undefined."""
    found = []
    rows = itertools.product(*[list(variable.domain) for variable in model.variables.values()])
    for row in itertools.islice(rows, most):
        try:
            found.append(int(expr.evaluate(dict(zip(model.variables.values(), row, strict=True)))))
        except Undefined:
            found.append(None)  # type: ignore[arg-type]
    return found


CONSTANT_POWER = re.compile(r"\d\)? \*\* -?\d")  # the reader works out its value


def check_round_trip(model: Model, expr: IntExpr) -> None:
    text = str(expr)
    number = not isinstance(expr, ci.BoolExpr)
    again, back = read(model, text, number=number)
    assert str(back) == text or CONSTANT_POWER.search(text)
    assert values(again, back) == values(model, expr), text


@pytest.mark.parametrize("seed", range(25))
def test_what_is_shown_reads_back(seed: int) -> None:
    for i in range(6):
        model, exprs = drawn(1000 * i + seed)
        for expr in exprs:
            if "…" not in str(expr):
                check_round_trip(model, expr)


@pytest.mark.parametrize("name", sorted(GLOBALS))
def test_global_constraints_read_back(name: str) -> None:
    for seed in range(4):
        model = draw_global_model(name, seed)
        for constraint in model.constraints:
            check_round_trip(model, constraint.expr)


def unbracketed(text: str) -> Iterator[tuple[str, str, str]]:
    """What is before, in and behind each pair of brackets that belongs to no call."""
    opened = []
    for i, character in enumerate(text):
        if character == "(":
            opened.append(i)
        elif character == ")":
            start = opened.pop()
            if start == 0 or not (text[start - 1].isalnum() or text[start - 1] == "_"):
                yield text[:start], text[start + 1 : i], text[i + 1 :]


def is_meant(before: str, inside: str, rest: str) -> bool:
    """Whether brackets may be left out and stand: in `(a // b) * c`, and about a condition as a number."""
    return rest.startswith(" *") or before.endswith("+") or inside in ("true", "false")


@pytest.mark.parametrize("seed", range(15))
def test_no_brackets_are_needless(seed: int) -> None:
    needless = []
    for i in range(4):
        model, exprs = drawn(7000 + 1000 * i + seed)
        for expr in exprs:
            text, number = str(expr), not isinstance(expr, ci.BoolExpr)
            for before, inside, rest in unbracketed(text):
                if is_meant(before, inside, rest):
                    continue
                try:
                    _, back = read(model, before + inside + rest, number=number)
                except ci.ConstrintError:
                    continue
                if str(back) == text:
                    needless.append((text, before + inside + rest))
    assert needless == []


def test_operators_look_as_they_were_written() -> None:
    m = Model()
    x, y, b = m.int_var("x", 0, 9), m.int_var("y", 0, 9), m.bool_var("b")
    g = m.int_vars("g", (2, 2), 0, 9)
    odd = m.int_var("odd name", 0, 1)
    shown = {
        x + 2 * y <= 3: "x + 2 * y <= 3",
        (x + y) * 3 - 1: "3 * x + 3 * y - 1",
        (x + 1) ** 2 % 7 == y: "(x + 1) ** 2 % 7 == y",
        (b & (x > 1)) | ~b: "b and x > 1 or not b",
        b.implies(x != 3): "b -> x != 3",
        x.is_in([1, 2, 3]): "x in 1..3",
        ~x.is_in([1, 2, 4]): "x not in {1, 2, 4}",
        ci.all_different(g): "all_different(g[0,0], g[0,1], g[1,0], g[1,1])",
        ci.element([3, 1, 2], x): "[3, 1, 2][x]",
        odd >= 1: "`odd name` >= 1",
        abs(x - y): "abs(x - y)",
    }
    for expr, text in shown.items():
        assert repr(expr) == str(expr) == f"{expr}" == text
    assert f"{x:>3}|{x + y:<7}|" == "  x|x + y  |"
    assert m.add(x + y <= 3, name="few")[0].__repr__() == "few: x + y <= 3"
    assert str(m.constraints) == "[few: x + y <= 3]"
    m.maximize(x - y)
    assert str(m.goals) == "[(x - y, 'max')]"


def large_expressions() -> dict[str, IntExpr]:
    m = Model()
    x, z = m.int_var("x", 0, 9), m.int_vars("z", 3000, 0, 9)
    deep = shared = wide = x + 1
    condition = x > 1
    for _ in range(3000):
        deep = abs(deep + 1)
        shared = shared * shared + shared // 2
        wide = ci.max_(wide, *z[:20]) + 1
        condition = ~(condition & (x > 2))
    huge = 10**5000
    return {
        "deep": deep,
        "shared": shared,
        "wide and deep": wide,
        "conditions": condition,
        "sum": ci.sum_(z),
        "product": ci.all_of(z <= 3),
        "all_different": ci.all_different(z),
        "table": ci.table([x, x], [(i, i) for i in range(5000)]),
        "wide table": ci.table(z, [range(3000)]),
        "set": x.is_in([i * i for i in range(5000)]),
        "element": ci.element(list(range(5000)), x),
        "selection": ci.element(z, x),
        "cumulative": ci.cumulative(z, [1] * 3000, [1] * 3000, 3),
        "long numbers": huge * x + huge * z[0] + huge <= huge,
        "long constants": ci.element([huge, -huge], x),
        "long members": x.is_in([huge, 1]),
        "long ranges": x.is_in(ci.Domain.of_range(huge, None)),
        "long rows": ci.table([x], [(huge,), (3,)]),
        "long names": m.int_var("n" * 10_000, 0, 1) + 1,
    }


@pytest.mark.parametrize("kind", list(large_expressions()))
def test_large_expressions_are_short(kind: str) -> None:
    expr = large_expressions()[kind]
    started = time.process_time()
    text = repr(expr)
    assert time.process_time() - started < 2
    assert "…" in text
    assert len(text) < 8_000
    assert ci.Model()._repr_html_() is not None


def test_an_expression_is_cut_at_its_deep_parts() -> None:
    m = Model()
    x = m.int_var("x", 0, 3)
    e: IntExpr = x
    for _ in range(100):
        e = abs(e + 1)
    assert str(e) == "abs(abs(abs(abs(… + 1) + 1) + 1) + 1)"
    z = m.int_vars("z", 400, 0, 3)
    assert str(ci.sum_(z) <= 7).endswith("+ z[6] + z[7] + … + z[399] <= 7")


def test_names_that_text_cannot_have_are_shown() -> None:
    m = Model()
    for name in ("a`b", "line\nbreak", "\x00", "for x in", "x[0", "x[i]"):
        assert str(m.int_var(name, 0, 1) + 1).endswith(" + 1")
    assert "\n" not in str(m.variables["line\nbreak"])


def test_a_wrong_format_is_an_error() -> None:
    m = Model()
    x = m.int_var("x", 0, 9)
    with pytest.raises(ValueError, match="format"):
        f"{x:d}"
    with pytest.raises(ModelError):
        np.bool_(x == 1)
