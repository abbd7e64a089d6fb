"""What other languages write gets an error that shows this language's form."""

from __future__ import annotations

import pytest

from constrint import Model, ParseError

SHOWN = {
    ".5 * x >= 2": "0.5",
    "x >= 1 /\\ y >= 2": "a and b",
    "x >= 1 \\/ y >= 2": "a or b",
    "x div 2 == 1": "x // 2",
    "x mod 2 == 1": "x % 2",
    "x << 2 == 8": "x * 2 ** n",
    "x >> 2 == 1": "x // 2 ** n",
    "x <> 3": "!=",
    "x = 3": "==",
    "(x > 3) xor (y > 3)": "(a) != (b)",
    "x >= 3 => y >= 3": "->",
    "bool2int(x >= 3) + y == 4": "(x >= 3) + y",
    "pow(x, 2) == 4": "x ** 2",
    "sum(i in 1..3)(w[i]) == 3": "sum(x[i] for i in 1..9)",
    "let y = x in y > 3": "y := x + 3",
    "if x > 3 then y > 3 endif": "cond -> a == 1",
    "predicate p(var int: x) = x > 3": "name(x) := x > 3",
    "% a comment": "#",
    "int: n = 5": "n := 5",
    "float: n = 2.5": "w := 2.5",
    "bool: b": "b bool",
    "x in {1, 2} union {5}": "{1, 3..5}",
    "sum(w[i] for i in 1..3 where i != 2) == 3": "if i != 3",
    "abs(x) == |y|": "abs(x)",
}


@pytest.mark.parametrize("line", SHOWN)
def test_the_hint_shows_the_form(line: str) -> None:
    text = f"x in 0..9\ny in 0..9\nw[1..3] in 0..9\n{line}\n"
    with pytest.raises(ParseError) as caught:
        Model.from_text(text)
    assert caught.value.line == 4
    assert SHOWN[line] in (caught.value.hint or ""), caught.value


@pytest.mark.parametrize("line", ["div * mod >= 4", "let + where == 3", "xor in {1, 5}"])
def test_the_words_may_be_names(line: str) -> None:
    declared = "".join(f"{name} in 0..9\n" for name in ("div", "mod", "let", "where", "xor"))
    assert Model.from_text(declared + line).solve()
