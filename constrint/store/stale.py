"""Decision variables to rank again before the next selection, because their domain or score has changed."""

from __future__ import annotations

from constrint.store.state import CHANGED, STALE, State, compilable


@compilable
def mark_stale(st: State, i: int) -> None:
    """Note that an entry of `branch` must be ranked again."""
    count = st.scalar[STALE]
    if count >= 0 and st.is_stale[i] == 0:
        st.is_stale[i] = 1
        st.stale[count] = i
        st.scalar[STALE] = count + 1


@compilable
def mark_changed(st: State, v: int) -> None:
    """Note that a variable has changed; only where entries are ranked."""
    i = st.entry[v]
    if i >= 0:
        mark_stale(st, i)


@compilable
def mark_all_changed(st: State) -> None:
    """Note all variables whose changes have not been told to their watchers."""
    for k in range(st.scalar[CHANGED]):
        mark_changed(st, st.changed[k])
