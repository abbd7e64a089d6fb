"""circuit: the successors of nodes 0 … n - 1 form one cycle through all of them.

Two rules. The end of a chain of fixed successors does not lead back to its start before all nodes are on the
chain (Caseau and Laburthe, "Solving small TSPs with constraints", ICLP 1997). Every node is reachable from
node 0, and node 0 from every node. O(n d) a run; weaker than domain consistency, which is NP-hard.
`all_different` is posted as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from constrint.store.domains import contains, remove, set_hi, set_lo
from constrint.store.propagator import Propagator, magnitude
from constrint.store.state import State, compilable
from constrint.support.record import record

CIRCUIT = 24


def is_circuit(successors: Sequence[int]) -> bool:
    """Whether successors form one cycle through all nodes."""
    n = len(successors)
    if not all(0 <= node < n for node in successors):
        return False
    node, steps = successors[0], 1
    while node != 0 and steps < n:
        node, steps = successors[node], steps + 1
    return node == 0 and steps == n


class Successors(Propagator):
    """The variables are successors in a graph: what circuits and subcircuits have in common."""

    __slots__ = ()
    successors: tuple[int, ...]
    priority: ClassVar[int] = 2

    def scope(self) -> tuple[int, ...]:
        return self.successors

    def encode(self) -> list[int]:
        # The successors; scratch space for each node: the fixed predecessor, the fixed successor or a mark,
        # and a queue entry.
        return [len(self.successors), *self.successors, *[0] * (3 * len(self.successors))]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        return max(magnitude(lo, hi, v) for v in self.successors) + len(self.successors) + 1


@record()
class Circuit(Successors):
    """The variables are successors that form one cycle."""

    successors: tuple[int, ...]
    kind = CIRCUIT

    def holds(self, values: Sequence[int]) -> bool:
        return is_circuit([values[v] for v in self.successors])


@compilable
def note_chains(st: State, first: int) -> int:
    """Write the fixed successor and predecessor of each node, or -1; returns the number of fixed successors.

    Returns -1 if a node would have two predecessors.
    """
    args = st.args
    n = args[first]
    nodes = first + 1
    before = nodes + n
    after = before + n
    for i in range(n):
        args[before + i] = -1
        args[after + i] = -1
    fixed = 0
    for i in range(n):
        v = args[nodes + i]
        if st.lo[v] == st.hi[v]:
            fixed += 1
            j = st.lo[v]
            if args[before + j] >= 0:
                return -1
            args[before + j] = i
            args[after + i] = j
    return fixed


@compilable
def goes_round(args: list[int], after: int, n: int) -> bool:
    """Whether the walk from node 0 returns after n steps and not before."""
    node = args[after]
    steps = 1
    while node != 0:
        node = args[after + node]
        steps += 1
    return steps == n


@compilable
def close_chains(st: State, first: int) -> bool:
    """Remove the start of each chain of fixed successors from the domain of its end.

    Returns False for a short cycle.
    """
    args = st.args
    n = args[first]
    nodes = first + 1
    before = nodes + n
    after = before + n
    fixed = note_chains(st, first)
    if fixed < 0:
        return False
    on_chains = 0
    for i in range(n):
        if args[before + i] >= 0:
            continue
        end = i
        length = 1
        while args[after + end] >= 0:
            end = args[after + end]
            length += 1
        on_chains += length - 1
        if length < n and not remove(st, args[nodes + end], i):
            return False
    # Fixed nodes that are on no chain are on cycles: one through all nodes, or short ones.
    return on_chains == fixed or (on_chains == 0 and fixed == n and goes_round(args, after, n))


@compilable
def mark_reached(st: State, first: int, root: int, backwards: bool) -> int:
    """Mark the nodes reachable from a node, or backwards those from which it is; returns how many."""
    args = st.args
    n = args[first]
    nodes = first + 1
    mark = nodes + 2 * n
    queue = mark + n
    for i in range(n):
        args[mark + i] = 0
    args[mark + root] = 1
    args[queue] = root
    head = 0
    tail = 1
    while head < tail:
        i = args[queue + head]
        head += 1
        for j in range(n):
            if args[mark + j] == 0:
                found = contains(st, args[nodes + j], i) if backwards else contains(st, args[nodes + i], j)
                if found:
                    args[mark + j] = 1
                    args[queue + tail] = j
                    tail += 1
    return tail


@compilable
def reaches_all(st: State, first: int, backwards: bool) -> bool:
    """Whether every node is reachable from node 0; backwards: whether node 0 is reachable from every node."""
    return mark_reached(st, first, 0, backwards) == st.args[first]


@compilable
def circuit(st: State, c: int) -> bool:
    """Propagate that the variables are successors that form one cycle."""
    first = st.start[c]
    args = st.args
    n = args[first]
    for i in range(first + 1, first + 1 + n):
        if not (set_lo(st, args[i], 0) and set_hi(st, args[i], n - 1)):
            return False
        if n > 1 and not remove(st, args[i], i - first - 1):
            return False
    return close_chains(st, first) and reaches_all(st, first, False) and reaches_all(st, first, True)
