"""A layered decision diagram: each path from its root to its end is one solution.

A layer holds the edges of one variable, sorted by node and within a node by value. `counts` has the number of
paths from each node to the end, which gives any solution by its number, and the number of any solution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from constrint.diagrams.terms import OBJECT, Array
from constrint.support.deadline import check_deadline

LARGEST_FLOAT = float(1 << 61)


def smallest_type(lo: int, hi: int) -> np.dtype[np.generic]:
    """The smallest signed integer type that holds both bounds; objects beyond int64."""
    for dtype in (np.int8, np.int16, np.int32, np.int64):
        if np.iinfo(dtype).min <= lo and hi <= np.iinfo(dtype).max:
            return np.dtype(dtype)
    return OBJECT


@dataclass(frozen=True, slots=True)
class Layer:
    """The edges of one variable.

    Attributes:
        first: First edge of each node, followed by the number of edges.
        value: Value of each edge.
        target: Node of the next layer to which each edge leads.
    """

    first: Array
    value: Array
    target: Array

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.first) - 1

    def sources(self) -> Array:
        """Node of each edge."""
        return np.repeat(np.arange(self.nodes), np.diff(self.first))


def _sums(per_edge: Array, first: Array) -> Array:
    """Sum over the edges of each node."""
    total = np.zeros(len(per_edge) + 1, dtype=per_edge.dtype)
    np.cumsum(per_edge, out=total[1:])
    return np.asarray(total[first[1:]] - total[first[:-1]])


def _counted(counts: Array, layer: Layer) -> tuple[Array, Array]:
    """Paths through each edge and from each node; Python's integers if int64 may overflow."""
    per_edge = counts[layer.target]
    if per_edge.dtype != OBJECT and float(per_edge.sum(dtype=np.float64)) >= LARGEST_FLOAT:
        per_edge = per_edge.astype(OBJECT)
    return per_edge, _sums(per_edge, layer.first)


class Diagram:
    """All solutions of some variables.

    Attributes:
        variables: The variables in the order of the layers.
        layers: The layers.
        counts: Paths from each node to the end, layer by layer; the last is the end itself.
    """

    def __init__(self, variables: Sequence[int], layers: list[Layer], counts: list[Array]) -> None:
        self.variables = tuple(variables)
        self.layers = layers
        self.counts = counts

    @staticmethod
    def of_layers(variables: Sequence[int], layers: Sequence[Layer]) -> Diagram:
        """A diagram from layers that may have dead ends, which are removed."""
        counts: list[Array] = [np.ones(1, dtype=np.int64)]
        kept: list[Layer] = []
        numbers: Array | None = None  # new numbers of the nodes of the layer below, if some were removed
        for layer in reversed(layers):
            check_deadline()
            target = layer.target
            first, value = layer.first, layer.value
            if numbers is not None:
                target = numbers[target]
                good = np.flatnonzero(target >= 0)
                if len(good) < len(target):
                    first = np.searchsorted(good, first)
                    value, target = value[good], target[good]
            layer = Layer(first, value, target)
            _, from_node = _counted(counts[0], layer)
            alive = np.asarray(from_node > 0, dtype=bool)
            numbers = None
            if not alive.all():
                numbers = np.where(alive, np.cumsum(alive) - 1, -1)
                layer = Layer(np.append(first[:-1][alive], first[-1]), value, target)
                from_node = from_node[alive]
            counts.insert(0, from_node)
            kept.insert(0, layer)
        return Diagram(variables, [_compact(layer) for layer in kept], counts)

    @property
    def size(self) -> int:
        """Number of solutions."""
        return int(self.counts[0].sum()) if len(self.counts[0]) else 0

    @property
    def edges(self) -> int:
        """Number of edges."""
        return sum(len(layer.value) for layer in self.layers)

    @property
    def widths(self) -> list[int]:
        """Number of nodes of each layer."""
        return [layer.nodes for layer in self.layers]

    @cached_property
    def _ends(self) -> list[Array]:
        """Cumulative number of paths through the edges of each layer."""
        return [
            np.cumsum(_counted(counts, layer)[0])
            for counts, layer in zip(self.counts[1:], self.layers, strict=True)
        ]

    # By number

    def columns(self, start: int, stop: int) -> list[Array]:
        """Solutions start … stop - 1, a column for each variable."""
        node = np.zeros(1, dtype=np.int64)
        base = 0
        columns = []
        for k, layer in enumerate(self.layers):
            begin = layer.first[node]
            degree = layer.first[node + 1] - begin
            ends = np.cumsum(degree)
            edge = np.arange(int(ends[-1])) + np.repeat(begin - (ends - degree), degree)
            target = layer.target[edge]
            if k == len(self.layers) - 1:
                columns.append(layer.value[edge[start - base : stop - base]])
                break
            lengths = self.counts[k + 1][target]
            ends = base + np.cumsum(lengths)
            i = int(np.searchsorted(ends, start, "right"))
            j = int(np.searchsorted(ends, stop, "left")) + 1
            node, lengths, edge = target[i:j], lengths[i:j], edge[i:j]
            base = int(ends[i] - lengths[0])
            if start > base or stop < int(ends[j - 1]):
                lengths = lengths.copy()
                lengths[0] -= start - base
                lengths[-1] -= int(ends[j - 1]) - stop
            columns.append(np.repeat(layer.value[edge], lengths.astype(np.int64)))
        return columns

    def at(self, numbers: Array) -> list[Array]:
        """The solutions with these numbers, a column for each variable."""
        node = np.zeros(len(numbers), dtype=np.int64)
        rest = numbers
        columns = []
        for layer, ends, counts in zip(self.layers, self._ends, self.counts[1:], strict=True):
            begin = layer.first[node]
            before = np.where(begin > 0, ends[np.maximum(begin - 1, 0)], 0)
            place = rest + before
            edge = np.searchsorted(ends, place, "right")
            columns.append(layer.value[edge])
            node = layer.target[edge]
            rest = place - (ends[edge] - counts[node])
        return columns

    def number(self, values: Sequence[int]) -> int | None:
        """The number of a solution; None if it is not one."""
        node = number = 0
        for layer, ends, value in zip(self.layers, self._ends, values, strict=True):
            begin, end = int(layer.first[node]), int(layer.first[node + 1])
            edge = begin + int(np.searchsorted(layer.value[begin:end], value))
            if edge == end or layer.value[edge] != value:
                return None
            before = int(ends[edge - 1]) if edge else 0
            number += before - (int(ends[begin - 1]) if begin else 0)
            node = int(layer.target[edge])
        return number

    # Dynamic programming

    def best(self, costs: Sequence[Callable[[Array], Array] | None], sign: int) -> tuple[int, list[int]]:
        """The least (sign 1) or greatest (sign -1) sum of the costs, and the first solution that has it."""
        below: Array = np.zeros(1, dtype=np.int64)
        chosen: list[Array] = []
        for layer, cost in zip(reversed(self.layers), reversed(costs), strict=True):
            total = below[layer.target]
            if cost is not None:
                total = total + cost(layer.value)
            start = layer.first[:-1]
            extreme = (np.minimum if sign > 0 else np.maximum).reduceat(total, start)
            hit = np.flatnonzero(total == np.repeat(extreme, np.diff(layer.first)))
            chosen.insert(0, hit[np.searchsorted(hit, start)])
            below = extreme
        node = 0
        values = []
        for layer, edges in zip(self.layers, chosen, strict=True):
            edge = int(edges[node])
            values.append(_item(layer.value[edge]))
            node = int(layer.target[edge])
        return _item(below[0]), values

    def value_counts(self, k: int) -> dict[int, int]:
        """The number of solutions with each value of the k-th variable."""
        reach: Array = np.ones(1, dtype=OBJECT)
        for layer, below in zip(self.layers[:k], self.counts[1:], strict=False):
            paths = np.zeros(len(below), dtype=OBJECT)
            np.add.at(paths, layer.target, np.repeat(reach, np.diff(layer.first)))
            reach = paths
        layer = self.layers[k]
        through = np.repeat(reach, np.diff(layer.first)) * self.counts[k + 1].astype(OBJECT)[layer.target]
        values, ids = np.unique(layer.value, return_inverse=True)
        totals = np.zeros(len(values), dtype=OBJECT)
        np.add.at(totals, ids, through)
        return {_item(value): int(total) for value, total in zip(values, totals, strict=True)}

    def restricted(self, k: int, keep: Callable[[Array], Array]) -> Diagram:
        """The solutions whose k-th variable has a value that `keep` selects."""
        layer = self.layers[k]
        good = np.flatnonzero(keep(layer.value))
        cut = Layer(np.searchsorted(good, layer.first), layer.value[good], layer.target[good])
        return Diagram.of_layers(self.variables, _reachable([*self.layers[:k], cut, *self.layers[k + 1 :]]))

    def prefixes(self, length: int) -> Iterator[list[int]]:
        """The distinct combinations of values of the first variables, in order."""
        count = Diagram.of_layers(self.variables[:length], _ended(self.layers[:length]))
        for row in zip(*count.columns(0, count.size), strict=True) if count.size else ():
            yield [_item(value) for value in row]


def _item(value: object) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _compact(layer: Layer) -> Layer:
    target = layer.target
    if target.dtype == np.int64 and (not len(target) or int(target.max()) < 1 << 31):
        target = target.astype(np.int32)
    return Layer(layer.first, layer.value, target)


def _ended(layers: Sequence[Layer]) -> list[Layer]:
    """Layers with all that followed merged into one end."""
    last = layers[-1]
    return [*layers[:-1], Layer(last.first, last.value, np.zeros(len(last.target), dtype=np.int32))]


def _reachable(layers: Sequence[Layer]) -> list[Layer]:
    """Layers without the nodes that no path from the root reaches."""
    kept = []
    nodes: Array = np.arange(1)
    for layer in layers:
        begin = layer.first[nodes]
        degree = layer.first[nodes + 1] - begin
        ends = np.cumsum(degree)
        edge = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(begin - (ends - degree), degree)
        targets = layer.target[edge]
        nodes, ids = np.unique(targets, return_inverse=True)
        kept.append(Layer(np.concatenate(([0], ends)), layer.value[edge], ids))
    return kept
