"""The formatter behind `constrint fmt`: one spacing for every `.constrint` file, comments kept.

It works on tokens, not on the tree, so nothing but blanks, empty statements and blank lines can change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from constrint.frontends.text.syntax import (
    CLOSING,
    OPENING,
    OPERAND_END,
    OPERAND_START,
    Source,
    statements,
    tokens,
)
from constrint.support.limits import Budget

if TYPE_CHECKING:
    from lark import Token

_INDENT = "    "


def format_text(text: str, *, filename: str = "<text>", budget: Budget | None = None) -> str:
    """The text with uniform spacing.

    Raises:
        ParseError: The text is not valid; nothing is formatted.
    """
    budget = budget or Budget()
    source = Source(text.removeprefix("\ufeff"), filename)
    statements(source, budget)
    layout = _Layout()
    for token in tokens(source, budget):
        layout.add(token)
    return layout.finish()


class _Layout:
    """Takes tokens in order and writes lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.line = ""
        self.last: Token | None = None  # the last token on the current line, comments included
        self.previous: Token | None = None  # the last token that was not a comment
        self.row = 1  # start of the current line; for a token over several lines, its end
        self.depth = 0
        self.unary = False  # the previous token was a sign, not a binary operator
        self.semicolon = False  # a ';' that is written only before a following statement

    def add(self, token: Token) -> None:
        if token.type == "_SEP":
            self.semicolon = token.value == ";" or (self.semicolon and token.line == self.row)
            self.previous = None
            return
        row = token.line or 1
        if row > self.row or (self.last is None and not self.line):
            self._break_line(token, row)
        elif token.type == "COMMENT":
            self.line += "  "
        elif self.semicolon and self.line:
            self.line += "; "
        elif self.previous is not None:
            self.line += self._space(self.previous, token)
        self.semicolon = False
        self.line += _comment(token.value) if token.type == "COMMENT" else token.value
        self._advance(token)

    def _advance(self, token: Token) -> None:
        self.last = token
        self.row = token.end_line or self.row
        if token.type == "COMMENT":
            return
        if token.type in OPENING:
            self.depth += 1
        elif token.type in CLOSING:
            self.depth -= 1
        self.unary = token.type == "PLUS_MINUS" and not _ends_operand(self.previous)
        self.previous = token

    def _break_line(self, token: Token, row: int) -> None:
        if self.line:
            # A statement that continues outside brackets was joined by a backslash.
            joined = self.previous is not None and self.depth == 0 and token.type != "COMMENT"
            self.lines.append(self.line + (" \\" if joined else ""))
            if row > self.row + 1 and not joined and self.depth == 0:
                self.lines.append("")
        depth = self.depth - (token.type in CLOSING)
        continued = self.previous is not None and self.depth == 0 and token.type != "COMMENT"
        self.line = _INDENT * (depth + continued)

    def _space(self, before: Token, token: Token) -> str:
        if before.type in OPENING or token.type in CLOSING or token.value in (",", ":") or self.unary:
            return ""
        if token.type == "DOTS":
            return "" if _ends_operand(before) else " "
        if before.type == "DOTS":
            return "" if token.type in OPERAND_START or token.type == "PLUS_MINUS" else " "
        if token.type in ("LPAR", "LSQB") and _ends_operand(before):
            return ""
        return " "

    def finish(self) -> str:
        if self.line:
            self.lines.append(self.line)
        return "\n".join(self.lines) + "\n" if self.lines else ""


def _ends_operand(token: Token | None) -> bool:
    return token is not None and token.type in OPERAND_END


def _comment(text: str) -> str:
    text = text.rstrip()
    return text if text[1:2] in ("", " ", "#", "!") else f"# {text[1:]}"
