"""The registry of propagators, and the dispatch from a propagator's kind to its propagation function.

A propagator is one file here (node, ``holds``, watches, propagation function), one row of ``REGISTRY``, the
place of which is its ``kind``, and one branch of ``dispatch`` or ``dispatch_global``. The branches are
spelled out because they are compiled as written.
"""

from __future__ import annotations

from constrint.propagators.absolute import ABSOLUTE, Absolute, absolute
from constrint.propagators.all_different import (
    ALL_DIFFERENT,
    ALL_DIFFERENT_BOUNDS,
    AllDifferent,
    AllDifferentBounds,
    all_different,
    all_different_bounds,
)
from constrint.propagators.all_different_domain import (
    ALL_DIFFERENT_DOMAIN,
    AllDifferentDomain,
    all_different_domain,
)
from constrint.propagators.arcs import ARCS, Arcs, arcs
from constrint.propagators.cardinality import CARDINALITY, Cardinality, cardinality
from constrint.propagators.ceildiv import CEILDIV, CeilDiv, ceildiv
from constrint.propagators.circuit import CIRCUIT, Circuit, circuit
from constrint.propagators.clause import CLAUSE, Clause, clause
from constrint.propagators.cumulative import CUMULATIVE, Cumulative, cumulative
from constrint.propagators.divides import DIVIDES, Divides, divides
from constrint.propagators.divmod import DIVMOD, DivMod, division
from constrint.propagators.element import ELEMENT, Element, element
from constrint.propagators.gcd import GCD, LCM, Gcd, Lcm, gcd, lcm
from constrint.propagators.inverse import INVERSE, Inverse, inverse_functions
from constrint.propagators.lexicographic import LEXICOGRAPHIC, Lexicographic, lexicographic
from constrint.propagators.linear import (
    LINEAR_EQ,
    LINEAR_EQ_IF,
    LINEAR_LE,
    LINEAR_LE_IF,
    LINEAR_NE,
    LinearEq,
    LinearEqIf,
    LinearLe,
    LinearLeIf,
    LinearNe,
    linear_eq,
    linear_eq_if,
    linear_le,
    linear_le_if,
    linear_ne,
)
from constrint.propagators.member import MEMBER, Member, member
from constrint.propagators.minmax import MAXIMUM, MINIMUM, Maximum, Minimum, maximum, minimum
from constrint.propagators.no_overlap import NO_OVERLAP, NoOverlap, no_overlap
from constrint.propagators.no_overlap_optional import (
    NO_OVERLAP_OPTIONAL,
    NoOverlapOptional,
    no_overlap_optional,
)
from constrint.propagators.pairs import PAIRS, Pairs, pairs
from constrint.propagators.power import POWER, Power, power
from constrint.propagators.product import PRODUCT, Product, product
from constrint.propagators.rectangles import RECTANGLES, Rectangles, rectangles
from constrint.propagators.selection import SELECTION, Selection, selection
from constrint.propagators.short_table import SHORT_TABLE, ShortTable, short_table
from constrint.propagators.subcircuit import SUBCIRCUIT, Subcircuit, subcircuit
from constrint.propagators.table import TABLE, Table, table
from constrint.store.propagator import Propagator
from constrint.store.state import State, compilable

REGISTRY: tuple[type[Propagator], ...] = (
    LinearLe,
    LinearEq,
    LinearNe,
    LinearLeIf,
    LinearEqIf,
    Product,
    Power,
    DivMod,
    Divides,
    Maximum,
    Minimum,
    Absolute,
    Member,
    Clause,
    Element,
    Gcd,
    Lcm,
    CeilDiv,
    Selection,
    Table,
    AllDifferent,
    AllDifferentBounds,
    AllDifferentDomain,
    Cardinality,
    Circuit,
    Inverse,
    Lexicographic,
    NoOverlap,
    Cumulative,
    Rectangles,
    Pairs,
    NoOverlapOptional,
    Subcircuit,
    ShortTable,
    Arcs,
)
DIFFERENT = (AllDifferent, AllDifferentBounds, AllDifferentDomain)


@compilable
def dispatch_global(st: State, c: int, kind: int) -> bool:
    """The same for the kinds of global constraints."""
    if kind == ALL_DIFFERENT_BOUNDS:
        return all_different_bounds(st, c)
    if kind == ALL_DIFFERENT_DOMAIN:
        return all_different_domain(st, c)
    if kind == CARDINALITY:
        return cardinality(st, c)
    if kind == CIRCUIT:
        return circuit(st, c)
    if kind == INVERSE:
        return inverse_functions(st, c)
    if kind == LEXICOGRAPHIC:
        return lexicographic(st, c)
    if kind == NO_OVERLAP:
        return no_overlap(st, c)
    if kind == CUMULATIVE:
        return cumulative(st, c)
    if kind == RECTANGLES:
        return rectangles(st, c)
    if kind == SELECTION:
        return selection(st, c)
    if kind == PAIRS:
        return pairs(st, c)
    if kind == NO_OVERLAP_OPTIONAL:
        return no_overlap_optional(st, c)
    if kind == SUBCIRCUIT:
        return subcircuit(st, c)
    if kind == SHORT_TABLE:
        return short_table(st, c)
    if kind == ARCS:
        return arcs(st, c)
    return False


@compilable
def dispatch(st: State, c: int) -> bool:
    """Run the propagation function of propagator c; False if a domain became empty."""
    kind = st.kind[c]
    if kind == LINEAR_LE:
        return linear_le(st, c)
    if kind == LINEAR_EQ:
        return linear_eq(st, c)
    if kind == PRODUCT:
        return product(st, c)
    if kind == DIVMOD:
        return division(st, c)
    if kind == CEILDIV:
        return ceildiv(st, c)
    if kind == CLAUSE:
        return clause(st, c)
    if kind == ALL_DIFFERENT:
        return all_different(st, c)
    if kind == LINEAR_LE_IF:
        return linear_le_if(st, c)
    if kind == LINEAR_EQ_IF:
        return linear_eq_if(st, c)
    if kind == MAXIMUM:
        return maximum(st, c)
    if kind == MINIMUM:
        return minimum(st, c)
    if kind == DIVIDES:
        return divides(st, c)
    if kind == MEMBER:
        return member(st, c)
    if kind == LINEAR_NE:
        return linear_ne(st, c)
    if kind == POWER:
        return power(st, c)
    if kind == ABSOLUTE:
        return absolute(st, c)
    if kind == ELEMENT:
        return element(st, c)
    if kind == GCD:
        return gcd(st, c)
    if kind == LCM:
        return lcm(st, c)
    if kind == TABLE:
        return table(st, c)
    return dispatch_global(st, c, kind)
