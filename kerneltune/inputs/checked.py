"""Values from files checked against a record's fields: every wrong field is named with its place."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import msgspec
from msgspec import structs

from kerneltune.errors import nearest

Location = tuple[int | str, ...]
MOST_INTEGER = 2**63 - 1
LONGEST_SHOWN = 80  # most characters shown of a wrong value
WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "keys and values",
}


@dataclass(frozen=True)
class Complaint:
    """An error about a value, with the place of the value in the data.

    Attributes:
        location: Keys and indices from the outside in.
        message: What is wrong, with the names of the keys.
    """

    location: Location
    message: str


class InvalidError(ValueError):
    """Data do not make a record; has all complaints."""

    def __init__(self, complaints: list[Complaint]) -> None:
        super().__init__("; ".join(one.message for one in complaints))
        self.complaints = complaints


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A description that is read from a file; what a subclass adds needs `frozen` and `kw_only` too."""

    def to_json(self) -> dict[str, Any]:
        """A copy of each field's value by the attribute's name."""
        return copy.deepcopy(structs.asdict(self))

    def disagreements(self) -> Iterator[tuple[str, str]]:
        """Keys whose values do not fit each other or the rest, each with the reason."""
        yield from ()


Checked = TypeVar("Checked", bound=Record)


def checked(data: Mapping[str, object], kind: type[Checked]) -> Checked:
    """The record of the data; raises `InvalidError` with everything that is wrong."""
    values, complaints = _values(data, kind, ())
    if complaints:
        raise InvalidError(complaints)
    record = kind(**values)
    disagreements = [_at((key,), said) for key, said in record.disagreements()]
    if disagreements:
        raise InvalidError(disagreements)
    return record


def _values(
    data: Mapping[str, object], kind: type[Record], place: Location
) -> tuple[dict[str, object], list[Complaint]]:
    """Each field's value by its attribute's name, and what is wrong with the data."""
    fields = {field.encode_name: field for field in structs.fields(kind)}
    values: dict[str, Any] = {}
    complaints = []
    for key, value in data.items():
        field = fields.get(key)
        if field is None:
            said = f"unknown key '{key}': {nearest(str(key), list(fields))}"
            complaints.append(Complaint((*place, key), said))
            continue
        try:
            values[field.name] = msgspec.convert(value, field.type, str_keys=True)
        except msgspec.ValidationError as error:
            complaints += _wrong(value, field.type, (*place, key), error)
    complaints += [
        Complaint((*place, key), f"missing key '{_named((*place, key))}'")
        for key, field in fields.items()
        if field.required and key not in data
    ]
    return values, complaints


def _wrong(value: object, kind: object, place: Location, error: msgspec.ValidationError) -> list[Complaint]:
    """Errors of a value, and of each of its parts if it is a list or a mapping as it should be."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    found = []
    for key, item, expected in _parts(value, kind):
        if isinstance(expected, type) and issubclass(expected, Record) and isinstance(item, dict):
            found += _values(item, expected, (*place, key))[1]
            continue
        try:
            msgspec.convert(item, expected, str_keys=True)
        except msgspec.ValidationError as inner:
            found += _wrong(item, expected, (*place, key), inner)
    return found or [_at(place, f"{_said(kind, error)}{_shown(value)}")]


def _at(place: Location, said: str) -> Complaint:
    return Complaint(place, f"{_named(place)}: {said}")


def _named(place: Location) -> str:
    return ".".join(map(str, place))


def _parts(value: object, kind: object) -> Iterator[tuple[int | str, object, object]]:
    """Parts of a list or mapping: place, value and what it should be; a mapping's keys are parts too."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is dict and isinstance(value, dict):
        for key, item in value.items():
            yield key, _as_key(key, inner[0]), inner[0]
            yield key, item, inner[1]
    elif origin is list and isinstance(value, list):
        for index, item in enumerate(value):
            yield index, item, inner[0]
    elif origin is tuple and isinstance(value, list):
        kinds = [inner[0]] * len(value) if inner[1:] == (...,) else list(inner)
        if len(kinds) == len(value):
            for index, item in enumerate(value):
                yield index, item, kinds[index]


def _as_key(key: object, kind: object) -> object:
    """A key of a mapping; JSON, which is YAML too, writes numbers as text there."""
    whole = (get_args(kind)[0] if get_origin(kind) is Annotated else kind) is int
    return int(key) if whole and isinstance(key, str) and key.isdecimal() else key


def _said(kind: object, error: msgspec.ValidationError) -> str:
    """The expected type of a value, in the words of a YAML file."""
    if get_origin(kind) is Literal:
        return f"expected {' or '.join(map(str, get_args(kind)))}"
    said = str(error).partition(" - at ")[0].partition(", got ")[0]
    said = re.sub(r"`([a-z |]+)`", lambda found: " or ".join(map(_word, found[1].split(" | "))), said)
    return said[:1].lower() + said[1:]


def _word(kind: str) -> str:
    return WORDS.get(kind, kind)


def _shown(value: object) -> str:
    """The wrong value for a message; empty for a mapping, whose place suffices."""
    if isinstance(value, dict):
        return ""
    text = repr(value)
    return f", found {text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + '…'}"
