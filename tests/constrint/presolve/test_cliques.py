"""Cliques of disequalities: the same solutions, and contradictions that no pair sees."""

from __future__ import annotations

from itertools import combinations, product
from random import Random
from typing import Any

import pytest

from constrint import Model, Status
from constrint.presolve.cliques import cliques, with_cliques
from constrint.propagators import AllDifferent, AllDifferentBounds, LinearNe


@pytest.mark.parametrize("seed", range(40))
def test_colourings_are_those_of_brute_force(seed: int) -> None:
    draw = Random(seed)
    n = draw.randint(3, 6)
    domains = [range(low := draw.randint(0, 1), low + draw.randint(2, 4)) for _ in range(n)]
    edges = [pair for pair in combinations(range(n), 2) if draw.random() < 0.8]
    m = Model()
    x = [m.int_var(f"x{i}", d[0], d[-1]) for i, d in enumerate(domains)]
    for a, b in edges:
        # Both ways to write it, some twice, and some with an offset that is no part of a clique.
        m.add(x[a] != x[b] if draw.random() < 0.5 else 2 * x[b] != 2 * x[a])
        if draw.random() < 0.2:
            m.add(x[a] != x[b])
    shift = draw.randint(1, 2)
    m.add(x[0] != x[-1] + shift)
    wanted = {p for p in product(*domains) if all(p[a] != p[b] for a, b in edges) and p[0] != p[-1] + shift}
    found = [tuple(r[v] for v in x) for r in m.iter_solutions()]
    assert len(found) == len(set(found))
    assert set(found) == wanted


@pytest.mark.parametrize("seed", range(20))
def test_cliques_are_cliques_without_a_common_edge(seed: int) -> None:
    draw = Random(seed)
    n = draw.randint(3, 15)
    edges = {frozenset(pair) for pair in combinations(range(n), 2) if draw.random() < 0.6}
    covered: set[Any] = set()
    for clique in cliques(edges, 3):
        assert len(clique) >= 3
        own = {frozenset(pair) for pair in combinations(clique, 2)}
        assert own <= edges
        assert not own & covered
        covered |= own
    rest = edges - covered
    assert not [t for t in combinations(range(n), 3) if {frozenset(p) for p in combinations(t, 2)} <= rest]


def test_what_is_left_are_the_pairs_of_no_clique() -> None:
    nodes = [LinearNe(((1, a), (-1, b)), 0) for a, b in [(0, 1), (0, 2), (2, 1), (2, 3)]]
    other = LinearNe(((1, 0), (-1, 3)), 2)
    joined = with_cliques([*nodes, other], [0] * 4, [3] * 4)
    views = ((1, 0, 0), (1, 1, 0), (1, 2, 0))
    assert joined == [nodes[3], other, AllDifferent(views), AllDifferentBounds(views)]
    assert with_cliques([*nodes[2:], other], [0] * 4, [3] * 4) is None


def test_pigeons_without_a_hole_are_refuted_at_the_root() -> None:
    m = Model()
    hole = m.int_vars("hole", 21, 0, 19)
    m.add(*[a != b for a, b in combinations(hole, 2)])
    r = m.solve()
    assert (r.status, r.statistics.nodes < 200) == (Status.INFEASIBLE, True)
