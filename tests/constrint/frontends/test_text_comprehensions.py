"""Comprehensions mean what Python's do: drawn ones are read, and worked out by Python's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrint import Model

Env = dict[str, int]
HEAD = """
n := 3
w[1..3] := [4, 1, 6]
g[0..1, 1..3] := [[1, 2, 3], [5, 0, 2]]
double(a) := a + a
rest(a, i) := a % (i * i + 1)
x[1..3] in 0..2
"""
W = {1: 4, 2: 1, 3: 6}
G = {(0, 1): 1, (0, 2): 2, (0, 3): 3, (1, 1): 5, (1, 2): 0, (1, 3): 2}
NAMES = ("i", "j", "k", "n")
Part = tuple[str, Callable[[Env], Any]]
"""A text, and what it is for the values of its names."""


@st.composite
def number(draw: st.DrawFn, names: tuple[str, ...], depth: int) -> Part:
    """An integer over some names, which always has a value."""
    kind = draw(st.sampled_from(["name", "name", "const", "op", "call", "index", "cell", "sum", "len"]))
    if kind == "const" or depth == 0:
        value = draw(st.integers(-3, 5))
        return f"({value})", lambda env: value
    if kind == "name":
        name = draw(st.sampled_from([*names, "n"]))
        return name, lambda env: env.get(name, 3)
    if kind in ("sum", "len"):
        return draw(gathered(names, depth - 1, kind))
    one_text, one = draw(number(names, depth - 1))
    if kind == "call":
        if draw(st.booleans()):
            return f"double({one_text})", lambda env: 2 * one(env)
        two_text, two = draw(number(names, depth - 1))
        return f"rest({one_text}, {two_text})", lambda env: one(env) % (two(env) ** 2 + 1)
    if kind == "index":
        return f"w[{one_text} % 3 + 1]", lambda env: W[one(env) % 3 + 1]
    two_text, two = draw(number(names, depth - 1))
    if kind == "cell":
        text = f"g[{one_text} % 2, {two_text} % 3 + 1]"
        return text, lambda env: G[one(env) % 2, two(env) % 3 + 1]
    operator = draw(st.sampled_from(["+", "-", "*"]))
    calls = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}
    return f"({one_text} {operator} {two_text})", lambda env: calls[operator](one(env), two(env))


@st.composite
def condition(draw: st.DrawFn, names: tuple[str, ...], depth: int) -> Part:
    operator = draw(st.sampled_from(["<", "<=", "==", "!=", ">", ">="]))
    (one_text, one), (two_text, two) = draw(number(names, depth)), draw(number(names, depth))
    calls = {
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
    }
    return f"{one_text} {operator} {two_text}", lambda env: calls[operator](one(env), two(env))


@st.composite
def members(draw: st.DrawFn, names: tuple[str, ...]) -> Part:
    kind = draw(st.sampled_from(["range", "range", "later", "step", "set", "list", "array"]))
    lo, size = draw(st.integers(-2, 3)), draw(st.integers(-1, 3))
    if kind == "later" and names:
        name = draw(st.sampled_from(names))
        return f"{name}..{name} + {size}", lambda env: range(env[name], env[name] + size + 1)
    if kind == "step":
        return f"{lo}..{lo + 2 * size} step 2", lambda env: range(lo, lo + 2 * size + 1, 2)
    if kind == "set":
        return f"{{{lo}, {lo + 2}, {lo}}}", lambda env: [lo, lo + 2]
    if kind == "list":
        return f"[{lo}, {lo + 2}, {lo}]", lambda env: [lo, lo + 2, lo]
    if kind == "array":
        return "w", lambda env: [4, 1, 6]
    return f"{lo}..{lo + size}", lambda env: range(lo, lo + size + 1)


@st.composite
def loops(
    draw: st.DrawFn, names: tuple[str, ...], depth: int
) -> tuple[str, Callable[[Env], list[Env]], tuple[str, ...]]:
    """Generators: their text, the choices of their names, and the names."""
    text, steps = "", []
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(NAMES))
        set_text, values = draw(members(names))
        names = tuple({*names, name})
        text += f" for {name} in {set_text}"
        filter_ = None
        if draw(st.booleans()):
            filter_text, filter_ = draw(condition(names, depth))
            text += f" if {filter_text}"
        steps.append((name, values, filter_))

    def choices(env: Env) -> list[Env]:
        found = [env]
        for name, values, filter_ in steps:
            found = [{**one, name: value} for one in found for value in values(one)]
            found = [one for one in found if filter_ is None or filter_(one)]
        return found

    return text, choices, names


@st.composite
def gathered(draw: st.DrawFn, names: tuple[str, ...], depth: int, kind: str = "") -> Part:
    """An aggregate of a comprehension."""
    kind = kind or draw(st.sampled_from(["sum", "product", "len", "max", "forall", "exists", "list"]))
    text, choices, inner = draw(loops(names, depth))
    head_text, head = draw(condition(inner, depth) if kind in ("forall", "exists") else number(inner, depth))
    if kind == "max":
        written = f"max(-99, sum({head_text}{text}))"
        return written, lambda env: max(-99, sum([head(one) for one in choices(env)]))
    if kind == "list":
        return f"sum([{head_text}{text}])", lambda env: sum([head(one) for one in choices(env)])
    calls = {"sum": sum, "product": math.prod, "len": len, "forall": all, "exists": any}
    written = f"{kind}({head_text}{text})"
    if kind in ("forall", "exists"):
        written = f"(0 + {written})"
    return written, lambda env: int(calls[kind]([head(one) for one in choices(env)]))  # type: ignore[operator]


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(gathered((), 2))
def test_comprehensions_are_python_s(part: tuple[str, Callable[..., Any]]) -> None:
    text, value = part
    model = Model.from_text(f"{HEAD}v := {text}")
    assert model.lets["v"].evaluate({}) == value({}), text


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(loops((), 1), st.data())
def test_constraints_over_arrays_are_python_s(
    drawn: tuple[str, Callable[..., Any], tuple[str, ...]], data: st.DataObject
) -> None:
    """What a `forall` over variables asks, each element chosen by an index that Python works out."""
    text, choices, names = drawn
    index_text, index = data.draw(number(names, 1))
    bound_text, bound = data.draw(number(names, 1))
    for word, combined in (("forall", all), ("exists", any)):
        model = Model.from_text(f"{HEAD}{word}(x[{index_text}] <= {bound_text}{text})")
        expected = set()
        for values in [(a, b, c) for a in range(3) for b in range(3) for c in range(3)]:
            inside = [(index(one), bound(one)) for one in choices({})]
            if combined([1 <= i <= 3 and values[i - 1] <= most for i, most in inside]):
                expected.add(values)
        found = {tuple([one.values[f"x[{i}]"] for i in (1, 2, 3)]) for one in model.iter_solutions()}
        assert found == expected, model.to_text()
