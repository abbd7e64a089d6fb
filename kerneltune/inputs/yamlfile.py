"""YAML files checked against a pydantic model, every complaint with its file, line and column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticCustomError

from kerneltune.errors import InputError, nearest

Checked = TypeVar("Checked", bound=BaseModel)
Location = Sequence[int | str]

MANY_BRACKETS = 500
DEPTH_SHOWN = 32  # levels; a file nested too deep to be read is reported where it goes beyond them
LONGEST_SHOWN = 80  # characters of a wrong value


def read_checked(
    path: Path,
    schema: type[Checked],
    completed: Callable[[dict[str, Any]], dict[str, Any]] = lambda data: data,
) -> Checked:
    """Read ``path`` as an instance of ``schema``, or raise `InputError` listing everything wrong in it.

    Args:
        path: The file.
        schema: What it must hold.
        completed: Adds to the file's keys and values what it leaves out.
    """
    tree = _parse(path)
    if not isinstance(tree, dict):
        raise InputError(f"{path}:1:1: expected keys and values, found {_kind(tree)}")
    data = completed(_plain(tree))
    try:
        return schema.model_validate(data)
    except ValidationError as error:
        lines = [_complaint(path, tree, schema, item) for item in error.errors()]
    raise InputError("\n".join(lines))


def disagreement(key: str, message: str) -> PydanticCustomError:
    """What a check of several keys raises, so that the complaint points at the one to change."""
    return PydanticCustomError("disagreement", "{message}", {"message": message, "key": key})


def _parse(path: Path) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import DuplicateKeyError, RoundTripConstructor
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read {path}: {error}") from None

    class Constructor(RoundTripConstructor):
        def construct_object(self, node: Any, deep: bool = False) -> Any:
            """As the base does, but a value that Python refuses, such as a 13th month, has its place."""
            try:
                return super().construct_object(node, deep)
            except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
                raise MarkedYAMLError(problem=str(error), problem_mark=node.start_mark) from None

    reader = YAML(typ="rt", pure=True)
    reader.Constructor = Constructor
    try:
        # Reading thousands of levels takes seconds before it fails: many brackets are looked at first.
        place = _too_deep(text) if text.count("[") + text.count("{") > MANY_BRACKETS else None
        if place is None:
            return reader.load(text)
    except RecursionError:
        place = _too_deep(text) or "1:1"
    except DuplicateKeyError as error:
        problem = str(error.problem).split(" with value")[0]
        raise InputError(f"{path}:{_mark(error)}: {problem}: keep one of the two") from None
    except MarkedYAMLError as error:
        what = ", ".join(str(part) for part in (error.context, error.problem) if part)
        raise InputError(f"{path}:{_mark(error)}: not valid YAML: {what}") from None
    except YAMLError as error:
        raise InputError(f"{path}: not valid YAML: {error}") from None
    raise InputError(f"{path}:{place}: nested too deep to be read")


def _too_deep(text: str) -> str | None:
    """Where the file first goes beyond ``DEPTH_SHOWN`` levels."""
    from ruamel.yaml import YAML
    from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent

    depth = 0
    for event in YAML(typ="rt", pure=True).parse(text):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > DEPTH_SHOWN:
            return f"{event.start_mark.line + 1}:{event.start_mark.column + 1}"
    return None


def _mark(error: Any) -> str:
    mark = error.problem_mark or error.context_mark
    return f"{mark.line + 1}:{mark.column + 1}" if mark else "1:1"


def _plain(node: Any) -> Any:
    """Ruamel's position-carrying containers and scalars as Python's own."""
    if isinstance(node, dict):
        return {str(key): _plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_plain(value) for value in node]
    for kind in (bool, int, float, str):
        if isinstance(node, kind):
            return kind(node)
    return node


def _kind(tree: Any) -> str:
    if tree is None:
        return "nothing"
    return "a list" if isinstance(tree, list) else repr(str(tree)[:40])


def _complaint(path: Path, tree: Any, schema: type[BaseModel], item: Any) -> str:
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
    """The wrong value; of a mapping, the place says which part is meant."""
    if isinstance(value, dict):
        return ""
    shown = repr(value)
    return f", found {shown if len(shown) <= LONGEST_SHOWN else shown[:LONGEST_SHOWN] + '…'}"


def _position(tree: Any, location: Location) -> tuple[int, int]:
    """Line and column, from 1, of the deepest part of ``location`` that is in the file."""
    line, column, node = 0, 0, tree
    for part in location:
        places = getattr(getattr(node, "lc", None), "data", None) or {}
        key = part if part in places else next((k for k in places if str(k) == str(part)), None)
        if key is None:
            break
        line, column = places[key][0], places[key][1]
        node = node[key]
    return line + 1, column + 1


def _keys_of(schema: type[BaseModel], location: Location) -> list[str]:
    """The keys that ``schema`` knows at ``location``; its nested models are never inside lists or dicts."""
    for part in location:
        field = schema.model_fields.get(str(part))
        if field is None or not isinstance(field.annotation, type):
            return []
        if not issubclass(field.annotation, BaseModel):
            return []
        schema = field.annotation
    return [field.alias or name for name, field in schema.model_fields.items()]
