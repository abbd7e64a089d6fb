"""One row for the search of an optimum: what the dual of its linear program makes of all linear constraints.

Every solution satisfies the sum of the linear constraints, each times a multiplier that has the sign of
the limit it is multiplied with. With the multipliers of the linear program's optimum, that row bounds the
goal by the other variables' reduced costs as tightly as one row can, so that in search the bound of each
better solution fixes variables (Dantzig, Fulkerson and Johnson, Operations Research 2, 1954). Multipliers
are rounded to small integers: any of the right sign are valid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import gcd

from constrint.engine.build import LIMIT
from constrint.presolve.joint import Row, connected, rows_of, system
from constrint.presolve.root import Root
from constrint.presolve.simplex import Contradiction, Number, TooManyPivots
from constrint.propagators import LinearLe

MOST_CELLS = 4000  # rows times variables of a linear program
PIVOTS = 300
SCALES = (1024, 64)  # multipliers are rounded to fractions of these


def with_dual_row(root: Root, v: int, direction: str) -> Root:
    """The root with a row that bounds the goal v by other variables; the same root where there is none."""
    lo, hi = root.box.lo, root.box.hi
    rows = connected(rows_of(root.nodes, lo, hi), {v})
    inner = {x for terms, _, _ in rows for _, x in terms}
    if root.exact or len(rows) < 2 or len(rows) * len(inner) > MOST_CELLS:
        return root
    simplex = system(rows, lo, hi, LIMIT, PIVOTS)
    simplex.lo[v] = simplex.hi[v] = None  # a bound of its own would be where the program ends, for no reason
    try:
        simplex.find_point()
        simplex.extreme(v, direction == "max")
    except (Contradiction, TooManyPivots):
        return root
    sign = 1 if direction == "max" else -1
    duals = {x - len(lo): sign * a for x, a in simplex.rows.get(v, {}).items() if x >= len(lo)}
    for scale in SCALES:
        node = _sum_of(rows, duals, scale)
        if node is not None and node.peak(lo, hi) < LIMIT:
            return replace(root, nodes=[*root.nodes, node])
    return root


def _sum_of(rows: Sequence[Row], duals: Mapping[int, Number], scale: int) -> LinearLe | None:
    """The sum of rows, each times its multiplier; None where that says no more than one of them."""
    total: dict[int, int] = {}
    bound = used = 0
    for number, dual in duals.items():
        terms, low, high = rows[number]
        factor = round(dual * scale)
        limit = high if factor > 0 else low
        if factor == 0 or limit is None:
            continue
        used += 1
        bound += factor * limit
        for a, x in terms:
            total[x] = total.get(x, 0) + factor * a
    terms = tuple((a, x) for x, a in sorted(total.items()) if a)
    if used < 2 or not terms:
        return None
    common = gcd(*(a for a, _ in terms))
    return LinearLe(tuple((a // common, x) for a, x in terms), bound // common)
