"""How the work of a portfolio is shared out: the weight of learning, and what branching does alone first."""

from __future__ import annotations

from constrint.engine.state_arrays import Box
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
from constrint.settings.portfolio import Kind

DIFFERENT = (AllDifferent, AllDifferentBounds, AllDifferentDomain)  # permutations are stated twice


def kind_of(propagators: list[Propagator]) -> Kind:
    """The kind of most constraints, which decides how well learning suits them.

    Learning suits orders of tasks and positions of boxes (conditional sums over two or more variables). It
    does not suit constraints that it explains by all bounds, such as products.
    """
    orders = others = 0
    for node in propagators:
        if isinstance(node, LinearLeIf):
            orders += len(node.terms) > 1
        elif isinstance(node, NoOverlap | NoOverlapOptional | Cumulative):
            orders += len(node.starts)
        elif isinstance(node, Rectangles):
            orders += len(node.xs)
        elif isinstance(node, Product | DivMod | Power):
            others += 1
    if 3 * orders >= len(propagators) and orders > 2 * others:
        return "schedules"
    if any(isinstance(node, Circuit | Subcircuit) for node in propagators):
        return "tours"
    return "products" if 8 * others >= len(propagators) else "others"


def alone(root: Root, kind: Kind) -> int:
    """The work of all others that comes before the learning search is built."""
    rules = root.settings.portfolio
    stated = {
        (node.scope(), "apart" if isinstance(node, DIFFERENT) else place): node
        for place, node in enumerate(root.propagators)
    }
    size = sum(parts(node, root.box, root.settings.learning) for node in stated.values())
    if kind == "schedules":
        return rules.before_each_part_of_schedules * size
    return max(rules.alone, rules.before_each_part * size)


def on_domains(node: Propagator, box: Box, most: int) -> Propagator:
    """The constraint, on domains where it is an `all_different` on bounds, of at most so many values."""
    if not isinstance(node, AllDifferentBounds):
        return node
    ends = [a * x + b for a, v, b in node.views for x in (box.lo[v], box.hi[v])]
    width = max(ends) - min(ends) + 1
    return AllDifferentDomain(node.views, min(ends), width) if width <= most else node


def equated(root: Root) -> int | None:
    """A variable of the longest equation, where there are enough for a relaxation to say much; or None."""
    lo, hi = root.box.lo, root.box.hi
    equations = [
        opened
        for node in root.propagators
        if isinstance(node, LinearEq) and len(opened := [v for v in node.scope() if lo[v] < hi[v]]) > 2
    ]
    rules = root.settings.portfolio
    if len(equations) < max(rules.least_equations, rules.share_of_equations * len(root.propagators), 1):
        return None
    return max(equations, key=len)[0]
