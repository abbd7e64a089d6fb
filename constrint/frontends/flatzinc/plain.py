"""Statements of FlatZinc in their usual form, one on each line, read without the grammar.

Most of a text are constraints over names, decimal numbers and arrays of these, and declarations. A regular
expression for each tells whether a line is one of them. The lines between are read by the grammar, which has
to find complete statements there: otherwise a line might be part of a longer statement or of a comment, and
the whole text is left to the grammar. So the grammar alone says what FlatZinc is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from constrint.expr.domain import Domain
from constrint.frontends.flatzinc.items import Call, Declaration, Document, Item, Name, Value
from constrint.support.limits import LimitExceeded

_NAME = r"[A-Za-z_]\w*+"
_NUMBER = r"-?(?:0|[1-9]\d{0,17}+)"  # longer ones are counted by the grammar's reader
_ENTRY = rf"(?:{_NAME}|{_NUMBER})"
_ARRAY = rf"\[\s*+(?:{_ENTRY}\s*+(?:,\s*+{_ENTRY}\s*+)*+)?+\]"
_RANGE = rf"{_NUMBER}\s*+\.\.\s*+{_NUMBER}"
_VALUE = rf"(?:{_ARRAY}|{_RANGE}|{_ENTRY})"
_NOTE = rf"::\s*+{_NAME}\s*+(?:\(\s*+{_ENTRY}\s*+\))?+\s*+"
_CONSTRAINT = re.compile(
    rf"\s*+constraint\s++({_NAME})\s*+\(\s*+({_VALUE}\s*+(?:,\s*+{_VALUE}\s*+)*+)\)\s*+((?:{_NOTE})*+);\s*+",
    re.ASCII,
)
_VARIABLE = re.compile(
    rf"\s*+var\s++(bool|int|{_RANGE})\s*+:\s*+({_NAME})\s*+((?:{_NOTE})*+)(?:=\s*+({_ENTRY})\s*+)?+;\s*+",
    re.ASCII,
)
_PART = re.compile(rf"\[([^\]]*)\]|({_NUMBER})\s*\.\.\s*({_NUMBER})|({_ENTRY})", re.ASCII)
_NOTE_PART = re.compile(rf"::\s*({_NAME})\s*(?:\(\s*({_ENTRY})\s*\))?", re.ASCII)
_RESERVED = {
    *("array", "bool", "constraint", "float", "int", "maximize", "minimize", "of", "predicate"),
    *("satisfy", "set", "solve", "var"),
}


class NotPlainError(Exception):
    """A line is not in the usual form after all."""


class _Words(dict[str, "Value"]):
    """The value of each name, number and truth value, made once."""

    def __missing__(self, word: str) -> Value:
        bare = word.strip()
        if bare in _RESERVED:
            raise NotPlainError
        value: Value
        if bare[0] == "-" or bare[0].isdigit():
            value = int(bare)
        else:
            value = bare == "true" if bare in ("true", "false") else Name(bare)
        self[word] = value
        return value


class PlainLines:
    """Reads the plain lines of a text into a document.

    Args:
        document: The document.
        read_rest: Reads the lines between, given the number of the first; False where they are no complete
            statements.
    """

    def __init__(self, document: Document, read_rest: Callable[[int, str], bool]) -> None:
        self._document = document
        self._read_rest = read_rest
        self._words = _Words()

    def read(self, text: str) -> bool:
        """Read a text; False, with anything in the document, where the grammar alone is to read it."""
        rest: list[str] = []
        number = 0
        for number, line in enumerate(_lines(text), 1):
            found = self._statement(line, number)
            if found is None:
                rest.append(line)
                continue
            if rest and not self._read_rest(number - len(rest), "".join(rest)):
                return False
            rest.clear()
            if isinstance(found, Item):
                self._document.constraints.append(found)
            else:
                self._document.declare(found)
        return not rest or self._read_rest(number + 1 - len(rest), "".join(rest))

    def _statement(self, line: str, number: int) -> Item | Declaration | None:
        """The statement of a plain line; None for any other line."""
        try:
            if (found := _CONSTRAINT.fullmatch(line)) is not None:
                return self._constraint(found, number)
            if (found := _VARIABLE.fullmatch(line)) is not None:
                return self._variable(found, number)
        except NotPlainError:
            pass
        except LimitExceeded as problem:
            place = problem.where or self._document.place(number)
            raise LimitExceeded(problem.name, problem.limit, place) from None
        return None

    def _constraint(self, found: re.Match[str], number: int) -> Item:
        name, args, notes = found.groups()
        _check_name(name)
        budget, words = self._document.budget, self._words
        budget.depth(2 if "[" in args else 1, self._document.place(number))
        values: list[Value] = []
        count = 0
        for array, low, high, word in _PART.findall(args):
            if word:
                values.append(words[word])
            elif low:
                values.append(_set(int(low), int(high)))
            else:
                listed = array.split(",") if array and not array.isspace() else []
                values.append([words[one] for one in listed])
                count += len(listed)
        budget.node(count + len(values))
        return Item(name, tuple(values), self._notes(notes) if notes else (), number)

    def _variable(self, found: re.Match[str], number: int) -> Declaration:
        kind, name, notes, value = found.groups()
        _check_name(name)
        domain = None
        if kind != "bool":
            low, _, high = kind.partition("..")
            domain = Domain.of_range(int(low), int(high), 1) if high else Domain.of_range(None, None, 1)
        equal = None if value is None else self._words[value]
        self._document.budget.node(value is not None)
        annotations = self._notes(notes) if notes else ()
        return Declaration(name, domain, True, False, False, equal, annotations, number)

    def _notes(self, text: str) -> tuple[Value, ...]:
        """Annotations."""
        found = _NOTE_PART.findall(text)
        words = self._words
        self._document.budget.node(len(found) + sum(bool(word) for _, word in found))
        return tuple([_call(name, words[word]) if word else words[name] for name, word in found])


def _check_name(name: str) -> None:
    if name in _RESERVED or name in ("true", "false"):
        raise NotPlainError


def _call(name: str, argument: Value) -> Call:
    _check_name(name)
    return Call(name, (argument,))


def _set(low: int, high: int) -> Domain:
    return Domain.of_range(low, high, 1) if low <= high else Domain.of_values([])


def _lines(text: str) -> Iterator[str]:
    """The lines of a text, with their ends."""
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin) + 1 or len(text)
        yield text[begin:end]
        begin = end
