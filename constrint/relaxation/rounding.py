"""Cuts by mixed-integer rounding of sums of rows.

A row is summed with others so that columns away from their bounds vanish. Each column of the sum is replaced
by its distance from a bound, or from a multiple of a 0/1 column that bounds it; the sum is then divided and
rounded: Marchand and Wolsey, "Aggregation and mixed integer rounding to solve MIPs", Operations Research 49,
2001. All columns are integers, so the rounding of integers serves for all of them. Arithmetic is exact, and
only the bounds of the root are used: a cut holds in every solution. The search itself is in `sums`, as
machine code where that is at hand.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from constrint.relaxation.lp_rows import LpRow, Relaxation, Terms
from constrint.relaxation.networks import Network
from constrint.relaxation.sums.rounding import FINER
from constrint.relaxation.sums.starts import separate
from constrint.relaxation.sums.sum_state import (
    ARCS,
    COLUMNS,
    FARTHEST_VALUE,
    LARGEST_FACTOR,
    LARGEST_SIDE,
    LEAST_DEPTH,
    MOST_DIVISORS,
    MOST_LENGTH,
    MOST_NESTED,
    MOST_ROWS,
    MOST_TERMS,
    MOST_WORK,
    NODES,
    ONE,
    ROWS,
    SCALARS,
    WORK,
    RowSums,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from constrint.relaxation.sums.compiled import CompiledSums
    from constrint.settings import RelaxationSettings

    Floats = NDArray[np.float64]
    Row = tuple[Terms, int, bool]

CUTS_OF_ROUND = 400  # that are looked at before the best are chosen


class Rounding:
    """Finds cuts of one relaxation.

    Rows with the goal's column are left out: rounding them gives the goal's bound at best.

    Attributes:
        work: Terms processed so far.
    """

    def __init__(self, relaxation: Relaxation, goal: int) -> None:
        columns = relaxation.columns
        self._rules = relaxation.rules
        self.work = 0
        rows = _rows(relaxation, goal)
        self._state = _state(_bounds(relaxation), rows, len(columns.variable), self._rules)
        self._is_equation = np.array([each for _, _, each in rows], bool)
        self._limit = np.array([limit for _, limit, _ in rows], np.int64)
        self._row = np.repeat(np.arange(len(rows)), [len(terms) for terms, _, _ in rows])
        self._column = np.array(self._state.column, np.int64)
        self._factor = np.array(self._state.factor, np.int64)
        self._run: Callable[[], int] = partial(separate, self._state)
        self._session: CompiledSums | None = None
        self._state.scalar[MOST_WORK] //= self._rules.slower_interpreted

    @property
    def has_rows(self) -> bool:
        """Whether there are rows to be summed."""
        return bool(self._state.scalar[ROWS])

    def compile(self) -> None:
        """Go on in machine code, which is loaded already or compiled."""
        from constrint.relaxation.sums.compiled import CompiledSums

        self._state.scalar[MOST_WORK] *= self._rules.slower_interpreted
        self._session = CompiledSums(self._state)  # it holds the memory that the machine code works on
        self._state, self._run = self._session.state, self._session.run

    def cuts(self, point: Floats) -> list[LpRow]:
        """Rows that the point violates, the deepest first, without those that are nearly parallel."""
        s = self._state
        if not s.scalar[ROWS]:
            return []
        near = np.clip(point, -FARTHEST_VALUE, FARTHEST_VALUE)
        _fill(s.value, np.rint(near * ONE).astype(np.int64))
        totals = np.bincount(self._row, self._factor * near[self._column], len(self._limit))
        slack = np.clip((self._limit - totals) * ONE, 0, float(LARGEST_SIDE)).astype(np.int64)
        _fill(s.slack, np.where(self._is_equation, 0, slack))
        count = self._run()
        self.work += s.scalar[WORK]
        found = dict.fromkeys(_cut(s, i) for i in range(count))
        return _best([LpRow(dict(terms), None, limit) for terms, limit in found], point, self._rules)


def _fill(cells: list[int], numbers: NDArray[np.int64]) -> None:
    """Write numbers into a list or an array."""
    if isinstance(cells, list):
        cells[:] = numbers.tolist()
    else:
        np.frombuffer(cells, np.int64)[:] = numbers


def _cut(s: RowSums, i: int) -> tuple[tuple[tuple[int, int], ...], int]:
    first, last = s.cut_start[i], s.cut_start[i + 1]
    return tuple(sorted(zip(s.cut_column[first:last], s.cut_factor[first:last], strict=True))), s.cut_limit[i]


def _best(rows: list[LpRow], point: Floats, rules: RelaxationSettings) -> list[LpRow]:
    """The deepest rows, but none that is nearly parallel to a deeper one."""
    deep = sorted(
        ((_depth(row, point), i) for i, row in enumerate(rows)), key=lambda each: (-each[0], each[1])
    )
    most = 2 * rules.most_roundings
    rows = [rows[i] for depth, i in deep[:most] if depth > rules.least_depth]
    if not rows:
        return []
    counts = [len(row.terms) for row in rows]
    columns = np.fromiter((x for row in rows for x in row.terms), np.int64, sum(counts))
    used, place = np.unique(columns, return_inverse=True)
    units = np.zeros((len(rows), len(used)))
    units[np.repeat(np.arange(len(rows)), counts), place] = [a for row in rows for a in row.terms.values()]
    units /= np.sqrt((units * units).sum(axis=1))[:, None]
    chosen: list[int] = []
    is_left = np.ones(len(rows), bool)
    for i in range(len(rows)):
        if is_left[i] and len(chosen) < rules.most_roundings:
            chosen.append(i)
            is_left &= units @ units[i] < rules.parallel
    return [rows[i] for i in chosen]


def _depth(row: LpRow, point: Floats) -> float:
    """How far a point is beyond a row."""
    factors = np.fromiter(row.terms.values(), np.float64, len(row.terms))
    excess = float((factors * point[list(row.terms)]).sum()) - (row.high or 0)
    return excess / float(np.sqrt((factors * factors).sum()))


def _bounds(relaxation: Relaxation) -> tuple[list[int], list[int]]:
    """The bounds of the columns at the root."""
    columns = relaxation.columns
    box = columns.box
    pairs = [
        (box.lo[v], box.hi[v]) if value is None else (0, 1)
        for v, value in zip(columns.variable, columns.value, strict=True)
    ]
    return [low for low, _ in pairs], [high for _, high in pairs]


def _rows(relaxation: Relaxation, goal: int) -> list[Row]:
    """The rows ``sum <= limit``, and whether each is an equation."""
    low, high = _bounds(relaxation)
    is_far = [
        min(a, -b) < -FARTHEST_VALUE or max(a, b) > FARTHEST_VALUE for a, b in zip(low, high, strict=True)
    ]
    found: list[Row] = []
    for row in relaxation.rows:
        if goal in row.terms or any(is_far[x] for x in row.terms):
            continue
        sides = (row.low or 0, row.high or 0, *row.terms.values())
        if max(map(abs, sides)) > LARGEST_FACTOR or len(row.terms) > relaxation.rules.most_terms_of_sum:
            continue
        if row.high is not None:
            found.append((row.terms, row.high, row.low == row.high))
        if row.low is not None and row.low != row.high:
            found.append(({x: -a for x, a in row.terms.items()}, -row.low, False))
    return found


def _switches(
    rows: list[Row], bounds: tuple[list[int], list[int]]
) -> tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int]]]:
    """The 0/1 columns that bound others, and their factors: ``x <= u * y``, and ``x >= l * y``."""
    above: dict[int, tuple[int, int]] = {}
    below: dict[int, tuple[int, int]] = {}
    low, high = bounds
    for terms, limit, is_equation in rows:
        if len(terms) != 2 or limit != 0 or is_equation:
            continue
        for x, y in (tuple(terms), tuple(terms)[::-1]):
            a, b = terms[x], terms[y]
            if (low[y], high[y]) != (0, 1) or (low[x], high[x]) == (0, 1) or b % a or -b // a <= 0:
                continue
            rate = -b // a
            if a > 0 and (x not in above or rate < above[x][1]):
                above[x] = y, rate
            elif a < 0 and (x not in below or rate > below[x][1]):
                below[x] = y, rate
    return above, below


def _state(
    bounds: tuple[list[int], list[int]], rows: list[Row], columns: int, rules: RelaxationSettings
) -> RowSums:
    """The state before the first round."""
    low, high = bounds
    above, below = _switches(rows, bounds)
    of: dict[int, list[int]] = defaultdict(list)
    for r, (terms, limit, is_equation) in enumerate(rows):
        for x in terms:
            is_bound = len(terms) == 2 and limit == 0 and not is_equation and (x in above or x in below)
            if (low[x], high[x]) != (0, 1) and not is_bound:
                of[x].append(r)
    scalar = [0] * SCALARS
    scalar[ROWS], scalar[COLUMNS] = len(rows), columns
    scalar[MOST_ROWS], scalar[MOST_LENGTH] = rules.most_summed, min(rules.most_terms_of_sum, MOST_TERMS)
    scalar[MOST_DIVISORS], scalar[LEAST_DEPTH] = rules.most_divisors, int(rules.least_depth * ONE * FINER)
    scalar[MOST_WORK] = rules.work_of_rounding + rules.work_of_row * len(rows)
    net = Network(rows, (low, high))
    scalar[NODES], scalar[ARCS], scalar[MOST_NESTED] = net.nodes, len(net.arcs), rules.most_nested
    zeros, size = [0] * columns, max(columns, MOST_TERMS) + 8
    starts = np.cumsum([0, *(len(terms) for terms, _, _ in rows)]).tolist()
    firsts = np.cumsum([0, *(len(of[x]) for x in range(columns))]).tolist()
    near_low = [max(-FARTHEST_VALUE, each) for each in low]
    near_high = [min(FARTHEST_VALUE, each) for each in high]
    return RowSums(
        scalar=scalar, start=starts, column=[x for terms, _, _ in rows for x in terms],
        factor=[a for terms, _, _ in rows for a in terms.values()], limit=[limit for _, limit, _ in rows],
        is_equation=[int(each) for _, _, each in rows], slack=[0] * len(rows), used=[0] * len(rows),
        of_start=firsts, of=[r for x in range(columns) for r in of[x]], low=near_low, high=near_high,
        value=zeros.copy(), ceiling=[above.get(x, (0, 0))[1] for x in range(columns)],
        switch=[above.get(x, (-1, 0))[0] for x in range(columns)],
        floor=[below.get(x, (0, 0))[1] for x in range(columns)],
        keeper=[below.get(x, (-1, 0))[0] for x in range(columns)], total=zeros.copy(), support=[0] * size,
        whole=zeros.copy(), parts=[0] * size, seen=zeros.copy(), sign=zeros.copy(), offset=zeros.copy(),
        rate=zeros.copy(), by=zeros.copy(), distance=zeros.copy(), divisor=[0] * rules.most_divisors,
        flip=zeros.copy(), out=zeros.copy(), out_support=[0] * (2 * size),
        cut_start=[0] * (CUTS_OF_ROUND + 1), cut_column=[0] * (CUTS_OF_ROUND * 60),
        cut_factor=[0] * (CUTS_OF_ROUND * 60), cut_limit=[0] * CUTS_OF_ROUND, **net.fields(),
        **_walks(len(rows), columns),
    )  # fmt: skip


def _walks(rows: int, columns: int) -> dict[str, list[int]]:
    """The part of the state that edges and walks are in."""
    most, places = rows + columns + 1, 2 * (columns + 1)
    edges = ("edge_from", "edge_to", "edge_length", "edge_parity", "edge_row")
    return {
        **{name: [0] * most for name in edges},
        "edge_start": [0] * (columns + 3),
        "edge_fill": [0] * (columns + 3),
        "edge_of": [0] * (2 * most),
        "walk_length": [0] * places,
        "walk_edge": [0] * places,
        "bucket": [-1] * ONE,
        "entry_place": [0] * (4 * most + places),
        "entry_next": [0] * (4 * most + places),
    }
