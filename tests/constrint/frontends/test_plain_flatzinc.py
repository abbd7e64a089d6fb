"""What is read line by line is what the grammar reads."""

from __future__ import annotations

from random import Random

import pytest
from fuzz.harness import format_of, inputs

from constrint.errors import ParseError
from constrint.frontends.flatzinc import document as reading
from constrint.frontends.flatzinc.items import Document
from constrint.support.limits import Budget, LimitExceeded, Limits

PARTS = (
    "constraint", "var", "bool", "int", "0..9", "x", "y", ":", ";", "\n", "(", ")", ",", "[x,y]", "[1, -2]",
    "[]", "[x]", "{1,2}", "1..3", "true", "false", "::", "defines_var(x)", "domain", "=", "007", "0x1f", "-0",
    "x[1]", '"a;\n"', "% c;\n", " ", "\t", "set_in", "array [1..2] of var int: a = [x,y]", "1.5", "of",
    "99999999999999999999", "é", "predicate p(var int: x)", "solve satisfy",
)  # fmt: skip
LINES = (
    "var 0..9: x;\n", "var bool: b :: is_defined_var;\n", "var 1..3: y = 2;\n", "var int: z;\n",
    "constraint int_le(x, y);\n", "constraint int_lin_eq([1,-1],[x,y],0) :: defines_var(x) :: domain;\n",
    "constraint set_in(x, 1..3);\n", "constraint p([],[x],true);\n", "  constraint bool_eq(b,false);\r\n",
    "constraint int_le(x,\n", "y);\n", "% constraint int_le(x, y);\n", "\n", "solve satisfy;\n",
    "var 0..9: x; var 0..9: y;\n", 'constraint p("\n', 'constraint int_le(x,y);\n");\n',
    "array [1..2] of var int: a = [x,y];\n", "int: n = 3;\n",
)  # fmt: skip
KEPT = ("declarations", "constraints", "goal", "objective", "search", "is_complete", "solve_line")


def by(read: object, text: str) -> Document | None:
    try:
        return read(text, "m.fzn", Budget())  # type: ignore[operator, no-any-return]
    except (ParseError, LimitExceeded):
        return None


def compare(text: str) -> bool:
    """Whether the plain lines sufficed; the document is the grammar's."""
    plain = by(reading._mostly_plain, text)
    if plain is not None:
        expected = by(reading._by_grammar, text)
        assert expected is not None, text
        for name in KEPT:
            assert getattr(plain, name) == getattr(expected, name), (name, text)
        assert list(plain.declarations) == list(expected.declarations)
        assert plain.budget.node_count == expected.budget.node_count, text
    return plain is not None


@pytest.mark.parametrize("seed", range(4))
def test_drawn_texts_are_read_as_by_the_grammar(seed: int) -> None:
    rng = Random(seed)
    sufficed = 0
    for _ in range(800):
        lines = rng.choices(LINES, k=rng.randint(1, 9))
        for _ in range(rng.choice([0, 0, 1, 3])):
            at = rng.randrange(len(lines))
            line = lines[at]
            place = rng.randint(0, len(line))
            lines[at] = line[:place] + rng.choice(PARTS) + line[place + rng.randint(0, 2) :]
        sufficed += compare("".join(lines))
    assert 100 < sufficed < 700


def test_fuzzed_texts_are_read_as_by_the_grammar() -> None:
    texts = [data.decode(errors="replace") for data in inputs(format_of("flatzinc"), 300, 5)]
    assert sum(map(compare, texts)) > 30


def test_mistakes_keep_their_places_and_words() -> None:
    for text, message in (
        (
            "var 0..9: x;\nconstraint int_le(x x);\nsolve satisfy;\n",
            "2:21: this is not FlatZinc: unexpected 'x'",
        ),
        ("var 0..9: x;\nvar 0..3: x;\nsolve satisfy;\n", "2:1: 'x' is declared twice"),
        (
            "var 0..9: x;\n% a\nconstraint int_le(x,\n 1.5);\nsolve satisfy;\n",
            "4:1: floats are not supported",
        ),
        ("var 0..9: x;\n\n\nconstraint int_le(x;\n", "4:20: this is not FlatZinc: unexpected ';'"),
    ):
        with pytest.raises(ParseError) as caught:
            reading.parse(text, "m.fzn")
        assert f"m.fzn:{message}" in str(caught.value)


def test_limits_hold_for_plain_lines() -> None:
    text = "var 0..9: x;\n" + "constraint int_lin_le([1,1],[x,x],9);\n" * 20 + "solve satisfy;\n"
    with pytest.raises(LimitExceeded, match="nodes"):
        reading.parse(text, "m.fzn", Budget(Limits(nodes=50)))
    with pytest.raises(LimitExceeded, match=r"m\.fzn:2"):
        reading.parse(text, "m.fzn", Budget(Limits(depth=1)))
