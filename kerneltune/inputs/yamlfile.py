"""YAML files read as records; every error has its file, line and column."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kerneltune.errors import InputError
from kerneltune.inputs.checked import Checked, InvalidError, Location, checked
from kerneltune.inputs.files import text_of
from kerneltune.inputs.yamltree import MOST_CHARACTERS, Tree, YamlError, parsed

MOST_COMPLAINTS = 50  # most errors listed for one file


def read_checked(
    path: Path,
    kind: type[Checked],
    completed: Callable[[dict[str, object]], dict[str, object]] = lambda data: data,
) -> Checked:
    """Read ``path`` as a record.

    Args:
        path: The file.
        kind: The record's class.
        completed: Adds the keys and values that the file leaves out.

    Raises:
        InputError: The file is invalid; the message lists every error.
    """
    tree = _parse(path)
    if not isinstance(tree.value, dict):
        raise InputError(f"{path}:1:1: expected keys and values, found {_kind(tree.value)}")
    data = completed({str(key): value for key, value in tree.value.items()})
    try:
        return checked(data, kind)
    except InvalidError as error:
        lines = []
        for complaint in error.complaints[:MOST_COMPLAINTS]:
            line, column = _position(tree, complaint.location)
            lines.append(f"{path}:{line}:{column}: {complaint.message}")
    raise InputError("\n".join(lines))


def place_of(path: Path, location: Location) -> str:
    """The file, line and column of a part of a file, for a message."""
    line, column = _position(_parse(path), location)
    return f"{path}:{line}:{column}"


def _parse(path: Path) -> Tree:
    text = text_of(path, most=4 * MOST_CHARACTERS)
    try:
        return parsed(text)
    except YamlError as error:
        raise InputError(f"{path}:{error.line}:{error.column}: {error}") from None


def _kind(tree: object) -> str:
    if tree is None:
        return "nothing"
    return "a list" if isinstance(tree, list) else repr(str(tree)[:40])


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
