"""Long sums in blocks, for the tree search: a decision that changes one term visits two short sums.

A sum of many terms is propagated as a whole whenever one of its variables changes, which made a descent
through the n variables of an objective take time quadratic in n. Its terms go into blocks of about the square
root of their number, each of which equals a new variable, and the sum is over those: bounds propagate as
before. The constraint keeps its number, and the blocks follow all constraints. Only states have the new
variables: they are neither decided nor part of solutions.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt
from typing import TYPE_CHECKING

from constrint.engine.state_arrays import LIMIT
from constrint.propagators import LinearEq
from constrint.propagators.linear import Terms, is_long
from constrint.store.propagator import Propagator

if TYPE_CHECKING:
    from constrint.engine.state_arrays import Box


def in_blocks(
    box: Box, propagators: Sequence[Propagator], most: int
) -> tuple[Sequence[Propagator], list[Terms]]:
    """Constraints with long sums in blocks, and the blocks; block k equals variable `len(box.lo) + k`.

    A sum whose values may not fit int64 stays as it is.
    """
    blocks: list[Terms] = []
    listed: list[Propagator] = []
    first = len(box.lo)
    for node in propagators:
        if is_long(node, most) and node.peak(box.lo, box.hi) < LIMIT:
            size = isqrt(len(node.terms)) + 1
            whole: list[tuple[int, int]] = []
            for begin in range(0, len(node.terms), size):
                whole.append((1, first + len(blocks)))
                blocks.append(node.terms[begin : begin + size])
            node = type(node)(tuple(whole), node.bound)
        listed.append(node)
    if not blocks:
        return propagators, blocks
    parts = [LinearEq((*terms, (-1, first + k)), 0) for k, terms in enumerate(blocks)]
    return [*listed, *parts], blocks
