"""Sums of the rows of a network's nodes: sets into which the point lets little flow.

Equations that state what flows into a node and out of it are nodes, columns in two of them arcs; those in one
lead outside. The sum of the rows of a set of nodes is a row of the arcs that enter or leave it. Good sets are
minimum cuts between the sources and a node that needs something, where an arc weighs as much as the 0/1
column that opens it. After each cut its arcs are closed to further cuts, which gives nested sets: Koch and
Martin, "Solving Steiner tree problems in graphs to optimality", Networks 32, 1998.
"""

from __future__ import annotations

from constrint.relaxation.sums.adding import clear, is_small
from constrint.relaxation.sums.sum_state import (
    ARCS,
    MOST_WORK,
    NODES,
    ONE,
    SIDE,
    TERMS,
    WORK,
    RowSums,
)

OPEN = 2 * ONE  # the most that an arc weighs


def weigh(s: RowSums) -> None:
    """The weights of arcs at the point, before anything flows."""
    for e in range(s.scalar[ARCS]):
        x = s.arc[e]
        weight = s.value[s.switch[x]] if s.switch[x] >= 0 else s.value[x]
        s.forward[e] = 1 + max(0, min(OPEN, weight))
        s.backward[e] = 0


def find_path(s: RowSums, sink: int) -> bool:
    """Mark what the sources reach, each node by the arc that leads to it, until that is the sink."""
    nodes = s.scalar[NODES]
    tail = 0
    for v in range(nodes):
        s.mark[v] = 0
        if s.need[v] < 0:
            s.mark[v] = 1
            s.queue[tail] = v
            tail += 1
    head = 0
    while head < tail:
        v = s.queue[head]
        head += 1
        for i in range(s.arcs_start[v], s.arcs_start[v + 1]):
            e = s.arcs_of[i]
            is_out = s.arc_tail[e] == v
            w = s.arc_head[e] if is_out else s.arc_tail[e]
            s.scalar[WORK] += 1
            left = s.forward[e] if is_out else s.backward[e]
            if left > 0 and s.mark[w] == 0:
                s.mark[w] = 1
                s.reached_by[w] = e
                if w == sink:
                    return True
                s.queue[tail] = w
                tail += 1
    return False


def push(s: RowSums, sink: int) -> int:
    """Let flow along the path to the sink; how much."""
    least = OPEN * 2
    v = sink
    while s.need[v] >= 0:
        e = s.reached_by[v]
        is_out = s.arc_head[e] == v
        least = min(least, s.forward[e] if is_out else s.backward[e])
        v = s.arc_tail[e] if is_out else s.arc_head[e]
    v = sink
    while s.need[v] >= 0:
        e = s.reached_by[v]
        if s.arc_head[e] == v:
            s.forward[e] -= least
            s.backward[e] += least
            v = s.arc_tail[e]
        else:
            s.backward[e] -= least
            s.forward[e] += least
            v = s.arc_head[e]
    return least


def mark_before(s: RowSums, sink: int) -> None:
    """Mark the nodes from which the sink can still be reached."""
    for v in range(s.scalar[NODES]):
        s.mark[v] = 0
    s.mark[sink] = 1
    s.queue[0] = sink
    head = 0
    tail = 1
    while head < tail:
        v = s.queue[head]
        head += 1
        for i in range(s.arcs_start[v], s.arcs_start[v + 1]):
            e = s.arcs_of[i]
            is_in = s.arc_head[e] == v
            w = s.arc_tail[e] if is_in else s.arc_head[e]
            s.scalar[WORK] += 1
            left = s.forward[e] if is_in else s.backward[e]
            if left > 0 and s.mark[w] == 0:
                s.mark[w] = 1
                s.queue[tail] = w
                tail += 1


def join(s: RowSums, factor: int) -> bool:
    """Sum the rows of the marked nodes; False where there are too many terms, or numbers are too large."""
    clear(s)
    count = 0
    side = 0
    for v in range(1, s.scalar[NODES]):
        if s.mark[v] != 0:
            r = s.node_row[v]
            sign = factor * s.node_sign[v]
            side += sign * s.limit[r]
            for i in range(s.start[r], s.start[r + 1]):
                x = s.column[i]
                if s.total[x] == 0:
                    s.support[count] = x
                    count += 1
                s.total[x] += sign * s.factor[i]
                if s.total[x] == 0:  # it is met by two rows: take it out again
                    for j in range(count):
                        if s.support[j] == x:
                            count -= 1
                            s.support[j] = s.support[count]
                            break
            s.scalar[WORK] += s.start[r + 1] - s.start[r]
    s.scalar[TERMS] = count
    s.scalar[SIDE] = side
    return is_small(s)


def close(s: RowSums) -> None:
    """Let no further cut be through the arcs that enter the marked nodes."""
    for e in range(s.scalar[ARCS]):
        if s.mark[s.arc_tail[e]] == 0 and s.mark[s.arc_head[e]] != 0:
            s.forward[e] += ONE


def turn_marks(s: RowSums) -> bool:
    """Mark the other nodes; False where these are none."""
    count = 0
    for v in range(s.scalar[NODES]):
        s.mark[v] = 1 - s.mark[v]
        if v > 0:
            count += s.mark[v]
    return count > 0 and s.mark[0] == 0


def is_cut_found(s: RowSums, sink: int) -> bool:
    """Let flow as much as a full arc to a node; whether less is possible. The sources' side is marked."""
    flow = 0
    while flow < ONE and s.scalar[WORK] <= s.scalar[MOST_WORK]:
        if not find_path(s, sink):
            return True
        flow += push(s, sink)
    return False
