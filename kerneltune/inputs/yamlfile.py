"""YAML files validated against a pydantic model; every error has its file, line and column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticCustomError

from kerneltune.errors import InputError, nearest
from kerneltune.inputs.yamltree import LONGEST, Tree, YamlError, parsed

Checked = TypeVar("Checked", bound=BaseModel)
Location = Sequence[int | str]

MOST_COMPLAINTS = 50  # most errors listed for one file
LONGEST_SHOWN = 80  # most characters shown of a wrong value


def read_checked(
    path: Path,
    schema: type[Checked],
    completed: Callable[[dict[str, Any]], dict[str, Any]] = lambda data: data,
) -> Checked:
    """Read ``path`` as an instance of ``schema``.

    Args:
        path: The file.
        schema: The pydantic model.
        completed: Adds the keys and values that the file leaves out.

    Raises:
        InputError: The file is invalid; the message lists every error.
    """
    tree = _parse(path)
    if not isinstance(tree.value, dict):
        raise InputError(f"{path}:1:1: expected keys and values, found {_kind(tree.value)}")
    data = completed({str(key): value for key, value in tree.value.items()})
    try:
        return schema.model_validate(data)
    except ValidationError as error:
        lines = [_complaint(path, tree, schema, item) for item in error.errors()[:MOST_COMPLAINTS]]
    raise InputError("\n".join(lines))


def disagreement(key: str, message: str) -> PydanticCustomError:
    """The error that a check of several keys raises, placed at the key to change."""
    return PydanticCustomError("disagreement", "{message}", {"message": message, "key": key})


def _parse(path: Path) -> Tree:
    try:
        with path.open("rb") as file:
            text = file.read(LONGEST + 1).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {error}") from None
    try:
        return parsed(text)
    except YamlError as error:
        raise InputError(f"{path}:{error.line}:{error.column}: {error}") from None


def _kind(tree: Any) -> str:
    if tree is None:
        return "nothing"
    return "a list" if isinstance(tree, list) else repr(str(tree)[:40])


def _complaint(path: Path, tree: Tree, schema: type[BaseModel], item: Any) -> str:
    location: Location = item["loc"]
    if item["type"] == "disagreement" and not location:
        location = (item["ctx"]["key"],)
    line, column = _position(tree, location)
    name = ".".join(str(part) for part in location) or "file"
    if item["type"] == "extra_forbidden":
        known = _keys_of(schema, location[:-1])
        return f"{path}:{line}:{column}: unknown key '{location[-1]}': {nearest(str(location[-1]), known)}"
    if item["type"] == "missing":
        return f"{path}:{line}:{column}: missing key '{name}'"
    message = item["msg"].removeprefix("Value error, ")
    return f"{path}:{line}:{column}: {name}: {message}{_found(item['input'])}"


def _found(value: Any) -> str:
    """The wrong value for a message; empty for a mapping, whose place says enough."""
    if isinstance(value, dict):
        return ""
    shown = repr(value)
    return f", found {shown if len(shown) <= LONGEST_SHOWN else shown[:LONGEST_SHOWN] + '…'}"


def _position(tree: Tree, location: Location) -> tuple[int, int]:
    """Line and column, from 1, of the deepest part of ``location`` that exists in the file."""
    line, column = 1, 1
    for part in location:
        key = part if part in tree.children else next((k for k in tree.children if str(k) == str(part)), None)
        if key is None or key not in tree.children:
            break
        child = tree.children[key]
        line, column = tree.keys.get(key, (child.line, child.column))
        tree = child
    return line, column


def _keys_of(schema: type[BaseModel], location: Location) -> list[str]:
    """The keys that ``schema`` knows at ``location``; nested models are never inside lists or dicts."""
    for part in location:
        field = schema.model_fields.get(str(part))
        if field is None or not isinstance(field.annotation, type):
            return []
        if not issubclass(field.annotation, BaseModel):
            return []
        schema = field.annotation
    return [field.alias or name for name, field in schema.model_fields.items()]
