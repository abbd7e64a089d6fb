"""Plain constraints of the first dialect are read as lark's grammar has them: two readers, one meaning."""

from __future__ import annotations

import pytest
from fuzz.format_flashrnn import grammar
from fuzz.harness import named_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from constrint import Model
from constrint.errors import ConstrintError
from constrint.frontends.text import flashrnn_syntax
from constrint.frontends.text.flashrnn_plain import plain

CONSTANTS = {"L": [16, 32, 64], "N": 48}
TOKENS = [
    "x",
    "y",
    "x1",
    "N",
    "L",
    "7",
    "0",
    "07",
    "40",
    "é",
    "٣",
    "==",
    "<=",
    "<",
    "!=",
    ">=",
    ">",
    "=",
    "+",
]
TOKENS += ["-", "*", "%", "^", "(", ")", "[", "]", ",", ";", "|", "\n", " ", "\t", "\u00a0", "# c\n", "_"]


def read(text: str) -> tuple[object, ...]:
    """What a text comes to: its constraints with their places, or its error."""
    try:
        model = Model.from_text(text, filename="t", dialect="flashrnn", constants=named_in(text, CONSTANTS))
    except ConstrintError as error:
        return type(error), str(error)
    variables = [(variable.name, variable.position) for variable in model.variables.values()]
    constraints = [(str(one.expr), one.position) for one in model.constraints]
    return model.to_text(), repr(variables), repr(constraints)


def by_lark(text: str) -> tuple[object, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flashrnn_syntax, "plain", lambda piece, begin: None)
        return read(text)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.one_of(grammar(), st.lists(st.sampled_from(TOKENS), max_size=14).map(" ".join)))
def test_plain_constraints_are_what_the_grammar_says(text: str) -> None:
    assert read(text) == by_lark(text)


OPERANDS = st.sampled_from(["x", "y", "z1", "N", "2", "0", "16", "(x", "y)", "( z )"])
OPERATORS = st.sampled_from(["+", "-", "*", "*", " % ", "^", "==", "<=", "\n<", ">", "!="])


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(OPERANDS, OPERATORS), min_size=1, max_size=8), OPERANDS)
def test_operators_bind_as_the_grammar_says(pairs: list[tuple[str, ...]], last: str) -> None:
    text = "".join(operand + operator for operand, operator in pairs) + last
    assert read(text) == by_lark(text)


PLAIN = [
    "x==1",
    " x + y*2 % 5 ==\n0 ",
    "(x + y) * z <= 4",
    "1 <= x < 7",
    "2 ^ x == 8",
    "x == [1, 2]",
    "((x)) > 2",
]
LEFT_TO_LARK = [
    "",
    "x",
    "x ==",
    "x y == 1",
    "x = 1",
    "x ^ y ^ z == 1",
    "x % y % z == 1",
    "x == 01",
    "2x == 1",
]
LEFT_TO_LARK += [
    "x == 1 | y == 2",
    "(x == 1",
    ")x( == 1",
    "() x == 1",
    "x != [1]",
    "x == [y]",
    "-x == 1",
    "x == 1 y",
]


def test_what_is_plain() -> None:
    assert all(plain(text, 0) for text in PLAIN)
    assert not any(plain(text, 0) for text in LEFT_TO_LARK)
    assert not plain("x == " + "1" * 4001, 0)
