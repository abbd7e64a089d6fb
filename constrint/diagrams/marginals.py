"""Marginal distributions of single variables and of pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from constrint.diagrams.diagram import Diagram
from constrint.diagrams.terms import OBJECT, Array

LARGEST_SIZE = 1 << 61
LEAST_SHARE = 1e-300  # shares of existing solutions never round to 0


def value_counts(diagram: Diagram) -> list[tuple[Array, list[int]]]:
    """The values of each variable, ascending, and the number of solutions with each of them."""
    exact = np.int64 if diagram.size < LARGEST_SIZE else OBJECT
    reach: Array = np.ones(1, dtype=exact)
    found = []
    for layer, below in zip(diagram.layers, diagram.counts[1:], strict=True):
        paths = np.repeat(reach, np.diff(layer.first))
        values, ids = np.unique(layer.value, return_inverse=True)
        totals = np.zeros(len(values), dtype=exact)
        np.add.at(totals, ids, paths * below.astype(exact)[layer.target])
        found.append((values, [int(total) for total in totals]))
        reach = np.zeros(len(below), dtype=exact)
        np.add.at(reach, layer.target, paths)
    return found


def pair_shares(diagram: Diagram, bins: Mapping[int, Array]) -> dict[tuple[int, int], Array]:
    """The distribution of solutions over the values of two variables, for all pairs of some variables.

    Args:
        diagram: The solutions.
        bins: For each wanted variable, by its layer, the bin of each of its distinct values, ascending.

    Returns:
        For each two layers, the upper one first, the share of all solutions in each pair of bins; 0 for none.
    """
    edges = [
        _edge_bins(layer.value, bins[k]) if k in bins else None for k, layer in enumerate(diagram.layers)
    ]
    steps = _steps(diagram)
    found: dict[tuple[int, int], Array] = {}
    reach: Array = np.ones(1)
    for k, layer in enumerate(diagram.layers):
        weight = _share(np.repeat(reach, np.diff(layer.first)), steps[k])
        column = edges[k]
        if column is not None and any(j > k for j in bins):
            for bin_ in range(int(column.max()) + 1):
                inside = np.where(column == bin_, weight, 0.0)
                _spread(diagram, k, inside, steps, edges, found, (bin_, int(column.max()) + 1))
        reach = np.bincount(layer.target, weight)
    return found


def _spread(
    diagram: Diagram,
    k: int,
    weight: Array,
    steps: Sequence[Array],
    edges: Sequence[Array | None],
    found: dict[tuple[int, int], Array],
    row: tuple[int, int],
) -> None:
    """Follow the paths through some edges of layer k downwards, and add up where they go."""
    reach = np.bincount(diagram.layers[k].target, weight)
    last = max(j for j, column in enumerate(edges) if column is not None)
    for j in range(k + 1, last + 1):
        layer, column = diagram.layers[j], edges[j]
        weight = _share(np.repeat(reach, np.diff(layer.first)), steps[j])
        if column is not None:
            table = found.setdefault((k, j), np.zeros((row[1], int(column.max()) + 1)))
            table[row[0]] = np.bincount(column, weight, minlength=table.shape[1])
        reach = np.bincount(layer.target, weight)


def _share(before: Array, step: Array) -> Array:
    """The share that continues through each edge: 0 only if nothing arrives."""
    return np.asarray(np.where(before > 0, np.maximum(before * step, LEAST_SHARE), 0.0))


def _steps(diagram: Diagram) -> list[Array]:
    """For each edge, the share of its node's solutions that pass through it."""
    steps = []
    for layer, above, below in zip(diagram.layers, diagram.counts[:-1], diagram.counts[1:], strict=True):
        through, of = below[layer.target], np.repeat(above, np.diff(layer.first))
        if of.dtype == OBJECT:  # quotients of Python's integers are accurate at any size
            through = through.astype(OBJECT)
        steps.append(np.maximum((through / of).astype(np.float64), LEAST_SHARE))
    return steps


def _edge_bins(values: Array, bins: Array) -> Array:
    """The bin of each edge."""
    return np.asarray(bins[np.unique(values, return_inverse=True)[1]])
