"""The decision diagrams of a set as text inside a page, from which the page counts exactly.

The document is JSON:

- `size`: number of solutions, as text, because JavaScript's numbers end at 2**53;
- `variables`: for each variable its `name`, the name as the text language writes it (`written`), its distinct
  values as text (`texts`, or `start`, `step` and `count` of an arithmetic progression), and as literals where
  those differ (`literals`). `ordered` says that the values are numbers in ascending order;
- `groups`: for each diagram its `variables` from the root to the end, the number of `nodes` and of `edges` of
  each layer, and `data`: numbers compressed by zlib and written in base64.

`data` lists, for each layer, the degrees of its nodes, then the values of its edges, then their targets, each
number in LEB128. A value is a position in the variable's list; within a node, all but the first are given as
the difference from the one before. A target is given as the difference from the target of the edge before it
in the layer, zigzag-coded. The last layer has targets 0. The page counts by itself: nothing that can be
computed from the diagram is stored except the size, which the page checks.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from constrint.diagrams.merge import merged
from constrint.diagrams.terms import Array
from constrint.expr.written import quote

if TYPE_CHECKING:
    from constrint.diagrams.diagram import Diagram, Layer
    from constrint.pictures.facts import Pictured


def embedded(solutions: Pictured, paired: Sequence[str], most_edges: int) -> dict[str, Any] | None:
    """The document of a set.

    Args:
        solutions: The set.
        paired: Variables whose pairs the page shows first.
        most_edges: The most edges that are embedded.

    Returns:
        The document, or None if the diagrams have more edges with all equal nodes merged.
    """
    diagrams = []
    left = most_edges
    for diagram in solutions.diagrams:
        small = merged(diagram)
        left -= small.edges
        if left < 0:
            return None
        diagrams.append(small)
    variables: dict[int, dict[str, Any]] = {}
    groups = []
    for diagram in diagrams:
        data = bytearray()
        for v, layer in zip(diagram.variables, diagram.layers, strict=True):
            values, positions = np.unique(layer.value, return_inverse=True)
            variables[v] = _variable(solutions, v, values)
            data += _coded(layer, positions)
        groups.append(_group(diagram, bytes(data)))
    order = sorted(variables)
    place = {v: i for i, v in enumerate(order)}
    for group in groups:
        group["variables"] = [place[v] for v in group["variables"]]
    return {
        "size": str(solutions.size),
        "variables": [variables[v] for v in order],
        "groups": groups,
        "paired": [i for i, v in enumerate(order) if solutions.variables[v] in set(paired)],
    }


def as_script_text(document: dict[str, object]) -> str:
    """The document as JSON that may stand inside a `<script>` element, whatever its names and values are."""
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _group(diagram: Diagram, data: bytes) -> dict[str, Any]:
    return {
        "variables": list(diagram.variables),
        "nodes": diagram.widths,
        "edges": [len(layer.value) for layer in diagram.layers],
        "data": b64encode(zlib.compress(data, 9)).decode("ascii"),
    }


def _coded(layer: Layer, positions: Array) -> bytes:
    degrees = np.diff(layer.first)
    values = np.diff(positions, prepend=0)
    starts = layer.first[:-1]
    values[starts] = positions[starts]
    jumps: Array = np.diff(layer.target.astype(np.int64), prepend=0)
    zigzag = (jumps << 1) ^ (jumps >> 63)
    return b"".join(_varints(numbers) for numbers in (degrees, values, zigzag))


def _varints(numbers: Array) -> bytes:
    """Non-negative integers below 2**35 in LEB128."""
    parts = (numbers.astype(np.int64)[:, None] >> (7 * np.arange(5))) & 0x7F
    lengths = 1 + np.max(np.where(parts > 0, np.arange(5), 0), axis=1, initial=0)
    place = np.arange(5)[None, :]
    parts |= np.where(place < lengths[:, None] - 1, 0x80, 0)
    return bytes(parts[place < lengths[:, None]].astype(np.uint8))


def _variable(solutions: Pictured, v: int, values: Array) -> dict[str, Any]:
    labels = solutions.labelled(v, values)
    found: dict[str, Any] = {"name": solutions.variables[v], "written": quote(solutions.variables[v])}
    numbers = all(isinstance(label, int | float) and not isinstance(label, bool) for label in labels)
    found["ordered"] = numbers and all(a < b for a, b in pairwise(labels))
    if numbers and len(labels) > 2 and all(type(label) is int for label in labels):
        step = labels[1] - labels[0]
        if labels == list(range(labels[0], labels[0] + step * len(labels), step)):
            return {**found, "start": str(labels[0]), "step": str(step), "count": len(labels)}
    found["texts"] = [str(label) for label in labels]
    if not numbers:
        found["literals"] = [json.dumps(label) if isinstance(label, str) else repr(label) for label in labels]
    return found
