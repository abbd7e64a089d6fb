"""How the work of a portfolio is shared out: the weight of learning, and what branching does alone first."""

from __future__ import annotations

from constrint.engine.build import Box
from constrint.learning.size import parts
from constrint.presolve import Root
from constrint.propagators import (
    AllDifferent,
    AllDifferentBounds,
    AllDifferentDomain,
    Circuit,
    Cumulative,
    DivMod,
    LinearLeIf,
    NoOverlap,
    NoOverlapOptional,
    Power,
    Product,
    Propagator,
    Rectangles,
    Subcircuit,
)

# What branching does alone, in propagations: most models need no more, and for them nothing changes.
ALONE = 100_000
# For each part into which the learning search decomposes the constraints.
ALONE_FOR_EACH_PART, ALONE_FOR_EACH_PART_OF_TOURS, ALONE_FOR_EACH_PART_OF_SCHEDULES = 30, 100, 8
# The weight of the learning search beside branching.
ON_SCHEDULES, ON_TOURS, ON_OTHERS, ON_PRODUCTS = 40.0, 16.0, 4.0, 0.375
DIFFERENT = (AllDifferent, AllDifferentBounds, AllDifferentDomain)  # permutations are stated twice
MOST_MATCHED = 200  # most values for which the search with restarts makes `all_different` domain consistent


def learning_share(nodes: list[Propagator]) -> float:
    """The weight of the learning search relative to branching.

    Learning suits orders of tasks and positions of boxes (conditional sums over two or more variables). It
    does not suit constraints that it explains by all bounds, such as products.
    """
    orders = others = 0
    for node in nodes:
        if isinstance(node, LinearLeIf):
            orders += len(node.terms) > 1
        elif isinstance(node, NoOverlap | NoOverlapOptional | Cumulative):
            orders += len(node.starts)
        elif isinstance(node, Rectangles):
            orders += len(node.xs)
        elif isinstance(node, Product | DivMod | Power):
            others += 1
    if 3 * orders >= len(nodes) and orders > 2 * others:
        return ON_SCHEDULES
    if any(isinstance(node, Circuit | Subcircuit) for node in nodes):
        return ON_TOURS
    return ON_PRODUCTS if 8 * others >= len(nodes) else ON_OTHERS


def alone(root: Root, share: float) -> int:
    """Propagations of branching that come first: about the cost of building the learning search."""
    stated = {
        (node.scope(), "apart" if isinstance(node, DIFFERENT) else place): node
        for place, node in enumerate(root.nodes)
    }
    size = sum(parts(node, root.box) for node in stated.values())
    if share == ON_SCHEDULES:
        return ALONE_FOR_EACH_PART_OF_SCHEDULES * size
    return max(ALONE, (ALONE_FOR_EACH_PART_OF_TOURS if share == ON_TOURS else ALONE_FOR_EACH_PART) * size)


def on_domains(node: Propagator, box: Box) -> Propagator:
    """The constraint, on domains instead of bounds where that is an `all_different` of few values."""
    if not isinstance(node, AllDifferentBounds):
        return node
    ends = [a * x + b for a, v, b in node.views for x in (box.lo[v], box.hi[v])]
    width = max(ends) - min(ends) + 1
    return AllDifferentDomain(node.views, min(ends), width) if width <= MOST_MATCHED else node
