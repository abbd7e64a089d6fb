"""Machines found in disjunctions: tasks of which any two are ordered, for windows beside the disjunctions.

A disjunction says ``s + d <= t or t + e <= s``: by a clause of the two literals, or by a literal and its
negation that each imply one of them. A clique of tasks that are ordered pairwise is a machine; a task lasts
for the least gap that it keeps to another of the clique.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from constrint.presolve.cliques import cliques
from constrint.propagators import Clause, LinearLeIf, Propagator
from constrint.support.deadline import look

LEAST_TASKS = 3
MOST_ORDERS = 20_000  # literals of orders beyond which machines are not looked for

Order: TypeAlias = "tuple[int, int, int]"  # s, t, d of s + d <= t
Machine: TypeAlias = "list[tuple[int, int]]"  # start and duration of each task


def machines(nodes: Sequence[Propagator]) -> list[Machine]:
    """Tasks that pairwise exclude each other by disjunctions, three or more to a machine."""
    orders = _orders(nodes)
    if not LEAST_TASKS <= len(orders) <= MOST_ORDERS:
        return []
    gaps: dict[tuple[int, int], int] = {}
    for one, other in _disjunctions(nodes, orders):
        look()
        for s, t, d in one:
            for u, v, e in other:
                # Between positive gaps, of which each leaves one order alone, the greatest count.
                if (s, t) == (v, u) and d > 0 and e > 0:
                    gaps[s, t] = max(d, gaps.get((s, t), d))
                    gaps[u, v] = max(e, gaps.get((u, v), e))
    found = []
    for clique in cliques(dict.fromkeys(map(frozenset, gaps)), LEAST_TASKS):
        found.append([(s, min(gaps[s, t] for t in clique if t != s)) for s in clique])
    return found


def _orders(nodes: Sequence[Propagator]) -> dict[int, Order]:
    """The literals that order two variables: ``literal`` implies ``s + d <= t``."""
    found: dict[int, Order] = {}
    for node in nodes:
        if isinstance(node, LinearLeIf) and len(node.terms) == 2:
            (a, x), (b, y) = node.terms
            if (a, b) == (-1, 1):
                x, y = y, x
            elif (a, b) != (1, -1):
                continue
            found.setdefault(node.literal, (x, y, -node.bound))
            found.setdefault(node.literal ^ 1, (y, x, node.bound + 1))
    return found


def _disjunctions(
    nodes: Sequence[Propagator], orders: dict[int, Order]
) -> Iterator[tuple[list[Order], list[Order]]]:
    """Pairs of lists of orders: all of the first hold, or all of the second."""
    implied: dict[int, list[Order]] = {literal: [order] for literal, order in orders.items()}
    clauses = [node.literals for node in nodes if isinstance(node, Clause) and len(node.literals) == 2]
    for pair in clauses:
        for x, y in (pair, pair[::-1]):
            if y in orders and x >> 1 != y >> 1:
                implied.setdefault(x ^ 1, []).append(orders[y])
    for x, y in clauses:
        if x in implied and y in implied:
            yield implied[x], implied[y]
    for literal in implied:
        if not literal & 1 and literal ^ 1 in implied:
            yield implied[literal], implied[literal ^ 1]
