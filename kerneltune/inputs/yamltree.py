"""YAML text as values with places; size, depth and alias expansion are bounded, duplicate keys refused.

PyYAML splits the text into events, with its C parser if available. Numbers, Booleans and nulls are those of
YAML 1.2: ``yes`` or a date is a string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

    from yaml.events import Event

MOST_CHARACTERS = 1 << 20  # characters in a file
MOST_LEVELS = 32  # nesting levels
TOO_DEEP, TOO_DEEP_FOR_PARSER = "nested too deep to be read", "nesting depth"
MOST_YAML_VALUES = 20_000  # values in a file; values repeated by an alias count again
LONGEST_NUMBER = 400  # digits of a number

INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
FLOAT = re.compile(
    r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
)
NULLS = frozenset(("", "~", "null", "Null", "NULL"))
TRUTHS = {word: word[0] in "tT" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
TAG = "tag:yaml.org,2002:"


class YamlError(Exception):
    """The text cannot be read; has line and column, from 1."""

    def __init__(self, line: int, column: int, what: str) -> None:
        super().__init__(what)
        self.line, self.column = line, column


@dataclass
class Tree:
    """A value and its place.

    Attributes:
        value: A Python value: dict, list, str, int, float, bool or None.
        line: Line, from 1.
        column: Column, from 1.
        keys: For a mapping, the place of each key.
        children: For a mapping or a sequence, the trees of its values.
        size: Number of values in the tree, itself included.
        start: Start in the text.
        end: End in the text.
    """

    value: Any
    line: int
    column: int
    keys: dict[Any, tuple[int, int]] = field(default_factory=dict)
    children: dict[Any, Tree] = field(default_factory=dict)
    size: int = 1
    start: int = 0
    end: int = 0


def parsed(text: str) -> Tree:
    """The single document in a text; raises `YamlError` if it is invalid or beyond the bounds."""
    import yaml

    if len(text) > MOST_CHARACTERS:
        raise YamlError(1, 1, f"longer than {MOST_CHARACTERS} characters")
    loader: object = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Reader(yaml, iter(yaml.parse(text, Loader=loader))).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        what = ", ".join(str(part) for part in (error.context, error.problem) if part)
        if (
            TOO_DEEP_FOR_PARSER in what
        ):  # its own bound, from PyYAML 6.0.4 on, is met before ours is looked at
            raise YamlError(line, column, TOO_DEEP) from None
        raise YamlError(line, column, f"not valid YAML: {what}") from None
    except yaml.reader.ReaderError as error:
        before = text[: error.position] if isinstance(error.position, int) else ""
        column = len(before) - before.rfind("\n")
        what = f"not valid YAML: {error.reason}"
        raise YamlError(before.count("\n") + 1, column, what) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise YamlError(1, 1, f"not valid YAML: {error}") from None


class _Reader:
    def __init__(self, yaml: ModuleType, events: Iterator[Event]) -> None:
        self._yaml, self._events = yaml, events
        self._anchors: dict[str, Tree | None] = {}  # None: the anchored value is not complete yet
        self._count = 0

    def document(self) -> Tree:
        found: Tree | None = None
        for event in self._events:
            if isinstance(event, self._yaml.DocumentStartEvent):
                if found is not None:
                    raise self._error(event, "a second document: one is expected")
                found = self._value(next(self._events), 1)
        return found or Tree(None, 1, 1)

    def _value(self, event: Event, depth: int) -> Tree:
        yaml = self._yaml
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        if isinstance(event, yaml.ScalarEvent):
            tree = self._tree(event, self._scalar(event))
            tree.end = event.end_mark.index
            self._counted(event, 1)
            self._anchor(event, tree)
            return tree
        if depth > MOST_LEVELS:
            raise self._error(event, TOO_DEEP)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._counted(event, 1)
        mapping = isinstance(event, yaml.MappingStartEvent)
        wanted = "map" if mapping else "seq"
        if event.tag not in (None, "!", TAG + wanted):
            raise self._error(event, f"not valid YAML: unknown tag {event.tag}")
        tree = self._tree(event, {} if mapping else [])
        (self._fill_mapping if mapping else self._fill_sequence)(tree, depth)
        tree.size += sum(child.size for child in tree.children.values())
        self._anchor(event, tree)
        return tree

    def _fill_sequence(self, tree: Tree, depth: int) -> None:
        while not isinstance(event := next(self._events), self._yaml.SequenceEndEvent):
            child = self._value(event, depth + 1)
            tree.children[len(tree.value)] = child
            tree.value.append(child.value)

    def _fill_mapping(self, tree: Tree, depth: int) -> None:
        while not isinstance(event := next(self._events), self._yaml.MappingEndEvent):
            key = self._value(event, depth + 1)
            if isinstance(key.value, dict | list):
                raise self._error(event, "a key must be a single value")
            if key.value in tree.keys:
                raise self._error(event, f'found duplicate key "{key.value}": keep one of the two')
            tree.keys[key.value] = key.line, key.column
            child = self._value(next(self._events), depth + 1)
            tree.children[key.value] = child
            tree.value[key.value] = child.value

    def _alias(self, event: Event) -> Tree:
        if event.anchor not in self._anchors:
            raise self._error(event, f"not valid YAML: found undefined alias '{event.anchor}'")
        tree = self._anchors[event.anchor]
        if tree is None:
            raise self._error(event, f"the alias '{event.anchor}' is inside the value that it stands for")
        self._counted(event, tree.size)
        return tree

    def _anchor(self, event: Event, tree: Tree) -> None:
        if event.anchor is not None:
            self._anchors[event.anchor] = tree

    def _counted(self, event: Event, more: int) -> None:
        self._count += more
        if self._count > MOST_YAML_VALUES:
            raise self._error(
                event, f"more than {MOST_YAML_VALUES} values, counting those repeated by aliases"
            )

    def _tree(self, event: Event, value: object) -> Tree:
        mark = event.start_mark
        return Tree(value, mark.line + 1, mark.column + 1, start=mark.index)

    def _scalar(self, event: Event) -> Any:
        text: str = event.value
        if event.tag is None:
            return self._plain(event, text) if event.implicit[0] else text
        kind = event.tag.removeprefix(TAG)
        if event.tag == "!" or kind == "str":
            return text
        readers = {"int": self._integer, "float": self._float, "bool": self._truth, "null": self._null}
        if kind not in readers:
            raise self._error(event, f"not valid YAML: unknown tag {event.tag}")
        return readers[kind](event, text)

    def _plain(self, event: Event, text: str) -> Any:
        if text in NULLS:
            return None
        if text in TRUTHS:
            return TRUTHS[text]
        if INTEGER.fullmatch(text):
            return self._integer(event, text)
        if FLOAT.fullmatch(text):
            return self._float(event, text)
        return text

    def _integer(self, event: Event, text: str) -> int:
        if not INTEGER.fullmatch(text):
            raise self._error(event, f"not valid YAML: {text[:40]!r} is not an integer")
        if len(text) > LONGEST_NUMBER:
            raise self._error(event, f"not valid YAML: a number of more than {LONGEST_NUMBER} digits")
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))

    def _float(self, event: Event, text: str) -> float:
        if not (FLOAT.fullmatch(text) or INTEGER.fullmatch(text)):
            raise self._error(event, f"not valid YAML: {text[:40]!r} is not a number")
        return float(re.sub(r"\.(?=[inIN])", "", text))

    def _truth(self, event: Event, text: str) -> bool:
        if text not in TRUTHS:
            raise self._error(event, f"not valid YAML: {text[:40]!r} is neither true nor false")
        return TRUTHS[text]

    def _null(self, event: Event, text: str) -> None:
        if text not in NULLS:
            raise self._error(event, f"not valid YAML: {text[:40]!r} is not null")

    def _error(self, event: Event, what: str) -> YamlError:
        mark = event.start_mark
        return YamlError(mark.line + 1, mark.column + 1, what)
