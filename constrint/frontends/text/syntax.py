"""From `.constrint` text to a lark tree, with errors that name the fix.

lark does the lexing and parsing. This module joins lines inside brackets, and translates lark's exceptions
into `ParseError`, which names the place, the mistake, and what to write instead. lark is imported at the
first parse, so that programs without text models do not load it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast

from constrint.expr.position import Source as Source
from constrint.frontends.nodes import Node
from constrint.frontends.parse_tables import SEPARATOR, Shape
from constrint.frontends.parsers import parser_of, tables_of
from constrint.settings import of_new_models
from constrint.support.limits import Budget

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

OPENING = {"LPAR": ")", "LSQB": "]", "LBRACE": "}"}
CLOSING = {"RPAR": "(", "RSQB": "[", "RBRACE": "{"}
OPERAND_END = frozenset(["NAME", "QUOTED", "NUMBER", "DECIMAL", "NUMBERS", "ROWS", "TRUE", "FALSE", *CLOSING])
OPERAND_START = frozenset(
    ["NAME", "QUOTED", "NUMBER", "DECIMAL", "NUMBERS", "ROWS", "TRUE", "FALSE", *OPENING]
)


class _JoinLines:
    """Drops the newlines inside brackets, as Python does."""

    always_accept = ()

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        depth = 0
        for token in stream:
            if token.type in OPENING:
                depth += 1
            elif token.type in CLOSING:
                depth = max(0, depth - 1)
            elif depth and token.type == "_SEP" and token != ";":
                continue
            yield token


def parser() -> Lark:
    """The parser of the language."""
    return parser_of("text/grammar", _JoinLines, positions=False, nodes=Node)


class Statement(NamedTuple):
    """A statement of a text, which has no mistake of grammar; its tree is made where it is read.

    Attributes:
        shape: How its tree is made of its words.
        words: Its tokens, and the blanks and comments between them.
        begin: Where it begins in the text.
        line: In which line.
    """

    shape: Shape
    words: list[str]
    begin: int
    line: int

    @property
    def tree(self) -> Tree[Token]:
        """Its tree."""
        return cast("Tree[Token]", self.shape.tree(self.words, self.begin, self.line))


def statements(source: Source, budget: Budget) -> list[Statement]:
    """The statements of a text in order; raises `ParseError` for the first mistake of grammar in it."""
    if len(source.text) > of_new_models().reading.longest_known:
        found, mistake = _split(source.text, budget)
    else:
        found, mistake = _known(source.text)
    if mistake is not None:
        from constrint.frontends.text.mistakes import explained

        raise explained(source, mistake)
    return found


@lru_cache(maxsize=32)
def _known(text: str) -> tuple[list[Statement], int | None]:
    return _split(text, Budget())


class _Kinds(dict[str, str]):
    """The kinds of words, found once for each."""

    def __init__(self, kind: Callable[[str], str]) -> None:
        self._kind = kind

    def __missing__(self, word: str) -> str:
        kind = self[word] = self._kind(word)
        return kind


_OPEN, _SHUT = frozenset(OPENING), frozenset(CLOSING)
_BLOCK = 50_000
"""Characters that are divided into words at a time, between two checks of the clock."""


def _split(text: str, budget: Budget) -> tuple[list[Statement], int | None]:
    """The statements of a text, and the line of the first that is wrong; None if none is."""
    tables = tables_of("text/grammar", _JoinLines)
    kind_of = _Kinds(tables.kind)
    found: list[Statement] = []
    begin, line, size = 0, 1, _BLOCK
    while begin < len(text):
        budget.check()
        end = text.find("\n", begin + size) + 1 or len(text)
        words = tables.words(text, begin, end)
        has_all = sum(map(len, words)) == end - begin
        if not has_all:
            end = tables.reach(text, begin)
            words = tables.words(text, begin, end)
        kinds = [kind_of[word] for word in words]
        start, after, first = 0, begin, line
        for stop in _ends(words, kinds, is_last=not has_all or end == len(text)):
            first, part = line, words[start:stop]
            shape = tables.shape(tuple(kinds[start:stop]))
            if shape is None:
                return found, line
            if shape.steps:
                found.append(Statement(shape, part, after, line))
            before, after = after, after + sum(map(len, part))
            line += text.count("\n", before, after)
            start = stop
        if not has_all:
            return found, first
        size = _BLOCK if after > begin else 2 * size
        begin = after
    return found, None


def _ends(words: list[str], kinds: list[str], is_last: bool) -> Iterator[int]:
    """Where statements end: behind a separator outside brackets, and where the text ends."""
    start = depth = 0
    for stop in [place for place, kind in enumerate(kinds, 1) if kind == SEPARATOR]:
        part = kinds[start:stop]
        start = stop
        if depth or not _OPEN.isdisjoint(part):
            for kind in part:
                if kind in _OPEN:
                    depth += 1
                elif kind in _SHUT:
                    depth = max(0, depth - 1)
            if depth and words[stop - 1] != ";":
                continue
            depth = 0
        yield stop
    if is_last:
        yield len(kinds)


def tokens(source: Source, budget: Budget | None = None) -> Iterator[Token]:
    """All tokens of a valid text, with comments, but without blanks and newlines inside brackets."""
    budget = budget or Budget()
    for token in parser().lex(source.text, dont_ignore=True):
        if token.type in LONG_LISTS:
            for part in _parts(token):
                budget.count_steps()
                yield part
        elif token.type not in _BLANKS:
            budget.count_steps()
            yield token


_BLANKS = frozenset(["BLANK", "SPACE"])
LONG_LISTS = frozenset(["NUMBERS", "ROWS"])
_PIECES = re.compile(
    r"(?P<NUMBER>[0-9]+)|(?P<PLUS_MINUS>-)|(?P<COMMA>,)|(?P<LSQB>\[)|(?P<RSQB>\])|(?P<LINE>\n)"
)


def _parts(token: Token) -> Iterator[Token]:
    """The tokens of a long list."""
    from lark import Token

    line, begin = token.line or 1, 1 - (token.column or 1)  # the position in the token of the line's column 1
    for piece in _PIECES.finditer(token):
        if piece.lastgroup == "LINE":
            line, begin = line + 1, piece.end()
            continue
        column = piece.start() - begin + 1
        yield Token(
            str(piece.lastgroup),
            piece.group(),
            start_pos=(token.start_pos or 0) + piece.start(),
            line=line,
            column=column,
            end_line=line,
            end_column=column + len(piece.group()),
            end_pos=(token.start_pos or 0) + piece.end(),
        )
