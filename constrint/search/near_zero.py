"""Solutions of models with unbounded variables: search within growing bounds around 0.

A solution found here is valid; finding none proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from constrint.engine.state_arrays import Box
from constrint.presolve import Root
from constrint.presolve.equations import parametrised
from constrint.propagators import LinearEq, Propagator

if TYPE_CHECKING:
    from constrint.preparing.prepared import Prepared


def nearby_roots(prepared: Prepared, root: Root) -> Iterator[Root]:
    """The root with finite bounds for unbounded variables, tight ones first."""
    limit = 1 << (root.huge.bit_length() // 2)
    lo, hi = root.box.lo, root.box.hi
    unbounded = [v for v in prepared.variables.values() if lo[v] <= -limit or hi[v] >= limit]
    general = _on_parameters(root, set(unbounded))
    for distance in root.settings.search.distances:
        yield replace(root, box=_bounded(root.box, unbounded, limit, distance))
        if general is not None:
            added = range(len(lo), len(general.box.lo))
            rest = [v for v in unbounded if v not in _covered(general, added)]
            yield replace(general, box=_bounded(general.box, [*rest, *added], limit, distance))


def _bounded(box: Box, variables: list[int], limit: int, distance: int) -> Box:
    lo, hi = list(box.lo), list(box.hi)
    for v in variables:
        step = box.step[v]
        low, high = lo[v], hi[v]
        if low <= -limit and high >= limit:
            low = -distance * step + low % step
            high = low + 2 * distance * step
        elif high >= limit:
            high = low + distance * step
        else:
            low = high - distance * step
        lo[v], hi[v] = low, high
    return replace(box, lo=lo, hi=hi)


def _on_parameters(root: Root, unbounded: set[int]) -> Root | None:
    """The root with the parameters of its linear equations as further variables."""
    solution = parametrised(root.box, root.propagators, root.settings.presolve)
    if unbounded.isdisjoint(solution):
        return None
    parameters = sorted({p for affine in solution.values() for p in affine.terms})
    first = len(root.box.lo)
    number = {p: first + i for i, p in enumerate(parameters)}
    propagators: list[Propagator] = list(root.propagators)
    for v, affine in solution.items():
        terms = tuple((-a, number[p]) for p, a in affine.terms.items())
        propagators.append(LinearEq(((1, v), *terms), affine.constant))
    box, more = root.box, len(parameters)
    wide = Box(
        [*box.lo, *[-root.huge] * more],
        [*box.hi, *[root.huge] * more],
        [*box.step, *[1] * more],
        [*box.values, *[None] * more],
    )
    return replace(root, box=wide, propagators=propagators)


def _covered(general: Root, added: range) -> set[int]:
    """The variables that the parameters bound."""
    return {
        v
        for node in general.propagators
        if isinstance(node, LinearEq) and any(w in added for _, w in node.terms)
        for _, v in node.terms
    }
