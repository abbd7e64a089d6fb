"""arcs: literals of arcs whose true arcs form one cycle, or routes from a depot.

Each node other than the depot has exactly one true arc that leaves it and one that enters it; a true arc from
a node to itself leaves the node out. Without a depot, the other true arcs form one cycle, or there are none.
With one, each of them lies on a route: a cycle through the depot, of which there are any number.

Three rules, in O(n + arcs) a run. A chain of true arcs closes only where that leaves no node that must be
visited, and never without the depot (Caseau and Laburthe, "Solving small TSPs with constraints", ICLP 1997).
Once a cycle has closed without a depot, all other nodes are left out. The depot, or else a node that must be
visited, reaches every node that is visited, and is reached from it. The exact number of arcs at each node is
posted as sums; here it is looked at only where all arcs are fixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from constrint.store.domains import literal_value, set_literal
from constrint.store.propagator import Propagator, Watch, literal_holds
from constrint.store.state import FIXED, State, compilable
from constrint.support.record import record

ARCS = 34
NO_DEPOT = -1


def are_routes(arcs: Iterable[tuple[int, int]], nodes: Iterable[int], depot: int | None = None) -> bool:
    """Whether true arcs form one cycle, or routes from a depot, and loops at the nodes that are left out."""
    after: dict[int, int] = {}
    entered: set[int] = set()
    starts: list[int] = []
    for tail, head in arcs:
        if tail in after or head in entered:
            return False
        if tail == depot:
            starts.append(head)
        else:
            after[tail] = head
        if head != depot:
            entered.add(head)
    others = set(nodes) - {depot}
    if not others == after.keys() == entered:
        return False
    visited = {node for node, following in after.items() if node != following}
    if depot is None and visited:
        first = min(visited)
        starts, after[first], depot = [after[first]], first, first
        visited.discard(first)
    for node in starts:
        while node != depot:
            visited.discard(node)
            node = after[node]
    return not visited


@record()
class Arcs(Propagator):
    """True arcs, in the order of their tails, form one cycle, or routes from a depot if it is not `NO_DEPOT`.

    No arc leads from the depot to itself, and no two from one node to another.
    """

    count: int
    tails: tuple[int, ...]
    heads: tuple[int, ...]
    literals: tuple[int, ...]
    depot: int
    kind = ARCS
    priority: ClassVar[int] = 2

    def scope(self) -> tuple[int, ...]:
        return tuple([literal >> 1 for literal in self.literals])

    def holds(self, values: Sequence[int]) -> bool:
        arcs = zip(self.tails, self.heads, self.literals, strict=True)
        taken = [(tail, head) for tail, head, literal in arcs if literal_holds(literal, values)]
        return are_routes(taken, range(self.count), None if self.depot == NO_DEPOT else self.depot)

    def encode(self) -> list[int]:
        # The numbers of nodes and arcs, and the depot; tails, heads and literals of the arcs; the arcs in the
        # order of their heads; where the arcs that leave, and in that order those that enter, a node begin;
        # scratch space: the node after and before each node, the arc that leaves it out, a mark, a queue.
        n, m = self.count, len(self.literals)
        order = sorted(range(m), key=lambda arc: self.heads[arc])
        first_out, first_in = [0] * (n + 1), [0] * (n + 1)
        for arc in range(m):
            first_out[self.tails[arc] + 1] += 1
            first_in[self.heads[arc] + 1] += 1
        for node in range(n):
            first_out[node + 1] += first_out[node]
            first_in[node + 1] += first_in[node]
        lists = [*self.tails, *self.heads, *self.literals, *order, *first_out, *first_in]
        return [n, m, self.depot, *lists, *[0] * (5 * n)]

    def watches(self) -> list[Watch]:
        return [(literal >> 1, FIXED) for literal in self.literals]

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        return self.count + len(self.literals) + 1


@compilable
def scratch_of(args: list[int], first: int) -> int:
    """The place of the scratch space."""
    n = args[first]
    return first + 3 + 4 * args[first + 1] + 2 * (n + 1)


@compilable
def note_arcs(st: State, first: int) -> bool:
    """Write the node after and before each node, or -1, and the arc that may leave it out, or -1.

    Returns False where two true arcs leave or enter a node, or where all are fixed and none does.
    """
    args = st.args
    n = args[first]
    m = args[first + 1]
    depot = args[first + 2]
    after = scratch_of(args, first)
    before = after + n
    loop = before + n
    for i in range(after, after + 3 * n):
        args[i] = -1
    fixed = 0
    for arc in range(m):
        value = literal_value(st, args[first + 3 + 2 * m + arc])
        tail = args[first + 3 + arc]
        head = args[first + 3 + m + arc]
        if value >= 0:
            fixed += 1
        if value != 0 and tail == head:
            args[loop + tail] = arc
        if value == 1:
            if tail != depot:
                if args[after + tail] >= 0:
                    return False
                args[after + tail] = head
            if head != depot:
                if args[before + head] >= 0:
                    return False
                args[before + head] = tail
    if fixed == m:
        for i in range(n):
            if i != depot and (args[after + i] < 0 or args[before + i] < 0):
                return False
    return True


@compilable
def exclude_arcs(st: State, first: int, tail: int, head: int) -> bool:
    """Make all arcs from a node to another false."""
    args = st.args
    m = args[first + 1]
    first_out = first + 3 + 4 * m
    for arc in range(args[first_out + tail], args[first_out + tail + 1]):
        if args[first + 3 + m + arc] == head and not set_literal(st, args[first + 3 + 2 * m + arc] ^ 1):
            return False
    return True


@compilable
def leave_out(st: State, first: int, node: int) -> bool:
    """Leave a node out; False if it must be visited."""
    args = st.args
    arc = args[scratch_of(args, first) + 2 * args[first] + node]
    return arc >= 0 and set_literal(st, args[first + 3 + 2 * args[first + 1] + arc])


@compilable
def keep_chains_open(st: State, first: int) -> bool:
    """Exclude the arcs that would close a chain too early, and mark the nodes of all chains.

    False where that empties a domain.
    """
    args = st.args
    n = args[first]
    depot = args[first + 2]
    after = scratch_of(args, first)
    before = after + n
    loop = before + n
    mark = loop + n
    needed = 0
    for i in range(n):
        args[mark + i] = 0
        if args[loop + i] < 0:
            needed += 1
    for i in range(n):
        if i == depot or (args[before + i] >= 0 and args[before + i] != depot):
            continue
        end = i
        length = 1
        inside = 0
        args[mark + i] = 1
        if args[loop + i] < 0:
            inside += 1
        while args[after + end] >= 0 and args[after + end] != depot:
            end = args[after + end]
            args[mark + end] = 1
            length += 1
            if args[loop + end] < 0:
                inside += 1
        open_ended = args[before + i] < 0 and args[after + end] < 0
        early = depot >= 0 or inside < needed
        if length > 1 and open_ended and early and not exclude_arcs(st, first, end, i):
            return False
    return True


@compilable
def leave_others_out(st: State, first: int) -> bool:
    """Leave out all nodes without a mark; False if one of them must be visited."""
    n = st.args[first]
    mark = scratch_of(st.args, first) + 3 * n
    for i in range(n):  # noqa: SIM110 - what is compiled has loops only
        if st.args[mark + i] == 0 and not leave_out(st, first, i):
            return False
    return True


@compilable
def close_cycle(st: State, first: int) -> bool:
    """Leave out all nodes off a closed cycle without the depot; False where there must be none.

    The nodes of chains are marked.
    """
    args = st.args
    n = args[first]
    depot = args[first + 2]
    after = scratch_of(args, first)
    mark = after + 3 * n
    for i in range(n):
        if i == depot or args[mark + i] == 1 or args[after + i] == i:
            continue
        if depot >= 0:
            return False
        for j in range(n):
            args[mark + j] = 0
        node = i
        while args[mark + node] == 0:
            args[mark + node] = 1
            node = args[after + node]
        return leave_others_out(st, first)
    return True


@compilable
def mark_joined(st: State, first: int, root: int, backwards: bool) -> None:
    """Mark the nodes that a node reaches along arcs that are not false, or backwards those that reach it."""
    args = st.args
    n = args[first]
    m = args[first + 1]
    heads = first + 3 + m
    order = heads + 2 * m
    ends = first + 3 if backwards else heads
    begin = order + m + n + 1 if backwards else order + m
    mark = scratch_of(args, first) + 3 * n
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
        for place in range(args[begin + i], args[begin + i + 1]):
            arc = args[order + place] if backwards else place
            j = args[ends + arc]
            if args[mark + j] == 0 and literal_value(st, args[heads + m + arc]) != 0:
                args[mark + j] = 1
                args[queue + tail] = j
                tail += 1


@compilable
def arcs(st: State, c: int) -> bool:
    """Propagate that true arcs form one cycle, or routes from a depot."""
    first = st.start[c]
    args = st.args
    n = args[first]
    root = args[first + 2]
    if not (note_arcs(st, first) and keep_chains_open(st, first) and close_cycle(st, first)):
        return False
    loop = scratch_of(args, first) + 2 * n
    for i in range(n):
        if root < 0 and args[loop + i] < 0:
            root = i
    if root < 0:
        return True
    for backwards in range(2):
        mark_joined(st, first, root, backwards == 1)
        if not leave_others_out(st, first):
            return False
    return True
