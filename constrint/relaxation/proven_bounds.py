"""Bounds of one variable from linear constraints together, by HiGHS and proven in integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from constrint.lowering.problem import Infeasible
from constrint.presolve import Root
from constrint.presolve.joint import Row, connected, implied_rows, relaxed_bounds, rows_of
from constrint.relaxation.highs import has_highs

if TYPE_CHECKING:
    from constrint.relaxation.program import RelaxationProgram

NEAR_INT64_ENDS = 1 << 60  # numbers from here on are near the ends of int64


def program_of(
    rows: Sequence[Row], root: Root, v: int, sign: int, begins: bool = True
) -> tuple[RelaxationProgram, list[int]]:
    """A program that minimises ``sign * v`` over rows, and the variable of each of its columns.

    Args:
        rows: The rows.
        root: The root whose constraints they are.
        v: The variable.
        sign: 1 or -1.
        begins: Whether it begins at the root's known basis, that of the objective's optimum.
    """
    from constrint.relaxation import lp_rows as relaxed
    from constrint.relaxation.program import RelaxationProgram
    from constrint.relaxation.start import Start

    inner = sorted({x for terms, _, _ in rows for _, x in terms})
    place = {x: i for i, x in enumerate(inner)}
    parts = [relaxed.LpRow(_placed(terms, place), low, high) for terms, low, high in rows]
    lo, hi = root.box.lo, root.box.hi
    keys = [(x, None) if lo[x] < hi[x] else None for x in inner]
    rules = root.settings.relaxation
    start = Start(root.basis, keys, rules.least_of_basis) if begins else None
    return RelaxationProgram(parts, len(inner), place[v], sign, rules, start), inner


def _placed(terms: Sequence[tuple[int, int]], place: Mapping[int, int]) -> dict[int, int]:
    factors: dict[int, int] = {}
    for a, x in terms:
        factors[place[x]] = factors.get(place[x], 0) + a
    return factors


def safe_bounds(root: Root, v: int, direction: str, both: bool = True) -> tuple[int | None, int | None]:
    """Bounds of one variable from linear constraints and those that others imply; None for no bound.

    Small systems, and those whose bounds cannot be proven from HiGHS's multipliers, are solved exactly
    (`presolve.joint.relaxed_bounds`).

    Args:
        root: The root.
        v: The variable.
        direction: "min" or "max", the direction in which it is optimised.
        both: Whether the bound on the other side is wanted, too.

    Raises:
        Infeasible: The constraints have no rational point.
    """
    lo, hi = root.box.lo, root.box.hi
    rows = connected(rows_of(root.propagators, lo, hi) + implied_rows(root.propagators, lo, hi), {v})
    cells = len(rows) * len({x for terms, _, _ in rows for _, x in terms})
    entries = sum(len(terms) for terms, _, _ in rows)
    rules = root.settings.relaxation
    worth = len(rows) > 1 and cells > rules.few_cells and entries <= rules.most_entries_of_bounds
    if worth and all(map(_is_moderate, rows)) and has_highs():
        near = 1 if direction == "min" else -1
        # The least v by sign 1, and the least -v by sign -1: the greatest v with its sign turned.
        found = {sign: _least(rows, root, v, sign, sign == near) for sign in (near, -near)[: 1 + both]}
        if None not in found.values():
            least, most = found.get(1), found.get(-1)
            return least, None if most is None else -most
    return relaxed_bounds(root.propagators, lo, hi, v, root.settings.presolve)


def _is_moderate(row: Row) -> bool:
    """Whether the numbers of a row are far from the ends of int64."""
    terms, low, high = row
    return max(*(abs(a) for a, _ in terms), abs(low or 0), abs(high or 0)) < NEAR_INT64_ENDS


def _least(rows: Sequence[Row], root: Root, v: int, sign: int, begins: bool) -> int | None:
    """The least value of ``sign * v`` that can be proven; None if that fails."""
    import numpy as np

    from constrint.relaxation.program import INFEASIBLE, OPTIMAL

    program, inner = program_of(rows, root, v, sign, begins)
    lower, upper = (np.array([ends[x] for x in inner], np.int64) for ends in (root.box.lo, root.box.hi))
    outcome = program.solve(lower, upper)
    if outcome == OPTIMAL:
        program.tell_basis()
    if outcome == INFEASIBLE and program.refutation(lower, upper) is not None:
        raise Infeasible
    proof = program.bound(lower, upper) if outcome == OPTIMAL else None
    return None if proof is None else -(-proof.least // proof.scale)
