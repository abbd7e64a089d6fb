"""Constraints of the registry in the learning search: their own kernels, explained by all their bounds.

A kernel runs on the engine's state between the present bounds of its variables, on a level that is undone
afterwards: what it says about bounds is kept, what it says about holes and strides is not. So a variable's
domain is its root domain between its bounds, and the bounds of a constraint's variables are always a
complete explanation of what its kernel did.
"""

from __future__ import annotations

from constrint.learning.layout import BY_TERMS, Learner, learn_kernel
from constrint.learning.linear import add_premise, contradict
from constrint.learning.trail import raise_to_member, value_before
from constrint.propagators import dispatch
from constrint.store.domains import pop_level, push_level
from constrint.store.state import CHANGED, State


@learn_kernel
def run_kernel(ls: Learner, st: State, p: int) -> bool:
    """Run the kernel of a constraint of the registry, and keep the bounds that it found."""
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
        # The kernel's bounds are members; to round them by a stride that it narrowed would go beyond.
        if holds and not (
            raise_to_member(ls, 2 * v, st.lo[v], why) and raise_to_member(ls, 2 * v + 1, -st.hi[v], why)
        ):
            contradict(ls, why)
            holds = False
    scalar[CHANGED] = 0
    pop_level(st, 0)
    return holds or contradict(ls, why)


@learn_kernel
def explain_kernel(ls: Learner, p: int, at: int) -> None:
    """Add the bounds of all variables of a constraint, before an entry, as premises."""
    for i in range(ls.start[p], ls.start[p + 1]):
        b = ls.term[i]
        add_premise(ls, b, value_before(ls, b, at))
        add_premise(ls, b ^ 1, value_before(ls, b ^ 1, at))
