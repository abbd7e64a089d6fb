"""Bounds from several linear constraints together, by linear programs in exact arithmetic.

For models with missing or creeping bounds: propagating one constraint at a time never ends on ``x >= 2 * y, y
>= 2 * x`` over all x, y >= 1, or gives no bound at all; a few pivots do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor
from typing import TYPE_CHECKING, TypeAlias

from constrint import propagators as c
from constrint.engine.state_arrays import LIMIT
from constrint.lowering.problem import Infeasible
from constrint.settings import DEFAULT, PresolveSettings

if TYPE_CHECKING:
    from constrint.presolve.simplex import Bound, Simplex

Terms = tuple[tuple[int, int], ...]
Row: TypeAlias = "tuple[Terms, Bound, Bound]"


def rows_of(propagators: Iterable[c.Propagator], lo: Sequence[int], hi: Sequence[int]) -> list[Row]:
    """The unconditional linear constraints, as terms between two bounds."""
    rows: list[Row] = []
    for node in propagators:
        if isinstance(node, c.LinearEq):
            rows.append((node.terms, node.bound, node.bound))
        elif isinstance(node, c.LinearLe):
            rows.append((node.terms, None, node.bound))
        elif isinstance(node, c.LinearLeIf | c.LinearEqIf):
            v = node.literal >> 1
            if lo[v] == hi[v]:
                holds = lo[v] == 1 - (node.literal & 1)
                if isinstance(node, c.LinearEqIf):
                    if holds:
                        rows.append((node.terms, node.bound, node.bound))
                else:
                    rows.append(
                        (node.terms, None, node.bound) if holds else (node.terms, node.bound + 1, None)
                    )
    return rows


def connected(rows: list[Row], wanted: set[int]) -> list[Row]:
    """The rows that are connected with the wanted variables."""
    of: dict[int, list[int]] = {}
    for number, (terms, _, _) in enumerate(rows):
        for _, v in terms:
            of.setdefault(v, []).append(number)
    taken: set[int] = set()
    chosen: list[Row] = []
    fresh = set(wanted)
    while fresh:  # ring by ring; variables whose rows are taken leave the index
        near = sorted({number for v in fresh for number in of.pop(v, ())} - taken)
        taken.update(near)
        chosen += [rows[number] for number in near]
        fresh = {v for number in near for _, v in rows[number][0] if v in of}
    return chosen


def system(rows: Sequence[Row], lo: Sequence[int], hi: Sequence[int], finite: int, pivots: int) -> Simplex:
    """A linear program of some rows; row i is its variable len(lo) + i."""
    from constrint.presolve.simplex import Simplex

    simplex = Simplex(pivots)
    for v in sorted({v for terms, _, _ in rows for _, v in terms}):
        simplex.variable(v, lo[v] if lo[v] > -finite else None, hi[v] if hi[v] < finite else None)
    for number, (terms, low, high) in enumerate(rows):
        together: dict[int, int] = {}
        for a, v in terms:
            together[v] = together.get(v, 0) + a
        simplex.row(len(lo) + number, {v: a for v, a in together.items() if a}, low, high)
    return simplex


def implied_rows(propagators: Iterable[c.Propagator], lo: Sequence[int], hi: Sequence[int]) -> list[Row]:
    """Linear constraints implied by others: by extremes, absolute values, and products in a box."""
    rows: list[Row] = []
    for node in propagators:
        if isinstance(node, c.Maximum):
            rows += [(((1, x), (-1, node.z)), None, 0) for x in node.xs]
        elif isinstance(node, c.Minimum):
            rows += [(((1, node.z), (-1, x)), None, 0) for x in node.xs]
        elif isinstance(node, c.Absolute):
            rows += [(((a, node.x), (-1, node.z)), None, 0) for a in (1, -1)]
        elif isinstance(node, c.Product):
            # (x - a)(y - b) has a known sign at each corner (a, b) of the box (McCormick 1976).
            x, y, z = node.x, node.y, node.z
            for a, b, sign in ((lo[x], lo[y], 1), (hi[x], hi[y], 1), (lo[x], hi[y], -1), (hi[x], lo[y], -1)):
                rows.append((((sign * b, x), (sign * a, y), (-sign, z)), None, sign * a * b))
    return rows


def relaxed_bounds(
    propagators: Sequence[c.Propagator],
    lo: Sequence[int],
    hi: Sequence[int],
    v: int,
    rules: PresolveSettings = DEFAULT.presolve,
) -> tuple[Bound, Bound]:
    """Bounds of one variable from linear constraints and those that others imply; None for no bound.

    Raises `Infeasible` if the constraints have no rational point.
    """
    rows = connected(rows_of(propagators, lo, hi) + implied_rows(propagators, lo, hi), {v})
    inner = {x for terms, _, _ in rows for _, x in terms}
    if len(rows) < 2 or len(rows) * len(inner) > rules.most_cells_of_joint:
        return None, None
    from constrint.presolve.simplex import InfeasibleProgram, TooManyPivots

    simplex = system(rows, lo, hi, LIMIT, rules.pivots_of_joint)
    least: Bound = None
    most: Bound = None
    try:
        simplex.find_point()
        low = simplex.extreme(v, False)
        least = None if low is None else ceil(low)
        high = simplex.extreme(v, True)
        most = None if high is None else floor(high)
    except InfeasibleProgram:
        raise Infeasible from None
    except TooManyPivots:
        pass
    return least, most


def joint_bounds(
    propagators: Iterable[c.Propagator],
    lo: Sequence[int],
    hi: Sequence[int],
    finite: int,
    wanted: Iterable[int],
    rules: PresolveSettings = DEFAULT.presolve,
) -> dict[int, tuple[Bound, Bound]]:
    """Bounds of the wanted variables.

    Args:
        propagators: All constraints; only linear ones are used.
        lo: Lower bounds by variable.
        hi: Upper bounds by variable.
        finite: A bound of at least this absolute value means "no bound".
        wanted: The variables to bound.
        rules: The settings.

    Raises:
        Infeasible: The linear constraints have no rational point.
    """
    targets = set(wanted)
    rows = connected(rows_of(propagators, lo, hi), targets)
    inner = sorted({v for terms, _, _ in rows for _, v in terms})
    if not 2 <= len(rows) <= rules.most_rows_of_joint or len(inner) > rules.most_variables_of_joint:
        return {}
    # Imported late: few models need it, and `fractions` takes time to load.
    from constrint.presolve.simplex import InfeasibleProgram, TooManyPivots

    simplex = system(rows, lo, hi, finite, rules.pivots_of_joint)
    found: dict[int, tuple[Bound, Bound]] = {}
    try:
        simplex.find_point()
        for v in [v for v in inner if v in targets][: rules.most_bounded]:
            least, most = simplex.extreme(v, False), simplex.extreme(v, True)
            found[v] = None if least is None else ceil(least), None if most is None else floor(most)
    except InfeasibleProgram:
        raise Infeasible from None
    except TooManyPivots:
        pass
    return found
