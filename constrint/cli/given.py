"""The conditions of `--given`: NAME=VALUE, NAME in LOW..HIGH, NAME in {VALUE, …}."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from constrint.errors import ModelError

_IN = re.compile(r"\s+in\s*(\{.*\}|\S.*\.\..*)\s*", re.DOTALL)
_UNKNOWN = re.compile(r"\s*(\S.*?)\s*(?:=\s*\S|\sin[\s{])")
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def named_in(condition: str, names: Sequence[str]) -> str:
    """The variable that a condition is about: the longest of the names that fits, or another name."""
    fitting = [name for name in names if _after(condition, name) is not None]
    if fitting:
        return max(fitting, key=len)
    found = _UNKNOWN.match(condition)
    if found is None:
        raise _misread(condition)
    return found[1]


def chosen_values(condition: str, values: Sequence[Any], name: str) -> list[Any]:
    """The values of the named variable that a condition allows, among those that it has."""
    rest = _after(condition, name)
    if rest is None:
        raise _misread(condition)
    if rest.startswith("="):
        return _matching(rest[1:].strip(), values)
    inside = _IN.fullmatch(" " + rest)
    if inside is None:
        raise _misread(condition)
    text = inside[1].strip()
    if text.startswith("{"):
        return [value for item in _items(text[1:-1], condition) for value in _matching(item, values)]
    low, high = (_number(part, condition) for part in text.split("..", 1))
    return [value for value in values if _is_real(value) and low <= value <= high]


def _after(condition: str, name: str) -> str | None:
    """The text after the name: `=` and a value, or `in` and values; None for another condition."""
    text = condition.strip()
    if not text.startswith(name):
        return None
    rest = text[len(name) :]
    if rest.lstrip().startswith("=") and rest.lstrip()[1:].strip():
        return rest.lstrip()
    return rest.lstrip() if _IN.fullmatch(rest) else None


def _misread(condition: str) -> ModelError:
    return ModelError(f"--given {condition}: write NAME=VALUE, 'NAME in LOW..HIGH' or 'NAME in {{A, B}}'")


def _matching(text: str, values: Sequence[object]) -> list[Any]:
    """The value that a text stands for: in double quotes a string, otherwise as it is printed."""
    if text.startswith("{") and text.endswith("}"):
        members = {one.strip() for one in text[1:-1].split(",") if one.strip()}
        sets = [one for one in values if isinstance(one, frozenset) and set(map(str, one)) == members]
        if sets:
            return sets[:1]
    if text.startswith('"'):
        try:
            wanted = json.loads(text)
        except ValueError:
            wanted = text
        exact = [value for value in values if isinstance(value, str) and value == wanted]
        if exact:
            return exact[:1]
    return [value for value in values if text in (str(value), repr(value)) or _is_number(text, value)][:1]


def _is_number(text: str, value: object) -> bool:
    """Whether the text is another notation of this number."""
    for read in (lambda: int(text, 0), lambda: float(text)):
        try:
            return not isinstance(value, str) and bool(read() == value)
        except ValueError:
            continue
    return False


def _is_real(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(text: str, condition: str) -> int | float:
    for read in (lambda: int(text.strip(), 0), lambda: float(text)):
        try:
            return read()
        except ValueError:
            continue
    raise ModelError(f"--given {condition}: {text.strip() or 'nothing'} is not a number: write LOW..HIGH")


def _items(text: str, condition: str) -> Iterator[str]:
    """The items between commas that stand outside of quotes and brackets."""
    item, depth, quoted, escaped = "", 0, "", False
    for letter in text:
        if quoted:
            quoted = "" if letter == quoted and not escaped else quoted
            escaped = letter == "\\" and not escaped
        elif letter in "\"'":
            quoted = letter
        else:
            depth += _BRACKETS.get(letter, 0)
        if letter == "," and not quoted and not depth:
            yield _item(item, condition)
            item = ""
        else:
            item += letter
    yield _item(item, condition)


def _item(text: str, condition: str) -> str:
    if not text.strip():
        raise ModelError(f"--given {condition}: a value is missing between the commas")
    return text.strip()
