"""Decisions that a search takes itself, in place of the engine."""

from __future__ import annotations

from constrint.store.state import AT_LEAST, AT_MOST, DESCEND, PHASE, State


def write_decision(state: State, level: int, v: int, decision: int, value: int) -> bool:
    """Write a decision into the level, for the engine to take; False where it does not divide the domain."""
    low, high = int(state.lo[v]), int(state.hi[v])
    if (
        low == high
        or (decision == AT_MOST and not low <= value < high)
        or (decision == AT_LEAST and not low < value <= high)
    ):
        return False
    state.level_variable[level] = v
    state.level_decision[level] = decision
    state.level_value[level] = value
    state.scalar[PHASE] = DESCEND
    return True
