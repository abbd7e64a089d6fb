"""Propagators of the registry in the learning search, explained by the bounds of all their variables.

A propagation function runs on the engine's state within the present bounds of its variables, on a level that
is undone afterwards: derived bounds are kept, holes and strides are not. A variable's domain is therefore its
root domain within its bounds, and the bounds of a constraint's variables completely explain what its
propagator did. Analysis runs it again with fewer and weaker bounds, and keeps those that it needs.
"""

from __future__ import annotations

from constrint.learning.layout import BUDGET, BY_TERMS, MOST_TRIED, Learner, learn_compilable
from constrint.learning.linear import add_premise, contradict
from constrint.learning.trail import raise_to_member, value_before
from constrint.propagators import dispatch
from constrint.store.domains import pop_level, push_level
from constrint.store.state import CHANGED, State


@learn_compilable
def run_propagator(ls: Learner, st: State, p: int) -> bool:
    """Run a propagator of the registry, and keep the bounds that it derives."""
    bound = ls.bound
    for i in range(ls.start[p], ls.start[p + 1]):
        b = ls.term[i]
        st.lo[b >> 1] = bound[b]
        st.hi[b >> 1] = -bound[b ^ 1]
    push_level(st, 0)
    holds = dispatch(st, ls.limit[p])
    why = 4 * p + BY_TERMS
    scalar = st.scalar
    for i in range(scalar[CHANGED]):
        v = st.changed[i]
        st.dirty[v] = 0
        # The derived bounds are members; rounding them by a narrowed stride would go too far.
        if holds and not (
            raise_to_member(ls, 2 * v, st.lo[v], why) and raise_to_member(ls, 2 * v + 1, -st.hi[v], why)
        ):
            contradict(ls, why)
            holds = False
    scalar[CHANGED] = 0
    pop_level(st, 0)
    return holds or contradict(ls, why)


@learn_compilable
def derives(ls: Learner, st: State, p: int, b: int, k: int) -> bool:
    """Whether a propagator derives the atom (b, k), or a contradiction, from the bounds in `lifted`."""
    first = ls.start[p]
    ls.scalar[BUDGET] -= ls.start[p + 1] - first
    for i in range(first, ls.start[p + 1]):
        v = ls.term[i] >> 1
        st.lo[v] = ls.lifted[2 * (i - first)]
        st.hi[v] = -ls.lifted[2 * (i - first) + 1]
    push_level(st, 0)
    found = not dispatch(st, ls.limit[p])
    if b >= 0 and not found:
        found = (-st.hi[b >> 1] if b & 1 else st.lo[b >> 1]) >= k
    for i in range(st.scalar[CHANGED]):
        st.dirty[st.changed[i]] = 0
    st.scalar[CHANGED] = 0
    pop_level(st, 0)
    return found


@learn_compilable
def drop_bounds(ls: Learner, st: State, p: int, b: int, k: int) -> None:
    """Relax the bounds in `lifted` one by one, as far as the propagator still derives the atom (b, k).

    A bound is dropped, or else lowered by steps that double.
    """
    first = ls.start[p]
    for j in range(2 * (ls.start[p + 1] - first)):
        bound = ls.term[first + j // 2] ^ (j & 1)
        value = ls.lifted[j]
        least = ls.root[bound]
        if value <= least:
            continue
        ls.lifted[j] = least
        if derives(ls, st, p, b, k):
            continue
        step = 1
        while ls.plain[bound >> 1] == 1 and value - step > least:
            ls.lifted[j] = value - step
            if not derives(ls, st, p, b, k):
                break
            value -= step
            step *= 2
        ls.lifted[j] = value


@learn_compilable
def explain_propagator(ls: Learner, st: State, p: int, b: int, k: int, at: int) -> None:
    """Add bounds of a constraint's variables, before an entry, as premises.

    Of a constraint on few variables, those that its propagator needs to derive the atom (b, k) again; where
    it does not derive it again, and of other constraints, all bounds.
    """
    first = ls.start[p]
    n = ls.start[p + 1] - first
    if n > ls.scalar[MOST_TRIED]:
        for i in range(first, first + n):
            add_premise(ls, ls.term[i], value_before(ls, ls.term[i], at))
            add_premise(ls, ls.term[i] ^ 1, value_before(ls, ls.term[i] ^ 1, at))
        return
    for j in range(2 * n):
        ls.lifted[j] = value_before(ls, ls.term[first + j // 2] ^ (j & 1), at)
    if derives(ls, st, p, b, k):
        drop_bounds(ls, st, p, b, k)
    for j in range(2 * n):
        add_premise(ls, ls.term[first + j // 2] ^ (j & 1), ls.lifted[j])
