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

from constrint.errors import ParseError
from constrint.expr.position import Source as Source
from constrint.expr.written import KEYWORDS
from constrint.frontends.nodes import Node
from constrint.frontends.parse_tables import SEPARATOR, Shape
from constrint.frontends.parsers import parser_of, tables_of
from constrint.settings import of_new_models
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

_CHARACTER_HINTS = {
    "&": "write 'and', or of the bits of numbers bit_and(a, b)",
    "|": "write 'or', or of the bits of numbers bit_or(a, b); of divisors 'divides'",
    "~": "write 'not', or of the bits of a number -x - 1",
    "!": "write 'not', or != for 'differs from'",
    "^": "a power is written **, one or the other of the bits of numbers bit_xor(a, b)",
    ".": "numbers are integers; a range is written 1..8",
    '"': "there are no strings; an unusual name is written in backquotes: `x[0]`",
    "'": "there are no strings; an unusual name is written in backquotes: `x[0]`",
    "`": "a quoted name begins and ends with a backquote on the same line: `x[0]`",
    "\\": "a backslash joins two lines only as the last character of a line",
    "?": "write 'cond -> a == 1' and 'not cond -> a == 2' as two constraints",
}


_MINIZINC_HINTS = {
    "var": "if this is MiniZinc: a variable is declared x in 0..9 here",
    "array": "if this is MiniZinc: an array is declared x[1..3] in 0..9, or name[1..3] := [1, 2, 3]",
    "set": "if this is MiniZinc: a set is named, items := 1..9",
    "constraint": "if this is MiniZinc: a constraint stands by itself here, x >= 3",
    "solve": "if this is MiniZinc: write minimize x, or maximize x, alone",
    "forall": "a loop is written forall(x[i] >= i for i in 1..9)",
    "exists": "a loop is written exists(x[i] >= i for i in 1..9)",
    "output": "if this is MiniZinc: all variables are shown; there is no output item",
    "include": "if this is MiniZinc: constraints are there without an include item",
}
"""By the word that begins a statement which cannot be read."""


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
        raise _explained(source, mistake)
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


def _explained(source: Source, line: int) -> ParseError:
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
    return source.error(line, column, message, _MINIZINC_HINTS.get(_first_word(before), hint))


def _first_word(before: list[Token]) -> str:
    """Of the statement that these tokens end with."""
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
