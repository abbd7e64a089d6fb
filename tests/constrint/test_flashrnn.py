"""The first ConstrINT dialect: its meaning by splitting text, as its own reader does, and what is refused."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from constrint import Model, ParseError, Status
from constrint.cli import app
from constrint.frontends.flashrnn import GREATEST

LIMIT = 20.0
REFERENCE = Path(__file__).parents[2] / "docs" / "constrint-flashrnn.md"


def read(text: str) -> Model:
    return Model.from_text(text, dialect="flashrnn")


def solutions(text: str, most: int = 6) -> list[tuple[int, ...]]:
    """Solutions with all variables at most so much, by the solver."""
    model = read(text)
    for variable in model.variables.values():
        model.add(variable <= most)
    return sorted(tuple(r.values[n] for n in model.variables) for r in model.iter_solutions(time_limit=LIMIT))


# ------------------------------------------------------------ the definition, by splitting


def values(text: str, env: dict[str, int]) -> set[int]:
    """What a term may be worth; more than one value where it has lists."""
    for symbol, join in (("+", sum), ("*", math.prod)):
        if symbol in text:
            parts = [values(part, env) for part in text.split(symbol)]
            return {join(choice) for choice in itertools.product(*parts)}
    if "^" in text:
        base, exponent = text.split("^")
        return {value ** int(exponent) for value in values(base, env)}
    text = text.strip()
    if text.startswith("["):
        return {int(member) for member in text.strip("[]").split(",")}
    return {int(text) if text.isdigit() else env[text]}


def holds(text: str, env: dict[str, int]) -> bool:
    """Whether a text holds, with brackets and comments dropped and everything split from loose to tight."""
    text = re.sub(r"#[^\n]*|[()]", "", text)
    for symbol, join in ((";", all), ("|", any)):
        if symbol in text:
            return join(holds(part, env) for part in text.split(symbol) if part.strip())
    if "%" in text:
        text, zero = text.rsplit("==", 1)
        assert zero.strip() == "0"
    symbol = next(symbol for symbol in ("<=", "%", "==") if symbol in text)
    left, right = (values(part, env) for part in text.split(symbol))
    pairs = itertools.product(left, right)
    if symbol == "%":
        return any(a % b == 0 if b else a == 0 for a, b in pairs)
    return any(a <= b if symbol == "<=" else a == b for a, b in pairs)


def by_splitting(text: str, most: int = 6) -> list[tuple[int, ...]]:
    names = list(read(text).variables)
    boxes = itertools.product(range(1, most + 1), repeat=len(names))
    return [box for box in boxes if holds(text, dict(zip(names, box, strict=True)))]


class Draw:
    """Random texts that use every form, with brackets strewn about."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def atom(self) -> str:
        kind = self.random.choice(["name", "name", "name", "number", "list"])
        if kind == "name":
            return self.random.choice("xyz")
        if kind == "number":
            return str(self.random.choice([0, 1, 2, 3, 4, 6, 12]))
        return f"[{', '.join(str(self.random.randint(0, 9)) for _ in range(self.random.randint(1, 3)))}]"

    def power(self) -> str:
        return self.atom() + (f" ^ {self.random.randint(0, 3)}" if self.random.random() < 0.2 else "")

    def bracketed(self, text: str) -> str:
        return f"({text})" if self.random.random() < 0.2 else text

    def some(self, part, symbol: str, most: int) -> str:
        return self.bracketed(f" {symbol} ".join(part() for _ in range(self.random.randint(1, most))))

    def sum(self) -> str:
        return self.some(lambda: self.some(self.power, "*", 3), "+", 2)

    def comparison(self) -> str:
        kind = self.random.choice(["<=", "==", "%"])
        text = f"{self.sum()} {kind} {self.sum()}"
        return self.bracketed(text + " == 0" if kind == "%" else text)

    def text(self) -> str:
        return ";\n".join(
            self.some(self.comparison, "|", 3) for _ in range(self.random.randint(1, 3))
        ) + self.random.choice(["", ";", ";  # done\n"])


def test_random_texts_mean_what_splitting_says():
    found = 0
    for seed in range(250):
        text = Draw(seed).text()
        expected = by_splitting(text, 4)
        assert solutions(text, 4) == expected, text
        again = Model.from_text(read(text).to_text())
        for variable in again.variables.values():
            again.add(variable <= 4)
        assert sum(1 for _ in again.iter_solutions(time_limit=LIMIT)) == len(expected)
        found += bool(expected)
    assert found > 60


# ------------------------------------------------------------ pinned meanings


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a % b * c == 0", lambda a, b, c: a % (b * c) == 0),
        ("a * b % c == 0", lambda a, b, c: a * b % c == 0),
        ("a + b % c == 0", lambda a, b, c: (a + b) % c == 0),
        ("(a % b) + c == 0", lambda a, b, c: a % (b + c) == 0),
        ("a * (b + c) <= 7", lambda a, b, c: a * b + c <= 7),
        ("(a + b) * c == 9", lambda a, b, c: a + b * c == 9),
        ("(a * b) ^ 2 <= c + 9", lambda a, b, c: a * b**2 <= c + 9),
        ("a == 1; b == 2 | c == 3", lambda a, b, c: a == 1 and (b == 2 or c == 3)),
        ("a == 1 | b == 2; c == 3", lambda a, b, c: (a == 1 or b == 2) and c == 3),
        ("a == 1 || b + c <= 2", lambda a, b, c: a == 1 or b + c <= 2),
        ("a == [2, 3]; b <= [1, 4]; [2, 5] <= c", lambda a, b, c: a in (2, 3) and b <= 4 and c >= 2),
        ("a % [4, 6] == 0; b + c <= 4", lambda a, b, c: (a % 4 == 0 or a % 6 == 0) and b + c <= 4),
        ("a == [1, 2]; b == [1, 2]; c <= b", lambda a, b, c: a in (1, 2) and b in (1, 2) and c <= b),
        ("a ^ 2 % 20 == 0 | b ^ 3 == c ^ 0", lambda a, b, c: a * a % 20 == 0 or b == 1),
        ("a % 0 == 0 | b == c", lambda a, b, c: b == c),
        ("0 % a == 0; b * c <= 0 + 3", lambda a, b, c: b * c <= 3),
        ("a * a == a + a + b * 0; c <= 2", lambda a, b, c: a * a == 2 * a and c <= 2),
    ],
)
def test_pinned_meanings(text, same):
    text = f"{text};"
    names = list(read(text).variables)
    expected = [
        box for box in itertools.product(range(1, 7), repeat=3) if same(**dict(zip(names, box, strict=True)))
    ]
    assert solutions(text) == sorted(expected) == by_splitting(text)


def test_power_of_a_product_divides():
    """x^2 % 20 == 0 holds just where 10 divides x."""
    assert [x for (x,) in solutions("x ^ 2 % 20 == 0;", 60)] == [10, 20, 30, 40, 50, 60]


def test_variables_are_positive_and_at_most_2_to_the_30():
    assert read("x == 0;").solve(time_limit=LIMIT).status is Status.INFEASIBLE
    model = read("1 <= x;")
    assert model.solve(maximize=model.variables["x"], time_limit=LIMIT)["x"] == GREATEST == 2**30
    assert read("x == 1073741825;").solve(time_limit=LIMIT).status is Status.INFEASIBLE


def test_sums_and_products_beyond_the_range_of_variables_are_exact():
    model = read("x * y * z == 1000000007000000000; x <= y; y <= z; 1000 <= x;")
    result = model.solve(time_limit=LIMIT)
    assert result["x"] * result["y"] * result["z"] == 10**18 + 7 * 10**9


@pytest.mark.parametrize(
    ("text", "holds"), [("3 == 4;", False), ("3 <= 4;", True), ("", True), ("# no", True)]
)
def test_constant_constraints(text, holds):
    assert bool(read(text).solve()) is holds


def test_constants_from_outside():
    model = Model.from_text("x % WARP == 0; x <= 70;", dialect="flashrnn", constants={"WARP": 32})
    assert list(model.variables) == ["x"]
    assert [r["x"] for r in model.iter_solutions()] == [32, 64]


def test_a_tiling_in_the_first_dialect():
    """A tiling with the constraints that the first program was made for, checked number by number."""
    text = """
    GATES == 4; MMA == 16; THREADS == 1024; SMS == 108; HIDDEN == 768;
    GATES * HIDDEN % (SPLIT_GATE * MMA) == 0 ;      # brackets: decoration
    HIDDEN % SPLIT_HIDDEN == 0 ;
    GATES * HIDDEN * WARPS <= THREADS * SPLIT_GATE ;
    BLOCKS == SPLIT_GATE * SPLIT_HIDDEN ;
    BLOCKS <= SMS ;
    2 * GATES * HIDDEN ^ 2 <= 165000 * BLOCKS ;
    WARPS == 2 | WARPS == 4 ;
    """
    model = read(text)
    expected = {
        (gate, hidden, warps)
        for gate in range(1, 109)
        for hidden in range(1, 109)
        for warps in (2, 4)
        if 4 * 768 % (gate * 16) == 0
        and 768 % hidden == 0
        and 4 * 768 * warps <= 1024 * gate
        and gate * hidden <= 108
        and 165000 * gate * hidden >= 2 * 4 * 768**2
    }
    names = ("SPLIT_GATE", "SPLIT_HIDDEN", "WARPS")
    found = [tuple(r[name] for name in names) for r in model.iter_solutions(time_limit=LIMIT)]
    assert set(found) == expected
    assert len(found) == len(expected) > 20


# ------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("x y == 3;", "1:3: 'y' cannot stand here", "a constraint is a == b"),
        ("x - 1 <= y;", "1:3: unexpected character '-'", "bring the term to the other side"),
        ("x == [-1, 2];", "1:7: unexpected character '-'", "bring the term"),
        ("x / 2 == y;", "1:3: unexpected character '/'", "multiply the other side"),
        ("x >= 2;", "1:3: unexpected character '>'", "swap the sides"),
        ("x < 2;", "1:3: unexpected character '<'", "a + 1 <= b"),
        ("x != 2;", "1:3: unexpected character '!'", "no '!='"),
        ("x = 2;", "1:3: unexpected character '='", "written =="),
        ("0 == x % 3;", "1:8: '%' cannot stand here", "a % b == 0"),
        ("x % 3 == 1;", "1:1: '%' stands in a % b == 0 only", "a == q * b + r"),
        ("x % 3 <= 1;", "1:7: '<=' cannot stand here", "two sides"),
        ("x % y % z == 0;", "1:7: '%' cannot stand here", "one '%'"),
        ("1 <= x <= 5;", "1:8: '<=' cannot stand here", "a <= b; b <= c"),
        ("a == b == c;", "1:8: '==' cannot stand here", "a == b; b == c"),
        ("x ^ y == 4;", "1:5: 'y' cannot stand here", ""),
        ("2 ^ 3 ^ 2 == x;", "1:7: '^' cannot stand here", "there is one"),
        ("2 ^ 99999999 == x;", "1:1: this power is too large", ""),
        ("x == 5x;", "1:7: 'x' cannot stand here", ""),
        ("x;", "1:2: the constraint ends too early", "a == b"),
        ("x == 1;\ny + ;", "2:5: the constraint ends too early", ""),
        ("x == 1 | ;", "1:10: the constraint ends too early", ""),
        ("x ==", "1:5: the constraint ends too early", ""),
        ("(x == 1; y == 2);", "1:1: '(' is not closed before ';'", "cannot group"),
        ("x == (1;", "1:6: '(' is not closed before ';'", "decorate"),
        ("x == 1);", "1:7: ')' closes nothing", "decorate"),
        ("(x == 1", "1:1: '(' is never closed", "decorate"),
        ("x == [];", "1:7: ']' cannot stand here", ""),
        ("x == y.z;", "1:7: unexpected character '.'", "names have letters"),
    ],
)
def test_what_the_first_reader_misread_is_an_error(text, place, hint):
    with pytest.raises(ParseError) as error:
        read(text)
    assert place in str(error.value)
    assert hint in error.value.hint


def test_lists_with_too_many_combinations_are_refused():
    numbers = ", ".join(map(str, range(30)))
    with pytest.raises(ParseError, match="27000 combinations"):
        read(f"[{numbers}] + [{numbers}] * [{numbers}] <= x;")


def test_the_reference_is_true():
    text = REFERENCE.read_text(encoding="utf-8")
    example = re.findall(r"```flashrnn\n(.*?)```", text, re.S)[0]
    found = {(r["HIDDEN"], r["GATES"]) for r in read(example).iter_solutions(time_limit=LIMIT)}
    assert found == {
        (hidden, gates) for gates in (2, 4) for hidden in range(700, 1025) if hidden % (32 * gates) == 0
    }
    session = re.findall(r"```console\n(.*?)```", text, re.S)[0]
    command, _, expected = session.partition("\n")
    typed = re.fullmatch(r'\$ echo "(.*)" \| constrint (.*)', command)
    output = CliRunner().invoke(app, typed[2].split(), input=typed[1] + "\n").output
    assert output == expected
