"""circuit, subcircuit and routes over literals of arcs, explained by the arcs of a chain or of a cut.

The literal of arc (i, j) says that j follows i; each node has exactly one true arc by other constraints. In
a subcircuit and in routes, the arc (i, i) leaves node i out. The depot of routes is node 0, which has any
number of true arcs.

- A chain of true arcs does not close before it has all nodes: the reason is the chain (Caseau and Laburthe,
  ICLP 1997; explained as in Francis and Stuckey, "Explaining circuit propagation", Constraints 2014). In a
  subcircuit it may close where every other node may be left out; in routes, never without the depot.
- Every node that must be visited is reached from the first such node, and reaches it, along arcs that are not
  false: the reason of a contradiction is the false arcs that leave, or enter, the nodes reached, and what
  says that the two nodes must be visited.

O(n^2) a run.
"""

from __future__ import annotations

from constrint.learning.layout import BY_TERMS, TRAIL, Learner, learn_compilable
from constrint.learning.linear import add_premise, contradict
from constrint.learning.trail import raise_bound, value_before
from constrint.store.state import State

# Rows of scratch space with n entries each: the chains' next and first nodes, and a queue.
AFTER, HAS_BEFORE, QUEUE = 0, 1, 2
ROOM_OF_NODE = 3
# The kinds, as limits of the propagator.
WHOLE, PARTIAL, FROM_DEPOT = 0, 1, 2
# Terms that are no atoms: arcs that are excluded, or taken, from the start.
NO_ARC, FIXED_ARC = -1, -2


@learn_compilable
def is_taken(ls: Learner, at: int, arc: int) -> bool:
    """Whether an arc was true before an entry."""
    b = ls.term[arc]
    if b < 0:
        return b == FIXED_ARC
    return value_before(ls, b, at) >= ls.factor[arc]


@learn_compilable
def is_excluded(ls: Learner, at: int, arc: int) -> bool:
    """Whether an arc was false before an entry."""
    b = ls.term[arc]
    if b < 0:
        return b == NO_ARC
    return value_before(ls, b ^ 1, at) >= 1 - ls.factor[arc]


@learn_compilable
def exclude_arc(ls: Learner, st: State, p: int, arc: int) -> bool:
    """Make an arc false."""
    b = ls.term[arc]
    return b < 0 or raise_bound(ls, st, b ^ 1, 1 - ls.factor[arc], 4 * p + BY_TERMS)


@learn_compilable
def must_visit(ls: Learner, p: int, n: int, at: int, node: int) -> bool:
    """Whether a node cannot be left out, before an entry; the depot never is."""
    return ls.limit[p] == WHOLE or is_excluded(ls, at, ls.start[p] + node * n + node)


@learn_compilable
def first_needed(ls: Learner, p: int, n: int, at: int) -> int:
    """The first node that must be visited, before an entry; -1 if there is none."""
    for i in range(n):
        if must_visit(ls, p, n, at, i):
            return i
    return -1


@learn_compilable
def not_reached(ls: Learner, p: int, n: int, at: int, forward: bool) -> int:
    """A node that must be visited, but is not reached from the first such node, or does not reach it.

    As before an entry. Marks the nodes that are, or do. Returns -1 if there is no such node.
    """
    first = ls.start[p]
    room = ls.room
    seen = HAS_BEFORE * n
    queue = QUEUE * n
    root = first_needed(ls, p, n, at)
    if root < 0:
        return -1
    for i in range(n):
        room[seen + i] = 0
    room[seen + root] = 1
    room[queue] = root
    count = 1
    done = 0
    while done < count:
        i = room[queue + done]
        done += 1
        for j in range(n):
            arc = first + (i * n + j if forward else j * n + i)
            if room[seen + j] == 0 and not is_excluded(ls, at, arc):
                room[seen + j] = 1
                room[queue + count] = j
                count += 1
    for i in range(n):
        if room[seen + i] == 0 and must_visit(ls, p, n, at, i):
            return i
    return -1


@learn_compilable
def must_go_on(ls: Learner, p: int, n: int, start: int, at: int) -> int:
    """A node off the chain from a node that cannot be left out, before an entry; -1 if there is none.

    Of a circuit, any node off the chain; of routes, the depot.
    """
    room = ls.room
    queue = QUEUE * n
    for i in range(n):
        room[queue + i] = 0
    node = start
    while node >= 0 and room[queue + node] == 0:
        room[queue + node] = 1
        node = room[AFTER * n + node]
    for i in range(n):
        if room[queue + i] == 0 and must_visit(ls, p, n, at, i):
            return i
    return -1


@learn_compilable
def leave_others(ls: Learner, st: State, p: int, n: int, start: int) -> bool:
    """Leave out the nodes off a closed cycle."""
    if ls.limit[p] != PARTIAL:
        return contradict(ls, 4 * p + BY_TERMS)
    must_go_on(ls, p, n, start, ls.scalar[TRAIL])  # marks the cycle
    for i in range(n):
        if ls.room[QUEUE * n + i] == 1:
            continue
        arc = ls.start[p] + i * n + i
        b = ls.term[arc]
        if b == NO_ARC:
            return contradict(ls, 4 * p + BY_TERMS)
        if b >= 0 and not raise_bound(ls, st, b, ls.factor[arc], 4 * p + BY_TERMS):
            return False
    return True


@learn_compilable
def follow(ls: Learner, p: int, n: int, at: int) -> None:
    """Write the successors of all nodes before an entry, or -1; without the arcs of the depot of routes."""
    first = ls.start[p]
    begin = 1 if ls.limit[p] == FROM_DEPOT else 0
    for i in range(n):
        ls.room[AFTER * n + i] = -1
    for i in range(begin, n):
        for j in range(begin, n):
            if is_taken(ls, at, first + i * n + j):
                ls.room[AFTER * n + i] = j


@learn_compilable
def keep_chains_open(ls: Learner, st: State, p: int, n: int) -> bool:
    """Exclude the arcs that would close chains of true arcs too early."""
    first = ls.start[p]
    room = ls.room
    now = ls.scalar[TRAIL]
    follow(ls, p, n, now)
    for i in range(n):
        room[HAS_BEFORE * n + i] = 0
    for i in range(n):
        if room[AFTER * n + i] >= 0:
            room[HAS_BEFORE * n + room[AFTER * n + i]] = 1
    for i in range(n):
        if room[HAS_BEFORE * n + i] == 1 or room[AFTER * n + i] < 0:
            continue
        last = i
        length = 1
        while room[AFTER * n + last] >= 0 and length <= n:
            last = room[AFTER * n + last]
            length += 1
        if (
            length < n
            and must_go_on(ls, p, n, i, now) >= 0
            and not exclude_arc(ls, st, p, first + last * n + i)
        ):
            return False
    return True


@learn_compilable
def keep_circuit(ls: Learner, st: State, p: int) -> bool:
    """Propagate a circuit, a subcircuit or routes: the kind is the limit."""
    n = ls.literal_at[p]
    room = ls.room
    if not keep_chains_open(ls, st, p, n):
        return False
    for i in range(n):  # cycles that are closed
        last = i
        length = 1
        while room[AFTER * n + last] >= 0 and room[AFTER * n + last] != i and length <= n:
            last = room[AFTER * n + last]
            length += 1
        if room[AFTER * n + last] == i and length < n and (length > 1 or ls.limit[p] == WHOLE):
            if not leave_others(ls, st, p, n, i):
                return False
            break
    now = ls.scalar[TRAIL]
    return (not_reached(ls, p, n, now, True) < 0 and not_reached(ls, p, n, now, False) < 0) or contradict(
        ls, 4 * p + BY_TERMS
    )


@learn_compilable
def add_arc(ls: Learner, arc: int) -> None:
    """Add a true arc to the premises."""
    if ls.term[arc] >= 0:
        add_premise(ls, ls.term[arc], ls.factor[arc])


@learn_compilable
def add_no_arc(ls: Learner, arc: int) -> None:
    """Add a false arc to the premises."""
    if ls.term[arc] >= 0:
        add_premise(ls, ls.term[arc] ^ 1, 1 - ls.factor[arc])


@learn_compilable
def add_chain(ls: Learner, p: int, n: int, start: int, last: int) -> bool:
    """Add the arcs of a chain to the premises; False where it does not lead to a node, and adds nothing."""
    room = ls.room
    node = start
    length = 1
    while node != last:
        node = room[AFTER * n + node]
        length += 1
        if node < 0 or length > n:
            return False
    node = start
    while node != last:
        add_arc(ls, ls.start[p] + node * n + room[AFTER * n + node])
        node = room[AFTER * n + node]
    return True


@learn_compilable
def add_cycle(ls: Learner, p: int, n: int, left_out: int) -> bool:
    """Add the arcs of a closed cycle without a node to the premises; False if there is none."""
    room = ls.room
    for i in range(n):
        after = room[AFTER * n + i]
        if after < 0 or (after == i and ls.limit[p] != WHOLE):
            continue
        node = i
        length = 1
        has_node = i == left_out
        while after >= 0 and after != i and length <= n:
            node = after
            has_node = has_node or node == left_out
            after = room[AFTER * n + node]
            length += 1
        if after == i and length < n and not has_node:
            add_arc(ls, ls.start[p] + node * n + i)
            return add_chain(ls, p, n, i, node)
    return False


@learn_compilable
def add_cut(ls: Learner, p: int, n: int, at: int) -> None:
    """Add the false arcs that leave, or enter, the nodes reached, and what says that two must be visited."""
    first = ls.start[p]
    other = not_reached(ls, p, n, at, True)
    forward = other >= 0
    if not forward:
        other = not_reached(ls, p, n, at, False)
    seen = HAS_BEFORE * n
    for i in range(n):
        for j in range(n):
            if ls.room[seen + i] == 1 and ls.room[seen + j] == 0:
                add_no_arc(ls, first + (i * n + j if forward else j * n + i))
    if ls.limit[p] != WHOLE:
        add_no_arc(ls, first + other * n + other)
        root = first_needed(ls, p, n, at)
        add_no_arc(ls, first + root * n + root)


@learn_compilable
def explain_contradiction(ls: Learner, p: int, n: int, at: int) -> None:
    """Add the premises of a contradiction: a closed cycle, or a cut."""
    first = ls.start[p]
    if ls.limit[p] == PARTIAL:
        for i in range(n):
            if is_excluded(ls, at, first + i * n + i) and add_cycle(ls, p, n, i):
                add_no_arc(ls, first + i * n + i)
                return
    elif add_cycle(ls, p, n, -1):
        return
    add_cut(ls, p, n, at)


@learn_compilable
def explain_circuit(ls: Learner, p: int, b: int, at: int) -> None:
    """Add the premises from which a circuit derives the atom of a bound, or a contradiction if it is NOTHING.

    Arcs are literals of 0/1 variables, so a bound has one atom.
    """
    first = ls.start[p]
    n = ls.literal_at[p]
    follow(ls, p, n, at)
    if b < 0:
        explain_contradiction(ls, p, n, at)
        return
    for arc in range(first, first + n * n):
        i = (arc - first) // n
        j = (arc - first) % n
        if ls.term[arc] == b ^ 1 and i != j:
            other = must_go_on(ls, p, n, j, at)
            if other >= 0 and add_chain(ls, p, n, j, i):
                if ls.limit[p] == PARTIAL:
                    add_no_arc(ls, first + other * n + other)
                return
        if ls.term[arc] == b and i == j and ls.limit[p] == PARTIAL and add_cycle(ls, p, n, i):
            return
