"""Diagrams from rows; merging equal nodes, projection, and set operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from constrint.diagrams.diagram import Diagram, Layer
from constrint.diagrams.joins import number_rows
from constrint.diagrams.layers import TooLargeDiagram
from constrint.diagrams.terms import OBJECT, Array

MOST_ROWS = 2_000_000


def of_rows(variables: Sequence[int], columns: Sequence[Array]) -> Diagram:
    """The diagram of distinct rows, given in any order, a column for each variable."""
    rows = len(columns[0])
    order = np.lexsort(tuple(columns[::-1]))
    prefix = np.zeros(rows, dtype=np.int64)  # node of each row; the rows are sorted
    layers = []
    nodes = 1
    for column in columns:
        sorted_column = column[order]
        starts = np.ones(rows, dtype=bool)
        starts[1:] = (prefix[1:] != prefix[:-1]) | (sorted_column[1:] != sorted_column[:-1])
        edges = np.flatnonzero(starts)
        first = np.searchsorted(prefix[edges], np.arange(nodes + 1))
        prefix = np.cumsum(starts) - 1
        nodes = len(edges)
        layers.append(Layer(first, sorted_column[edges], np.arange(nodes)))
    if layers:
        last = layers[-1]
        layers[-1] = Layer(last.first, last.value, np.zeros(len(last.target), dtype=np.int64))
    return merged(Diagram.of_layers(variables, layers))


def merged(diagram: Diagram) -> Diagram:
    """The same solutions with all nodes with equal suffixes merged."""
    layers: list[Layer] = []
    numbers: Array | None = None
    for layer in reversed(diagram.layers):
        target = layer.target if numbers is None else numbers[layer.target]
        numbers, kept = equal_nodes(Layer(layer.first, layer.value, target))
        layers.insert(0, kept)
    return Diagram.of_layers(diagram.variables, layers)


def equal_nodes(layer: Layer) -> tuple[Array, Layer]:
    """A number for each node, equal for nodes with equal edges, and the layer with one node of each."""
    degree = np.diff(layer.first)
    position = np.arange(len(layer.value)) - np.repeat(layer.first[:-1], degree)
    mixed = _mixed(_codes(layer.value), 1) ^ _mixed(layer.target.astype(np.uint64), 2)
    total = np.zeros(len(position) + 1, dtype=np.uint64)
    np.cumsum(_mixed(mixed + position.astype(np.uint64), 3), out=total[1:])
    signature = (total[layer.first[1:]] - total[layer.first[:-1]]).view(np.int64)
    ids, example = number_rows([signature, degree], layer.nodes)
    # Nodes with equal signatures most likely have equal edges: verify that, and separate the others.
    like = example[ids]
    same_edge = np.repeat(layer.first[like], degree) + position
    differs = (layer.value[same_edge] != layer.value) | (layer.target[same_edge] != layer.target)
    apart = np.unique(layer.sources()[np.asarray(differs, dtype=bool)])
    ids = ids.copy()
    ids[apart] = len(example) + np.arange(len(apart))
    example = np.concatenate([example, apart])
    lengths = degree[example]
    ends = np.cumsum(lengths)
    edge = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(
        layer.first[example] - (ends - lengths), lengths
    )
    return ids, Layer(np.concatenate(([0], ends)), layer.value[edge], layer.target[edge])


def _codes(values: Array) -> Array:
    if values.dtype == OBJECT:
        return np.array([value % (1 << 64) for value in values.tolist()], dtype=np.uint64)
    if values.dtype.kind == "f":
        return (values.astype(np.float64) + 0.0).view(np.uint64)
    return values.astype(np.int64).view(np.uint64)


def _mixed(values: Array, salt: int) -> Array:
    mixed = (values + np.uint64(0x9E3779B97F4A7C15 * salt % (1 << 64))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(32)))


def projected(diagram: Diagram, variables: Sequence[int]) -> Diagram:
    """The distinct values of some variables, in the diagram's order.

    Raises `TooLargeDiagram` beyond MOST_ROWS.

    Fast if there are few results: it passes the layers once with a row for each of them.
    """
    node: Array = np.zeros(1, dtype=np.int64)
    kept: list[Array] = []
    names = []
    for v, layer in zip(diagram.variables, diagram.layers, strict=True):
        begin = layer.first[node]
        degree = layer.first[node + 1] - begin
        ends = np.cumsum(degree)
        if int(ends[-1]) > MOST_ROWS:
            raise TooLargeDiagram("the projection has too many rows to be listed")
        edge = np.arange(int(ends[-1])) + np.repeat(begin - (ends - degree), degree)
        kept = [np.repeat(column, degree) for column in kept]
        if v in variables:
            names.append(v)
            kept.append(layer.value[edge])
        node = layer.target[edge]
        _, first = number_rows([node, *kept], len(node))
        node, kept = node[first], [column[first] for column in kept]
    return of_rows(names, kept)


def chained(diagrams: Sequence[Diagram]) -> Diagram:
    """Independent diagrams as one: the end of each becomes the root of the next."""
    layers = [layer for diagram in diagrams for layer in diagram.layers]
    return Diagram.of_layers([v for diagram in diagrams for v in diagram.variables], layers)


Chooser = Callable[[Array, Array], Array]


def combined(left: Diagram, right: Diagram, keep: Chooser) -> Diagram:
    """The solutions of two diagrams of equal order that `keep` selects.

    Args:
        left: One diagram.
        right: The other, over the same variables in the same order.
        keep: Whether a solution is kept, given whether the left and the right have it.

    Returns:
        The diagram of the kept solutions.
    """
    pairs = (np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))  # node of each side, -1 for none
    layers = []
    for one, other in zip(left.layers, right.layers, strict=True):
        count = len(pairs[0])
        sides = [_side(layer, nodes) for layer, nodes in zip((one, other), pairs, strict=True)]
        values = np.concatenate([sides[0][1], sides[1][1]])
        codes = np.unique(values, return_inverse=True)[1]
        sources = np.concatenate([sides[0][0], sides[1][0]])
        key = sources * (int(np.max(codes, initial=0)) + 1) + codes
        unique, example, ids = np.unique(key, return_index=True, return_inverse=True)
        split = len(sides[0][1])
        targets = [np.full(len(unique), -1, dtype=np.int64) for _ in range(2)]
        targets[0][ids[:split]] = sides[0][2]
        targets[1][ids[split:]] = sides[1][2]
        target, first = number_rows(targets, len(unique))
        pairs = (targets[0][first], targets[1][first])
        starts = np.searchsorted(sources[example], np.arange(count + 1))
        layers.append(Layer(starts, values[example], target))
    last = layers[-1]
    good = np.flatnonzero(keep(pairs[0] >= 0, pairs[1] >= 0)[last.target])
    layers[-1] = Layer(
        np.searchsorted(good, last.first), last.value[good], np.zeros(len(good), dtype=np.int64)
    )
    return merged(Diagram.of_layers(left.variables, layers))


def _side(layer: Layer, nodes: Array) -> tuple[Array, Array, Array]:
    """Pair, value and target of each edge of one side."""
    alive = np.flatnonzero(nodes >= 0)
    begin = layer.first[nodes[alive]]
    degree = layer.first[nodes[alive] + 1] - begin
    ends = np.cumsum(degree)
    edge: Array = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(begin - (ends - degree), degree)
    return np.repeat(alive, degree), layer.value[edge], layer.target[edge]
