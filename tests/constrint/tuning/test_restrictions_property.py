"""Random restrictions over the whole supported grammar, compared with Python itself."""

from __future__ import annotations

import itertools
import os
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from constrint.errors import ModelError
from constrint.tuning.spaces import from_tune_params

COUNT = int(os.environ.get("CONSTRINT_RESTRICTIONS", "250"))

PARAMS: dict[str, Any] = {
    "a": [1, 2, 3, 8],
    "b": [0, 1, 6],
    "neg": [-3, -1, 4],
    "flag": [True, False],
    "f": [0.5, 2.0, 4.5],
    "s": ["row", "col", "r"],
    "t": [(1, 2), (4,), (8, 3, 1)],
    "n": [None, 4],
    "mix": ["a", 1, None, 2.5],
    "lambda": [1, 2],
}
INTEGERS = ("a", "b", "neg", "flag")


class Drawn:
    """Expressions by what they give, so that most have a value."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def one(self, *options: str) -> str:
        return self.random.choice(options)

    def integer(self, depth: int) -> str:
        if depth <= 0:
            return self.one(*INTEGERS, *INTEGERS, "1", "2", "3", "8", "0", "-1", "True")
        i, j = self.integer(depth - 1), self.integer(depth - 1)
        sort = self.random.randint(0, 13)
        if sort == 0:
            return f"{self.one('abs', 'int', 'bool')}({i})"
        if sort == 1:
            return f"{self.one('max', 'min')}({self.one(f'{i}, {j}', f'[{i}, {j}, 2]', f'({i}, {j})')})"
        if sort == 2:
            return self.one(
                "len(t)", "len(s)", "t[0]", "t[-1]", "t[1]", "sum(t)", "max(t)", f"t[{i}]", "s.count('r')"
            )
        if sort == 3:
            return f"({i} if {self.condition(depth - 1)} else {j})"
        if sort == 4:
            return self.one(
                f"pow({i}, 2)", f"pow(a, {self.integer(0)})", "pow(a, 2, 5)", f"divmod({i}, 3)[1]"
            )
        if sort == 5:
            return f"({self.one('~', '-', '+')}{i})"
        if sort == 6:
            return self.one(f"sum(x for x in t if x > {i})", f"len([x * {j} for x in t])", f"sum([{i}, {j}])")
        if sort == 7:
            return f"({i} {self.one('or', 'and')} {j})"
        if sort == 8:
            return f"({i} {self.one('<<', '>>')} {self.one('1', 'b', j)})"
        if sort == 9:
            return f"({i} ** {self.one('2', 'b')})"
        return f"({i} {self.one('+', '-', '*', '//', '%', '&', '|', '^')} {j})"

    def number(self, depth: int) -> str:
        if self.random.random() < 0.75:
            return self.integer(depth)
        if depth <= 0:
            return self.one("f", "0.5", "2.0")
        return (
            f"({self.number(depth - 1)} {self.one('+', '*', '-', '/', '//', '%')} {self.number(depth - 1)})"
        )

    def anything(self, depth: int) -> str:
        return self.one(
            "s", "t", "n", "mix", "'row'", "None", "(1, 2)", "'a'", "2.5", "s[0]", "t[:1]", self.number(depth)
        )

    def condition(self, depth: int) -> str:
        if depth <= 0:
            return self.one(
                "flag", "a > 2", "s == 'row'", "n is None", "b", "not b", "mix == 1", "mix is not None"
            )
        sort = self.random.randint(0, 11)
        if sort == 0:
            return f"({self.condition(depth - 1)} {self.one('and', 'or')} {self.condition(depth - 1)})"
        if sort == 1:
            return f"not {self.condition(depth - 1)}"
        if sort == 2:
            test, *cases = [self.condition(depth - 1) for _ in range(3)]
            return f"({cases[0]} if {test} else {cases[1]})"
        if sort == 3:
            collection = self.one(
                "(1, 2, 'a')",
                "t",
                "[2, 8]",
                "{1, None}",
                "range(2, 9, 3)",
                "range(a)",
                "s",
                f"({self.integer(0)}, {self.integer(depth - 1)})",
                f"[{self.number(1)}, 2]",
            )
            return f"{self.anything(0)} {self.one('in', 'not in')} {collection}"
        if sort == 4:
            items = self.one("x > a for x in t", "[a > 1, b]", "x in t for x in (a, b)")
            return f"{self.one('any', 'all')}({items})"
        if sort == 5:
            return f"{self.anything(depth - 1)} {self.one('==', '!=')} {self.anything(depth - 1)}"
        if sort == 6:
            which, single = self.one("n", "mix", "flag"), self.one("None", "True", "False")
            return f"{which} {self.one('is', 'is not')} {single}"
        if sort == 7:
            return self.one(
                "s.startswith('r')", "a & (a - 1) == 0", "s < 'rp'", "isinstance(a, int)", "n > 2", "mix < 2"
            )
        if sort == 8:
            return f"{self.number(depth - 1)} <= {self.number(depth - 1)} < {self.number(depth - 1)}"
        return (
            f"{self.number(depth - 1)} {self.one('<', '<=', '==', '!=', '>', '>=')} {self.number(depth - 1)}"
        )


def truth(text: str, params: dict[str, list[Any]]) -> tuple[set[str], bool]:
    """The configurations that Python finds true, and whether any raises more than an arithmetic error."""
    code = compile(text, "<restriction>", "eval")
    found, fails = set(), False
    for row in itertools.product(*params.values()):
        config = dict(zip(params, row, strict=True))
        try:
            if eval(code, dict(config)):  # noqa: S307 - the oracle
                found.add(repr(row))
        except ArithmeticError:
            pass
        except Exception:
            fails = True
    return found, fails


def scope_of(text: str) -> dict[str, list[Any]]:
    """Only the parameters that the text mentions: the others multiply the work, not the test."""
    names = set(compile(text, "", "eval").co_names) | {
        name
        for const in compile(text, "", "eval").co_consts
        if hasattr(const, "co_names")
        for name in const.co_names
    }
    return {name: values for name, values in PARAMS.items() if name in names or name == "lambda"}


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("share", range(4))
def test_the_set_is_pythons(share: int) -> None:
    random = Random(share)
    answered = 0
    for _ in range(COUNT // 4):
        text = Drawn(random).condition(random.randint(1, 3))
        if random.random() < 0.3:
            text = f"{text} and {Drawn(random).condition(1)}"
        params = scope_of(text)
        expected, fails = truth(text, params)
        if fails or "isinstance" in text:  # not known here
            with suppress(ModelError):
                space = from_tune_params(params, [text])
                assert {repr(row) for row in (space.to_tuples() if space else [])} <= expected, text
            continue
        space = from_tune_params(params, [text])
        answered += 1
        rows = [repr(row) for row in space.to_tuples()] if space else []
        assert sorted(rows) == sorted(expected), text
    assert answered > COUNT // 16
