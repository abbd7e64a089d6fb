"""Cuts: rows that exclude a point of the relaxation, but no solution (subtours of circuits).

A circuit must leave every proper subset of nodes: Dantzig, Fulkerson and Johnson, Operations Research 2,
1954. Subsets are found by joining nodes along the arcs with the greatest values, testing every subset on the
way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from constrint.relaxation.columns import total
from constrint.relaxation.lp_rows import LpRow, Relaxation

if TYPE_CHECKING:
    import numpy as np


def cuts(relaxation: Relaxation, point: np.ndarray[Any, Any]) -> list[LpRow]:
    """Rows that the point violates."""
    found: list[LpRow] = []
    for successors in relaxation.circuits:
        found += _subtours(relaxation, successors, point)
    return found


def _subtours(relaxation: Relaxation, successors: Sequence[int], point: np.ndarray[Any, Any]) -> list[LpRow]:
    columns, rules = relaxation.columns, relaxation.rules
    n = len(successors)
    weight: dict[tuple[int, int], float] = {}
    for i, v in enumerate(successors):
        for j in columns.values(v):
            if 0 <= j < n and j != i:
                member = columns.equals(v, j)
                flow = member.constant + sum(a * point[x] for x, a in member.terms.items())
                if flow > 1e-6:
                    weight[i, j] = weight.get((i, j), 0.0) + float(flow)
    parts: dict[int, set[int]] = {i: {i} for i in range(n)}
    rows: list[LpRow] = []
    arcs = sorted(weight, key=lambda arc: (-weight[arc], arc))
    for a, b in arcs:
        if parts[a] is parts[b] or len(rows) >= rules.most_subtours:
            continue
        joined = parts[a] | parts[b]
        for i in joined:
            parts[i] = joined
        if not 2 <= len(joined) <= n - 2:
            continue
        leaving = sum(flow for (i, j), flow in weight.items() if i in joined and j not in joined)
        if leaving < 1 - rules.least_violation:
            rows.append(_leaves(relaxation, successors, joined))
    return rows


def _leaves(relaxation: Relaxation, successors: Sequence[int], inside: set[int]) -> LpRow:
    """The row that some node of a set has a successor outside."""
    columns = relaxation.columns
    leaving = total(
        (1, columns.equals(successors[i], j))
        for i in sorted(inside)
        for j in columns.values(successors[i])
        if j not in inside
    )
    return LpRow(dict(leaving.terms), 1 - leaving.constant, None)
