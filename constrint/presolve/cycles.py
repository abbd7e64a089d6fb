"""Difference constraints: contradictions around a cycle, on which propagation would creep without end."""

from __future__ import annotations

from collections.abc import Iterable

from constrint.propagators import Absolute, LinearEq, LinearLe, Maximum, Minimum, Propagator
from constrint.support.deadline import watched


def has_negative_cycle(propagators: Iterable[Propagator]) -> bool:
    """Whether the constraints x - y <= c contradict each other around a cycle, for any bounds."""
    edges: list[tuple[int, int, int]] = []
    for node in propagators:
        if isinstance(node, LinearLe | LinearEq) and len(node.terms) == 2:
            (a, x), (b, y) = node.terms
            if a + b == 0:
                x, y = (x, y) if a > 0 else (y, x)
                edges.append((x, y, node.bound // abs(a)))
                if isinstance(node, LinearEq):
                    edges.append((y, x, -node.bound // abs(a)))
        elif isinstance(node, Maximum):
            edges += [(x, node.z, 0) for x in node.xs]
        elif isinstance(node, Minimum):
            edges += [(node.z, x, 0) for x in node.xs]
        elif isinstance(node, Absolute):
            edges.append((node.x, node.z, 0))
    # Bellman and Ford: if distances still fall after as many rounds as variables, there is a negative cycle.
    distance = dict.fromkeys([v for x, y, _ in edges for v in (x, y)], 0)
    for _ in watched(range(len(distance) + 1)):
        changed = False
        for x, y, bound in edges:
            if distance[y] + bound < distance[x]:
                distance[x] = distance[y] + bound
                changed = True
        if not changed:
            return False
    return True
