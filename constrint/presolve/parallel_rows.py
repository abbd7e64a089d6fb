"""Redundant linear rows: parallel rows become one, and coefficients of 0/1 variables shrink.

Two rows are parallel if the coefficients of one are a multiple of those of the other. The tighter one stays;
two opposite ones that meet become an equation. A coefficient of a 0/1 variable is larger than it needs to be
if one of the two values alone decides the row: then it shrinks to the least that still does (coefficient
tightening: Savelsbergh, "Preprocessing and probing techniques for mixed integer programming problems", 1994).
Neither changes the set of integer solutions; both bring linear relaxations closer to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import gcd
from operator import itemgetter
from typing import NamedTuple

from constrint.lowering.problem import Infeasible
from constrint.propagators import LinearEq, LinearLe, Propagator
from constrint.support.deadline import check_deadline

CHECK_EACH = 4096  # rows between two deadline checks
Terms = tuple[tuple[int, int], ...]


def without_parallel(propagators: Sequence[Propagator]) -> list[Propagator] | None:
    """The propagators with one row for each set of parallel ones; None where there are none.

    Raises:
        Infeasible: Two parallel rows exclude each other.
    """
    first: dict[int, int] = {}  # place of the first row with a signature, which parallel rows share
    places: dict[int, list[int]] = {}  # of all such rows, where there are several
    for place, node in enumerate(propagators):
        if isinstance(node, LinearLe | LinearEq):
            if place % CHECK_EACH == 0:
                check_deadline()
            signature = sum([(v + 1) * (v + 1) for _, v in node.terms])
            before = first.setdefault(signature, place)
            if before != place:
                places.setdefault(before, [before]).append(place)
    replaced: dict[int, list[Propagator]] = {}  # what stands in place of a row
    for some in places.values():
        check_deadline()
        replaced.update(_merged(propagators, some))
    if not replaced:
        return None
    return [new for place, node in enumerate(propagators) for new in replaced.get(place, (node,))]


def _merged(propagators: Sequence[Propagator], places: Sequence[int]) -> dict[int, list[Propagator]]:
    """Replacements of parallel rows, by place: the tightest one stands at the place of the first."""
    groups: dict[Terms, list[Between]] = {}
    for place in places:
        found = _between(place, propagators[place])
        if found is not None:
            groups.setdefault(found.terms, []).append(found)
    replaced: dict[int, list[Propagator]] = {}
    for rows in groups.values():
        if len(rows) > 1:
            replaced.update({row.place: [] for row in rows})
            replaced[rows[0].place] = _tightest(rows)
    return replaced


class Between(NamedTuple):
    """``lower <= sum <= upper``; None stands for no bound. Parallel rows have the same terms."""

    place: int
    terms: Terms
    lower: int | None
    upper: int | None


def _between(place: int, node: Propagator) -> Between | None:
    """A row between bounds; None where a variable occurs twice or no sum is the bound."""
    assert isinstance(node, LinearLe | LinearEq)
    terms = sorted(node.terms, key=itemgetter(1))
    is_equation = isinstance(node, LinearEq)
    if not terms or any(x[1] == y[1] for x, y in pairwise(terms)):
        return None
    common = gcd(*[a for a, _ in terms])
    if is_equation and node.bound % common:
        return None  # propagation finds the contradiction
    bound = node.bound // common
    if terms[0][0] > 0:
        return Between(place, _divided(terms, common), bound if is_equation else None, bound)
    return Between(place, _divided(terms, -common), -bound, -bound if is_equation else None)


def _divided(terms: Sequence[tuple[int, int]], by: int) -> Terms:
    return tuple([(a // by, v) for a, v in terms])


def _tightest(rows: Sequence[Between]) -> list[Propagator]:
    """A row, or two opposite ones, in place of parallel ones."""
    terms = rows[0].terms
    lower = max([row.lower for row in rows if row.lower is not None], default=None)
    upper = min([row.upper for row in rows if row.upper is not None], default=None)
    if lower is not None and upper is not None:
        if lower > upper:
            raise Infeasible
        if lower == upper:
            return [LinearEq(terms, upper)]
    kept: list[Propagator] = [] if upper is None else [LinearLe(terms, upper)]
    return kept if lower is None else [*kept, LinearLe(_divided(terms, -1), -lower)]


def tightened(
    propagators: Sequence[Propagator], lo: Sequence[int], hi: Sequence[int]
) -> list[Propagator] | None:
    """The propagators with the least coefficients of 0/1 variables; None where all are.

    Where the row's greatest sum is above its bound by e, no 0/1 variable needs a coefficient beyond e: one
    of its values alone then satisfies the row whatever the others are, and still does with e.
    """
    changed = False
    out: list[Propagator] = []
    for place, node in enumerate(propagators):
        if place % CHECK_EACH == 0:
            check_deadline()
        new: Propagator = node
        if isinstance(node, LinearLe) and len(node.terms) > 1:
            new = _tightened(node, lo, hi)
            changed = changed or new is not node
        out.append(new)
    return out if changed else None


def _tightened(row: LinearLe, lo: Sequence[int], hi: Sequence[int]) -> LinearLe:
    excess = sum([a * (hi[v] if a > 0 else lo[v]) for a, v in row.terms]) - row.bound
    if excess <= 0 or all(-excess <= a <= excess for a, _ in row.terms):
        return row
    bound, terms = row.bound, []
    if len({v for _, v in row.terms}) < len(row.terms):
        return row
    for a, v in row.terms:
        least = a
        if lo[v] == 0 and hi[v] == 1 and not -excess <= a <= excess:
            least = excess if a > 0 else -excess
            bound -= max(a - least, 0)
        terms.append((least, v))
    if tuple(terms) == row.terms:
        return row
    common = gcd(*[a for a, _ in terms])
    return LinearLe(_divided(terms, common), bound // common)
