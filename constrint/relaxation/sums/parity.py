"""Sums of rows that are halved and rounded: all their factors are even where the point is off its bounds.

A row with two odd factors is an edge between their columns, one with a single odd factor leads to a node of
its own, and so does the distance of a column from its bound. The length of an edge is how far the point is
from its row. A closed walk whose right sides add up to an odd number, and whose length is less than 1, is a
cut: Caprara and Fischetti, "{0, 1/2}-Chvatal-Gomory cuts", Mathematical Programming 74, 1996. In covers of
edges these are the odd cycles. Walks are shortest ones, found with a bucket for each length.
"""

from __future__ import annotations

from constrint.relaxation.sums.adding import add_row, clear, is_small
from constrint.relaxation.sums.sum_state import (
    COLUMNS,
    EDGES,
    ENTRIES,
    MOST_LENGTH,
    ONE,
    ROWS,
    TERMS,
    WORK,
    RowSums,
)

STEP = 2  # added to the length of each edge, so that walks are short
UNREACHED = 1 << 30


def nearer_bound(s: RowSums, x: int) -> int:
    """The bound that is nearer to the value of a column."""
    below = s.value[x] - s.low[x] * ONE
    return s.low[x] if below <= s.high[x] * ONE - s.value[x] else s.high[x]


def away(s: RowSums, x: int) -> int:
    """How far the value of a column is from its nearer bound."""
    return max(0, min(s.value[x] - s.low[x] * ONE, s.high[x] * ONE - s.value[x]))


def put_edge(s: RowSums, a: int, b: int, length: int, parity: int, row: int) -> None:
    """Add an edge; row -1 is a bound."""
    e = s.scalar[EDGES]
    s.edge_from[e] = a
    s.edge_to[e] = b
    s.edge_length[e] = length + STEP
    s.edge_parity[e] = parity
    s.edge_row[e] = row
    s.scalar[EDGES] = e + 1


def put_row(s: RowSums, r: int) -> None:
    """Add the edge of a row; beyond two odd columns, the distances of the others count as length."""
    first = -1
    second = -1
    length = s.slack[r]
    side = s.limit[r]
    for i in range(s.start[r], s.start[r + 1]):
        x = s.column[i]
        side -= (s.factor[i] % 2) * nearer_bound(s, x)
        if s.factor[i] % 2 != 0:
            far = away(s, x)
            if far > 0:
                length += far
                if first < 0 or far > away(s, first):
                    second = first
                    first = x
                elif second < 0 or far > away(s, second):
                    second = x
    s.scalar[WORK] += s.start[r + 1] - s.start[r]
    outside = s.scalar[COLUMNS]
    if first >= 0:
        length -= away(s, first)
    if second >= 0:
        length -= away(s, second)
    if length < ONE:
        a = first if first >= 0 else outside
        b = second if second >= 0 else outside
        if a != b or side % 2 != 0:
            put_edge(s, a, b, length, side % 2, r)


def build_edges(s: RowSums) -> None:
    """The edges at the point, and those of each node."""
    s.scalar[EDGES] = 0
    outside = s.scalar[COLUMNS]
    for r in range(s.scalar[ROWS]):
        if s.slack[r] < ONE and s.start[r + 1] - s.start[r] <= s.scalar[MOST_LENGTH]:
            put_row(s, r)
    for x in range(outside):
        far = away(s, x)
        if 0 < far < ONE:
            put_edge(s, x, outside, far, 0, -1)
    for v in range(outside + 2):
        s.edge_start[v] = 0
    for e in range(s.scalar[EDGES]):
        s.edge_start[s.edge_from[e] + 1] += 1
        s.edge_start[s.edge_to[e] + 1] += 1
    for v in range(outside + 1):
        s.edge_start[v + 1] += s.edge_start[v]
    for v in range(outside + 1):
        s.edge_fill[v] = s.edge_start[v]
    for e in range(s.scalar[EDGES]):
        for v in range(2):
            end = s.edge_from[e] if v == 0 else s.edge_to[e]
            s.edge_of[s.edge_fill[end]] = e
            s.edge_fill[end] += 1


def reach(s: RowSums, place: int, length: int, edge: int) -> None:
    """A node is reached with a parity by a walk of some length."""
    if length < ONE and length < s.walk_length[place]:
        s.walk_length[place] = length
        s.walk_edge[place] = edge
        entry = s.scalar[ENTRIES]
        if entry < len(s.entry_place):
            s.entry_place[entry] = place
            s.entry_next[entry] = s.bucket[length]
            s.bucket[length] = entry
            s.scalar[ENTRIES] = entry + 1


def walk_from(s: RowSums, source: int) -> bool:
    """Whether a closed walk with an odd right side leads from a node back to it; the shortest is noted."""
    count = 2 * (s.scalar[COLUMNS] + 1)
    for i in range(count):
        s.walk_length[i] = UNREACHED
    for i in range(ONE):
        s.bucket[i] = -1
    s.scalar[ENTRIES] = 0
    s.scalar[WORK] += (count + ONE) // 4
    reach(s, 2 * source, 0, -1)
    for length in range(ONE):
        while s.bucket[length] >= 0:
            entry = s.bucket[length]
            s.bucket[length] = s.entry_next[entry]
            at = s.entry_place[entry]
            if s.walk_length[at] < length:
                continue
            if at == 2 * source + 1:
                return True
            v = at // 2
            for i in range(s.edge_start[v], s.edge_start[v + 1]):
                e = s.edge_of[i]
                w = s.edge_to[e] if s.edge_from[e] == v else s.edge_from[e]
                reach(s, 2 * w + ((at % 2) ^ s.edge_parity[e]), length + s.edge_length[e], e)
            s.scalar[WORK] += s.edge_start[v + 1] - s.edge_start[v]
    return False


def sum_walk(s: RowSums, source: int) -> bool:
    """Sum the rows of the walk that was found; False where there are too many terms, or numbers are large."""
    clear(s)
    at = 2 * source + 1
    while at != 2 * source:
        e = s.walk_edge[at]
        if s.edge_row[e] >= 0:
            if s.scalar[TERMS] > s.scalar[MOST_LENGTH]:
                return False
            add_row(s, s.edge_row[e], 1)
        v = s.edge_from[e] if s.edge_to[e] == at // 2 else s.edge_to[e]
        at = 2 * v + ((at % 2) ^ s.edge_parity[e])
    return is_small(s)
