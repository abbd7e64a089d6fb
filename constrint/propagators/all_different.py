"""all_different over views ``a * variable + b``: value consistency and bounds consistency.

Value consistency removes the value of each fixed view from the others: O(n) for each variable that becomes
fixed. Bounds consistency follows López-Ortiz, Quimper, Tromp and van Beek, "A fast and simple algorithm for
bounds consistency of the alldifferent constraint", IJCAI 2003: O(n log n), and less if the order of the
bounds hardly changes between runs (the order is kept and mended by insertion sort).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from constrint.store.domains import remove, set_hi, set_lo, set_word
from constrint.store.propagator import Propagator
from constrint.store.state import BOUNDS, FIXED, State, compilable
from constrint.support.record import record

ALL_DIFFERENT = 20
ALL_DIFFERENT_BOUNDS = 21

View = tuple[int, int, int]
"""(coefficient, variable, constant) for ``coefficient * variable + constant``; the coefficient is not 0."""


def view_value(view: View, values: Sequence[int]) -> int:
    """The value of a view."""
    a, v, b = view
    return a * values[v] + b


class Views(Propagator):
    """Base class of the all_different propagators."""

    __slots__ = ()
    views: tuple[View, ...]

    def scope(self) -> tuple[int, ...]:
        return tuple([v for _, v, _ in self.views])

    def holds(self, values: Sequence[int]) -> bool:
        return len({view_value(view, values) for view in self.views}) == len(self.views)

    def peak(self, lo: Sequence[int], hi: Sequence[int]) -> int:
        return 4 * max(
            [1, *[abs(a) * (hi[v] if hi[v] > -lo[v] else -lo[v]) + abs(b) + 1 for a, v, b in self.views]]
        )

    def columns(self) -> list[int]:
        """All variables, then all coefficients, then all constants."""
        return [v for _, v, _ in self.views] + [a for a, _, _ in self.views] + [b for _, _, b in self.views]


@record()
class AllDifferent(Views):
    """No two views are equal; runs when a view becomes fixed."""

    views: tuple[View, ...]
    kind = ALL_DIFFERENT
    wakes = FIXED
    priority: ClassVar[int] = 0
    idempotent: ClassVar[bool] = True
    trailed: ClassVar[int] = 1  # number of fixed views, first in the order, whose values the others have lost

    def encode(self) -> list[int]:
        return [len(self.views), *self.columns(), *range(len(self.views))]


@record()
class AllDifferentBounds(Views):
    """No two views are equal; bounds consistent."""

    views: tuple[View, ...]
    kind = ALL_DIFFERENT_BOUNDS
    wakes = BOUNDS
    priority: ClassVar[int] = 2

    def encode(self) -> list[int]:
        # Four orders are kept between runs: by least and by greatest value, for the views and for the negated
        # views. Scratch space follows: four columns for the views; bounds, two trees and capacities of 2 n +
        # 2 places each.
        n = len(self.views)
        return [n, *self.columns(), *list(range(n)) * 4, *[0] * (4 * n + 4 * (2 * n + 2))]


@compilable
def view_lo(st: State, a: int, v: int, b: int) -> int:
    """The least value of a view."""
    return a * st.lo[v] + b if a > 0 else a * st.hi[v] + b


@compilable
def view_hi(st: State, a: int, v: int, b: int) -> int:
    """The greatest value of a view."""
    return a * st.hi[v] + b if a > 0 else a * st.lo[v] + b


@compilable
def set_view_lo(st: State, a: int, v: int, b: int, x: int) -> bool:
    """Require that a view is at least x."""
    if a > 0:
        return set_lo(st, v, -((b - x) // a))
    return set_hi(st, v, (x - b) // a)


@compilable
def take_value(st: State, first: int, done: int, x: int) -> bool:
    """Remove x from all views of the order from place `done` on."""
    args = st.args
    n = args[first]
    order = first + 1 + 3 * n
    for i in range(done, n):
        place = first + 1 + args[order + i]
        a = args[place + n]
        rest = x - args[place + 2 * n]
        if a == 1:
            if not remove(st, args[place], rest):
                return False
        elif rest % a == 0 and not remove(st, args[place], rest // a):
            return False
    return True


@compilable
def is_taken(st: State, first: int, done: int, x: int) -> bool:
    """Whether a view of the order before place `done` has the value x."""
    args = st.args
    n = args[first]
    order = first + 1 + 3 * n
    for i in range(done):
        place = first + 1 + args[order + i]
        if args[place + n] * st.lo[args[place]] + args[place + 2 * n] == x:
            return True
    return False


@compilable
def all_different(st: State, c: int) -> bool:
    """Propagate by value: remove the value of each fixed view from the others, once for each view."""
    first = st.start[c]
    args = st.args
    lo = st.lo
    hi = st.hi
    n = args[first]
    order = first + 1 + 3 * n
    word = args[order + n]
    before = st.words[word]
    done = before
    i = done
    while i < n:
        k = args[order + i]
        place = first + 1 + k
        v = args[place]
        if lo[v] != hi[v]:
            i += 1
            continue
        x = args[place + n] * lo[v] + args[place + 2 * n]
        # A variable without a bitset cannot lose inner values, so it may be fixed to a value that is taken.
        if st.hole[v] < 0 and is_taken(st, first, done, x):
            return False
        args[order + i] = args[order + done]
        args[order + done] = k
        done += 1
        if not take_value(st, first, done, x):
            return False
        i = done
    if done != before:
        set_word(st, word, done)
    return True


@compilable
def sort_by(args: list[int], order: int, key: int, n: int) -> None:
    """Sort the numbers args[order:order + n] by their keys args[key + number]; insertion sort."""
    for i in range(1, n):
        k = args[order + i]
        x = args[key + k]
        j = i - 1
        while j >= 0 and args[key + args[order + j]] > x:
            args[order + j + 1] = args[order + j]
            j -= 1
        args[order + j + 1] = k


@compilable
def path_end(args: list[int], tree: int, i: int) -> int:
    """The end of the path of ascending links from i."""
    while args[tree + i] > i:
        i = args[tree + i]
    return i


@compilable
def set_path(args: list[int], tree: int, start: int, end: int, target: int) -> None:
    """Link every node of a path, except its end, to the target."""
    i = start
    while i != end:
        following = args[tree + i]
        args[tree + i] = target
        i = following


@compilable
def rank_bounds(args: list[int], n: int, low: int, high: int, orders: int, bounds: int) -> int:
    """List the distinct ends of the views' intervals [low, high + 1); returns their number.

    The ranks of the ends go to the columns behind low and high.
    """
    by_low = orders
    by_high = orders + n
    sort_by(args, by_low, low, n)
    sort_by(args, by_high, high, n)
    least = args[low + args[by_low]]
    last = least - 2
    args[bounds] = last
    i = 0
    j = 0
    count = 0
    while j < n:
        above = args[high + args[by_high + j]] + 1
        if i < n and args[low + args[by_low + i]] <= above:
            x = args[low + args[by_low + i]]
            if x != last:
                count += 1
                last = x
                args[bounds + count] = x
            args[low + 2 * n + args[by_low + i]] = count
            i += 1
        else:
            if above != last:
                count += 1
                last = above
                args[bounds + count] = above
            args[high + 2 * n + args[by_high + j]] = count
            j += 1
    args[bounds + count + 1] = last + 2
    return count


@compilable
def raise_lows(args: list[int], n: int, low: int, high: int, by_high: int, bounds: int, count: int) -> int:
    """Raise least values out of Hall intervals; returns -1 on failure, 1 if a value rose, else 0.

    Views are taken in the order of their greatest values. Each uses one unit of the first interval with
    capacity left. An interval without capacity whose views fill it is a Hall interval.
    """
    size = 2 * n + 2
    tree = bounds + size
    hall = tree + size
    room = hall + size
    for i in range(1, count + 2):
        args[tree + i] = i - 1
        args[hall + i] = i - 1
        args[room + i] = args[bounds + i] - args[bounds + i - 1]
    args[tree] = 0
    args[hall] = 0
    # Links of `tree` lead upwards from intervals without capacity; links of `hall` lead upwards out of Hall
    # intervals.
    changed = 0
    for i in range(n):
        k = args[by_high + i]
        x = args[low + 2 * n + k]
        y = args[high + 2 * n + k]
        z = path_end(args, tree, x + 1)
        below = args[tree + z]
        args[room + z] -= 1
        if args[room + z] == 0:
            args[tree + z] = z + 1
            z = path_end(args, tree, z + 1)
            args[tree + z] = below
        set_path(args, tree, x + 1, z, z)
        needed = args[bounds + z] - args[bounds + y]
        if args[room + z] < needed:
            return -1
        if args[hall + x] > x:
            w = path_end(args, hall, args[hall + x])
            args[low + k] = args[bounds + w]
            set_path(args, hall, x, w, w)
            changed = 1
        if args[room + z] == needed:
            set_path(args, hall, args[hall + y], below - 1, y)
            args[hall + y] = below - 1
    return changed


@compilable
def prune_side(st: State, first: int, sign: int, orders: int) -> bool:
    """Raise the least values of the views (sign 1) or lower the greatest (sign -1, on the negated views)."""
    args = st.args
    n = args[first]
    low = first + 1 + 7 * n
    high = low + n
    bounds = low + 4 * n
    for k in range(n):
        place = first + 1 + k
        a = args[place + n] * sign
        b = args[place + 2 * n] * sign
        args[low + k] = view_lo(st, a, args[place], b)
        args[high + k] = view_hi(st, a, args[place], b)
    count = rank_bounds(args, n, low, high, orders, bounds)
    changed = raise_lows(args, n, low, high, orders + n, bounds, count)
    if changed <= 0:
        return changed == 0
    for k in range(n):
        place = first + 1 + k
        a = args[place + n] * sign
        if not set_view_lo(st, a, args[place], args[place + 2 * n] * sign, args[low + k]):
            return False
    return True


@compilable
def all_different_bounds(st: State, c: int) -> bool:
    """Propagate that no two views are equal: bounds consistency."""
    first = st.start[c]
    orders = first + 1 + 3 * st.args[first]
    return prune_side(st, first, 1, orders) and prune_side(st, first, -1, orders + 2 * st.args[first])
