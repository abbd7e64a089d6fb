"""Plain statements, which are read without their trees, come to what their trees do."""

from __future__ import annotations

from typing import Any

import pytest
from fuzz.format_long_text import by_trees as read_trees
from fuzz.format_text import grammar
from fuzz.harness import NAME, corpus, named_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrint import Limits, Model
from constrint.errors import ConstrintError
from constrint.expr import IntVar
from constrint.expr.domain import BINARY
from constrint.frontends.text.expressions import ExpressionReader
from constrint.frontends.text.plain import NotPlain, plan_of, values
from constrint.frontends.text.syntax import Source, statements
from constrint.modelling.declarations import Declarations
from constrint.settings import DEFAULT, ReadingSettings, using
from constrint.support.limits import Budget

CONSTANTS = {"L": [16, 32], "N": 48}


def read(text: str, **options: Any) -> tuple[object, ...]:
    """What a text comes to: its model with all places, or its error."""
    try:
        return described(Model.from_text(text, filename=NAME, constants=named_in(text, CONSTANTS), **options))
    except ConstrintError as error:
        return type(error), str(error)


def described(model: Declarations) -> tuple[object, ...]:
    """A model with all places."""
    variables = [(name, variable.position) for name, variable in model.variables.items()]
    constraints = [(one.name, repr(one.expr), one.position) for one in model.constraints]
    return repr(variables), repr(constraints), repr(model.goals), repr(list(model.lets.items()))


def by_trees(text: str, limits: Limits | None = None) -> tuple[object, ...]:
    """What a text comes to if the trees of all statements are read."""
    found = read_trees(text, named_in(text, CONSTANTS), limits)
    return (type(found), str(found)) if isinstance(found, ConstrintError) else described(found)


DECLARED = [
    "x in 0..9",
    "y, z in -5 .. 5 step 2",
    "b bool",
    "b, c bool",
    "w in {1, 5, - 3}",
    "x in 1..2; u in 0..1",
]
DECLARED += [
    "v in {}",
    "q in 5..1",
    "x in",
    "`a;b` in 0..3 # c; d",
    "e := x + 1",
    "e := 3; f in 0..e",
    "L in 0..1",
]
COMPARED = [
    "x + 2 * y - 3 <= z",
    "-x * y >= 2",
    "b == c",
    "b == x",
    "1 <= x < 7",
    "x == N",
    "x == L",
    "x<-1",
    "x<->b",
]
COMPARED += [
    "x - -1 == 0",
    "x * -1 == y",
    "x == 0x1",
    "x == 1_0",
    "x == 01",
    "g: x == 1",
    "x -> y",
    "x == (1 +\n  2)",
]
COMPARED += [
    "x == [1,\n2][y]",
    "x == y \\\n + 1",
    "b and c",
    "in == 1",
    "`in` == 1",
    "x == e",
    "x in {1, 2}",
    "x ==",
    ")",
]
COMPARED += [
    "x == (1",
    "x == 999999999999999999999",
    "x y == 1",
    "minimize x",
    "x == 1 # y == 2; z",
    "2 * 3 * x == 6",
    "",
]
WORDED = [
    "d := x % 3 // 2 - -y ** 2",
    "d := (x <= 3)",
    "d := x; d >= 2 or b",
    "g: max(x, y, 3) <= 7 or not b",
    "g: d",
    "b -> x == 1 and c",
    "b <-> x == 1 -> not (y == 2 or c)",
    "not b == c",
    "x % 2 * y == 0",
    "x % (2 * y) == 0 <= b",
    "2 divides x + abs(y,) - min(x)",
    "abs() == abs(x, y)",
    "if_then_else(x, y, 1) == 1",
    "if_then_else(b, lcm(x, y), 2 ** 3 ** 2) == 1",
    "2 ** 999999999 == x",
    "no(x) == 1",
    "x(2) == 1",
    "all_different(x, y)",
    "max == 1",
    "b or x",
    "(b or c",
    "1)",
    ") == (1",
    "d := d + 1",
    "x + 1",
    "(((((x))))) == 1",
    "true and not false",
    "e := (x == 1) == (y == 1)",
    "min(and, 1) == x",
    "+ + x == 1",
    "g:: x == 1",
    "g = x",
    "f(p) := p + 1",
    "f(2) == x",
    "f := 3",
    "sum(x, y) == 1",
    "all(b, c) or x == 1",
    "a[1..3] in 0..9",
    "a == 1",
    "max(a) == 3 or min(a, x) <= y",
    "a[2] == x; k := x % a[3]",
    "enum E := {red, green}",
    "x == red or E == 1",
    "red := 3",
    "param n := 3",
    "x == n or y == -n",
    "param a2 := [1, 2]",
    "x == a2 or b",
]
ARRAYED = [
    "a[1..3] in 0..5",
    "a[1..2], r in 0..5",
    "d[i in 1..2] := a[i] + x",
    "f(p, q) := p * q + x",
    "f(x, y) == 3",
    "enum k := {red, blue}",
    "param m := 3",
    "param N",
    "sum(a) == 3",
    "g: forall(a[i] < i for i in 1..3 if i != 2)",
    "exists(a[i] == x\n for i in 1..3)",
    "a[x] == y",
    "all_different(a[..])",
    "l := [i * i for i in 1..4]",
    "l[y] == red",
    "sum(l) + m + red == x",
    "t := 1..4",
    "x in t",
    "max(a) == abs(m)",
    "for == 1",
    "param",
    'include "no[ne"',
    'include "no#ne" # "',
]
ENDS = ["\n", "\n", "\r\n", ";", " ; ", "\n\n", " # comment\n", "\t\n", "\\\n", "\v\n", "\r"]


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(
            st.sampled_from(DECLARED + COMPARED + WORDED + ARRAYED + DECLARED[:5] + ARRAYED[:5]),
            st.sampled_from(ENDS),
        ),
        max_size=9,
    )
)
def test_statements_are_what_their_trees_are(parts: list[tuple[str, ...]]) -> None:
    text = "".join(statement + end for statement, end in parts)
    assert by_trees(text) == read(text)


TOKENS = [
    "x",
    "y",
    "b",
    "N",
    "L",
    "in",
    "bool",
    "0..3",
    "7",
    "+",
    "-",
    "*",
    "==",
    "<=",
    "<",
    ">",
    ",",
    "{",
    "}",
]
TOKENS += [
    "(",
    ")",
    ";",
    "\n",
    "\\\n",
    "# c\n",
    ":",
    ":=",
    "d :=",
    "%",
    "//",
    "**",
    "->",
    "<->",
    "or",
    "and",
    "max(",
    "divides",
    "not",
    "true",
    "`x`",
    "é",
    ".",
    "step",
    "**",
    "->",
]


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(TOKENS), max_size=14), st.sampled_from(["", " "]))
def test_any_tokens(tokens: list[str], between: str) -> None:
    text = "x, y in 0..9\nb bool\n" + between.join(tokens)
    assert by_trees(text) == read(text)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(grammar())
def test_texts_that_are_nearly_right(text: str) -> None:
    assert by_trees(str(text)) == read(str(text))


def test_corpus() -> None:
    for each in corpus("text"):
        text = each.decode("utf-8", "replace")
        if len(text) < 5_000:
            assert by_trees(text) == read(text)


LIMITS = [("variables", 2), ("values", 2), ("nodes", 4), ("digits", 2), ("depth", 1)]


@pytest.mark.parametrize(("name", "limit"), LIMITS)
def test_limits_are_told_at_their_place(name: str, limit: int) -> None:
    text = "x, y in 0..9\nw in {1, 2}\nz in {3, 5}\nx + 2 * y <= 3\n(y == 100) -> (x == (1))"
    limits = Limits(**{name: limit})
    assert by_trees(text, limits=limits) == read(text, limits=limits)


def test_quotients_count_as_deep_in_brackets() -> None:
    text = "x in 0..9\n((x // 2 // 2 // 2)) == 1"
    for depth in range(1, 8):
        assert by_trees(text, Limits(depth=depth)) == read(text, limits=Limits(depth=depth))


def test_plain_statements_need_no_trees() -> None:
    text = "\n".join(
        [
            *(f"x{i} in 0..9 # {i}" for i in range(50)),
            *(f"x{i} + 2 * x0 <= x1; c{i}: max(x{i}, 3) >= 1 or not x0 % 2 == 1" for i in range(50)),
            *(f"y{i} := x{i} // 2" for i in range(50)),
        ]
    )
    assert all(plan_of(statement.shape) for statement in statements(Source(text), Budget()))


@pytest.mark.parametrize("text", ["x in 0..9; not x % 2 == (1 + 2)", "x in 0..12; x == 12", "x bool; x"])
@pytest.mark.parametrize("field", ["most_nesting", "longest_number", "most_kept", "longest_known"])
def test_settings_change_how_a_text_is_read_and_not_what_it_says(text: str, field: str) -> None:
    whole = read(text)
    for value in range(3):
        with using(DEFAULT.with_fields(reading={field: value})):
            assert read(text) == whole


def test_settings_send_statements_to_their_trees() -> None:
    source = Source("x == 12 + (1 - y)")
    (statement,) = statements(source, Budget())
    plan = plan_of(statement.shape)
    names = {"x": IntVar("x", BINARY), "y": IntVar("y", BINARY)}
    for fields in ({"most_nesting": 0}, {"longest_number": 1}):
        with pytest.raises(NotPlain):
            values(ExpressionReader(source, names), statement, plan, ReadingSettings(**fields))  # type: ignore[arg-type]
    assert plan is not None
    assert len(values(ExpressionReader(source, names), statement, plan, ReadingSettings())) == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "mistake", ["x7 == ", "x7 == zz", "x3 in 0..1; x1 x2", "x in (1", "zz == 1\nzz bool"]
)
def test_mistakes_in_long_texts_have_their_place(mistake: str) -> None:
    text = "\n".join([*(f"x{i} in 0..9" for i in range(2_000)), mistake, "x1 <= 3"])
    found = read(text)
    assert ":200" in found[1]  # type: ignore[operator]
    short = "\n".join([*(f"x{i} in 0..9" for i in range(10)), *[""] * 1_990, mistake, "x1 <= 3"])
    assert read(short) == found
