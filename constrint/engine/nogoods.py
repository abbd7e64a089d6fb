"""Nogoods from restarts: a subtree refuted before a restart is not searched again.

Before a restart, the path to the present node is kept: the decisions in force, and between them, in order,
the decisions refuted below them. A refuted decision together with all earlier ones in force has no solution
that is still wanted: the reduced nogoods of Lecoutre, Sais, Tabary and Vidal (2007).

One walk along a path propagates all its nogoods, because each extends the one before it (Lee, Schulte and
Zhu, 2016). While the decisions in force hold, the refuted ones must not hold. After the first open decision,
a refuted decision that holds makes the open one false. After the second open decision nothing follows.
"""

from __future__ import annotations

from constrint.store.domains import contains, fix, remove, set_hi, set_lo
from constrint.store.state import AT_LEAST, AT_MOST, NOGOODS, State, compilable

OPEN = 0
TRUE = 1
FALSE = 2


@compilable
def apply(st: State, v: int, decision: int, value: int) -> bool:
    """Apply a decision."""
    if decision == AT_MOST:
        return set_hi(st, v, value)
    if decision == AT_LEAST:
        return set_lo(st, v, value)
    return fix(st, v, value)


@compilable
def deny(st: State, v: int, decision: int, value: int) -> bool:
    """Apply the opposite of a decision."""
    if decision == AT_MOST:
        return set_lo(st, v, value + 1)
    if decision == AT_LEAST:
        return set_hi(st, v, value - 1)
    return remove(st, v, value)


@compilable
def truth(st: State, place: int) -> int:
    """Whether a decision of a path holds: OPEN, TRUE or FALSE."""
    v = st.path_variable[place]
    value = st.path_value[place]
    decision = st.path_decision[place]
    lo = st.lo[v]
    hi = st.hi[v]
    if decision == AT_MOST:
        return TRUE if hi <= value else FALSE if lo > value else OPEN
    if decision == AT_LEAST:
        return TRUE if lo >= value else FALSE if hi < value else OPEN
    if not contains(st, v, value):
        return FALSE
    return TRUE if lo == hi else OPEN


@compilable
def keep_path(st: State, path: int) -> bool:
    """Propagate the nogoods of a path; False if one is violated."""
    opened = -1
    for place in range(st.path_start[path], st.path_start[path + 1]):
        state = truth(st, place)
        if st.path_refuted[place] == 1:
            if opened < 0:
                if state != FALSE and not deny(
                    st, st.path_variable[place], st.path_decision[place], st.path_value[place]
                ):
                    return False
            elif state == TRUE:
                return deny(st, st.path_variable[opened], st.path_decision[opened], st.path_value[opened])
        elif state == FALSE:
            return True
        elif state == OPEN:
            if opened >= 0:
                return True
            opened = place
    return True


@compilable
def keep_nogoods(st: State) -> bool:
    """Propagate all nogoods once; False if one is violated."""
    for path in range(st.scalar[NOGOODS]):  # noqa: SIM110 - compiled code has no generators
        if not keep_path(st, path):
            return False
    return True
