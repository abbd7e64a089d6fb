"""Shares of the work of a portfolio: the weight of learning, and the work of tree search before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

from constrint import propagators as c
from constrint.engine.state_arrays import Box
from constrint.learning.size import parts
from constrint.presolve import Root
from constrint.propagators.handlers import Handlers
from constrint.settings.portfolio import Kind


def _is_order(terms: Sequence[tuple[int, int]]) -> bool:
    """Whether a sum that is bounded under a condition orders two tasks, perhaps of an open length."""
    signs = sorted(a for a, _ in terms)
    return len(terms) in (2, 3) and (signs[0], signs[-1]) == (-1, 1) and {*signs} == {-1, 1}


_SCHEDULING: Handlers[Callable[[Any], tuple[int, int]]] = Handlers(
    "portfolio",
    {
        c.LinearLeIf: lambda node: (_is_order(node.terms), 0),
        (c.NoOverlap, c.NoOverlapOptional, c.Cumulative): lambda node: (len(node.starts), 0),
        c.Rectangles: lambda node: (len(node.xs), 0),
        (c.Product, c.DivMod, c.Power): lambda node: (0, 1),
    },
    generic=lambda node: (0, 0),
    rest="not weighed",
)
"""How many orders of tasks or boxes a constraint is about, and whether learning explains it by all bounds."""


def kind_of(propagators: list[c.Propagator]) -> Kind:
    """The kind of most constraints, which decides how well learning suits them.

    Learning suits orders of tasks and positions of boxes (conditional differences of two variables, perhaps
    with a length). It does not suit constraints that it explains by all bounds, such as products.
    """
    orders, others = map(
        sum, zip((0, 0), *[_SCHEDULING[type(node)](node) for node in propagators], strict=True)
    )
    if 3 * orders >= len(propagators) and orders > 2 * others:
        return "schedules"
    if any(isinstance(node, c.Circuit | c.Subcircuit) for node in propagators):
        return "tours"
    return "products" if 8 * others >= len(propagators) else "others"


def alone(root: Root, kind: Kind) -> int:
    """The work of all others that comes before the learning search is built."""
    rules = root.settings.portfolio
    stated = {  # permutations are stated twice
        (node.scope(), "apart" if isinstance(node, c.DIFFERENT) else place): node
        for place, node in enumerate(root.propagators)
    }
    size = sum(parts(node, root.box, root.settings.learning) for node in stated.values())
    if kind == "schedules":
        return min(rules.before_each_part_of_schedules * size, rules.most_before_learning)
    return max(rules.alone, min(rules.before_each_part * size, rules.most_before_learning))


def on_domains(node: c.Propagator, box: Box, most: int) -> c.Propagator:
    """The constraint, on domains where it is an `all_different` on bounds, of at most so many values."""
    if not isinstance(node, c.AllDifferentBounds):
        return node
    ends = [a * x + b for a, v, b in node.views for x in (box.lo[v], box.hi[v])]
    width = max(ends) - min(ends) + 1
    return c.AllDifferentDomain(node.views, min(ends), width) if width <= most else node


def equated(root: Root) -> int | str:
    """A variable of the longest equation; a text if equations are too few for a useful relaxation."""
    lo, hi = root.box.lo, root.box.hi
    equations = [
        opened
        for node in root.propagators
        if isinstance(node, c.LinearEq) and len(opened := [v for v in node.scope() if lo[v] < hi[v]]) > 2
    ]
    rules = root.settings.portfolio
    count = len(root.propagators)
    least = max(rules.least_equations, ceil(rules.share_of_equations * count), 1)
    if len(equations) < least:
        return (
            f"there is no objective, and {len(equations):,} of {count:,} constraints are equations of three "
            f"variables or more, fewer than {least:,} (portfolio.least_equations, "
            "portfolio.share_of_equations)"
        )
    return max(equations, key=len)[0]
