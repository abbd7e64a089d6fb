"""Entries of `branch` to rank again before the next selection: their domain or score has changed."""

from __future__ import annotations

from constrint.store.state import STALE, TRAIL, State, compilable


@compilable
def mark_stale(st: State, i: int) -> None:
    """Note that an entry of `branch` must be ranked again."""
    count = st.scalar[STALE]
    if count >= 0 and st.is_stale[i] == 0:
        st.is_stale[i] = 1
        st.stale[count] = i
        st.scalar[STALE] = count + 1


@compilable
def mark_trailed(st: State, bottom: int) -> None:
    """Note the entries of all variables in the trail from this place on."""
    for top in range(bottom, st.scalar[TRAIL]):
        i = st.entry[st.trail_variable[top]]
        if i >= 0:
            mark_stale(st, i)
