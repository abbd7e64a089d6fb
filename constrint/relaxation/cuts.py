"""Cuts: rows that exclude a point of the relaxation, but no solution (subtours of circuits and routes).

A circuit must leave every set of nodes that has one that is visited, if another is outside it: Dantzig,
Fulkerson and Johnson, Operations Research 2, 1954. So must routes, of which the depot is always visited.
Sets are found by joining nodes along the arcs with the greatest values, testing every set on the way.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from constrint.relaxation.columns import total
from constrint.relaxation.lp_rows import LpRow, Relaxation, Tour

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def cuts(relaxation: Relaxation, point: NDArray[np.float64]) -> list[LpRow]:
    """Rows that the point violates."""
    found: list[LpRow] = []
    for tour in relaxation.tours:
        found += _subtours(relaxation, tour, point)
    return found


def _subtours(relaxation: Relaxation, tour: Tour, point: NDArray[np.float64]) -> list[LpRow]:
    weight: dict[tuple[int, int], float] = {}
    for arc, taken in tour.arcs.items():
        flow = taken.constant + sum(a * point[x] for x, a in taken.terms.items())
        if flow > 1e-6:
            weight[arc] = float(flow)
    parts: dict[int, set[int]] = {i: {i} for arc in tour.arcs for i in arc}
    rules = relaxation.rules
    rows: list[LpRow] = []
    for a, b in sorted(weight, key=lambda arc: (-weight[arc], arc)):
        if parts[a] is parts[b] or len(rows) >= rules.most_subtours:
            continue
        joined = parts[a] | parts[b]
        for i in joined:
            parts[i] = joined
        if tour.needed.isdisjoint(joined) or tour.needed <= joined:
            continue
        leaving = sum(flow for (i, j), flow in weight.items() if i in joined and j not in joined)
        if leaving < 1 - rules.least_violation:
            rows.append(_leaves(tour, joined))
    return rows


def _leaves(tour: Tour, inside: set[int]) -> LpRow:
    """The row that some arc from a set leads outside."""
    leaving = total(
        (1, taken)
        for (i, j), taken in sorted(tour.arcs.items(), key=itemgetter(0))
        if i in inside and j not in inside
    )
    return LpRow(dict(leaving.terms), 1 - leaving.constant, None)
