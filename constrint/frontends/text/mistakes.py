"""Mistakes of grammar in a text: the place, what is wrong, and what to write instead."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from constrint.errors import ParseError
from constrint.expr.position import Source
from constrint.expr.written import KEYWORDS
from constrint.frontends.parse_tables import SEPARATOR
from constrint.frontends.text import hints
from constrint.frontends.text.syntax import CLOSING, OPENING, OPERAND_END, OPERAND_START, parser

if TYPE_CHECKING:
    from lark import Token
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken


def explained(source: Source, line: int) -> ParseError:
    """The mistake in the statement that begins in a line, by lark."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedInput

    # Statements before it need not be parsed again; those in its line are right.
    only = Source("\n" * (line - 1) + source.text[source.lines[line - 1] :], source.filename)
    try:
        parser().parse(only.text)
    except UnexpectedCharacters as error:
        return _explain_character(only, error)
    except UnexpectedInput as error:
        return _explain_token(only, error)
    raise AssertionError(f"{source.filename}:{line}: lark finds no mistake here")


def _explain_character(source: Source, error: UnexpectedCharacters) -> ParseError:
    start = error.pos_in_stream or 0
    character = source.text[start]
    unknown = hints.CHARACTERS.get(character, "names are letters, digits and _; comments begin with #")
    pairs = [source.text[k : k + 2] for k in (start, start - 1) if k >= 0]
    hint = next((hints.PAIRS[pair] for pair in pairs if pair in hints.PAIRS), unknown)
    if character == "=":
        line = source.text.rfind("\n", 0, start) + 1
        first = re.match(r"\s*(\w*)", source.text[line:start])
        hint = hints.FIRST_WORDS.get(first[1] if first else "", hint)
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
    begun = _first_word([*before, token])
    return source.error(line, column, message, hints.FIRST_WORDS.get(begun, hint))


def _first_word(before: list[Token]) -> str:
    """The first word of the statement with which these tokens end."""
    begin = max((k + 1 for k, token in enumerate(before) if token.type == SEPARATOR), default=0)
    return before[begin].value if begin < len(before) else ""


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
        return "unexpected character '\"'", hints.CHARACTERS['"']
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
        pair = f"{last or ''}{token}"
        return f"an operand is missing before '{token}'", hints.PAIRS.get(pair, "")
    if token.value == ":" or (token.value == "," and bracket and _stands_behind_in(bracket, before)):
        hint = "a range is written x in 0..3, a set x in {0, 3}"
        return f"'{token}' cannot stand here", hint
    if token.value == "," and bracket is None:
        return (
            f"'{token}' cannot stand here",
            "write one statement for each, on lines of their own or after ';'",
        )
    if token.value == "," and any(one.value == "for" for one in before[-60:]):
        hint = "each generator has its own 'for': … for i in 1..3 for j in 1..3"
        return f"'{token}' cannot stand here", hint
    return f"'{token}' cannot stand here", "a constraint ends at a newline or ';'"


def _stands_behind_in(bracket: Token, before: list[Token]) -> bool:
    place = before.index(bracket)
    return place > 0 and before[place - 1].type == "IN"


def _missing_operator(token: Token, last: Token, bracket: Token | None) -> tuple[str, str]:
    message = f"an operator is missing between '{last}' and '{token}'"
    if bracket is not None and (bracket.line or 0) < (token.line or 0):
        return message, f"or is {bracket.value!r} on line {bracket.line} never closed?"
    if last.type == "RPAR" and token.type == "LPAR":
        return message, "a loop stands inside the brackets: sum(x[i] for i in 1..9)"
    if token.value in hints.WORDS:
        return message, hints.WORDS[token.value]
    from difflib import get_close_matches

    near = get_close_matches(last.value, KEYWORDS, n=1, cutoff=0.8)
    if last.value in ("max", "min"):
        return message, f"did you mean '{last}imize', or {last}(x, y)?"
    if last.type == "NAME" and near:
        return message, f"did you mean '{near[0]}'?"
    if last.type == "NUMBER" and token.value[:1] in "eE" and token.value[1:].isdigit():
        return message, f"write a power: {last} * 10 ** {token.value[1:]}"
    if last.type in ("NUMBER", "NAME") and token.type in ("NAME", "LPAR"):
        return message, f"a product is written {last} * {token.value}; a constraint ends at a newline or ';'"
    return message, "a constraint ends at a newline or ';'"
