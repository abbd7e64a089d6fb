"""Cliques of disequalities: variables that differ pairwise become one `all_different`.

Each pair is part of one clique at most, found greedily from the variables with the most disequalities on.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

from constrint.propagators import AllDifferent, AllDifferentBounds, LinearNe, Propagator
from constrint.settings import DEFAULT, PresolveSettings
from constrint.support.deadline import check_deadline

Vertex = TypeVar("Vertex", bound=Hashable)


def with_cliques(
    propagators: Sequence[Propagator],
    lo: Sequence[int],
    hi: Sequence[int],
    rules: PresolveSettings = DEFAULT.presolve,
) -> list[Propagator] | None:
    """The propagators with cliques of disequalities as one propagator each; None where there are none."""
    pairs: dict[frozenset[int], int] = {}
    for number, node in enumerate(propagators):
        if isinstance(node, LinearNe) and node.bound == 0 and len(node.terms) == 2:
            (a, x), (b, y) = node.terms
            if a == -b and x != y:
                pairs.setdefault(frozenset((x, y)), number)
    if not rules.least_clique <= len(pairs) <= rules.most_pairs_of_cliques:
        return None
    found = cliques(pairs, rules.least_clique)
    if not found:
        return None
    covered = {frozenset((x, y)) for clique in found for i, x in enumerate(clique) for y in clique[:i]}
    left = [node for node in propagators if not (isinstance(node, LinearNe) and _pair(node) in covered)]
    for clique in found:
        views = tuple((1, v, 0) for v in sorted(clique))
        left.append(AllDifferent(views))
        if max(hi[v] for v in clique) - min(lo[v] for v in clique) + 1 < rules.tight * len(clique):
            left.append(AllDifferentBounds(views))
    return left


def _pair(node: LinearNe) -> frozenset[int] | None:
    """The variables of a disequality of two; None for another."""
    if node.bound != 0 or len(node.terms) != 2 or node.terms[0][0] != -node.terms[1][0]:
        return None
    return frozenset(v for _, v in node.terms)


def cliques(pairs: Iterable[frozenset[Vertex]], least: int) -> list[list[Vertex]]:
    """Cliques of at least so many vertices of a graph, without a common edge; greedy, the greatest first."""
    near: dict[Vertex, set[Vertex]] = {}
    for pair in pairs:
        x, y = sorted(pair)  # type: ignore[type-var] # vertices are numbers, or pairs of numbers
        near.setdefault(x, set()).add(y)
        near.setdefault(y, set()).add(x)
    open_: dict[Vertex, set[Vertex]] = {x: set(ys) for x, ys in near.items()}
    place = {x: i for i, x in enumerate(sorted(near, key=lambda x: -len(near[x])))}
    found: list[list[Vertex]] = []
    for x in place:
        while True:
            check_deadline()
            clique = [x]
            candidates = open_[x]
            while candidates:
                y = min(candidates, key=place.__getitem__)
                clique.append(y)
                candidates = candidates & open_[y]
            if len(clique) < least:
                break
            found.append(clique)
            for u in clique:
                open_[u].difference_update(clique)
    return found
