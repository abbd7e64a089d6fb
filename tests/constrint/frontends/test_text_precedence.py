"""Operators, precedence and brackets of the text language are Python's: checked against Python's parser."""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from constrint import Model, Undefined

NAMES = ("a", "b", "c")
VALUES = (-3, -1, 0, 2, 5)
OPERATORS: dict[Any, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}


class NoValue(Exception):
    pass


def meaning(node: ast.expr, values: dict[str, int]) -> Any:
    """The value that Python's grammar gives to an expression; a comparison of what has none is false."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.UnaryOp):
        return OPERATORS[type(node.op)](meaning(node.operand, values))
    if isinstance(node, ast.BoolOp):
        parts = [bool(meaning(value, values)) for value in node.values]
        return all(parts) if isinstance(node.op, ast.And) else any(parts)
    if isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]  # type: ignore[list-item]
        return all(link(*each, values) for each in zip(node.ops, parts, parts[1:], strict=False))  # type: ignore[arg-type]
    assert isinstance(node, ast.BinOp)
    left, right = meaning(node.left, values), meaning(node.right, values)
    if isinstance(node.op, ast.Pow):
        if right < 0:
            raise NoValue
        return left**right
    if isinstance(node.op, ast.FloorDiv | ast.Mod) and right == 0:
        raise NoValue
    return OPERATORS[type(node.op)](left, right)


def link(op: ast.cmpop, left: ast.expr, right: ast.expr, values: dict[str, int]) -> Any:
    try:
        return OPERATORS[type(op)](meaning(left, values), meaning(right, values))
    except NoValue:
        return False


class Writer:
    """Writes flat sequences of operators with a few random brackets; what they mean is for the parsers."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def operand(self, depth: int) -> str:
        if depth and self.random.random() < 0.25:
            inner = self.arithmetic(depth - 1) if self.random.random() < 0.8 else self.condition(depth - 1)
            return f"({inner})"
        return self.random.choice([*NAMES, *NAMES, "0", "1", "2", "3", "7"])

    def arithmetic(self, depth: int) -> str:
        text, remainder, powers = "", False, 0
        op = ""
        for i in range(self.random.randint(1, 5)):
            if i:
                # `a % b * c` is the one thing that the language refuses; towers of powers explode.
                choices = ["+", "-", "//", "%", *["*"] * (not remainder), *["**"] * (powers < 2)]
                op = self.random.choice(choices)
                remainder = op == "%" or (remainder and op not in ("+", "-"))
                powers += op == "**"
                text += f" {op} "
            sign = self.random.choice(["", "", "", "-", "-", "+", "--"])
            text += sign + (self.random.choice("abc012") if op == "**" else self.operand(depth))
        return text

    def comparison(self, depth: int) -> str:
        text = self.arithmetic(depth)
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            text += f" {self.random.choice(['==', '!=', '<', '<=', '>', '>='])} {self.arithmetic(depth)}"
        return text

    def condition(self, depth: int) -> str:
        parts = []
        for i in range(self.random.randint(1, 3)):
            if i:
                parts.append(self.random.choice(["and", "or"]))
            parts.append(self.random.choice(["", "", "not ", "not not "]) + self.comparison(depth))
        return " ".join(parts)


def value_here(expr: Any, assignment: Any) -> int | None:
    try:
        return int(expr.evaluate(assignment))
    except Undefined:
        return None


def value_in_python(tree: ast.expr, values: dict[str, int]) -> int | None:
    try:
        return int(meaning(tree, values))
    except NoValue:
        return None


@pytest.mark.parametrize("block", range(3))
def test_random_expressions_mean_what_python_says(block: int) -> None:
    defined = 0
    for seed in range(100 * block, 100 * block + 100):
        writer = Writer(seed)
        number, condition = writer.arithmetic(2), writer.condition(1)
        model = Model.from_text(
            f"a, b, c in {{-3, -1, 0, 2, 5}}\nnumber := {number}\ntruth := 0 + ({condition})\n{condition}"
        )
        trees = [ast.parse(text, mode="eval").body for text in (number, condition, condition)]
        exprs = [model.lets["number"], model.lets["truth"], model.constraints[0].expr]
        for chosen in itertools.islice(itertools.product(VALUES, repeat=3), seed % 7, None, 7):
            values = dict(zip(NAMES, chosen, strict=True))
            assignment = {model.variables[name]: value for name, value in values.items()}
            expected = [value_in_python(tree, values) for tree in trees]
            defined += sum(value is not None for value in expected)
            assert [value_here(expr, assignment) for expr in exprs] == expected, (number, condition, values)
    assert defined > 1000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-2 ** 2", -4),
        ("(-2) ** 2", 4),
        ("2 ** 3 ** 2", 512),
        ("2 ** -0", 1),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("7 % -3", -2),
        ("2 - 3 - 4", -5),
        ("64 // 4 // 2", 8),
        ("2 * 3 % 4", 2),
        ("- - 3", 3),
        ("0x10 + 1_000", 1016),
        ("0 ** 0", 1),
        ("ceildiv(7, 2) + ceildiv(-7, 2)", 1),
        ("gcd(12, 18) * lcm(4, 6)", 72),
        ("min(3, 1, 2) - max(3, 1, 2)", -2),
        ("abs(-5)", 5),
        ("[3, 5, 7][1]", 5),
        ("(1 < 2) + (2 < 3) * 4", 5),
    ],
)
def test_constants(text: str, expected: int) -> None:
    assert Model.from_text(f"v := {text}").lets["v"].evaluate({}) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 <= 2 <= 3", True),
        ("1 <= 3 <= 2", False),
        ("3 == 3 == 1", False),
        ("(3 == 3) == 1", True),
        ("not 1 == 2", True),
        ("not true and false", False),
        ("true or false and false", True),
        ("false -> false -> false", True),
        ("(false -> false) -> false", False),
        ("false <-> false -> false", False),
        ("false <-> true <-> false", True),
        ("true <-> 1 < 2 or false", True),
        ("4 divides 8 == 8", True),
        ("4 divides 8 divides 24", True),
        ("3 divides 7", False),
        ("0 divides 0", True),
        ("0 divides 4", False),
        ("-4 divides 8", True),
        ("3 in 1..5", True),
        ("3 not in 1..5", False),
        ("4 in 1..9 step 2", False),
        ("5 in {1, 3..6}", True),
        ("1 < 2 in {2}", True),
        ("not 3 in {}", True),
        ("3 in [1, 2, 3]", True),
        ("all_different(1, 2, 3)", True),
        ("all_different(1, 2, 1)", False),
        ("not (1 < 2 < 3) -> false", True),
    ],
)
def test_conditions(text: str, expected: bool) -> None:
    assert Model.from_text(f"{text}").constraints[0].expr.evaluate({}) is expected


@pytest.mark.parametrize(
    "text", ["1 // 0 == 1", "1 % 0 == 0", "2 ** -1 == 0", "[1, 2][2] == 0", "[1, 2][-1] == 2"]
)
@pytest.mark.parametrize(
    ("around", "expected"),
    [
        ("{}", False),
        ("not ({})", True),
        ("not (not ({}))", False),
        ("true or {}", True),
        ("{} or true", True),
        ("true and {}", False),
        ("false -> {}", True),
        ("{} -> false", True),
        ("({}) <-> false", True),
        ("({}) == ({})", True),
        ("({}) + 1 == 1", True),
        ("if_then_else({}, 3, 4) == 4", True),
    ],
)
def test_undefined_terms_make_the_smallest_condition_false(text: str, around: str, expected: bool) -> None:
    assert Model.from_text(around.format(text, text)).constraints[0].expr.evaluate({}) is expected
