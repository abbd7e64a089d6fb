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
    LinearEq,
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
# Units of work that come before learning, for each part into which it decomposes the constraints: about a
# third of the time that building it takes; on schedules it is worth more.
BEFORE_EACH_PART, BEFORE_EACH_PART_OF_SCHEDULES = 200, 8
# The weight of the learning search beside branching.
ON_SCHEDULES, ON_TOURS, ON_OTHERS, ON_PRODUCTS = 40.0, 16.0, 4.0, 0.75
DIFFERENT = (AllDifferent, AllDifferentBounds, AllDifferentDomain)  # permutations are stated twice
# Equations of three open variables and more, and their part of the constraints, for a relaxation to lead to
# any solution.
LEAST_EQUATIONS, SHARE_OF_EQUATIONS = 3, 0.25
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
    """The work of all others that comes before the learning search is built."""
    stated = {
        (node.scope(), "apart" if isinstance(node, DIFFERENT) else place): node
        for place, node in enumerate(root.nodes)
    }
    size = sum(parts(node, root.box) for node in stated.values())
    if share == ON_SCHEDULES:
        return BEFORE_EACH_PART_OF_SCHEDULES * size
    return max(ALONE, BEFORE_EACH_PART * size)


def on_domains(node: Propagator, box: Box) -> Propagator:
    """The constraint, on domains instead of bounds where that is an `all_different` of few values."""
    if not isinstance(node, AllDifferentBounds):
        return node
    ends = [a * x + b for a, v, b in node.views for x in (box.lo[v], box.hi[v])]
    width = max(ends) - min(ends) + 1
    return AllDifferentDomain(node.views, min(ends), width) if width <= MOST_MATCHED else node


def equated(root: Root) -> int | None:
    """A variable of the longest equation, where there are enough for a relaxation to say much; or None."""
    lo, hi = root.box.lo, root.box.hi
    equations = [
        opened
        for node in root.nodes
        if isinstance(node, LinearEq) and len(opened := [v for v in node.scope() if lo[v] < hi[v]]) > 2
    ]
    if len(equations) < LEAST_EQUATIONS or len(equations) < SHARE_OF_EQUATIONS * len(root.nodes):
        return None
    return max(equations, key=len)[0]
