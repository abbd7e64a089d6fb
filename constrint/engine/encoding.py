"""Constraints as the engine reads them: arguments and watch lists, which no domain changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

from constrint.store.propagator import Propagator
from constrint.store.state import Cells
from constrint.support.deadline import check_deadline

WORTH_ARRAYS = 20_000  # constraints from which on their watch lists are arrays


@dataclass(frozen=True, slots=True)
class Encoding:
    """Constraints as the engine reads them, without what depends on domains; nothing in it is changed.

    Attributes:
        watches: The watch lists of all variables: where each starts, constraints, masks.
        kind: The kind of each constraint.
        priority: Its queue.
        idempotent: Whether it need not run again after its own changes.
        start: Where the arguments of each constraint begin.
        args: The arguments.
        trailed: (place in the arguments, number) of the words that constraints keep.
        blocks: The terms of further variables, each of which is their sum; see `long_sums`.
    """

    watches: tuple[Cells, Cells, Cells]
    kind: Cells
    priority: Cells
    idempotent: Cells
    start: Cells
    args: Cells
    trailed: list[tuple[int, int]]
    blocks: Sequence[tuple[tuple[int, int], ...]] = ()


def encoded(
    count: int, propagators: Sequence[Propagator], blocks: Sequence[tuple[tuple[int, int], ...]] = ()
) -> Encoding:
    """The encoding of constraints over a number of variables, and over those of blocks."""
    watches = _watches(count + len(blocks), propagators)
    start = [0]
    args: Cells = []
    trailed: list[tuple[int, int]] = []
    for node in propagators:
        check_deadline()
        args += node.encode()
        if node.trailed:
            trailed.append((len(args), node.trailed))
            args.append(0)
        start.append(len(args))
    return Encoding(
        watches,
        [node.kind for node in propagators],
        [node.priority for node in propagators],
        [int(node.idempotent) for node in propagators],
        start,
        args,
        trailed,
        blocks,
    )


def _watches(n: int, propagators: Sequence[Propagator]) -> tuple[Cells, Cells, Cells]:
    """The watch lists of all variables, one after the other."""
    if len(propagators) >= WORTH_ARRAYS:
        from constrint.engine.many_watches import many_watches  # numpy takes 0.1 s to import

        return many_watches(n, propagators)
    watching: list[Cells] = [[] for _ in range(n)]  # constraint and mask alternate
    for c, node in enumerate(propagators):
        check_deadline()
        for v, mask in node.watches():
            own = watching[v]
            if own and own[-2] == c:
                own[-1] |= mask
            else:
                own += (c, mask)
    start = [0, *accumulate([len(own) // 2 for own in watching])]
    flat = list(chain.from_iterable(watching))
    return start, flat[::2], flat[1::2]
