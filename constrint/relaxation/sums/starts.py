"""Where sums begin: at each row, and around each node of a network."""

from __future__ import annotations

from constrint.relaxation.sums.adding import following, take
from constrint.relaxation.sums.network import close, is_cut_found, join, mark_before, turn_marks, weigh
from constrint.relaxation.sums.parity import away, build_edges, sum_walk, walk_from
from constrint.relaxation.sums.rounding import halved, round_in_both
from constrint.relaxation.sums.sum_state import (
    COLUMNS,
    CUT_TERMS,
    CUTS,
    IS_PLAIN,
    MOST_LENGTH,
    MOST_NESTED,
    MOST_ROWS,
    MOST_WORK,
    NEAR_VALUES,
    NEXT,
    NEXT_NODE,
    NEXT_WALK,
    NODES,
    ROWS,
    STAMP,
    WORK,
    RowSums,
)


def path(s: RowSums, r: int, factor: int) -> None:
    """Sums that begin with a row, each with a further one, until one gives a cut."""
    take(s, r, factor)
    s.scalar[STAMP] += 1
    s.used[r] = s.scalar[STAMP]
    for _ in range(s.scalar[MOST_ROWS]):
        if round_in_both(s) or not following(s):
            return


def from_row(s: RowSums, r: int, factor: int) -> None:
    """Sums that begin with a row, by distances from bounds of both kinds."""
    s.scalar[IS_PLAIN] = 0
    path(s, r, factor)
    s.scalar[IS_PLAIN] = 1
    path(s, r, factor)


def round_both(s: RowSums) -> None:
    """Cuts of the sum of the marked nodes, as it is and turned round."""
    for turned in range(2):
        if join(s, 1 - 2 * turned):
            round_in_both(s)


def from_node(s: RowSums, sink: int) -> None:
    """Cuts from sets of nodes around one that needs something, from small to large ones."""
    weigh(s)
    for _ in range(s.scalar[MOST_NESTED]):
        if not is_cut_found(s, sink):
            return
        if turn_marks(s):
            round_both(s)
        mark_before(s, sink)
        round_both(s)
        close(s)


def from_network(s: RowSums) -> None:
    """Cuts from sets of nodes, with half of the work that is allowed, and half of the space."""
    nodes = s.scalar[NODES] - 1  # without what is outside
    first = s.scalar[NEXT_NODE]
    for i in range(nodes):
        v = 1 + (first + i) % nodes
        if 2 * s.scalar[WORK] > s.scalar[MOST_WORK] or 2 * s.scalar[CUTS] > len(s.cut_limit):
            s.scalar[NEXT_NODE] = v - 1
            return
        if s.need[v] > 0:
            from_node(s, v)


def from_walks(s: RowSums) -> None:
    """Cuts from closed walks through each column, with half of the work that is allowed."""
    columns = s.scalar[COLUMNS]
    if columns == 0:
        return
    build_edges(s)
    first = s.scalar[NEXT_WALK]
    most = s.scalar[WORK] + s.scalar[MOST_WORK] // 2
    for i in range(columns):
        x = (first + i) % columns
        if s.scalar[WORK] > most or s.scalar[CUTS] == len(s.cut_limit):
            s.scalar[NEXT_WALK] = x
            return
        if away(s, x) > NEAR_VALUES and walk_from(s, x) and sum_walk(s, x):
            halved(s)


def separate(s: RowSums) -> int:
    """Look for cuts from each node and row in turn, within the work that is allowed; the number of cuts."""
    s.scalar[CUTS] = 0
    s.scalar[CUT_TERMS] = 0
    s.scalar[WORK] = 0
    from_network(s)
    from_walks(s)
    rows = s.scalar[ROWS]
    first = s.scalar[NEXT]
    for i in range(rows):
        r = (first + i) % rows
        if i > 0 and (s.scalar[WORK] > s.scalar[MOST_WORK] or s.scalar[CUTS] == len(s.cut_limit)):
            s.scalar[NEXT] = r  # the next round begins with the rows that this one has not reached
            break
        if s.start[r + 1] - s.start[r] <= s.scalar[MOST_LENGTH]:
            from_row(s, r, 1)
            if s.is_equation[r] != 0:
                from_row(s, r, -1)
    return s.scalar[CUTS]
