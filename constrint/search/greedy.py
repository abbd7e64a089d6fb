"""Greedy descents: the first solution of a large model whose objective is a sum.

Each variable takes the end of its domain that the objective prefers, those first that gain the most for each
constraint that they meet; propagation decides the others. For covers that is Chvátal's rule read backwards:
"A greedy heuristic for the set-covering problem", Mathematics of Operations Research 4, 1979.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from constrint.expr import IntExpr
from constrint.propagators import LinearEq, LinearLe

if TYPE_CHECKING:
    from constrint.preparing.prepared import Prepared
    from constrint.presolve import Root


def greedy_order(prepared: Prepared, root: Root, goal: int) -> list[IntExpr] | None:
    """The variables in the order of a greedy descent; None where the objective is no sum of many."""
    weights: dict[int, int] = {}
    met = [0] * len(root.box.lo)
    for node in root.propagators:
        for v in node.scope():
            met[v] += 1
        if isinstance(node, LinearLe | LinearEq) and len(node.terms) > len(weights):
            terms = {v: abs(a) for a, v in node.terms}
            if terms.pop(goal, 0):
                weights = terms
    lo, hi = root.box.lo, root.box.hi
    gains = {
        variable: weights[v] * (hi[v] - lo[v]) / met[v]
        for variable, v in prepared.variables.items()
        if v in weights and lo[v] < hi[v]
    }
    if len(gains) < root.settings.search.least_greedy:
        return None
    return sorted(gains, key=gains.__getitem__, reverse=True)
