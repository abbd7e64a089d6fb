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

from constrint.engine.state_arrays import LIMIT
from constrint.presolve import Root
from constrint.presolve.joint import Row, connected, rows_of, system
from constrint.propagators import LinearLe
from constrint.relaxation.highs import has_highs
from constrint.relaxation.proven_bounds import program_of

SCALES = (1024, 64)  # denominators to which multipliers are rounded


def with_dual_row(root: Root, v: int, direction: str) -> Root:
    """The root with a row that bounds the objective v by other variables; the same root if there is none."""
    lo, hi = root.box.lo, root.box.hi
    rows = connected(rows_of(root.propagators, lo, hi), {v})
    if root.exact or len(rows) < 2:
        return root
    duals = _multipliers(rows, root, v, direction)
    for scale in SCALES:
        node = _sum_of(rows, duals, scale)
        if node is not None and node.peak(lo, hi) < LIMIT:
            return replace(root, propagators=[*root.propagators, node])
    return root


def _multipliers(rows: Sequence[Row], root: Root, v: int, direction: str) -> Mapping[int, float]:
    """A multiplier for each row at the optimum of the linear program; empty if it was not found."""
    inner = {x for terms, _, _ in rows for _, x in terms}
    cells = len(rows) * len(inner)
    rules = root.settings.relaxation
    if cells > rules.few_cells and has_highs():
        if sum(len(terms) for terms, _, _ in rows) > rules.most_entries_of_bounds:
            return {}
        return _rounded(rows, root, v, direction)
    return _exact(rows, root, v, direction) if cells <= rules.most_exact_cells else {}


def _exact(rows: Sequence[Row], root: Root, v: int, direction: str) -> Mapping[int, float]:
    """The multipliers by the exact simplex method."""
    from constrint.presolve.simplex import InfeasibleProgram, TooManyPivots

    lo, hi = root.box.lo, root.box.hi
    simplex = system(rows, lo, hi, LIMIT, root.settings.relaxation.exact_pivots)
    # An own bound of the objective would end the linear program for no reason.
    simplex.lo[v] = simplex.hi[v] = None
    try:
        simplex.find_point()
        simplex.extreme(v, direction == "max")
    except (InfeasibleProgram, TooManyPivots):
        return {}
    sign = 1 if direction == "max" else -1
    return {x - len(lo): float(sign * a) for x, a in simplex.rows.get(v, {}).items() if x >= len(lo)}


def _rounded(rows: Sequence[Row], root: Root, v: int, direction: str) -> Mapping[int, float]:
    """The multipliers by HiGHS."""
    import numpy as np

    from constrint.relaxation.program import OPTIMAL

    program, inner = program_of(rows, root, v, -1 if direction == "max" else 1)
    box = root.box
    lower, upper = ([ends[x] for x in inner] for ends in (box.lo, box.hi))
    if program.solve(np.array(lower, np.int64), np.array(upper, np.int64)) != OPTIMAL:
        return {}
    program.tell_basis()
    best = float(program.point[inner.index(v)])
    gain = box.hi[v] - best if direction == "max" else best - box.lo[v]
    if gain < root.settings.relaxation.least_gain:
        return {}  # the program bounds the objective no better than propagation
    # HiGHS's multipliers are positive if the lower side is tight.
    return {number: -float(dual) for number, dual in enumerate(program.dual) if dual}


def _sum_of(rows: Sequence[Row], duals: Mapping[int, float], scale: int) -> LinearLe | None:
    """The sum of rows, each times its multiplier; None where it is implied by one of them."""
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
