"""Changes of domains that a relaxation proves for its columns: by reduced costs, by a refuted side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from constrint.relaxation.column_bounds import ColumnBounds
from constrint.search.pseudo_costs import UP, Refuted
from constrint.store.domains import contains, fix, remove, set_hi, set_lo
from constrint.store.state import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


def by_reduced_costs(
    state: State,
    bounds: ColumnBounds,
    reduced: Ints,
    room: int,
    ends: tuple[Ints, Ints],
    cost: int | None,
) -> bool | None:
    """Narrow columns that leave their better end in no better solution.

    Returns whether something changed; None where nothing is left.

    Args:
        state: The state.
        bounds: Where the columns are in it.
        reduced: The reduced cost of each column.
        room: The most that all distances from the better ends, times these, add up to.
        ends: The least and the greatest value of each column.
        cost: The column of the objective.
    """
    lower, upper = ends
    held = np.flatnonzero((np.abs(reduced) > 0) & (upper > lower))
    held = held[np.abs(reduced[held]) * (upper - lower)[held].astype(np.float64) > room]
    changed = False
    for column in held.tolist():
        v = int(bounds.variable[column])
        if column == cost or not (bounds.is_member[column] or bounds.is_plain[column]):
            continue
        d = int(reduced[column])
        if bounds.is_member[column]:
            value = int(bounds.value[column])
            is_left = is_excluded(state, v, value) if d > 0 else is_fixed(state, v, value)
        else:
            steps = room // abs(d)
            low, high = int(lower[column]), int(upper[column])
            least, most = (low, low + steps) if d > 0 else (high - steps, high)
            is_left = _within(state, v, least, most)
        if is_left is None:
            return None
        changed = changed or is_left
    return changed


def excluded(state: State, bounds: ColumnBounds, refuted: Refuted) -> bool | None:
    """Take the side of a decision that is left; returns as `by_reduced_costs`."""
    column, below = refuted.column, refuted.below
    v = int(bounds.variable[column])
    if bounds.is_member[column]:
        value = int(bounds.value[column])
        return is_excluded(state, v, value) if refuted.way == UP else is_fixed(state, v, value)
    if refuted.way == UP:
        return _within(state, v, int(state.lo[v]), below)
    return _within(state, v, below + 1, int(state.hi[v]))


def is_excluded(state: State, v: int, value: int) -> bool | None:
    """Remove a value; whether that changed something, None where nothing is left.

    Inside the bounds of a variable without a bitset a value stays.
    """
    if not contains(state, v, value):
        return False
    return not contains(state, v, value) if remove(state, v, value) else None


def is_fixed(state: State, v: int, value: int) -> bool | None:
    """Fix a variable; whether that changed something, None where nothing is left."""
    if int(state.lo[v]) == int(state.hi[v]) == value:
        return False
    return True if contains(state, v, value) and fix(state, v, value) else None


def _within(state: State, v: int, least: int, most: int) -> bool | None:
    """Set bounds; whether that changed something, None where nothing is left."""
    changed = least > int(state.lo[v]) or most < int(state.hi[v])
    if not (set_lo(state, v, max(least, int(state.lo[v]))) and set_hi(state, v, min(most, int(state.hi[v])))):
        return None
    return changed
