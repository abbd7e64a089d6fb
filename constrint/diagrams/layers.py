"""Builds the diagram of one component, layer by layer.

The nodes of a layer are the distinct values of what later conditions need to know of the bound variables. A
condition is applied when its last variable is bound, and prunes as soon as bounds exclude a row. If a
condition holds for all completions, the values that only it needs are dropped, so that more nodes are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Protocol

import numpy as np

from constrint.diagrams.diagram import Diagram, Layer, smallest_type
from constrint.diagrams.evaluate import Frame, Parts
from constrint.diagrams.joins import Join, Step, join, number_rows
from constrint.diagrams.term_bounds import bounds
from constrint.diagrams.terms import BOOL, FLOAT, Array, Term, Terms, Unsupported
from constrint.settings import BuildingSettings, of_new_models
from constrint.support.deadline import Deadline, Stopped, check_deadline, until
from constrint.support.limits import recursion_room

EDGE_BYTES = 36  # bytes for each edge, including temporary arrays at the end
ROW_BYTES = 90  # bytes for each row of a layer while equal states are found,
STATE_BYTES = 16  # and for each part of its state
FRAMES = 10_000  # calls within each other for one expression: some four for each operator
Piece = tuple[Array, Array, list[Array]]


class Mapper(Protocol):
    """Runs a function for each run of nodes, and returns the results in order: `map`, or threads."""

    def __call__(
        self, function: Callable[[tuple[int, int]], Piece], items: Sequence[tuple[int, int]], /
    ) -> Iterable[Piece]:
        """The results."""


class TooLargeDiagram(Exception):  # noqa: N818 - a limit, turned into another method or a clear error
    """More edges than the memory limit allows, or no time left."""


@contextmanager
def planning(deadline: Deadline) -> Iterator[None]:
    """Bound the time and the recursion of whatever plans and builds diagrams in this thread.

    Raises `TooLargeDiagram` at the deadline, and `Unsupported` for an expression that is nested too deeply.
    """
    try:
        with until(deadline), recursion_room(FRAMES):
            yield
    except Stopped:
        raise TooLargeDiagram("the time limit was reached") from None
    except RecursionError:
        raise Unsupported("an expression that is nested too deeply") from None


@dataclass
class EdgeBudget:
    """Limits of building.

    Attributes:
        edges: Maximum number of edges in all layers together; EDGE_BYTES of memory each.
        rows: Maximum number of rows that are evaluated.
        deadline: When to stop, by `perf_counter`.
        estimate: A diagram with more estimated rows is not tried.
    """

    edges: int = (2 << 30) // EDGE_BYTES
    rows: int = 2_000_000_000
    deadline: float | None = None
    estimate: float = 1e11

    @staticmethod
    def of_memory(limit: int | None) -> EdgeBudget:
        """The budget for this many bytes."""
        return EdgeBudget() if limit is None else EdgeBudget(edges=max(1, limit // EDGE_BYTES))

    def fit(self, rows: int, states: int) -> None:
        """Raise `TooLargeDiagram` if the states of so many rows do not fit beside the edges so far."""
        if states and rows * (ROW_BYTES + STATE_BYTES * states) > (self.edges + rows) * EDGE_BYTES:
            raise TooLargeDiagram("the diagram needs more memory than its limit")

    def spend(self, edges: int, rows: int) -> None:
        """Count work done; raises `TooLargeDiagram` beyond the limits."""
        self.edges -= edges
        self.rows -= rows
        if self.edges < 0 or self.rows < 0:
            raise TooLargeDiagram("the diagram needs more memory than its limit")
        if self.deadline is not None and perf_counter() > self.deadline:
            raise TooLargeDiagram("the time limit was reached")


@dataclass
class LayerBuilder:
    """Builds one component.

    Attributes:
        terms: The terms.
        parts: How terms split.
        conditions: The component's conditions.
        order: Its variables in order.
        budget: The limits.
        kinds: The kind of join of each layer, for people.
        mapper: Runs the chunks of a layer.
        layers: The layers built so far.
        nodes: Number of nodes after them.
        settings: How they are built.
    """

    terms: Terms
    parts: Parts
    conditions: Sequence[Term]
    order: Sequence[int]
    budget: EdgeBudget
    kinds: list[str] = field(default_factory=list)
    mapper: Mapper = map
    layers: list[Layer] = field(default_factory=list)
    nodes: int = 1
    settings: BuildingSettings = field(default_factory=lambda: of_new_models().building)
    _columns: dict[Term, Array] = field(default_factory=dict)

    def build(self) -> Diagram:
        """The diagram of all solutions of the component."""
        while len(self.layers) < len(self.order):
            self.advance()
        return Diagram.of_layers(self.order, self.layers)

    def advance(self) -> None:
        """Build the next layer."""
        depth = len(self.layers)
        layer, self._columns, self.nodes = self._layer(
            self.order[depth], self._bound(depth), self._columns, self.nodes
        )
        self.layers.append(layer)

    def prefixes(self) -> list[Array]:
        """For each node, the values of the first path to it; a column for each bound variable."""
        node = np.arange(self.nodes)
        columns: list[Array] = []
        for layer in reversed(self.layers):
            edge = np.full(int(layer.target.max(initial=-1)) + 1, -1)
            edge[layer.target[::-1]] = np.arange(len(layer.target) - 1, -1, -1)
            columns.insert(0, layer.value[edge[node]])
            node = layer.sources()[edge[node]]
        return columns

    def begin(self, prefixes: Sequence[Array]) -> None:
        """Start after the first variables, with a node for each row of their values."""
        depth = len(prefixes)
        frame = Frame(self.parts, 0, self._bound(depth), {}, None)
        for v, column in zip(self.order, prefixes, strict=False):
            frame.put(self.terms.var(v), column)
        self.nodes = len(prefixes[0])
        _, kept = self._frontiers(self._bound(depth))
        self._columns = dict(zip(kept, self._states(frame, kept, self.nodes), strict=True))
        empty = Layer(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        self.layers = [empty] * depth

    def _bound(self, depth: int) -> int:
        return sum(1 << v for v in self.order[:depth])

    def _frontiers(self, after: int) -> tuple[dict[Term, tuple[Term, ...]], list[Term]]:
        """Terms of the bound variables that each open condition still needs, and their union."""
        check_deadline()
        opened = [c for c in self.conditions if c.mask & ~after]
        frontiers = {c: self.parts.frontier(c, after) for c in opened}
        return frontiers, list(dict.fromkeys([term for terms in frontiers.values() for term in terms]))

    def _layer(
        self, v: int, before: int, columns: dict[Term, Array], nodes: int
    ) -> tuple[Layer, dict[Term, Array], int]:
        after = before | 1 << v
        opened = [c for c in self.conditions if c.mask & ~before]
        closing = [c for c in opened if not c.mask & ~after]
        frontiers, kept = self._frontiers(after)
        touched = [c for c in frontiers if c.mask >> v & 1]
        step = Step(
            self.terms, self.parts, v, before, columns, nodes, closing, touched=touched, few=self.settings.few
        )
        tried = join(step)
        self.kinds.append(tried.kind)
        forgettable = _forgettable(touched, frontiers)

        def rows(run: tuple[int, int]) -> Piece:
            return self._rows(step, tried, run, kept, forgettable)

        pieces = []
        found = 0
        runs = _chunks(tried, nodes, self.settings.chunk)
        for (begin, end), piece in zip(runs, self.mapper(rows, runs), strict=True):
            self.budget.spend(len(piece[0]), int(tried.count[begin:end].sum()))
            found += len(piece[0])
            self.budget.fit(found, len(kept))
            pieces.append(piece)
        sources, values, states = _joined(pieces, len(kept))
        target, first_rows = number_rows(states, len(sources))
        first = np.zeros(nodes + 1, dtype=np.int64)
        np.cumsum(np.bincount(sources, minlength=nodes), out=first[1:])
        layer = Layer(first, values, target)
        return layer, dict(zip(kept, [state[first_rows] for state in states], strict=True)), len(first_rows)

    def _rows(
        self,
        step: Step,
        tried: Join,
        run: tuple[int, int],
        kept: Sequence[Term],
        forgettable: Sequence[tuple[Term, list[int]]],
    ) -> Piece:
        """Node, value and next state of each row that is not excluded."""
        nodes, values = tried.rows(*run)
        frame = Frame(self.parts, step.before, step.before | 1 << step.v, step.columns, nodes)
        frame.put(self.terms.var(step.v), values)

        def narrow(good: Array) -> None:
            nonlocal nodes, values
            if good.ndim == 0:
                good = np.broadcast_to(good, len(nodes))
            if not good.all():
                rows = np.flatnonzero(good)
                nodes, values = nodes[rows], values[rows]
                frame.keep(rows)

        for condition in step.closing:
            if condition not in tried.decided:
                narrow(np.asarray(frame.holds(condition)))
        always = {}
        for condition in step.touched:
            lo, hi = (np.asarray(side, dtype=BOOL) for side in bounds(frame, condition))
            frame.limits.clear()
            frame.ok = None
            if lo.any() and any(condition is one for one, _ in forgettable):
                always[condition] = _row_mask(lo, len(nodes))
            if not hi.all():
                hi = _row_mask(hi, len(nodes))
                always = {one: mask[hi] for one, mask in always.items()}
                narrow(hi)
        states = self._states(frame, kept, len(nodes))
        if frame.ok is not None:
            good = _row_mask(frame.ok, len(nodes))
            frame.ok = None
            always = {one: mask[good] for one, mask in always.items()}
            narrow(good)
            states = self._states(frame, kept, len(nodes))
            frame.ok = None
        for condition, numbers in forgettable:
            where = always.get(condition)
            if where is not None and where.any():
                example = int(np.argmax(where))
                for i in numbers:
                    states[i] = np.where(where, states[i][example], states[i])
        domain = self.terms.domains[step.v]
        if domain is None or domain.dtype != FLOAT:
            values = values.astype(smallest_type(*self.terms.limits[step.v]))
        return nodes, values, states

    def _states(self, frame: Frame, kept: Sequence[Term], rows: int) -> list[Array]:
        return [np.broadcast_to(np.asarray(frame.value(term)), rows) for term in kept]


def _row_mask(mask: Array, rows: int) -> Array:
    return np.broadcast_to(mask, rows) if mask.ndim == 0 else mask


def _forgettable(
    touched: Sequence[Term], frontiers: dict[Term, tuple[Term, ...]]
) -> list[tuple[Term, list[int]]]:
    """Conditions with columns that no other condition needs, and the numbers of these columns."""
    uses: dict[Term, int] = {}
    for terms in frontiers.values():
        for term in terms:
            uses[term] = uses.get(term, 0) + 1
    numbers = {term: i for i, term in enumerate(uses)}
    return [
        (condition, [numbers[term] for term in frontiers[condition] if uses[term] == 1])
        for condition in touched
        if condition.safe and all(uses[term] == 1 for term in frontiers[condition])
    ]


def _chunks(tried: Join, nodes: int, most: int) -> list[tuple[int, int]]:
    """Runs of nodes with at most so many rows each, unless a single node has more."""
    if tried.total <= most:
        return [(0, nodes)]
    ends = np.cumsum(tried.count)
    cuts = [0]
    while cuts[-1] < nodes:
        done = int(ends[cuts[-1] - 1]) if cuts[-1] else 0
        cuts.append(max(int(np.searchsorted(ends, done + most, "right")), cuts[-1] + 1))
    return list(zip(cuts, [min(cut, nodes) for cut in cuts[1:]], strict=False))


def _joined(pieces: list[Piece], count: int) -> Piece:
    if len(pieces) == 1:
        return pieces[0]
    return (
        np.concatenate([piece[0] for piece in pieces]),
        np.concatenate([piece[1] for piece in pieces]),
        [np.concatenate([piece[2][i] for piece in pieces]) for i in range(count)],
    )
