"""The text of a cell as a syntax tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from kerneltune.errors import InputError

MOST_CHARACTERS = 20_000
"""The most characters of a cell: a hundred times the longest one that is known."""
MOST_TOKENS = 250
"""The most tokens of a line: the tree of an equation is at most as deep, which Python's recursion takes."""


@dataclass(frozen=True)
class Source:
    """A cell's text and where it is from.

    Attributes:
        name: A file's path, or the name that the cell was given in Python; for messages.
        text: The text.
        first_line: Number of the text's first line in messages.
    """

    name: str
    text: str
    first_line: int = 1

    def error(self, place: object, problem: str) -> InputError:
        """An error at a token or a tree."""
        meta = getattr(place, "meta", place)
        line, column = getattr(meta, "line", None), getattr(meta, "column", None)
        if line is None:
            return InputError(f"{self.name}: {problem}")
        number = line + self.first_line - 1
        if number < 1:  # of what was given beside the equations
            kind = self.text.splitlines()[line - 1].split(maxsplit=1)[0]
            return InputError(f"{self.name}, {kind}: {problem}")
        return InputError(f"{self.name}:{number}:{column}: {problem}")


def parsed(source: Source, start: str = "start") -> Any:
    """The lark tree of a text; raises `InputError` with line and column.

    Args:
        source: The text.
        start: The rule of the grammar that it follows: `start` for a cell, `sum` for an expression.
    """
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

    if len(source.text) > MOST_CHARACTERS:
        raise source.error(None, f"the text has more than {MOST_CHARACTERS:,} characters, the most of a cell")
    try:
        tokens = list(_parser().lex(source.text))
        _check_lengths(source, tokens)
        return _parser().parse(source.text, start=start)
    except UnexpectedCharacters as error:
        raise source.error(error, _unknown_character(error.char)) from None
    except UnexpectedToken as error:
        raise source.error(error, _unexpected(error.token)) from None
    except UnexpectedInput as error:
        raise source.error(error, "this is no equation") from None


def _unknown_character(char: str) -> str:
    if char == "@":
        return (
            "'@' is not allowed: R is the only matrix, and a gate's name stands for W x + R h + b. A product "
            "with another state or with a new one, as in LEM, is beyond the cells here"
        )
    if char == "[":
        return (
            "'[' is not allowed: every value is of one unit. Inputs that units share, as B and C of Mamba, "
            "are beyond the cells here"
        )
    return "unexpected '^': a power is written x**2" if char == "^" else f"unexpected character {char!r}"


def _unexpected(token: Any) -> str:
    if token.type == "$END":
        return "the text ends in the middle of a line"
    if token.type == "_NEWLINE":
        return "the line ends too early: one line has one declaration or one equation, NAME = EXPRESSION"
    return f"unexpected {str(token)[:40]!r}"


def _check_lengths(source: Source, tokens: list[Any]) -> None:
    count = 0
    for token in tokens:
        count = 0 if token.type == "_NEWLINE" else count + 1
        if count > MOST_TOKENS:
            raise source.error(token, f"a line has at most {MOST_TOKENS} symbols: name intermediate values")


class _Lines:
    """Drops the ends of lines inside brackets."""

    always_accept = ("_NEWLINE",)

    def process(self, stream: Iterator[Any]) -> Iterator[Any]:
        depth = 0
        for token in stream:
            depth += (token == "(") - (token == ")")
            if token.type != "_NEWLINE" or depth <= 0:
                yield token


@cache
def _parser() -> Any:
    from lark import Lark

    grammar = files("kerneltune.cells").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(
        grammar,
        parser="lalr",
        lexer="basic",
        start=["start", "sum"],
        postlex=_Lines(),
        propagate_positions=True,
        maybe_placeholders=True,
    )
