"""Solution sets in files: numpy's `.npz` with a version, and no Python objects."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from constrint.errors import ModelError
from constrint.plan.diagram import Diagram, Layer
from constrint.plan.terms import OBJECT, Array

VERSION = 1


def save(
    path: str | Path,
    names: Sequence[str],
    diagrams: Sequence[Diagram] | None,
    labels: Mapping[int, Mapping[Any, Any]],
) -> None:
    """Write the parts of a set."""
    arrays: dict[str, Array] = {}
    for i, diagram in enumerate(diagrams or ()):
        for k, layer in enumerate(diagram.layers):
            arrays[f"first_{i}_{k}"] = layer.first
            arrays[f"target_{i}_{k}"] = layer.target
            wide = layer.value.dtype == OBJECT
            arrays[f"value_{i}_{k}"] = layer.value.astype(str) if wide else layer.value
    header = {
        "format": "constrint solution set",
        "version": VERSION,
        "names": list(names),
        "diagrams": None if diagrams is None else [list(diagram.variables) for diagram in diagrams],
        "labels": [[v, list(table.items())] for v, table in labels.items()],
    }
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with Path(path).open("wb") as file:
        np.savez(file, header=text, **arrays)  # type: ignore[arg-type] # the names are ours


def load(path: str | Path) -> tuple[list[str], list[Diagram] | None, dict[int, dict[Any, Any]]]:
    """Read the parts of a set."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            header = json.loads(bytes(stored["header"]).decode())
            if header.get("format") != "constrint solution set":
                raise ModelError(f"{path}: no solution set")
            if header["version"] != VERSION:
                raise ModelError(
                    f"{path}: version {header['version']} of the format; this constrint reads {VERSION}"
                )
            if header["diagrams"] is None:
                return header["names"], None, {}
            diagrams = [_diagram(stored, i, variables) for i, variables in enumerate(header["diagrams"])]
    except (KeyError, ValueError, OSError) as problem:
        if isinstance(problem, FileNotFoundError):
            raise
        raise ModelError(f"{path}: no solution set ({problem})") from problem
    labels = {v: dict(table) for v, table in header["labels"]}
    return header["names"], diagrams, labels


def _diagram(stored: Any, i: int, variables: Sequence[int]) -> Diagram:
    layers = []
    for k in range(len(variables)):
        value = stored[f"value_{i}_{k}"]
        if value.dtype.kind == "U":
            value = np.array([int(text) for text in value.tolist()], dtype=OBJECT)
        layers.append(Layer(stored[f"first_{i}_{k}"], value, stored[f"target_{i}_{k}"]))
    return Diagram.of_layers(variables, layers)
