"""Every mistake in a text is reported with its line and column, what is wrong, and what to write instead."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from random_models import draw_model

from constrint import LimitExceeded, Model, ModelError, ParseError

DECLARED = "x, y in 1..4; b bool\n"

# text, line, column, what the message says, what the hint says
MISTAKES = [
    ("x y == 3", 2, 3, "operator is missing between 'x' and 'y'", "x * y"),
    ("2x == 3", 2, 2, "operator is missing between '2' and 'x'", "2 * x"),
    ("x == 1e3", 2, 7, "operator is missing", "1 * 10 ** 3"),
    ("maximise x", 2, 10, "operator is missing", "did you mean 'maximize'?"),
    ("x = 3", 2, 3, "unexpected character '='", "=="),
    ("x => 3", 2, 3, "unexpected character '='", ">="),
    ("x in 0..x / 2", 2, 9, "'x / 2' is not an integer", "//"),
    ("b & b", 2, 3, "unexpected character '&'", "and"),
    ("b | b", 2, 3, "unexpected character '|'", "or"),
    ("!b", 2, 1, "unexpected character '!'", "not"),
    ("x ^ 2 == 4", 2, 3, "unexpected character '^'", "**"),
    ("x in {1.5}", 2, 7, "'1.5' is not an integer", "multiply"),
    ('x == "a"', 2, 6, "unexpected character", "no strings"),
    ("x <> y", 2, 4, "operand is missing before '>'", ""),
    ("x == (y\nb == (x > 1)", 3, 1, "operator is missing", "'(' on line 2"),
    ("x in {1, 2", 2, 6, "'{' is never closed", "}"),
    ("x == y)", 2, 7, "')' closes nothing", "("),
    ("(x == y]", 2, 8, "']' does not match '('", ""),
    ("x ==", 2, 5, "ends too early", "brackets"),
    ("b and\nb", 2, 6, "ends too early", "brackets"),
    ("step in 1..4", 2, 1, "'step' is a word of the language", "`step`"),
    ("x == not b", 2, 6, "'not' binds less tightly", "(not …)"),
    ("z == 3", 2, 1, "'z' is not declared", "z in 1..64"),
    ("xx == 3", 2, 1, "'xx' is not declared", "did you mean 'x'?"),
    ("x == late\nlate in 1..4", 2, 6, "'late' is not declared", "declared on line 3"),
    ("x == tru", 2, 6, "'tru' is not declared", "'true'"),
    ("x % 4 * 2 == 0", 2, 7, "'%' followed by '*'", "(x % 4) * 2 or x % (4 * 2)"),
    ("x + y % 4 // 2 * x == 0", 2, 16, "'%' followed by '*'", "(y % 4 // 2) * x or y % (4 // 2 * x)"),
    ("x + y", 2, 1, "a number, not a constraint", "== 0"),
    ("x and b", 2, 1, "'x' is a number, not a condition", "x != 0"),
    ("b -> x", 2, 6, "'x' is a number, not a condition", "x != 0"),
    ("not x", 2, 5, "'x' is a number, not a condition", "x != 0"),
    ("foo(x) == 1", 2, 1, "no function 'foo'", "abs, "),
    ("mim(x, 2) == 1", 2, 1, "no function 'mim'", "'min'"),
    ("x(y) == 1", 2, 1, "'x' is not a function", "x * (…)"),
    ("ceildiv(x) == 1", 2, 1, "takes 2 arguments, not 1", ""),
    ("min() == 1", 2, 1, "takes at least 1 argument, not 0", ""),
    ("x bool", 2, 1, "'x' is declared already", "a constraint of its own"),
    ("x := 3", 2, 1, "'x' is declared already", ""),
    ("z in 1..x", 2, 9, "'x' is a variable; a constant is needed", "lo <= x <= hi"),
    ("z in 1..4 step 0", 2, 16, "at least 1, not 0", ""),
    ("z in .. step 3", 2, 14, "needs a bound", ""),
    ("z in {1..}", 2, 7, "needs both bounds", ""),
    ("z in {0..10 ** 12}", 2, 7, "too long", "lo..hi"),
    ("z in 1 // 0..4", 2, 6, "undefined: division by zero", ""),
    ("z in 3", 2, 6, "'3' is not a set", "{3}"),
    ("label: z in 1..4", 2, 8, "a declaration has no name", ""),
    ("prefer x up", 2, 10, "'up' is not a direction", "prefer bm max"),
    ("x[1] == 2", 2, 1, "'x' is not a sequence", "[3, 5, 7][k]"),
    ("[1, 2] == 3", 2, 1, "a list is not a number", "[3, 5, 7][k]"),
    ("t := [1, 2]; t == 3", 2, 14, "'t' is a sequence", "t[k]"),
    ("x == 010", 2, 6, "begins with 0", "write 10"),
    ("x == 1\\ \n", 2, 7, "unexpected character", "last character"),
    ("(x == 1; b)", 2, 1, "'(' is never closed", ")"),
    ("x in 1..2..3", 2, 10, "'..' cannot stand here", ""),
    ("minimize x, sum(i for i in 1..3)", 2, 11, "',' cannot stand here", "lines of their own"),
    ("3: x == 3", 2, 2, "':' cannot stand here", ""),
]


@pytest.mark.parametrize(("text", "line", "column", "message", "hint"), MISTAKES)
def test_a_mistake_is_named_with_its_place(
    text: str, line: int, column: int, message: str, hint: str
) -> None:
    with pytest.raises(ParseError) as caught:
        Model.from_text(DECLARED + text, filename="model.constrint")
    error = caught.value
    assert (error.filename, error.line, error.column) == ("model.constrint", line, column)
    assert message in error.message
    assert hint in error.hint
    shown = str(error).split("\n")
    assert shown[0].startswith(f"model.constrint:{line}:{column}: ")
    assert shown[1].strip() == (DECLARED + text).split("\n")[line - 1].strip()
    assert shown[2] == " " * (4 + column - 1) + "^"


@pytest.mark.parametrize("opening", ["(", "-", "not ", "abs("])
def test_deep_nesting_is_an_error_not_a_crash(opening: str) -> None:
    closing = ")" if opening.endswith("(") else ""
    with pytest.raises(LimitExceeded, match="nested more than 500 deep"):
        Model.from_text(f"{DECLARED}b == (x == 1)\n{opening * 5000}b{closing * 5000} == 1")


def test_long_flat_expressions_are_no_problem() -> None:
    model = Model.from_text(DECLARED + " + ".join(["x"] * 5000) + " == 1\n" + " and ".join(["b"] * 5000))
    assert len(model.constraints) == 2


def error_of(text: str) -> ParseError | None:
    try:
        Model.from_text(text)
    except ParseError as error:
        return error
    return None


def test_damaged_texts_give_parse_errors_and_nothing_else() -> None:
    """Random models with characters removed, doubled or changed: valid or a ParseError inside the text."""
    random = Random(1)
    errors = 0
    for seed in range(250):
        text = draw_model(seed).text()
        for _ in range(random.randint(1, 3)):
            place = random.randrange(len(text))
            length = random.randint(0, 2)
            text = (
                text[:place]
                + random.choice(["", "(", ")", "=", "x", " ", "..", "1", "%", "é\n", "$", "`"])
                + (text[place + length :])
            )
        error = error_of(text)
        if error is not None:
            errors += 1
            lines = text.split("\n")
            assert 1 <= error.line <= len(lines)
            assert 1 <= error.column <= len(lines[error.line - 1]) + 1
    assert errors > 100


@pytest.mark.parametrize("text", [None, b"x in 1..3", 7])
def test_what_is_no_text_is_refused(text: Any) -> None:
    with pytest.raises(ModelError, match="read from a str"):
        Model.from_text(text)
