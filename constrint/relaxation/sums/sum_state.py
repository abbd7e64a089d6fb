"""The state of a search for cuts: arrays of integers, for Python and for machine code.

Values and distances of columns are in units of `ONE`. Numbers are small enough that nothing overflows:
factors of sums are at most `LARGEST_FACTOR`, columns at most `FARTHEST_VALUE` from 0, right sides at most
`LARGEST_SIDE`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

PART = "cuts"  # of the machine code
ONE = 1 << 10  # of values of columns
NEAR_VALUES = 2  # values so near to each other are equal
LARGEST_FACTOR = 1 << 20
FARTHEST_VALUE = 1 << 20
LARGEST_SIDE = 1 << 40
NEVER = 2  # of `IS_SWITCHED`: columns count from their own bounds alone
MOST_TERMS = 400  # of a sum, with the columns of its switches

if TYPE_CHECKING:

    class SumScalar(int):
        """The name of a cell of `RowSums.scalar`."""

else:
    SumScalar = int  # so that machine code has plain numbers

# Places in `scalar`: rows and columns; the sum, its terms and its right side; what it becomes in distances;
# the cuts and their terms; work and its limit; where the next round begins; settings; how to choose bounds.
ROWS, COLUMNS, TERMS, SIDE, PARTS, REST = map(SumScalar, range(6))
CUTS, CUT_TERMS, WORK, MOST_WORK, NEXT, STAMP = map(SumScalar, range(6, 12))
MOST_ROWS, MOST_LENGTH, MOST_DIVISORS, LEAST_DEPTH = map(SumScalar, range(12, 16))
DIVISORS, BEST, BEST_DIVISOR, OUT_TERMS, OUT_SIDE, PASS, IS_PLAIN = map(SumScalar, range(16, 23))
NODES, ARCS, MOST_NESTED, IS_SWITCHED, NEXT_NODE = map(SumScalar, range(23, 28))
EDGES, ENTRIES, NEXT_WALK = map(SumScalar, range(28, 31))
SCALARS = 31

Cells = list[int]


class RowSums(NamedTuple):
    """The state.

    Rows are ``factors * columns <= limit``, and equations. A column may be switched: it is at most `ceiling`
    times the 0/1 column `switch`, or at least `floor` times the 0/1 column `keeper`.

    Attributes:
        scalar: Numbers by name.
        start: For each row, its first term; one more for the end.
        column: The column of each term.
        factor: Its factor.
        limit: The right side of each row.
        is_equation: Whether a row is an equation.
        slack: How far the point is from each row's limit, in units of `ONE`.
        used: The stamp of the last sum with each row.
        of_start: For each wide column, its first row in `of`; one more for the end.
        of: Rows of wide columns.
        low: The least value of each column.
        high: The greatest.
        value: Its value at the point.
        ceiling: The factor of its switch.
        switch: The 0/1 column that bounds it above; -1 for none.
        floor: The factor of its keeper.
        keeper: The 0/1 column that bounds it below; -1 for none.
        total: The factor of each column in the sum.
        support: The columns of the sum, `TERMS` of them.
        whole: The factor of each column after substitution.
        parts: The columns that have one, `PARTS` of them.
        seen: The pass of substitution that has last met each column.
        sign: 1 if a column counts up from its lower bound, -1 if down from its upper one.
        offset: That bound.
        rate: The factor of the 0/1 column of which it is a multiple instead.
        by: That column, or -1.
        distance: The distance of the point.
        divisor: Divisors to try.
        flip: Columns to count from the other bound.
        out: The factor of each column in the cut.
        out_support: Its columns.
        cut_start: For each cut, its first term; one more for the end.
        cut_column: Their columns.
        cut_factor: Their factors.
        cut_limit: The right side of each cut.
        node_row: The row of each node of a network; node 0 is all that is outside.
        node_sign: The factor of that row, so that what flows in is positive.
        need: 1 where a node needs something, -1 where it supplies something.
        arc: The column of each arc.
        arc_tail: The node that it leaves.
        arc_head: The node that it enters.
        arcs_start: For each node, its first arc in `arcs_of`; one more for the end.
        arcs_of: Arcs of nodes.
        forward: What an arc can still let through.
        backward: What of it can be taken back.
        mark: 1 for nodes of a set.
        reached_by: The arc on the path to a node.
        queue: Nodes to look at.
        edge_from: A column with an odd factor in a row, or the node beyond all columns.
        edge_to: The other one.
        edge_length: How far the point is from the row.
        edge_parity: Whether its right side is odd.
        edge_row: The row; -1 for a bound.
        edge_start: For each node, its first edge in `edge_of`; one more for the end.
        edge_fill: The place behind the last edge so far.
        edge_of: Edges of nodes.
        walk_length: The length of the shortest walk to each node with an even and with an odd right side.
        walk_edge: Its last edge.
        bucket: The first entry of each length; -1 for none.
        entry_place: The node and parity of an entry.
        entry_next: The next one of the same length.
    """

    scalar: Cells
    start: Cells
    column: Cells
    factor: Cells
    limit: Cells
    is_equation: Cells
    slack: Cells
    used: Cells
    of_start: Cells
    of: Cells
    low: Cells
    high: Cells
    value: Cells
    ceiling: Cells
    switch: Cells
    floor: Cells
    keeper: Cells
    total: Cells
    support: Cells
    whole: Cells
    parts: Cells
    seen: Cells
    sign: Cells
    offset: Cells
    rate: Cells
    by: Cells
    distance: Cells
    divisor: Cells
    flip: Cells
    out: Cells
    out_support: Cells
    cut_start: Cells
    cut_column: Cells
    cut_factor: Cells
    cut_limit: Cells
    node_row: Cells
    node_sign: Cells
    need: Cells
    arc: Cells
    arc_tail: Cells
    arc_head: Cells
    arcs_start: Cells
    arcs_of: Cells
    forward: Cells
    backward: Cells
    mark: Cells
    reached_by: Cells
    queue: Cells
    edge_from: Cells
    edge_to: Cells
    edge_length: Cells
    edge_parity: Cells
    edge_row: Cells
    edge_start: Cells
    edge_fill: Cells
    edge_of: Cells
    walk_length: Cells
    walk_edge: Cells
    bucket: Cells
    entry_place: Cells
    entry_next: Cells
