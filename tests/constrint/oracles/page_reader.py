"""Reads the set that a page holds, by the format that `constrint.pictures.embedding` describes."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any


def document(path: Path) -> dict[str, Any]:
    """The JSON document of a page."""
    text = path.read_text(encoding="utf-8")
    (found,) = re.findall(r'<script type="application/json" id="set">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)  # type: ignore[no-any-return]


def texts(variable: dict[str, Any]) -> list[str]:
    """The values of a variable, as text."""
    if "texts" in variable:
        return variable["texts"]  # type: ignore[no-any-return]
    start, step = int(variable["start"]), int(variable["step"])
    return [str(start + i * step) for i in range(variable["count"])]


def numbers(data: str) -> list[int]:
    """The numbers of a group's data."""
    found, number, shift = [], 0, 0
    for byte in zlib.decompress(base64.b64decode(data)):
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(number)
            number = shift = 0
    assert not shift
    return found


def layers(group: dict[str, Any]) -> list[list[list[tuple[int, int]]]]:
    """For each layer, for each node, its edges: place of the value, target."""
    left = iter(numbers(group["data"]))
    found = []
    for nodes, edges in zip(group["nodes"], group["edges"], strict=True):
        degrees = [next(left) for _ in range(nodes)]
        assert sum(degrees) == edges
        values = []
        for degree in degrees:
            place = 0
            for _ in range(degree):
                place += next(left)
                values.append(place)
        targets, target = [], 0
        for _ in range(edges):
            code = next(left)
            target += -(code + 1) // 2 if code % 2 else code // 2
            targets.append(target)
        pairs = iter(zip(values, targets, strict=True))
        found.append([[next(pairs) for _ in range(degree)] for degree in degrees])
    assert next(left, None) is None
    return found


def size(found: dict[str, Any]) -> int:
    """The number of solutions."""
    whole = 1
    for group in found["groups"]:
        below = [1]
        for layer in reversed(layers(group)):
            below = [sum(below[target] for _, target in node) for node in layer]
        whole *= below[0]
    return whole


def solutions(found: dict[str, Any]) -> Counter[tuple[str, ...]]:
    """All solutions, as texts in the order of the variables."""
    parts: list[list[dict[int, int]]] = []
    for group in found["groups"]:
        paths: list[tuple[int, dict[int, int]]] = [(0, {})]
        for v, layer in zip(group["variables"], layers(group), strict=True):
            paths = [(target, {**path, v: place}) for node, path in paths for place, target in layer[node]]
        parts.append([path for _, path in paths])
    names = [texts(variable) for variable in found["variables"]]
    rows: Counter[tuple[str, ...]] = Counter()
    for choice in product(*parts):
        row = {v: place for part in choice for v, place in part.items()}
        rows[tuple(names[v][row[v]] for v in range(len(names)))] += 1
    return rows
