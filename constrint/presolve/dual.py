"""A redundant row for optimisation: a combination of all linear constraints, by linear-programming duality.

Every solution satisfies the sum of the linear constraints, each times a multiplier with the sign of the side
that is used. With the multipliers of the linear program's optimum, the row bounds the objective by the other
variables' reduced costs as tightly as one row can. The bound of each better solution then fixes variables
during search (Dantzig, Fulkerson and Johnson, Operations Research 2, 1954). Multipliers are rounded to small
integers: any of the right sign are valid.
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
SCALES = (1024, 64)  # denominators to which multipliers are rounded


def with_dual_row(root: Root, v: int, direction: str) -> Root:
    """The root with a row that bounds the objective v by other variables; the same root if there is none."""
    lo, hi = root.box.lo, root.box.hi
    rows = connected(rows_of(root.nodes, lo, hi), {v})
    inner = {x for terms, _, _ in rows for _, x in terms}
    if root.exact or len(rows) < 2 or len(rows) * len(inner) > MOST_CELLS:
        return root
    simplex = system(rows, lo, hi, LIMIT, PIVOTS)
    # An own bound of the objective would end the linear program for no reason.
    simplex.lo[v] = simplex.hi[v] = None
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
    """The sum of rows times multipliers; None if it says no more than one of the rows."""
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
