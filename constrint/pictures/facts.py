"""The numbers that a picture shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from constrint.diagrams.marginals import pair_shares, value_counts
from constrint.diagrams.terms import Array
from constrint.errors import ModelError

if TYPE_CHECKING:
    from constrint.diagrams.diagram import Diagram

MOST_BINS = 32
MOST_PAIRED = 12
"""The most variables whose pairs are all drawn if no variables are named."""
MOST_WORK = 300_000_000
"""The most work for the pairs of one diagram, in edges times bins."""
MOST_CHARACTERS = 24
EXACT = 1 << 40
"""The most solutions for which counts of pairs, rounded from shares, are exact."""


class Pictured(Protocol):
    """The part of `SolutionSet` that a picture needs."""

    @property
    def size(self) -> int:
        """Number of solutions."""

    @property
    def edges(self) -> int:
        """Number of edges of all diagrams."""

    @property
    def variables(self) -> Sequence[str]:
        """Names of the variables."""

    @property
    def diagrams(self) -> Sequence[Diagram]:
        """The diagrams of the independent groups of variables."""

    def values_of(self, name: str) -> Any:
        """The values of a variable; raises `ModelError` for an unknown one."""

    def labelled(self, v: int, values: Array) -> Any:
        """The user's labels for some values of a variable."""

    def facts(self) -> Sequence[str]:
        """Facts about the set, a line each."""


@dataclass(frozen=True)
class Histogram:
    """The values of one variable in bins.

    Attributes:
        name: The variable.
        labels: Label of each bin.
        counts: Number of solutions in each bin.
        bins: Bin of each distinct value, ascending.
    """

    name: str
    labels: list[str]
    counts: list[int]
    bins: Array

    @property
    def fixed(self) -> bool:
        """Whether the variable has only one value."""
        return len(self.bins) == 1


@dataclass(frozen=True)
class Pair:
    """How solutions are distributed over two variables.

    Attributes:
        row: The histogram of the rows.
        column: The histogram of the columns.
        shares: Share of all solutions in each pair of bins, as (row bins, column bins); 0 for none.
    """

    row: Histogram
    column: Histogram
    shares: Array


@dataclass(frozen=True)
class LayerFacts:
    """One layer of a diagram: its variable, the number of nodes and edges, and the diagram's number."""

    name: str
    nodes: int
    edges: int
    group: int


@dataclass(frozen=True)
class Facts:
    """All numbers of a picture.

    Attributes:
        title: Name of the set.
        lines: Facts about the set, a line each.
        size: Number of solutions.
        histograms: Variables with more than one value, in order of declaration.
        fixed: Variables with one value.
        pairs: Pairs of variables.
        paired: The variables whose pairs are wanted, in order.
        layers: Layers of all diagrams.
    """

    title: str
    lines: list[str]
    size: int
    histograms: list[Histogram]
    fixed: list[Histogram]
    pairs: list[Pair] = field(default_factory=list)
    paired: list[Histogram] = field(default_factory=list)
    layers: list[LayerFacts] = field(default_factory=list)

    def count(self, share: float) -> str:
        """The number of solutions for a share of all."""
        return f"{round(share * self.size):,}" if self.size < EXACT else f"{share:.3g} of all"


def facts_of(solutions: Pictured, variables: Sequence[str] | None = None, *, pairs: bool = True) -> Facts:
    """The numbers of a set; pairs of the named variables, or of the first variables with several values."""
    if not solutions.size:
        raise ModelError("there is no solution, so there is nothing to draw")
    known = {}
    for diagram in solutions.diagrams:
        for v, (values, counts) in zip(diagram.variables, value_counts(diagram), strict=True):
            others = solutions.size // diagram.size
            known[v] = _histogram(solutions, v, values, [count * others for count in counts])
    ordered = [known[v] for v in sorted(known)]
    free = [histogram for histogram in ordered if not histogram.fixed]
    if variables is None:
        paired = free[:MOST_PAIRED]
    else:
        for name in variables:
            solutions.values_of(name)  # raises for an unknown name
        paired = [h for name in variables for h in ordered if h.name == name]
    found, left_out = _pairs(solutions, paired) if pairs else ([], [])
    lines = list(solutions.facts())
    if pairs and variables is None and len(free) > len(paired):
        lines.append(f"pairs are those of the first {len(paired)} variables that vary")
    lines += [f"too many edges to follow for the pairs of {', '.join(names)}" for names in left_out]
    size = f"{solutions.size:,}" if solutions.size < 10**18 else f"about {Decimal(solutions.size):.6e}"
    return Facts(
        title=f"{size} solution{'' if solutions.size == 1 else 's'}",
        lines=lines,
        size=solutions.size,
        histograms=free,
        fixed=[histogram for histogram in ordered if histogram.fixed],
        pairs=found,
        paired=paired,
        layers=[
            LayerFacts(solutions.variables[v], layer.nodes, len(layer.value), group)
            for group, diagram in enumerate(solutions.diagrams)
            for v, layer in zip(diagram.variables, diagram.layers, strict=True)
        ],
    )


def _histogram(solutions: Pictured, v: int, values: Array, counts: list[int]) -> Histogram:
    labels = [_label(value) for value in solutions.labelled(v, values)]
    if len(values) <= MOST_BINS:
        return Histogram(solutions.variables[v], labels, counts, np.arange(len(values)))
    bins = np.arange(len(values)) * MOST_BINS // len(values)
    starts = np.searchsorted(bins, np.arange(MOST_BINS + 1)).tolist()
    runs = list(pairwise(starts))
    return Histogram(
        solutions.variables[v],
        [f"{labels[i]} … {labels[j - 1]}" if j > i + 1 else labels[i] for i, j in runs],
        [sum(counts[i:j]) for i, j in runs],
        bins,
    )


def _label(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"


def _pairs(solutions: Pictured, paired: Sequence[Histogram]) -> tuple[list[Pair], list[list[str]]]:
    """The pairs, and the variables of each diagram with too many edges for pairs."""
    by_name = {histogram.name: histogram for histogram in paired}
    shares: dict[tuple[str, str], Array] = {}
    left_out: dict[str, int] = {}
    skipped = []
    for number, diagram in enumerate(solutions.diagrams):
        names = [solutions.variables[v] for v in diagram.variables]
        inside = {k: by_name[name].bins for k, name in enumerate(names) if name in by_name}
        if _work(diagram, inside) > MOST_WORK:
            skipped.append([names[k] for k in inside])
            left_out.update({names[k]: number for k in inside})
            continue
        for (j, k), found_shares in pair_shares(diagram, inside).items():
            shares[names[j], names[k]] = found_shares
            shares[names[k], names[j]] = found_shares.T
    found = []
    for row, column in combinations(paired, 2):
        table = shares.get((row.name, column.name))
        if table is not None:
            found.append(Pair(row, column, table))
        elif row.name not in left_out or left_out[row.name] != left_out.get(column.name):
            independent = np.outer(_own_shares(row, solutions.size), _own_shares(column, solutions.size))
            found.append(Pair(row, column, independent))
    return found, skipped


def _work(diagram: Diagram, inside: dict[int, Array]) -> int:
    return sum(
        (int(bins.max()) + 1) * sum(len(layer.value) for layer in diagram.layers[k:])
        for k, bins in inside.items()
    )


def _own_shares(histogram: Histogram, size: int) -> Array:
    return np.array([max(count / size, 1e-150) if count else 0.0 for count in histogram.counts])
