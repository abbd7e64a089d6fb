"""The domains of a state, as the box of a root."""

from __future__ import annotations

from collections.abc import Sequence

from constrint.engine.state_arrays import Box
from constrint.store.state import BITS, State


def box_of(state: State, before: Sequence[tuple[int, ...] | None]) -> Box:
    """The domains of a state; those of explicit values, of which propagation removed some or none."""
    count = len(state.lo)
    step = list(state.step)
    values: list[tuple[int, ...] | None] = [None] * count
    for v in range(count):
        lo, hi = state.lo[v], state.hi[v]
        if lo == hi:
            step[v] = 1
        elif hi - lo > step[v] and state.hole[v] >= 0:
            values[v] = _holed(state, v, before[v])
    return Box(list(state.lo), list(state.hi), step, values)


def _holed(state: State, v: int, before: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """The values of a domain with a bitset; None if it has no holes. They were among those before."""
    step, base = state.step[v], state.base[v]
    first, last = (state.lo[v] - base) // step, (state.hi[v] - base) // step
    bits = 0
    for word in range(last // BITS, first // BITS - 1, -1):
        bits = bits << BITS | state.words[state.hole[v] + word]
    bits = bits >> first % BITS & ((1 << (last - first + 1)) - 1)
    count = bits.bit_count()
    if count > last - first:
        return None
    if before is not None and len(before) == count:
        return before
    lo = state.lo[v]
    return tuple([lo + i * step for i, bit in enumerate(f"{bits:b}"[::-1]) if bit == "1"])
