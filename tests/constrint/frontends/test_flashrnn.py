"""The FlashRNN dialect: exactly what docs/constrint-flashrnn.md says."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from constrint import Model, ParseError, UnboundedError
from constrint.cli.main import app
from constrint.expr import And, Or
from constrint.frontends import parsers
from constrint.frontends.text.flashrnn_bounds import with_bounds

REFERENCE = Path(__file__).parents[3] / "docs" / "constrint-flashrnn.md"
BLOCKS = re.findall(
    r"^```(constrint|console)\n(.*?)^```$", REFERENCE.read_text(encoding="utf-8"), re.M | re.S
)
COMPARISON = re.compile(r"==|!=|<=|>=|<|>")
COMPARE = {
    "==": int.__eq__,
    "!=": int.__ne__,
    "<=": int.__le__,
    ">=": int.__ge__,
    "<": int.__lt__,
    ">": int.__gt__,
}


def read(text: str, **options: Any) -> Model:
    return Model.from_text(text, dialect="flashrnn", **options)


def solutions(text: str, **options: Any) -> list[tuple[int, ...]]:
    model = read(text, **options)
    return sorted(tuple(r[name] for name in model.variables) for r in model.iter_solutions())


SOLVED = [
    ("x == 0", []),
    ("0 * x == 0; x <= 2", [(1,), (2,)]),
    ("x == 1000000000000000000000000000000", [(10**30,)]),
    ("3 == 4", []),
    ("3 == 3", [()]),
    ("", [()]),
    (" ;\n; # nothing", [()]),
    ("0 == 6 % x", [(1,), (2,), (3,), (6,)]),
    ("x % 4 == 3; x <= 9", [(3,), (7,)]),
    ("3 == x % 4; x <= 9", [(3,), (7,)]),
    ("x % 4 == x % 6; x <= 13", [(1,), (2,), (3,), (12,), (13,)]),
    ("0 % 5 == 0", [()]),
    ("x % 0 == 0; x <= 3", []),
    ("x % 0 == 0 | x == 2; x <= 3", [(2,)]),
    ("12 % x * y == 0; x == 2", [(2, 1), (2, 2), (2, 3), (2, 6)]),
    ("x * 3 % 2 * 2 == 1; x <= 8", [(3,), (7,)]),
    ("16 % x ^ 2 == 0", [(1,), (2,), (4,)]),
    ("x ^ 2 % 20 == 0; x <= 30", [(10,), (20,), (30,)]),
    ("x ^ 0 == 1; x <= 2", [(1,), (2,)]),
    ("0 ^ 0 == 1", [()]),
    ("x == 2 ^ 100", [(2**100,)]),
    ("2 ^ x == 1024", [(10,)]),
    ("x ^ x == 27", [(3,)]),
    ("(x * y) ^ 2 == 18", [(2, 3), (18, 1)]),
    ("x == 3 | x == 5 | x == 3; x <= 9", [(3,), (5,)]),
    ("x == 1 | x == 2; y == x; x <= 9", [(1, 1), (2, 2)]),
    ("x == 10 ^ 40 | x == 0", [(10**40,)]),
    ("x * x == 16", [(4,)]),
    ("x + x == 7", []),
    ("x % x == 0; x <= 3", [(1,), (2,), (3,)]),
    ("(a + b) * c == 3", [(1, 1, 2), (1, 2, 1), (2, 1, 1)]),
    ("a == 9 - (b - 2); b <= 2", [(5, 2), (6, 1)]),
    ("(1 <= x) <= 2", [(1,), (2,)]),
    ("(x == 1 |\n x == 2)\nx <= 9", [(1,), (2,)]),
    ("x <= 3\nx >= 3", [(3,)]),
    ("x != 2; x < 4", [(1,), (3,)]),
    ("(x == 1; y == 2) | (y == 3; z == 4)", [(1, 2, 4), (1, 3, 4)]),
    ("x == y # (\n * 2 # [;\n; y ==\n[1,\n2]", [(2, 1), (4, 2)]),
    ("x == 3\n(y) == [4]\n\n[5] == z", [(3, 4, 5)]),
    ("x <= 3 * (2\n) - 3\n;2 <= x", [(2,), (3,)]),
    ("x + y % 5 == 0; x <= 4; y <= 4", [(1, 4), (2, 3), (3, 2), (4, 1)]),
    ("12 % x + y == 0; x <= 3; y <= 2", [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1)]),
    ("x % 4 + 1 == 2; x <= 9", [(2,), (7,)]),
    ("9 - x % 4 - 1 == 2; x <= 8", [(1,), (4,), (7,)]),
    ("[2, 4] <= x; x <= 5", [(2,), (3,), (4,), (5,)]),
    ("x <= [2, 4]; 2 < x", [(3,), (4,)]),
    ("x + [1, 3] == 5", [(2,), (4,)]),
    ("x % [2, 3] == 0; x <= 6", [(2,), (3,), (4,), (6,)]),
    ("x == [2, 3] * y; y <= 2", [(2, 1), (3, 1), (4, 2), (6, 2)]),
    ("2 <= [2, 4] < x; x <= 6", [(3,), (4,), (5,), (6,)]),
    ("[1, 2] * x == [6, 8]", [(3,), (4,), (6,), (8,)]),
    ("[3] == [4]", []),
    ("[3, 4] == [4, 5]", [()]),
    ("[] <= 3", []),
    ("x == 3 | x == 5", [(3,), (5,)]),
    ("x * y == 4 | x + y <= 2", [(1, 1), (1, 4), (2, 2), (4, 1)]),
    ("x == [3, 1, 1, 0]", [(1,), (3,)]),
    ("[2,\n 4,] == x", [(2,), (4,)]),
    ("x == []", []),
    ("5 == [3, 5]", [()]),
    ("x * y == [2, 3]; x == [1, 2]", [(1, 2), (1, 3), (2, 1)]),
    ("x == [y, 2 * y]; y == [3, 4]; x <= 9", [(3, 3), (4, 4), (6, 3), (8, 4)]),
    ("x % 4 == [1, 3]; x <= 5", [(1,), (3,), (5,)]),
]


@pytest.mark.parametrize(("text", "expected"), SOLVED)
def test_solutions(text: str, expected: list[tuple[int, ...]]) -> None:
    assert solutions(text) == expected


def test_names_are_positive_and_without_an_upper_bound() -> None:
    model = read("x >= 5")
    assert (model.variables["x"].domain.lo, model.variables["x"].domain.hi) == (1, None)
    with pytest.raises(UnboundedError, match="'x'"):
        model.count()


@pytest.mark.parametrize("text", ["0 * y == 0; x == 3", "x + y - y == 3"])
def test_a_name_that_plays_no_part_is_a_variable(text: str) -> None:
    with pytest.raises(UnboundedError, match="'y'"):
        list(read(text).iter_solutions())


def test_a_very_wide_range() -> None:
    assert read("x <= 10 ^ 30; x % 7 == 3").solve()["x"] % 7 == 3
    assert read("10 ^ 30 <= x * y <= 10 ^ 30 + 1; x == 10 ^ 15").solve()["y"] == 10**15


def test_constants_are_no_variables() -> None:
    assert solutions("x == tiles; x <= n", constants={"tiles": [1, 2, 8], "n": 4}) == [(1,), (2,)]


def test_the_main_language_says_the_same() -> None:
    model = read("x * 3 % 2 * 2 == 1 | (x) == [5, 6]; x <= 8")
    assert Model.from_text(model.to_text()).count() == model.count() == 4
    assert [constraint.position.text for constraint in model.constraints] == [  # type: ignore[union-attr]
        "x * 3 % 2 * 2 == 1 | (x) == [5, 6]",
        "x <= 8",
    ]


def test_a_constraint_is_shown_with_its_brackets() -> None:
    position = read("y == 1\n ((a + b) * c == 3)").constraints[1].position
    assert position is not None
    assert (position.line, position.column, position.text) == (2, 3, "(a + b) * c == 3")


MISTAKES = [
    ("x y == 3", 3, "missing between 'x' and 'y'", "x * y"),
    ("x(y) == 3", 3, "missing between 'x' and 'y'", "no functions"),
    ("2x == 4", 2, "missing between '2' and 'x'", "2 * x"),
    ("x == 3 and y == 4", 8, "missing between '3' and 'and'", "written ;"),
    ("x in [3]", 3, "missing between 'x' and 'in'", "x == [16, 32]"),
    ("x == [3] 4", 10, "missing between ']' and '4'", "';'"),
    ("x % 2 % 3 == 1", 7, "remainders in a row", "brackets"),
    ("x ^ 2 ^ 3 == 1", 7, "powers in a row", "inner"),
    ("x ** 2 == 4", 4, "operand is missing before '*'", "^"),
    ("x == 1 || x == 2", 9, "operand is missing before '|'", "|"),
    ("x == -3", 6, "operand is missing before '-'", "0 - 3"),
    ("x ==", 5, "ends too early", "after '=='"),
    ("x == 3 | ; y == 4", 10, "ends too early", "after '|'"),
    ("x + y", 1, "a number, not a condition", "!= 0"),
    ("x | y == 3", 1, "a number, not a condition", "!= 0"),
    ("x != [3]", 6, "list cannot be compared", "!="),
    ("x == [[3]]", 7, "list cannot stand in a list", "one list"),
    ("x == 1 \\\n + 2", 8, "unexpected character", "need nothing"),
    ("f() == 3", 2, "brackets are empty", "no functions"),
    ("(x == 3; y == 4", 1, "never closed", ")"),
    ("x == (y\nb == 3", 6, "never closed", ")"),
    ("x == 3)", 7, "closes nothing", "("),
    ("(x == 3]", 8, "does not match", ""),
    ("x == 010", 6, "begins with 0", "10"),
    ("x = 3", 3, "unexpected character '='", "=="),
    ("x / 2 == 3", 3, "unexpected character '/'", "multiply"),
    ("x == 3, y == 4", 7, "',' cannot stand here", "';'"),
    ("x == {3}", 6, "unexpected character '{'", "[16, 32]"),
]


@pytest.mark.parametrize(("text", "column", "message", "hint"), MISTAKES)
def test_a_mistake_is_named_with_its_place(
    text: str, column: int, message: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parsers, "_place", lambda name: tmp_path / name)
    parsers.parser_of.cache_clear()  # a parser that was just made says the same as one from the cache
    for _ in range(2):
        with pytest.raises(ParseError) as caught:
            read("ok == 1\n" + text, filename="old.constrint")
        error = caught.value
        assert (error.filename, error.line, error.column) == ("old.constrint", 2, column)
        assert message in error.message
        assert hint in error.hint
        assert str(error).split("\n")[2] == " " * (4 + column - 1) + "^"
        parsers.parser_of.cache_clear()


# ---------------------------------------------------------------- against splitting the text by the rules


def product(text: str, values: dict[str, int]) -> int:
    result = 1
    for factor in text.split("*"):
        base, *exponent = (int(a) if a.isdigit() else values[a] for a in factor.split("^"))
        result *= base ** exponent[0] if exponent else base
    return result


def side(text: str, values: dict[str, int]) -> int:
    if "%" in text:
        dividend, divisor = text.split("%")
        return side(dividend, values) % side(divisor, values)
    terms = re.findall(r"[+-]?[^+-]+", text)
    return sum((-1 if t[0] == "-" else 1) * product(t.lstrip("+-"), values) for t in terms)


def condition(text: str, values: dict[str, int]) -> bool:
    lists = re.findall(r"\[(.*?)\]", text)
    for items in itertools.product(*(one.split(",") for one in lists)):
        named = {**values, **{f"L{i}": side(item, values) for i, item in enumerate(items)}}
        numbers = itertools.count()
        chosen = re.sub(r"\[.*?\]", lambda _: f"L{next(numbers)}", text)  # noqa: B023
        sides = COMPARISON.split(chosen)
        operators = COMPARISON.findall(chosen)
        links = zip(operators, sides, sides[1:], strict=False)
        if all(compared(op, a, b, named) for op, a, b in links):
            return True
    return False


def compared(operator: str, left: str, right: str, values: dict[str, int]) -> bool:
    try:
        return COMPARE[operator](side(left, values), side(right, values))
    except ZeroDivisionError:
        return False


def holds(text: str, values: dict[str, int]) -> bool:
    text = re.sub(r"#.*|[()\s]", "", text)
    results = [[condition(c, values) for c in part.split("|")] for part in text.split(";") if part]
    return all(any(part) for part in results)


def draw(random: Random) -> str:
    def power() -> str:
        return atom() + (f" ^ {random.choice('ab012')}" if random.random() < 0.2 else "")

    def atom() -> str:
        before, after = random.choice([("", ""), ("", ""), ("", ""), ("(", ")"), ("((", "))")])
        return before + random.choice([*"aabbcc", "0", "1", "2", "3", "12"]) + after  # type: ignore[no-any-return]

    def factors() -> str:
        return " * ".join(power() for _ in range(random.choice([1, 1, 2, 3])))

    def total() -> str:
        if random.random() < 0.4:
            return f"{terms()} % {divisor()}"
        return f"({terms()})" if random.random() < 0.3 else terms()

    def divisor() -> str:  # never 0: what is undefined is another test's matter
        return " + ".join(random.choice([*"abc", "2 * c", "3", "a ^ 2"]) for _ in range(random.randint(1, 2)))

    def terms() -> str:
        text = factors()
        for _ in range(random.choice([0, 0, 1, 2])):
            text = f"{text} {random.choice('+-')} {factors()}"
        return text

    def comparison() -> str:
        if random.random() < 0.2:
            return f"{total()} == [{', '.join(total() for _ in range(random.randint(1, 3)))}]"
        text = total()
        for _ in range(random.choice([1, 1, 1, 2])):
            operator = random.choice([op for op in COMPARE if "[" not in text or op != "!="])
            text += f" {operator} {total()}"
        if "!=" not in text and random.random() < 0.3:  # a list in place of a number
            text = re.sub(
                r"(?<!\^ )\b\d+\b(?! \^)", f"[{random.randint(0, 2)}, {random.randint(2, 5)}]", text, count=2
            )
        return text

    text = "; ".join(
        " | ".join(comparison() for _ in range(random.choice([1, 1, 2]))) for _ in range(random.randint(1, 2))
    )
    if random.random() < 0.2:  # brackets that say nothing
        text = f"({text})"
    breaks = ["\n", " # a ; (comment]\n", "\n\n"]
    return re.sub(" ", lambda _: random.choice(breaks) if random.random() < 0.2 else " ", text)


def evaluated(model: Model, values: dict[str, int]) -> bool:
    assignment = {variable: values[name] for name, variable in model.variables.items()}
    return all(constraint.expr.evaluate(assignment) for constraint in model.constraints)


@pytest.mark.parametrize("block", range(4))
def test_random_texts_mean_what_splitting_them_by_the_rules_gives(block: int) -> None:
    random = Random(block)
    found = 0
    for number in range(40):
        text = draw(random)
        model = read(f"a <= 3; b <= 3; c <= 3; {text}")
        every = [dict(zip("abc", v, strict=True)) for v in itertools.product((1, 2, 3), repeat=3)]
        expected = [values for values in every if holds(text, values)]
        assert [values for values in every if evaluated(model, values)] == expected, text
        if number % 4 == 0:
            solved = sorted(tuple(r[n] for n in "abc") for r in model.iter_solutions())
            assert solved == [tuple(values.values()) for values in expected], text
        found += len(expected)
    assert found > 100


# ---------------------------------------------------------------- the reference


@pytest.mark.parametrize("session", [text for kind, text in BLOCKS if kind == "console"])
def test_commands_print_what_the_reference_says(
    session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for text in [text for kind, text in BLOCKS if kind == "constrint"]:
        Path(re.match(r"# (\w+\.constrint)\n", text)[1]).write_text(text, encoding="utf-8")  # type: ignore[index]
    command, _, expected = session.partition("\n")
    words, text = shlex.split(command.removeprefix("$ ")), None
    if words[0] == "echo":
        text, words = words[1] + "\n", words[3:]
    assert CliRunner().invoke(app, words[1:], input=text).output == expected


def test_a_bound_of_alternatives_is_taken_only_from_what_always_has_a_value() -> None:
    m = Model()
    x, y = m.int_var("x", 1), m.int_var("y", 1)
    assert isinstance(with_bounds([x == 2 * y, x == 3]), And)
    assert isinstance(with_bounds([x == 12 % (y - 2), x == 3]), Or)
    assert isinstance(with_bounds([x == 2 + 12 % (y - 2) * y, x == 3]), Or)
