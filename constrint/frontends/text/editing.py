"""Analyses of a text for editors: mistakes, meanings of names, places of their declarations.

A text with mistakes is read as far as it goes: each statement by itself, without those that are wrong. A name
that a wrong statement declares is not reported again where it is used.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from constrint.errors import ConstrintError, ParseError, Position
from constrint.expr import BoolVar, Const, IntExpr, IntVar
from constrint.expr.domain import Domain
from constrint.expr.position import Source, Span
from constrint.expr.written import KEYWORDS, write_expression, write_set
from constrint.frontends.constants import as_token, as_tree, name_of, subtrees
from constrint.frontends.text.calls import AGGREGATES, CALLED
from constrint.frontends.text.data import ENDINGS, read_data
from constrint.frontends.text.declared_names import declared_by
from constrint.frontends.text.global_calls import NAMES
from constrint.frontends.text.includes import Folders
from constrint.frontends.text.meanings import Array, EnumerationType, Items, Number, Template, Value, kind_of
from constrint.frontends.text.parameters import GivenNames
from constrint.frontends.text.syntax import Statement, statements
from constrint.frontends.text.text import TextReader
from constrint.globals import GLOBALS
from constrint.support.limits import Budget, LimitExceeded, recursion_room

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]

_WORD = re.compile(r"`[^`]*+`|[^\W\d]\w*+")
_PLACE = re.compile(r":(\d+):(\d+)$")
_UNKNOWN = re.compile(r"'([^']*)' is not declared|there is no function '([^']*)'")
LONGEST_SHOWN = 200
"""The most characters of a definition that are shown."""


class Mistake(NamedTuple):
    """A mistake in a text.

    Attributes:
        line: Its line, from 1.
        column: Its column, from 1.
        message: What is wrong, and what to write instead.
        is_open: Whether the text only lacks the value of a parameter, which may come with its data.
    """

    line: int
    column: int
    message: str
    is_open: bool = False


class Survey:
    """A text as far as it can be read.

    Args:
        text: The text.
        filename: Its path, or another name.
        budget: The limits of reading.

    Attributes:
        mistakes: Its mistakes, in order.
    """

    def __init__(self, text: str, filename: str, budget: Budget) -> None:
        self.mistakes: list[Mistake] = []
        self._source = Source(text.removeprefix("\ufeff"), filename)
        self._statements: list[Statement] = []
        self._lines: list[int] = []  # of the statements
        self._failed: set[str] = set()
        folders = Folders(filename if Path(filename).parent.is_dir() else None)
        self._reader = TextReader(self._source, self._given(filename, budget), budget, folders)
        try:
            with recursion_room(budget.frames):
                self._read(budget)
        except ParseError as error:
            self._note(error, 1)
        except ConstrintError as error:
            self._note_limit(error, 1)
        except RecursionError:
            self.mistakes.append(Mistake(self._reader.line, 1, "this statement is nested too deeply"))

    def _given(self, filename: str, budget: Budget) -> GivenNames:
        """The values of a data file that is named as the text, if there is one."""
        beside = [Path(filename).with_suffix(ending) for ending in ENDINGS if ending != ".csv"]
        try:
            return read_data([path for path in beside if path.is_file()][:1], None, budget)
        except (ConstrintError, ValueError, OSError):
            return GivenNames()

    def _read(self, budget: Budget) -> None:
        self._statements = statements(self._source, budget)
        self._lines = [statement.line for statement in self._statements]
        reader = self._reader
        reader.expect(self._statements)
        for statement in self._statements:
            try:
                reader.read_statement(statement)
            except ParseError as error:
                self._failed.update(declared_by(statement))
                reader.recover(self._source)
                unknown = _UNKNOWN.match(error.message)
                if unknown is None or not {unknown[1], f"{unknown[2]}("} & self._failed:
                    self._note(error, statement.line)
            except LimitExceeded as error:
                reader.recover(self._source)
                self._failed.update(declared_by(statement))
                self._note_limit(error, statement.line)

    def _note(self, error: ParseError, line: int) -> None:
        message = f"{error.message}\n{error.hint}" if error.hint else error.message
        if error.filename != self._source.filename:
            self.mistakes.append(Mistake(line, 1, f"{error.filename}:{error.line}:{error.column}: {message}"))
            return
        is_open = error.message.startswith(("parameter '", "enumeration '"))
        self.mistakes.append(Mistake(error.line, error.column, message, is_open))

    def _note_limit(self, error: ConstrintError, line: int) -> None:
        place = _PLACE.search(error.where) if isinstance(error, LimitExceeded) else None
        line, column = (int(place[1]), int(place[2])) if place else (line, 1)
        self.mistakes.append(Mistake(line, column, str(error)))

    # ------------------------------------------------------------ names

    def word_at(self, line: int, column: int) -> tuple[str, int, int] | None:
        """The name at a place, its first column, and the one after its last; None between names."""
        for found in _WORD.finditer(self._source.line(line).partition("#")[0]):
            if found.start() < column <= found.end() + 1:
                return found[0].strip("`"), found.start() + 1, found.end() + 1
        return None

    def definition(self, line: int, column: int) -> Position | None:
        """Where the name at a place is declared."""
        word = self.word_at(line, column)
        if word is None:
            return None
        local = self._local(word[0], line, word[1])
        if local is not None:
            begin = local.meta.start_pos
            found = re.compile(rf"`?{re.escape(word[0])}\b").search(self._source.text, begin)
            start = begin if found is None else found.start()
            return Span(self._source, start, start + len(word[0])).resolve()
        place = self._reader.places.get(word[0])
        return None if place is None else place.resolve()

    def hover(self, line: int, column: int) -> str | None:
        """The meaning of the name or word at a place, in Markdown."""
        word = self.word_at(line, column)
        if word is None:
            return None
        name = word[0]
        local = self._local(name, line, word[1])
        if local is not None:
            return _code(self._text_of(local))
        value = self._reader.names.get(name)
        if value is not None:
            return _code(described(name, value))
        return _of_the_language(name)

    def _text_of(self, binding: Node) -> str:
        """The text of a generator, or of the head of a function or array."""
        return self._source.text[binding.meta.start_pos : binding.meta.end_pos]

    def _at(self, line: int) -> list[Statement]:
        """The statements that may reach a line: those that begin last before its end."""
        end = bisect_right(self._lines, line)
        return self._statements[bisect_left(self._lines, self._lines[end - 1]) : end] if end else []

    def _local(self, name: str, line: int, column: int) -> Node | None:
        """The generator, or the head of a function or array, that binds a name at a place."""
        offset = self._source.lines[line - 1] + column - 1
        found = None
        for statement in self._at(line):
            for tree in _inside(statement.tree):
                if tree.data not in ("comprehension", "template", "let_array", "chain"):
                    continue
                meta = tree.meta
                if meta.start_pos <= offset < meta.end_pos:
                    for one in _bindings(tree):
                        if name in _bound(one):
                            found = one
                            break
        return found

    def completions(self) -> Iterator[tuple[str, str]]:
        """The words that may be written, with their kinds: names, functions and keywords."""
        for name, value in self._reader.names.items():
            yield name, "function" if isinstance(value, Template) else "name"
        for name in (*AGGREGATES, *CALLED, *NAMES):
            yield name, "function"
        for word in sorted(KEYWORDS):
            yield word, "keyword"


def described(name: str, value: Value) -> str:
    """A declaration of a name in the language."""
    if isinstance(value, BoolVar):
        return f"{name} bool"
    if isinstance(value, IntVar):
        return f"{name} in {write_set(value.domain)}"
    if isinstance(value, Array):
        head = f"{name}[{', '.join(map(str, value.axes))}]"
        domains = {_domain_of(entry) for entry in value.entries}
        if len(domains) == 1 and None not in domains:
            return head + described("", value.entries[0])
        return f"{head} := {_short(value.entries)}"
    if isinstance(value, Template):
        meta = value.body.meta
        body = value.source.text[meta.start_pos : meta.end_pos]
        return f"{name}({', '.join(value.parameters)}) := {_cut(body)}"
    if isinstance(value, EnumerationType):
        return f"enum {name} := {{{_cut(', '.join(value.labels))}}}"
    if isinstance(value, tuple):
        return f"{name} := {_short(tuple(map(Const, value[:50])))}"
    if isinstance(value, Items):
        return f"{name} is {kind_of(value)} of {len(value.items)}"
    if isinstance(value, IntExpr):
        return f"{name} := {_written(value)}"
    return f"{name} := {value}"


def _domain_of(entry: Number) -> Domain | bool | None:
    """The domain of a variable, True for a condition; None for another expression."""
    return True if isinstance(entry, BoolVar) else entry.domain if isinstance(entry, IntVar) else None


def _written(expr: Number) -> str:
    try:
        return _cut(write_expression(expr) if isinstance(expr, IntExpr) else str(expr))
    except (ConstrintError, RecursionError):
        return "…"


def _short(entries: tuple[Number, ...]) -> str:
    shown = ", ".join(map(_written, entries[:8]))
    return f"[{_cut(shown)}{', …' if len(entries) > 8 else ''}]"


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + " …"


def _code(text: str) -> str:
    return f"```constrint\n{text}\n```"


def _of_the_language(name: str) -> str | None:
    """The description of a function of the language."""
    if name in AGGREGATES:
        return f"{_code(f'{name}(… for i in …)')}\n{AGGREGATES[name].meaning}"
    if name in GLOBALS:
        fields = ", ".join(field.name for field in GLOBALS[name].fields)
        return f"{_code(f'{name}({fields})')}\nA global constraint."
    if name in CALLED:
        return f"{_code(f'{name}(…)')}\n{(CALLED[name].__doc__ or '').strip().partition(chr(10))[0]}"
    return None


def _inside(tree: Node) -> list[Node]:
    """A tree and those in it, outer ones first."""
    found, stack = [], [tree]
    while stack:
        one = stack.pop()
        found.append(one)
        stack += subtrees(one)
    return found


def _bindings(tree: Node) -> list[Node]:
    """The parts of a tree that bind names: generators, the head of a function, indices of an array."""
    if tree.data == "comprehension":
        return [child for child in subtrees(tree) if child.data == "generator"]
    head = as_tree(tree.children[0])
    if tree.data == "template":
        return subtrees(head)[1:]
    if head.data != "index":
        return []
    return [child for child in subtrees(head)[1:] if child.data == "chain"]


def _bound(binding: Node) -> list[str]:
    """The names that a generator, a parameter or an index binds."""
    if binding.data == "name":
        return [name_of(binding)]
    names: list[str] = []
    for child in binding.children:
        if not hasattr(child, "data"):
            return names if as_token(child).type == "IN" else []
        if as_tree(child).data != "name":
            return []
        names.append(name_of(child))
    return names
