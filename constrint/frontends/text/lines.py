"""Long texts, statement by statement: simple ones are read at once, the others by lark.

A statement that ends where its line or a ';' ends, and is of one of three plain forms, needs no parser: a
declaration with bounds or listed values, a comparison of sums of products of names and numbers, and a
definition or condition of names, numbers, operators and round brackets (`descent`). What stands between two
of them is a chunk, which lark parses. The rules here only say what is surely plain; all
else, and every mistake, is left to lark, so that there is one grammar and one set of messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from constrint.expr.written import KEYWORDS
from constrint.frontends.text.pieces import LONGEST_SIMPLE, Chunk, Compared, Declared, Piece, Worded

_BLANK = r"[ \t\f]*+"
_NAME = rf"(?!(?:{'|'.join(sorted(KEYWORDS))})\b)[^\W\d]\w*+"
_NUMBER = rf"(?:0|[1-9][0-9]{{0,{LONGEST_SIMPLE - 1}}}+)(?!\w)"
_SIGNED = rf"-?{_BLANK}{_NUMBER}"
_ATOM = rf"(?:{_NAME}|{_NUMBER}){_BLANK}"
_SIDE = rf"(?:-{_BLANK})?+{_ATOM}(?:(?:\*(?!\*)|\+|-(?!>)){_BLANK}{_ATOM})*+"
_COMPARISON = re.compile(rf"{_BLANK}{_SIDE}(?:(?:<=|>=|==|!=|<(?!->)|>){_BLANK}{_SIDE})++")
_DECLARATION = re.compile(
    rf"{_BLANK}(?P<names>{_NAME}{_BLANK}(?:,{_BLANK}{_NAME}{_BLANK})*+)"
    rf"(?:in\b{_BLANK}(?:(?P<lo>{_SIGNED}){_BLANK}\.\.{_BLANK}(?P<hi>{_SIGNED}){_BLANK}"
    rf"(?:step\b{_BLANK}(?P<step>[1-9][0-9]{{0,9}}+)(?!\w){_BLANK})?+"
    rf"|\{{{_BLANK}(?P<values>{_SIGNED}{_BLANK}(?:,{_BLANK}{_SIGNED}{_BLANK})*+)\}}{_BLANK})|bool\b{_BLANK})"
)
_WORDED = re.compile(r"[A-Za-z0-9_ \t\f()+\-*/%<>=!,:]++")
_CALLABLE = re.compile(_NAME)
_OPERAND = re.compile(rf"{_NAME}|{_NUMBER}|true|false")
TOKEN = re.compile(r"<->|->|\*\*|//|[<>=!]=|\w++|\S")
"""A token of a plain expression."""
_JOINING = frozenset(["and", "or", "->", "<->"])
_BINARY = frozenset(["+", "-", "*", "//", "%", "**", "==", "!=", "<=", ">=", "<", ">", "divides", *_JOINING])
_HEAD = re.compile(rf"{_BLANK}(?P<name>{_NAME}){_BLANK}(?P<mark>:=?+)")
_BRACKET = re.compile(r"#.*+|`[^`]*+`|\"[^\"]*+\"|[\[\](){}]|\\\s*+$")
LONGEST_CHUNK = 20_000  # characters of statements that are parsed together, if one alone is not longer


def pieces(text: str) -> Iterator[Piece]:
    """The parts of a text, in order."""
    place, depth, is_joined = 0, 0, False
    chunk: tuple[int, int] | None = None  # where it begins, and its line
    for number, line in enumerate(text.split("\n"), 1):
        begin, place = place, place + len(line) + 1
        rest = begin
        if depth == 0 and not is_joined:
            bare = line[:-1] if place <= len(text) and line.endswith("\r") else line
            simple, rest = _simple(bare, begin, number)
            if chunk is not None and (simple or place - chunk[0] > LONGEST_CHUNK):
                yield Chunk(*chunk, text[chunk[0] : begin])
                chunk = None
            yield from simple
            if rest == begin + len(bare):
                continue
        if chunk is None:
            chunk = rest, number
        depth, is_joined = _open_after(line[rest - begin :], depth)
    if chunk is not None:
        yield Chunk(*chunk, text[chunk[0] :])


def _simple(line: str, begin: int, number: int) -> tuple[list[Piece], int]:
    """The simple statements that a line begins with, and where those end in the text."""
    if "\r" in line or ("#" in line and ("`" in line or '"' in line)):
        return [], begin
    code = line.partition("#")[0]
    found: list[Piece] = []
    place = begin
    for part in code.split(";"):
        if part and not part.isspace():
            one = _statement(part, place, number)
            if one is None:
                return found, place
            found.append(one)
        elif part.strip(" \t\f"):
            return found, place
        place += len(part) + 1
    return found, begin + len(line)


def _statement(part: str, place: int, number: int) -> Piece | None:
    start, end = place + len(part) - len(part.lstrip()), place + len(part.rstrip())
    declared = _DECLARATION.fullmatch(part)
    if declared is not None:
        names, lo, hi, step, values = declared.groups()
        if values is not None:
            listed = [int(value.translate(_NO_BLANKS)) for value in values.split(",")]
            return Declared(start, number, end, names.split(","), None, None, 1, listed)
        if lo is None:
            return Declared(start, number, end, names.split(","), None, None, 1, None)
        bounds = int(lo.translate(_NO_BLANKS)), int(hi.translate(_NO_BLANKS))
        return Declared(start, number, end, names.split(","), *bounds, int(step or 1), None)
    if _COMPARISON.fullmatch(part):
        return Compared(start, number, end, TOKEN.findall(part))
    return _worded(part.strip(), start, number, end) if _WORDED.fullmatch(part) else None


def _worded(text: str, begin: int, number: int, end: int) -> Worded | None:
    head = _HEAD.match(text)
    start = 0 if head is None else head.end()
    if not is_expression(TOKEN.findall(text, start)):
        return None
    if head is None:
        return Worded(begin, number, end, text, None, False, 0)
    return Worded(begin, number, end, text, head["name"], head["mark"] == ":=", start)


def is_expression(tokens: list[str]) -> bool:
    """Whether operands and operators stand as the grammar has them; what is not surely so is for lark."""
    calls: list[bool] = []  # of each open bracket, whether it is that of a call
    wants_operand, may_negate, last = True, True, ""
    for token in tokens:
        if wants_operand:
            if token == "(":
                calls.append(False)
                may_negate = True
            elif token in ("+", "-"):
                may_negate = False
            elif token == "not":
                if not may_negate:
                    return False
            elif _OPERAND.fullmatch(token) or (token == ")" and last in ("(", ",") and calls and calls.pop()):
                wants_operand = False  # or a call without operands, or with a comma after the last
            else:
                return False
        elif token in _BINARY:
            wants_operand, may_negate = True, token in _JOINING
        elif token == "(" and _CALLABLE.fullmatch(last):
            calls.append(True)
            wants_operand = may_negate = True
        elif token == "," and calls and calls[-1]:
            wants_operand = may_negate = True
        elif token == ")" and calls:
            calls.pop()
        else:
            return False
        last = token
    return not calls and not wants_operand


_NO_BLANKS = str.maketrans("", "", " \t\f")


def _open_after(code: str, depth: int) -> tuple[int, bool]:
    """How many brackets are open after a line, and whether a backslash joins it to the next."""
    is_joined = False
    for found in _BRACKET.finditer(code):
        mark = found[0][0]
        if mark in "[({":
            depth += 1
        elif mark in "])}":
            depth = max(0, depth - 1)
        else:
            is_joined = mark == "\\"
    return depth, is_joined
