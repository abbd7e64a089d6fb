"""all_different over views ``a * variable + b``: domain consistency.

Régin, "A filtering algorithm for constraints of difference in CSPs", AAAI 1994. A matching of views to values
is kept between runs and repaired. A value is removed from a view if no matching contains the pair: it is not
the matched pair, and the two lie in different strongly connected components of the matching's graph.

The matching is built by single augmenting paths: O(n^2 d) for the first one, O(n d) for each view that lost
its value (Hopcroft and Karp need O(n sqrt(n) d)). Components by Tarjan, SIAM J. Comput. 1972: O(n d).
"""

from __future__ import annotations

from typing import ClassVar

from constrint.propagators.all_different import View, Views
from constrint.store.domains import contains, remove
from constrint.store.state import State, compilable
from constrint.support.record import record

ALL_DIFFERENT_DOMAIN = 22


@record()
class AllDifferentDomain(Views):
    """No two views are equal; all their values lie in ``least … least + span - 1``."""

    views: tuple[View, ...]
    least: int
    span: int
    kind = ALL_DIFFERENT_DOMAIN
    priority: ClassVar[int] = 2

    def encode(self) -> list[int]:
        # The matching is kept between runs: the value of each view and the view of each value, or -1. Scratch
        # space follows: the view from which a value was reached, and a queue; for each view and the sink its
        # number, low link, cursor and two stacks.
        n = len(self.views)
        head = [n, self.least, self.span, *self.columns()]
        return [*head, *[-1] * (n + self.span), *[0] * (self.span + n), *[0] * (5 * (n + 1))]


@compilable
def view_contains(st: State, place: int, n: int, x: int) -> bool:
    """Whether a view can have a value."""
    args = st.args
    a = args[place + n]
    rest = x - args[place + 2 * n]
    return rest % a == 0 and contains(st, args[place], rest // a)


@compilable
def augment(st: State, first: int, k: int) -> bool:
    """Find a value for view k by an augmenting path (breadth first); False if there is none."""
    args = st.args
    n = args[first]
    least = args[first + 1]
    span = args[first + 2]
    views = first + 3
    match = views + 3 * n
    owner = match + n
    via = owner + span
    queue = via + span
    for w in range(span):
        args[via + w] = -1
    args[queue] = k
    head = 0
    tail = 1
    while head < tail:
        i = args[queue + head]
        head += 1
        v = args[views + i]
        a = args[views + n + i]
        b = args[views + 2 * n + i] - least
        x = st.lo[v]
        while x <= st.hi[v]:
            w = a * x + b
            if contains(st, v, x) and args[via + w] < 0:
                args[via + w] = i
                if args[owner + w] < 0:
                    # Along the path back, each view takes the value through which it was left.
                    while True:
                        i = args[via + w]
                        former = args[match + i]
                        args[match + i] = w
                        args[owner + w] = i
                        if i == k:
                            return True
                        w = former
                args[queue + tail] = args[owner + w]
                tail += 1
            x += st.step[v]
    return False


@compilable
def mend_matching(st: State, first: int) -> bool:
    """Match every view to a value of its own; False if that is impossible."""
    args = st.args
    n = args[first]
    views = first + 3
    match = views + 3 * n
    owner = match + n
    for k in range(n):
        w = args[match + k]
        if w >= 0 and not view_contains(st, views + k, n, w + args[first + 1]):
            args[owner + w] = -1
            args[match + k] = -1
    for k in range(n):  # noqa: SIM110 - what is compiled has loops only
        if args[match + k] < 0 and not augment(st, first, k):
            return False
    return True


@compilable
def next_neighbour(st: State, first: int, i: int, cursor: int) -> int:
    """The next successor of view i in the matching's graph: a view, n for the sink, -1 for none.

    The successors of a view are the owners of its other values, and the sink if one of them has no owner. The
    successors of the sink are all views.
    """
    args = st.args
    n = args[first]
    at = args[cursor + i]
    if i == n:
        args[cursor + i] = at + 1
        return at if at < n else -1
    views = first + 3
    owner = views + 4 * n
    v = args[views + i]
    a = args[views + n + i]
    b = args[views + 2 * n + i] - args[first + 1]
    x = st.lo[v] + at * st.step[v]
    while x <= st.hi[v]:
        at += 1
        if contains(st, v, x):
            j = args[owner + a * x + b]
            if j != i:
                args[cursor + i] = at
                return j if j >= 0 else n
        x += st.step[v]
    args[cursor + i] = at
    return -1


@compilable
def find_components(st: State, first: int) -> int:
    """Number the strongly connected components (Tarjan); returns the place of the component numbers."""
    args = st.args
    n = args[first]
    number = first + 3 + 5 * n + 2 * args[first + 2]
    low = number + n + 1
    cursor = low + n + 1
    path = cursor + n + 1
    stack = path + n + 1
    for i in range(n + 1):
        args[number + i] = 0
        args[low + i] = 0
        args[cursor + i] = 0
    count = 0
    open_views = 0
    for root in range(n + 1):
        if args[number + root] != 0:
            continue
        depth = 0
        args[path] = root
        count += 1
        args[number + root] = count
        args[low + root] = count
        args[stack + open_views] = root
        open_views += 1
        while depth >= 0:
            i = args[path + depth]
            j = next_neighbour(st, first, i, cursor)
            if j >= 0:
                if args[number + j] == 0:
                    count += 1
                    args[number + j] = count
                    args[low + j] = count
                    args[stack + open_views] = j
                    open_views += 1
                    depth += 1
                    args[path + depth] = j
                elif args[cursor + j] >= 0:
                    args[low + i] = min(args[low + i], args[number + j])
                continue
            depth -= 1
            if depth >= 0:
                parent = args[path + depth]
                args[low + parent] = min(args[low + parent], args[low + i])
            if args[low + i] == args[number + i]:
                # A cursor of -1 marks a finished node; its low link then holds its component.
                while True:
                    open_views -= 1
                    j = args[stack + open_views]
                    args[cursor + j] = -1
                    args[low + j] = args[number + i]
                    if j == i:
                        break
    return low


@compilable
def all_different_domain(st: State, c: int) -> bool:
    """Propagate that no two views are equal: domain consistency."""
    first = st.start[c]
    args = st.args
    n = args[first]
    if not mend_matching(st, first):
        return False
    component = find_components(st, first)
    views = first + 3
    owner = views + 4 * n
    for i in range(n):
        v = args[views + i]
        a = args[views + n + i]
        b = args[views + 2 * n + i] - args[first + 1]
        x = st.lo[v]
        last = st.hi[v]
        step = st.step[v]
        while x <= last:
            if contains(st, v, x):
                j = args[owner + a * x + b]
                if j >= 0 and args[component + j] != args[component + i] and not remove(st, v, x):
                    return False
            x += step
    return True
