"""Solution sets in files: numpy's `.npz` with a version, and no Python objects.

The content is checked to be a diagram before it is used: a file that was truncated, changed or made by
another program is an error that names the file.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from constrint.diagrams.archives import Archive, DamagedArchive
from constrint.diagrams.diagram import Diagram, Layer
from constrint.diagrams.terms import OBJECT, Array
from constrint.errors import ModelError, ParseError
from constrint.support.json_text import read_json
from constrint.support.limits import Budget, LimitExceeded, Limits, read_bytes
from constrint.support.placing import placed

VERSION = 1
FORMAT = "constrint solution set"
UNLIMITED = Limits(depth=None, digits=None, variables=None, values=None, nodes=None, bytes=None, steps=None)
MOST_CHARACTERS = 80  # characters of a foreign error in a message
BROKEN = (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError, RecursionError)

Labels = Mapping[int, Mapping[object, object]]
Sets = Mapping[str, Mapping[object, str]]
Parts = tuple[list[str], list[Diagram] | None, dict[int, dict[Any, Any]], dict[str, dict[Any, str]]]


def save(
    path: str | Path,
    names: Sequence[str],
    diagrams: Sequence[Diagram] | None,
    labels: Labels,
    sets: Sets | None = None,
) -> None:
    """Write the parts of a set; labels must be numbers, strings, Booleans, None, or lists of these."""
    sets = sets or {}
    meant = [(names[v], label) for v, table in labels.items() for label in table.values()]
    for name, label in [*meant, *((name, one) for name, members in sets.items() for one in members)]:
        if not _is_plain(label):
            raise ModelError(
                f"'{name}' has the value {label!r}, which a file cannot keep: numbers, strings, "
                "Booleans, None, and tuples and lists of these are kept"
            )
    header = {
        "names": list(names),
        "labels": [
            [v, [[_plain(code), _written(label)] for code, label in table.items()]]
            for v, table in labels.items()
        ],
        "sets": [
            [name, [[_written(one), inside] for one, inside in members.items()]]
            for name, members in sets.items()
        ],
    }
    with placed(path) as aside, aside.open("wb") as file:
        write(file, diagrams, header)


def load(path: str | Path, budget: Budget | None = None) -> Parts:
    """Read the parts of a set; raises `ModelError` if the file holds none, or is damaged."""
    budget = budget or Budget()
    return load_bytes(read_bytes(path, budget), str(path), budget)


def load_bytes(content: bytes, name: str, budget: Budget) -> Parts:
    """Read the parts of a set from the bytes of its file; `name` is used in messages."""
    diagrams, header = read(content, name, budget)
    try:
        names = [_text(each) for each in header["names"]]
        labels = {_number(v): {code: _label(label) for code, label in table} for v, table in header["labels"]}
        sets = {
            _text(name): {_label(one): _text(inside) for one, inside in members}
            for name, members in header.get("sets", [])
        }
        _check_variables(names, diagrams, labels)
        _check_sets(names, sets)
    except BROKEN as problem:
        raise _bad(name, problem) from problem
    return names, diagrams, labels, sets


def to_bytes(diagrams: Sequence[Diagram] | None, header: Mapping[str, object]) -> bytes:
    """The bytes of a file with some diagrams, for another process."""
    file = io.BytesIO()
    write(file, diagrams, header)
    return file.getvalue()


def of_bytes(content: bytes) -> tuple[list[Diagram] | None, dict[str, Any]]:
    """The inverse of `to_bytes`."""
    return read(content, "the answer of a worker", Budget(UNLIMITED))


def columns_to_bytes(columns: Mapping[int, Array]) -> bytes:
    """Columns of values as bytes, for another process."""
    file = io.BytesIO()
    packed = {
        str(v): _decimals(column) if column.dtype == OBJECT else column for v, column in columns.items()
    }
    np.savez(file, **packed)  # type: ignore[arg-type] # the names are ours
    return file.getvalue()


def columns_of_bytes(content: bytes) -> dict[int, Array]:
    """The inverse of `columns_to_bytes`."""
    budget = Budget(UNLIMITED)
    stored = Archive(content, budget)
    return {int(v): _integers(stored[v], budget) for v in stored.names}


def write(file: IO[bytes], diagrams: Sequence[Diagram] | None, header: Mapping[str, object]) -> None:
    """Write diagrams and a header of JSON."""
    arrays: dict[str, Array] = {}
    for i, diagram in enumerate(diagrams or ()):
        for k, layer in enumerate(diagram.layers):
            arrays[f"first_{i}_{k}"] = layer.first
            arrays[f"target_{i}_{k}"] = layer.target
            wide = layer.value.dtype == OBJECT
            arrays[f"value_{i}_{k}"] = _decimals(layer.value) if wide else layer.value
    content = {
        "format": FORMAT,
        "version": VERSION,
        "diagrams": None if diagrams is None else [list(diagram.variables) for diagram in diagrams],
        **header,
    }
    text = np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)
    np.savez(file, header=text, **arrays)  # type: ignore[arg-type] # the names are ours


def read(content: bytes, name: str, budget: Budget) -> tuple[list[Diagram] | None, dict[str, Any]]:
    """Read diagrams and their header; raises `ModelError` if the file is another one, or damaged."""
    try:
        stored = Archive(content, budget)
        header = read_json(stored["header"].tobytes().decode(), name, budget)
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise ModelError(f"{name}: no solution set")
        if header["version"] != VERSION:
            version = str(header["version"])[:MOST_CHARACTERS]
            raise ModelError(f"{name}: version {version} of the format; this constrint reads {VERSION}")
        listed = header["diagrams"]
        if listed is None:
            return None, header
        diagrams = []
        for i, variables in enumerate(listed):
            budget.variable(len(variables), name)
            diagrams.append(_diagram(stored, i, [_number(v) for v in variables], budget))
        return diagrams, header
    except LimitExceeded as problem:
        raise LimitExceeded(problem.name, problem.limit, problem.where or name) from None
    except (*BROKEN, DamagedArchive, ParseError) as problem:
        raise _bad(name, problem) from problem


def _bad(name: str, problem: BaseException) -> ModelError:
    said = ascii(str(problem)[:MOST_CHARACTERS])[1:-1]
    return ModelError(f"{name}: no solution set, or a damaged one ({said})")


def _number(value: object) -> int:
    if type(value) is not int:
        raise ValueError("a variable is not a number")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a name is not text")
    value.encode()  # raises for lone surrogates
    return value


def _diagram(stored: Archive, i: int, variables: Sequence[int], budget: Budget) -> Diagram:
    layers = []
    for k in range(len(variables)):
        value = _integers(stored[f"value_{i}_{k}"], budget)
        layers.append(Layer(stored[f"first_{i}_{k}"], value, stored[f"target_{i}_{k}"]))
    nodes = 1
    for k, layer in enumerate(layers):
        below = layers[k + 1].nodes if k + 1 < len(layers) else 1
        _check_layer(layer, nodes, below)
        nodes = below
    return Diagram.of_layers(variables, layers)


def _check_layer(layer: Layer, nodes: int, below: int) -> None:
    """Raise `ValueError` unless the edges are sorted and lead from these nodes to nodes of the next layer."""
    first, value, target = layer.first, layer.value, layer.target
    if any(array.ndim != 1 for array in (first, value, target)):
        raise ValueError("an array has a wrong shape")
    if first.dtype.kind != "i" or target.dtype.kind != "i" or value.dtype.kind not in "iufO":
        raise ValueError("an array has a wrong type")
    edges = len(value)
    if len(first) != nodes + 1 or len(target) != edges or not edges:
        raise ValueError("arrays have lengths that do not fit")
    if first[0] != 0 or first[-1] != edges or np.any(first[1:] <= first[:-1]):
        raise ValueError("the edges of the nodes overlap")
    if target.min() < 0 or target.max() >= below:
        raise ValueError("an edge leads nowhere")
    starts = np.zeros(edges, dtype=bool)
    starts[first[:-1]] = True
    if not np.all(starts[1:] | (value[1:] > value[:-1])):
        raise ValueError("values are not in order")
    if value.dtype.kind == "f" and np.any(np.isnan(value)):
        raise ValueError("a value is nan")


def _check_variables(names: Sequence[str], diagrams: Sequence[Diagram] | None, labels: Labels) -> None:
    if len(set(names)) < len(names):
        raise ValueError("a name occurs twice")
    if diagrams is None:
        return
    listed = sorted(v for diagram in diagrams for v in diagram.variables)
    if listed != list(range(len(names))):
        raise ValueError("the variables are not those of the names")
    for diagram in diagrams:
        for v, layer in zip(diagram.variables, diagram.layers, strict=True):
            if v in labels and not set(layer.value.tolist()) <= labels[v].keys():
                raise ValueError(f"'{names[v]}' has values without a meaning")


def _check_sets(names: Sequence[str], sets: Sets) -> None:
    inside = [one for members in sets.values() for one in members.values()]
    if len(set(inside)) < len(inside) or not set(inside) <= set(names):
        raise ValueError("the members of a set are not variables, each of one set")
    if not set(names).isdisjoint(sets):
        raise ValueError("a set has the name of a variable")


# Values


def _decimals(values: Array) -> Array:
    """Integers of any size as text; `astype(str)` would truncate long ones."""
    return np.array([str(value) for value in values.tolist()], dtype=np.str_)


def _integers(values: Array, budget: Budget) -> Array:
    """The inverse of `_decimals`; other arrays are returned unchanged."""
    if values.dtype.kind != "U":
        return values
    budget.digits(values.dtype.itemsize // 4)
    return np.array([int(text) for text in values.tolist()], dtype=OBJECT)


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def _is_plain(label: object) -> bool:
    if isinstance(label, list | tuple):
        return all(map(_is_plain, label))
    return label is None or isinstance(label, bool | int | float | str)


def _written(label: object) -> object:
    """A label in JSON; tuples are marked."""
    if isinstance(label, tuple):
        return {"tuple": [_written(part) for part in label]}
    return [_written(part) for part in label] if isinstance(label, list) else label


def _label(written: object) -> object:
    if isinstance(written, dict):
        return tuple(_label(part) for part in written["tuple"])
    return [_label(part) for part in written] if isinstance(written, list) else written
