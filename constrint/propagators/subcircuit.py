"""subcircuit: the successors that differ from their nodes form one cycle; the other nodes are left out.

A node that is its own successor is left out; all may be. Two rules, as for `circuit`. A chain of fixed
successors closes only where every node outside it can be left out; once one has closed, they are. A node that
must be on the cycle reaches every other node of it, and is reached: a node where that fails is left out.
O(n d) a run; weaker than domain consistency, which is NP-hard. `all_different` is posted as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from constrint.propagators.circuit import Successors, mark_reached, note_chains
from constrint.store.domains import contains, fix, remove, set_hi, set_lo
from constrint.store.state import State, compilable
from constrint.support.record import record

SUBCIRCUIT = 32


def is_subcircuit(successors: Sequence[int]) -> bool:
    """Whether successors form at most one cycle of two or more nodes, and are otherwise loops."""
    n = len(successors)
    if not all(0 <= node < n for node in successors):
        return False
    visited = [i for i, following in enumerate(successors) if i != following]
    if not visited:
        return True
    node, steps = successors[visited[0]], 1
    while node != visited[0] and steps <= n:
        node, steps = successors[node], steps + 1
    return node == visited[0] and steps == len(visited)


@record()
class Subcircuit(Successors):
    """The variables are successors that form at most one cycle; the nodes off it are their own successors."""

    successors: tuple[int, ...]
    kind = SUBCIRCUIT

    def holds(self, values: Sequence[int]) -> bool:
        return is_subcircuit([values[v] for v in self.successors])


@compilable
def leave_out_others(st: State, first: int, start: int) -> bool:
    """Leave out all nodes that are not on the closed cycle of a node."""
    args = st.args
    n = args[first]
    nodes = first + 1
    after = nodes + 2 * n
    mark = nodes + n  # in place of the predecessors, which are not needed any more
    for i in range(n):
        args[mark + i] = 0
    node = start
    while args[mark + node] == 0:
        args[mark + node] = 1
        node = args[after + node]
    for i in range(n):  # noqa: SIM110 - what is compiled has loops only
        if args[mark + i] == 0 and not fix(st, args[nodes + i], i):
            return False
    return True


@compilable
def close_paths(st: State, first: int) -> bool:
    """Chains of fixed successors close only around all nodes that must be on the cycle.

    Returns False for two cycles.
    """
    args = st.args
    n = args[first]
    nodes = first + 1
    before = nodes + n
    after = before + n
    if note_chains(st, first) < 0:
        return False
    needed = 0  # nodes that must be on the cycle
    on_chains = 0
    for i in range(n):
        if not contains(st, args[nodes + i], i):
            needed += 1
    for i in range(n):
        if args[before + i] >= 0 or args[after + i] < 0:
            continue
        end = i
        length = 1  # nodes on the chain that must be on the cycle: all but perhaps its end
        while args[after + end] >= 0:
            end = args[after + end]
            length += 1
        on_chains += length - 1
        inside = length if not contains(st, args[nodes + end], end) else length - 1
        if inside < needed and not remove(st, args[nodes + end], i):
            return False
        # The chain goes on from its end, which is therefore on the cycle.
        if not remove(st, args[nodes + end], end):
            return False
    for i in range(n):
        # A fixed node, not a loop, that no chain reaches is on a cycle.
        if args[after + i] < 0 or args[after + i] == i or args[before + i] < 0:
            continue
        node = args[after + i]
        steps = 1
        while node != i and steps <= n and args[after + node] >= 0:
            node = args[after + node]
            steps += 1
        if node == i:
            return leave_out_others(st, first, i)
    return True


@compilable
def leave_out_unreached(st: State, first: int) -> bool:
    """Leave out the nodes that cannot be on a cycle with a node that must be on it."""
    args = st.args
    n = args[first]
    nodes = first + 1
    mark = nodes + 2 * n
    root = -1
    for i in range(n):
        if not contains(st, args[nodes + i], i):
            root = i
            break
    if root < 0:
        return True
    for backwards in range(2):
        mark_reached(st, first, root, backwards == 1)
        for i in range(n):
            if args[mark + i] == 0 and not fix(st, args[nodes + i], i):
                return False
    return True


@compilable
def subcircuit(st: State, c: int) -> bool:
    """Propagate that the variables are successors that form at most one cycle."""
    first = st.start[c]
    args = st.args
    n = args[first]
    for i in range(first + 1, first + 1 + n):
        if not (set_lo(st, args[i], 0) and set_hi(st, args[i], n - 1)):
            return False
    return close_paths(st, first) and leave_out_unreached(st, first)
