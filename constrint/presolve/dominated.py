"""Linear rows that another one implies between the bounds of the root.

A row ``c x <= d`` is dominated by ``a x <= b`` where, for some factor f > 0, ``(c - f a) x`` is at most
``d - f b`` everywhere in the box. An equation implies both of its directions. Propagation of what stays is no
weaker where the coefficients of a variable agree, and there is less of it.

A row is compared with the others that have one of its variables, the one in the fewest rows, and that
variable's coefficients give the factor: a bounded amount of work, in the order of the rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from constrint.engine.state_arrays import Box
from constrint.propagators import LinearEq, LinearLe, Propagator
from constrint.settings import DEFAULT, PresolveSettings
from constrint.support.deadline import check_deadline


class _Row:
    """A row between others; `sides` has a pair of sign and bound for each direction."""

    __slots__ = ("place", "sides", "terms")

    def __init__(self, place: int, terms: dict[int, int], sides: Sequence[tuple[int, int]]) -> None:
        self.place = place
        self.terms = terms
        self.sides = sides


def without_dominated(
    propagators: Sequence[Propagator], box: Box, finite: int, rules: PresolveSettings = DEFAULT.presolve
) -> list[Propagator] | None:
    """The propagators without rows that other ones imply; None where there are none.

    Args:
        propagators: The constraints.
        box: The domains of the root, within which they hold.
        finite: Bounds from here on stand for all integers, so nothing follows from them.
        rules: The settings.
    """
    linear = [place for place, node in enumerate(propagators) if isinstance(node, LinearLe | LinearEq)]
    if not 1 < len(linear) <= rules.most_rows_of_dominated:
        return None
    check_deadline()
    most = rules.most_terms_of_dominated
    rows = [row for place in linear if (row := _row(place, propagators[place], box, most)) is not None]
    of: dict[int, list[_Row]] = defaultdict(list)
    for row in rows:
        for v in row.terms:
            of[v].append(row)
    dropped: set[int] = set()
    work = 0
    for row in rows:
        if len(row.sides) > 1 or work > rules.work_of_dominated:
            continue
        shared = [v for v in row.terms if len(of[v]) > 1]
        if not shared:
            continue
        v = min(shared, key=lambda v: len(of[v]))
        for other in of[v]:
            if other is row or other.place in dropped:
                continue
            work += len(row.terms) + len(other.terms)
            if _implies(other, row, v, box, finite):
                dropped.add(row.place)
                break
    if not dropped:
        return None
    return [node for place, node in enumerate(propagators) if place not in dropped]


def _row(place: int, node: Propagator, box: Box, most: int) -> _Row | None:
    """A row without fixed variables; None if it is too long, empty, or has a variable twice."""
    assert isinstance(node, LinearLe | LinearEq)
    if len(node.terms) > most:
        return None
    lo, hi = box.lo, box.hi
    terms: dict[int, int] = {}
    bound = node.bound
    for a, v in node.terms:
        if lo[v] == hi[v]:
            bound -= a * lo[v]
        elif v in terms:
            return None
        else:
            terms[v] = a
    if not terms:
        return None
    return _Row(place, terms, [(1, bound), (-1, -bound)] if isinstance(node, LinearEq) else [(1, bound)])


def _implies(other: _Row, row: _Row, v: int, box: Box, finite: int) -> bool:
    """Whether a row implies another one in the box, with the factor that their coefficients of v give."""
    lo, hi = box.lo, box.hi
    theirs, mine = other.terms[v], row.terms[v]
    ((_, bound),) = row.sides
    for sign, limit in other.sides:
        if sign * theirs * mine < 0:
            continue
        up, down = abs(theirs), sign * abs(mine)  # up * row - down * other has no v
        left = up * bound - abs(mine) * limit
        for u in row.terms.keys() | other.terms.keys():
            a = up * row.terms.get(u, 0) - down * other.terms.get(u, 0)
            if a:
                most = hi[u] if a > 0 else lo[u]
                if not -finite < most < finite:
                    break
                left -= a * most
        else:
            if left >= 0:
                return True
    return False
