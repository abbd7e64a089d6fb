"""The premises of an atom on the trail, or of a contradiction, by the kind of what derived it."""

from __future__ import annotations

from constrint.learning.circuits import explain_circuit
from constrint.learning.clauses import explain_clause
from constrint.learning.extremes import explain_extreme
from constrint.learning.generic import explain_propagator
from constrint.learning.layout import (
    AT_MOST,
    BUDGET,
    BY_CLAUSE,
    CIRCUIT,
    DIFFERENT,
    DISTINCT,
    EXTREME,
    OPEN_RESOURCE,
    PREMISES,
    RESOURCE,
    Learner,
    learn_compilable,
)
from constrint.learning.linear import explain_at_most, explain_different
from constrint.learning.resource_reasons import explain_resource
from constrint.store.state import State


@learn_compilable
def explain(ls: Learner, st: State, b: int, k: int, why: int, at: int) -> None:
    """Collect the premises of the atom (b, k) before an entry, or of a contradiction if b is NOTHING."""
    ls.scalar[PREMISES] = 0
    how = why & 3
    number = why >> 2
    if how == BY_CLAUSE:
        explain_clause(ls, number, b)
    elif ls.kind[number] == AT_MOST:
        explain_at_most(ls, st, number, b, k, how, at)
    elif ls.kind[number] == DIFFERENT:
        explain_different(ls, number, b, how, at)
    elif ls.kind[number] == RESOURCE or ls.kind[number] == OPEN_RESOURCE or ls.kind[number] == DISTINCT:
        explain_resource(ls, st, number, b, k, at)
    elif ls.kind[number] == CIRCUIT:
        explain_circuit(ls, number, b, at)
    elif ls.kind[number] == EXTREME:
        explain_extreme(ls, st, number, b, k, at)
    else:
        explain_propagator(ls, st, number, b, k, at)
    ls.scalar[BUDGET] -= ls.scalar[PREMISES] >> 2
