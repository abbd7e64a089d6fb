"""From text in FlashRNN's ConstrINT dialect to syntax trees, one for each constraint.

Plain constraints are read directly (`flashrnn_plain`); lark parses all others. Round brackets are removed
from the stream of tokens before parsing. Trees have no positions of their own: their tokens do, counted from
the start of the parsed piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from constrint.errors import ParseError
from constrint.frontends.parsers import parser_of
from constrint.frontends.text.flashrnn_plain import Plain, plain
from constrint.frontends.text.syntax import Source

if TYPE_CHECKING:
    from lark import Lark, Token, Tree
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    Node: TypeAlias = Tree[Token] | Token

COMMENT = re.compile(r"#[^\r\n]*")

_OPENING = {"LPAR": ")", "LSQB": "]"}
_CLOSING = {"RPAR": "(", "RSQB": "["}
_OPERAND_START = frozenset(["NAME", "NUMBER", "LSQB"])
_OPERAND_END = frozenset(["NAME", "NUMBER", "RSQB"])

_MAIN = "the constrint dialect has brackets that group"
_CHARACTER_HINTS = {
    "/": "there is no division: multiply the other side, as in a == b * c",
    "&": "'and' is written ;",
    "!": "there is no 'not'; 'differs from' is written !=",
    "~": "there is no 'not'; 'differs from' is written !=",
    "=": "an equation is written ==",
    "{": "allowed values are a list: x == [16, 32]",
    ".": "numbers are integers; a range is written 1 <= x <= 8",
    ":": "constraints have no names here, and nothing is declared",
    "\\": "lines need nothing to join them: a constraint ends with ';'",
}
_WORD_HINTS = {
    "and": "'and' is written ;",
    "or": "'or' is written |",
    "in": "allowed values are a list: x == [16, 32]",
    "divides": "write x % d == 0",
}


class _BracketError(Exception):
    """A bracket without a partner."""

    def __init__(self, token: Token, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.token, self.message, self.hint = token, message, hint


class _StripBrackets:
    """Drops round brackets, and ends a constraint where a line starts with an operand after a complete one.

    All tokens are read before the first is passed on: a bracket error is reported before any other, because a
    bracket that is never closed may have caused it.
    """

    always_accept = ("LPAR", "RPAR")

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        kept: list[Token] = []
        stack: list[Token] = []
        outside = False  # since the last kept token, or at it, no bracket was open
        for token in stream:
            kind = token.type
            if kind in _OPERAND_START:
                if outside and kept[-1].type in _OPERAND_END and token.line != kept[-1].end_line:
                    kept.append(type(token).new_borrow_pos("_SEP", ";", kept[-1]))
                if kind == "LSQB":
                    stack.append(token)
                kept.append(token)
                outside = not stack
            elif kind == "LPAR":
                stack.append(token)
            elif kind in _CLOSING:
                opening = _close(stack, token)
                if kind == "RSQB":
                    kept.append(token)
                elif not kept or (kept[-1].start_pos or 0) < (opening.start_pos or 0):
                    hint = "there are no functions; leave them out"
                    raise _BracketError(opening, "these brackets are empty", hint)
                outside = outside or not stack
            else:
                kept.append(token)
                outside = not stack
        if stack:
            hint = f"write {_OPENING[stack[-1].type]!r}"
            raise _BracketError(stack[-1], f"{stack[-1].value!r} is never closed", hint)
        return iter(kept)


def _close(stack: list[Token], token: Token) -> Token:
    """The opening bracket of a closing one, removed from the stack."""
    if not stack:
        hint = f"write a {_CLOSING[token.type]!r} before it or remove it"
        raise _BracketError(token, f"{token.value!r} closes nothing", hint)
    opening = stack.pop()
    if _OPENING[opening.type] != token.value:
        raise _BracketError(token, f"{token.value!r} does not match {opening.value!r} on line {opening.line}")
    return opening


def parse(source: Source, code: str) -> Iterator[tuple[int, Node | Plain]]:
    """The constraints of a text, each with the place from which its tokens are counted.

    Args:
        source: The text.
        code: The text with comments replaced by blanks.
    """
    pieces = _pieces(code)
    if pieces is None:  # brackets across ';', or a mistake that is explained from the whole text
        return iter([(0, tree) for tree in _parse(source).children])
    return iter(pieces)


def _pieces(code: str) -> list[tuple[int, Node | Plain]] | None:
    """The constraints between one ';' and the next; None if one of them cannot be parsed by itself."""
    from lark.exceptions import LarkError

    found: list[tuple[int, Node | Plain]] = []
    begin = 0
    try:
        for piece in code.split(";"):
            one = plain(piece, begin)
            if one is not None:
                found.append((begin, one))
            elif not piece.isspace():
                found += [(begin, tree) for tree in trees(piece)]
            begin += len(piece) + 1
    except (_BracketError, LarkError):
        return None
    return found


def trees(piece: str) -> list[Node]:
    """The trees of a piece of text that can be parsed by itself."""
    return _parser().parse(piece).children


def _parser() -> Lark:
    return parser_of("text/flashrnn", _StripBrackets, positions=False)


def _parse(source: Source) -> Tree[Token]:
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    try:
        return _parser().parse(source.text)
    except _BracketError as error:
        line, column = error.token.line or 1, error.token.column or 1
        raise source.error(line, column, error.message, error.hint) from None
    except UnexpectedCharacters as error:
        raise _explain_character(source, error) from None
    except UnexpectedToken as error:
        raise _explain_token(source, error) from None


def _explain_character(source: Source, error: UnexpectedCharacters) -> ParseError:
    character = source.text[error.pos_in_stream or 0]
    hint = _CHARACTER_HINTS.get(character, "names are letters, digits and _; comments begin with #")
    return source.error(error.line, error.column, f"unexpected character {character!r}", hint)


def _explain_token(source: Source, error: UnexpectedToken) -> ParseError:
    """The error for a token that the grammar does not allow here."""
    token = error.token
    tokens = list(_parser().lex(source.text))
    if token.type == "$END":
        last = tokens[-1]
        line, column, before = last.end_line or 1, last.end_column or 1, tokens
    else:
        line, column = token.line or 1, token.column or 1
        before = [other for other in tokens if (other.start_pos or 0) < (token.start_pos or 0)]
    return source.error(line, column, *_describe(source, token, before))


def _describe(source: Source, token: Token, before: list[Token]) -> tuple[str, str]:
    """Message and hint; `before` are the tokens before the wrong one."""
    last = before[-1] if before else None
    if last is not None and last.type in _OPERAND_END:
        if token.type in _OPERAND_START:
            return _missing_operator(source, token, last)
        if token.type == "_POWER":
            return "powers in a row can be read in two ways", "name the inner one: t == y ^ z; x ^ t <= 64"
        if token.type == "_REMAINDER":
            return "remainders in a row can be read in two ways", f"{_MAIN}: (a % b) % c"
        return f"'{token}' cannot stand here", "a constraint ends with ';'"
    if token.type in ("$END", "_SEP"):
        return "the constraint ends too early", f"an operand is missing after '{last}'"
    message = f"an operand is missing before '{token}'"
    if last is not None and last == token == "*":
        return message, "a power is written ^"
    if last is not None and last == token == "|":
        return message, "'or' is written |"
    if token.type == "PLUS_MINUS":
        return message, "there are no signs: names are positive, and -3 is written 0 - 3"
    return message, ""


def _missing_operator(source: Source, token: Token, last: Token) -> tuple[str, str]:
    message = f"an operator is missing between '{last}' and '{token}'"
    between = source.text[last.end_pos : token.start_pos]
    if word := _WORD_HINTS.get(token.value) or _WORD_HINTS.get(last.value):
        return message, word
    if last.type == "NAME" and between.strip() == "(":
        return message, f"there are no functions; a product is written {last} * {token}"
    if token.type == "LSQB":
        return message, "allowed values are a list after ==: x == [16, 32]"
    return message, f"a product is written {last} * {token}; a constraint ends with ';'"
