"""YAML data files: numbers, words, lists and mappings, built from PyYAML's events in one pass.

An alias stands for the value itself, which is not copied, but counts as often as it stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from constrint.errors import ModelError, ParseError, shown
from constrint.frontends.text.decimals import decimal_number
from constrint.support.limits import Budget, exceeded

if TYPE_CHECKING:
    from types import ModuleType

    from yaml.events import Event

    from constrint.expr.rational import Rational

_DECIMAL = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
MOST_LEVELS = 1_000
"""The deepest nesting that PyYAML's parser reads."""
_TAG = "tag:yaml.org,2002:"


class _Anchored(NamedTuple):
    """The value of an anchor, with its number of values and its depth."""

    value: object
    size: int
    height: int


class _Open:
    """A list or mapping whose end has not been read."""

    __slots__ = ("anchor", "height", "key", "size", "value")

    def __init__(self, value: Any, anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: str | None = None  # of a mapping: the name whose value comes next
        self.size = self.height = 1


def read_yaml(text: str, name: str, budget: Budget) -> object:
    """The document of a YAML text; aliases count as what they stand for.

    Raises:
        ParseError: The text is not YAML, or has a name twice.
        ModelError: A value is no number, word, list or mapping.
        LimitExceeded: The text exceeds a limit.
    """
    import yaml

    loader: object = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _YamlReader(yaml, name, budget).document(yaml.parse(text, Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        reason = error.problem or error.context or "it cannot be read"
        if "nesting depth" in reason:  # the bound of PyYAML's parser
            raise exceeded("depth", budget.limits.depth or MOST_LEVELS, f"{name}:{line}:{column}") from None
        raise ParseError(f"this is not YAML: {reason}", filename=name, line=line, column=column) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ModelError(f"{name}: this is not YAML: {shown(str(error), 100)}") from None


class _YamlReader:
    def __init__(self, yaml: ModuleType, name: str, budget: Budget) -> None:
        self._yaml = yaml
        self._name = name
        self._budget = budget
        self._resolver = yaml.resolver.Resolver()
        self._anchors: dict[str, _Anchored] = {}
        self._open: list[_Open] = []
        self._documents: list[object] = []

    def document(self, events: Iterator[Event]) -> object:
        """The only document; None if there is none."""
        yaml = self._yaml
        for event in events:
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._read_scalar(event)
            elif kind is yaml.SequenceStartEvent or kind is yaml.MappingStartEvent:
                self._begin(event, [] if kind is yaml.SequenceStartEvent else {})
            elif kind is yaml.SequenceEndEvent or kind is yaml.MappingEndEvent:
                self._end(event)
            elif kind is yaml.AliasEvent:
                self._place(event, self._anchored(event))
        if len(self._documents) > 1:
            raise ModelError(f"{self._name}: this is not YAML: it has more than one document")
        return self._documents[0] if self._documents else None

    def _read_scalar(self, event: Event) -> None:
        """A word or number, or the name of the next value of a mapping."""
        inside = self._open[-1] if self._open else None
        if inside is not None and type(inside.value) is dict and inside.key is None:
            self._budget.values(1, partial(self._where, event))
            word: str = event.value
            if word in inside.value:
                raise self._error(event, f"the name '{shown(word, 60)}' occurs twice")
            inside.key = word
            if event.anchor is not None:
                self._anchors[event.anchor] = _Anchored(word, 1, 0)
            return
        if event.anchor is None and type(getattr(inside, "value", None)) is list:
            assert inside is not None
            self._budget.values(1, partial(self._where, event))
            inside.size += 1
            inside.value.append(self._scalar(event))
            return
        found = _Anchored(self._scalar(event), 1, 0)
        if event.anchor is not None:
            self._anchors[event.anchor] = found
        self._place(event, found)

    def _begin(self, event: Event, value: object) -> None:
        inside = self._open[-1] if self._open else None
        if inside is not None and type(inside.value) is dict and inside.key is None:
            raise self._error(event, "a name is a word")
        if event.tag not in (None, "!", _TAG + ("seq" if type(value) is list else "map")):
            message = f"{shown(event.tag, 40)} is not a number, name, list or mapping"
            raise ModelError(f"{self._where(event)}: {message}")
        self._budget.depth(len(self._open) + 1, partial(self._where, event))
        if event.anchor is not None:
            self._anchors.pop(event.anchor, None)  # until its end, it stands for nothing
        self._open.append(_Open(value, event.anchor))

    def _end(self, event: Event) -> None:
        ended = self._open.pop()
        found = _Anchored(ended.value, ended.size, ended.height)
        if ended.anchor is not None:
            self._anchors[ended.anchor] = found
        self._budget.values(1, partial(self._where, event))
        self._put(found)

    def _place(self, event: Event, found: _Anchored) -> None:
        """Count a value, and put it where it stands."""
        inside = self._open[-1] if self._open else None
        if inside is not None and type(inside.value) is dict and inside.key is None:
            if type(found.value) is not str:
                raise self._error(event, "a name is a word")
            if found.value in inside.value:
                raise self._error(event, f"the name '{shown(found.value, 60)}' occurs twice")
            inside.key = found.value
            return
        self._budget.values(found.size, partial(self._where, event))
        self._budget.depth(len(self._open) + found.height, partial(self._where, event))
        self._put(found)

    def _put(self, found: _Anchored) -> None:
        if not self._open:
            self._documents.append(found.value)
            return
        inside = self._open[-1]
        inside.size += found.size
        inside.height = max(inside.height, 1 + found.height)
        if type(inside.value) is list:
            inside.value.append(found.value)
        else:
            inside.value[inside.key] = found.value
            inside.key = None

    def _anchored(self, event: Event) -> _Anchored:
        found = self._anchors.get(event.anchor)
        if found is None:
            message = f"the alias '{shown(event.anchor, 60)}' stands before the end of what it stands for"
            raise self._error(event, message)
        return found

    def _scalar(self, event: Event) -> int | str | bool | Rational:
        text: str = event.value
        if event.tag is None and event.implicit[0] and _DECIMAL.fullmatch(text):
            self._budget.digits(text, partial(self._where, event))
            return int(text)
        tag = event.tag
        if tag is None or tag == "!":
            tag = self._resolver.resolve(self._yaml.ScalarNode, text, event.implicit)
        if tag == _TAG + "bool":
            return text.lower() in ("yes", "true", "on")
        if tag == _TAG + "int":
            self._budget.digits(text, partial(self._where, event))
            digits = text.replace("_", "").lstrip("+-")
            if not digits.isdigit() or (digits.startswith("0") and digits != "0"):
                raise ModelError(
                    f"{self._where(event)}: write the integer {shown(text, 40)} in decimal digits"
                )
            return int(text.replace("_", ""))
        if tag == _TAG + "str":
            return text
        number = decimal_number(text, self._budget, self._where(event)) if tag == _TAG + "float" else None
        if number is None:
            raise ModelError(
                f"{self._where(event)}: {shown(text, 40)} is not a number, name, list or mapping"
            )
        return number

    def _where(self, event: Event) -> str:
        return f"{self._name}:{event.start_mark.line + 1}:{event.start_mark.column + 1}"

    def _error(self, event: Event, message: str) -> ParseError:
        mark = event.start_mark
        return ParseError(message, filename=self._name, line=mark.line + 1, column=mark.column + 1)
