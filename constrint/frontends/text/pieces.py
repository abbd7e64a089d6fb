"""Parts of a long text, made by `lines`: simple statements, and chunks for the full parser."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

LONGEST_SIMPLE = 18
"""Digits of a number in a simple statement."""


class Declared(NamedTuple):
    """A declaration.

    Attributes:
        begin: Where it begins in the text.
        line: Its line.
        end: Where it ends.
        names: The names, with the blanks around them.
        lo: Least value, hi the greatest, step their distance; None for a declaration of another kind.
        values: The listed values; None where there are none.
    """

    begin: int
    line: int
    end: int
    names: list[str]
    lo: int | None
    hi: int | None
    step: int
    values: list[int] | None


class Compared(NamedTuple):
    """A comparison.

    Attributes:
        begin: Where it begins in the text.
        line: Its line.
        end: Where it ends.
        tokens: Its operands, operators and signs.
    """

    begin: int
    line: int
    end: int
    tokens: list[str]


class Worded(NamedTuple):
    """A definition or condition of names, numbers, operators and calls.

    Attributes:
        begin: Where it begins in the text.
        line: Its line.
        end: Where it ends.
        text: Its text.
        name: Its name; None if it has none.
        is_definition: Whether it defines its name; otherwise it is a condition.
        start: Where in its text what comes after the name begins.
    """

    begin: int
    line: int
    end: int
    text: str
    name: str | None
    is_definition: bool
    start: int


class Chunk(NamedTuple):
    """Whole statements for lark.

    Attributes:
        begin: Where they begin in the text.
        line: The line in which they begin.
        text: Their text, up to a separator.
    """

    begin: int
    line: int
    text: str


Piece: TypeAlias = Declared | Compared | Worded | Chunk
