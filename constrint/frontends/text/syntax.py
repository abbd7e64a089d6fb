"""From `.constrint` text to a lark tree, with errors that name the fix.

lark does the lexing and parsing. This module joins lines inside brackets, and translates lark's exceptions
into `ParseError`, which names the place, the mistake, and what to write instead. lark is imported at the
first parse, so that programs without text models do not load it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, cast

from constrint.errors import ParseError
from constrint.expr.position import Source as Source
from constrint.expr.position import Span
from constrint.expr.written import KEYWORDS
from constrint.frontends.nodes import Node
from constrint.frontends.nodes import Token as Word
from constrint.frontends.parse_tables import Tables
from constrint.frontends.parsers import parser_of, tables_of
from constrint.support.limits import Budget

if TYPE_CHECKING:
    from lark import Lark, Token, Tree
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

OPENING = {"LPAR": ")", "LSQB": "]", "LBRACE": "}"}
CLOSING = {"RPAR": "(", "RSQB": "[", "RBRACE": "{"}
OPERAND_END = frozenset(["NAME", "QUOTED", "NUMBER", "DECIMAL", "NUMBERS", "ROWS", "TRUE", "FALSE", *CLOSING])
OPERAND_START = frozenset(
    ["NAME", "QUOTED", "NUMBER", "DECIMAL", "NUMBERS", "ROWS", "TRUE", "FALSE", *OPENING]
)

LONGEST_KNOWN = 20_000
"""Trees of shorter texts are cached: the same text is often read again, with other constants."""

_CHARACTER_HINTS = {
    "&": "write 'and'",
    "|": "write 'or' (or 'divides', if that is meant)",
    "~": "write 'not'",
    "!": "write 'not', or != for 'differs from'",
    "^": "a power is written **",
    ".": "numbers are integers; a range is written 1..8",
    '"': "there are no strings; an unusual name is written in backquotes: `x[0]`",
    "'": "there are no strings; an unusual name is written in backquotes: `x[0]`",
    "`": "a quoted name begins and ends with a backquote on the same line: `x[0]`",
    "\\": "a backslash joins two lines only as the last character of a line",
    "?": "write 'cond -> a == 1' and 'not cond -> a == 2' as two constraints",
}


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


def _tables() -> Tables:
    return tables_of("text/grammar", _JoinLines)


@lru_cache(maxsize=32)
def _known_tree(text: str) -> Tree[Token] | None:
    return cast("Tree[Token] | None", _tables().parse(text))


def parse_part(source: Source, begin: int, text: str, budget: Budget) -> Tree[Token] | None:
    """The syntax tree of the part of a text from a place on; None where there is a mistake in it."""
    if len(text) <= LONGEST_KNOWN:
        return cast("Tree[Token] | None", _tables().parse(text))
    return _watched_tree(source, budget, begin, text)


def parse(source: Source, budget: Budget) -> Tree[Token]:
    """The syntax tree of a text, which must not be changed; its children are the statements in order."""
    is_short = len(source.text) <= LONGEST_KNOWN
    tree = _known_tree(source.text) if is_short else _watched_tree(source, budget, 0, source.text)
    return _explained(source) if tree is None else tree


def _explained(source: Source) -> Tree[Token]:
    """The tree of a text, or lark's reason why there is none."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput

    try:
        return parser().parse(source.text)
    except UnexpectedCharacters as error:
        raise _explain_character(source, error) from None
    except UnexpectedInput as error:
        raise _explain_token(source, error) from None


def _watched_tree(source: Source, budget: Budget, begin: int, text: str) -> Tree[Token] | None:
    """The tree of a long part of a text, with a check of the limits before each token."""
    depth = 0

    def watch(token: Word) -> None:
        nonlocal depth
        budget.count_steps()
        if token.type in OPENING:
            depth += 1
            budget.depth(depth, partial(_place, source, begin, token))
        elif token.type in CLOSING:
            depth -= 1

    return cast("Tree[Token] | None", _tables().parse(text, watch))


def _place(source: Source, begin: int, token: Word) -> str:
    """The place of a token in messages."""
    return str(Span(source, begin + token.start_pos, begin + token.end_pos).resolve())


def tokens(source: Source, budget: Budget | None = None) -> Iterator[Token]:
    """All tokens of a valid text, comments included; newlines inside brackets are left out."""
    budget = budget or Budget()
    for token in parser().lex(source.text, dont_ignore=True):
        if token.type in LONG_LISTS:
            for part in _parts(token):
                budget.count_steps()
                yield part
        else:
            budget.count_steps()
            yield token


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


def _explain_character(source: Source, error: UnexpectedCharacters) -> ParseError:
    start = error.pos_in_stream or 0
    character = source.text[start]
    following = source.text[start : start + 2]
    if following == "=>":
        hint = "implication is written ->, 'at least' is written >="
    elif character == "=":
        hint = "an equation is written ==, a definition name := expression"
    else:
        hint = _CHARACTER_HINTS.get(character, "names are letters, digits and _; comments begin with #")
    return source.error(error.line, error.column, f"unexpected character {character!r}", hint)


def _tokens_before(source: Source, place: int) -> list[Token]:
    before = []
    for token in parser().lex(source.text):
        if (token.start_pos or 0) >= place:
            break
        before.append(token)
    return before


def _innermost_open(before: list[Token]) -> Token | None:
    stack: list[Token] = []
    for token in before:
        if token.type in OPENING:
            stack.append(token)
        elif token.type in CLOSING and stack:
            stack.pop()
    return stack[-1] if stack else None


def _explain_token(source: Source, error: UnexpectedInput) -> ParseError:
    """The error for a token that the grammar does not allow here."""
    unexpected: UnexpectedToken = error  # type: ignore[assignment]  # the basic lexer raises nothing else here
    token = unexpected.token
    at_end = token.type == "$END"
    before = _tokens_before(source, len(source.text) if at_end else (token.start_pos or 0))
    bracket = _innermost_open(before)
    line, column = token.line or 1, token.column or 1
    if at_end:
        line, column = _end_of(source, before)
    if bracket is not None and (at_end or token.value == ";"):
        message = f"{bracket.value!r} is never closed"
        return source.error(
            bracket.line or 1, bracket.column or 1, message, f"write {OPENING[bracket.type]!r}"
        )
    message, hint = _describe(token, before, bracket, unexpected.expected)
    return source.error(line, column, message, hint)


def _end_of(source: Source, before: list[Token]) -> tuple[int, int]:
    if not before:
        return 1, 1
    return before[-1].end_line or 1, before[-1].end_column or 1


def _describe(
    token: Token, before: list[Token], bracket: Token | None, expected: set[str]
) -> tuple[str, str]:
    last = before[-1] if before else None
    after_operand = last is not None and last.type in OPERAND_END
    if token.type in ("$END", "_SEP"):
        return (
            "the constraint ends too early",
            "an expression that goes on over several lines stands in brackets",
        )
    if token.type == "STRING":
        return "unexpected character '\"'", _CHARACTER_HINTS['"']
    if token.value == "for" and bracket is None:
        return (
            "a loop stands in a function",
            "write forall(… for i in 1..9), sum(… for i in 1..9) or the like",
        )
    if token.value in KEYWORDS and "NAME" in expected and not after_operand and token.type != "NOT":
        return (
            f"'{token}' is a word of the language",
            f"choose another name, or write it in backquotes: `{token}`",
        )
    if token.type == "NOT" and not after_operand:
        return "'not' binds less tightly than the operator before it", "put brackets around it: (not …)"
    if token.type in CLOSING:
        if bracket is None:
            return (
                f"{token.value!r} closes nothing",
                f"write a {CLOSING[token.type]!r} before it or remove it",
            )
        if OPENING[bracket.type] != token.value:
            return f"{token.value!r} does not match {bracket.value!r} on line {bracket.line}", ""
        return "an operand is missing here", ""
    if after_operand and token.type in OPERAND_START and last is not None:
        return _missing_operator(token, last, bracket)
    if not after_operand:
        return f"an operand is missing before '{token}'", ""
    if token.value == "," and bracket is None:
        return (
            f"'{token}' cannot stand here",
            "write one statement for each, on lines of their own or after ';'",
        )
    if token.value == "," and any(one.value == "for" for one in before[-60:]):
        hint = "each generator has its own 'for': … for i in 1..3 for j in 1..3"
        return f"'{token}' cannot stand here", hint
    return f"'{token}' cannot stand here", "a constraint ends at a newline or ';'"


def _missing_operator(token: Token, last: Token, bracket: Token | None) -> tuple[str, str]:
    message = f"an operator is missing between '{last}' and '{token}'"
    if bracket is not None and (bracket.line or 0) < (token.line or 0):
        return message, f"or is {bracket.value!r} on line {bracket.line} never closed?"
    from difflib import get_close_matches

    near = get_close_matches(last.value, KEYWORDS, n=1, cutoff=0.8)
    if last.type == "NAME" and near:
        return message, f"did you mean '{near[0]}'?"
    if last.type == "NUMBER" and token.value[:1] in "eE" and token.value[1:].isdigit():
        return message, f"write a power: {last} * 10 ** {token.value[1:]}"
    if last.type in ("NUMBER", "NAME") and token.type in ("NAME", "LPAR"):
        return message, f"a product is written {last} * {token.value}; a constraint ends at a newline or ';'"
    return message, "a constraint ends at a newline or ';'"
