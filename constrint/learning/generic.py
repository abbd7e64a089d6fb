"""Propagators of the registry in the learning search, explained by the bounds of all their variables.

A propagation function runs on the engine's state within the present bounds of its variables, on a level that
is undone afterwards: derived bounds are kept, holes and strides are not. A variable's domain is therefore its
root domain within its bounds, and the bounds of a constraint's variables completely explain what its
propagator did.
"""

from __future__ import annotations

from constrint.learning.layout import BY_TERMS, Learner, learn_compilable
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
def explain_propagator(ls: Learner, p: int, at: int) -> None:
    """Add the bounds of all variables of a constraint, before an entry, as premises."""
    for i in range(ls.start[p], ls.start[p + 1]):
        b = ls.term[i]
        add_premise(ls, b, value_before(ls, b, at))
        add_premise(ls, b ^ 1, value_before(ls, b ^ 1, at))
